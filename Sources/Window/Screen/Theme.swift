package struct Theme: Sendable, Hashable {
  /// The name in settings and file names.
  package var name: String
  package var paper: Color
  package var ink: Color
  /// For secondary text. `ink`, `faintInk` and `accent` have a contrast of at least 4.5 : 1 to `paper` (WCAG 2 level AA).
  package var faintInk: Color
  /// For staff lines, charts, controls and the board's grid; not for text.
  package var line: Color
  /// For ghost marks under pointer or focus; not for text.
  package var ghost: Color
  /// For the winning line, the focus, and the flower of an awakening (a win can no longer be prevented).
  package var accent: Color
  /// The strength of the paper's grain, 0…1.
  package var grain: Double
  /// By how many of 255 levels of brightness the corners are darker than the middle.
  package var falloff: Double

  /// The first theme replaces an unknown theme in the settings.
  package static let all = [light, dark, contrast]

  package static let light = Theme(
    name: "light", paper: Color(hex: 0xF7F1E3), ink: Color(hex: 0x1D1916), faintInk: Color(hex: 0x6A5F52),
    line: Color(hex: 0x857A6C), ghost: Color(hex: 0xCFC5B2), accent: Color(hex: 0x9B2D20), grain: 1, falloff: 9)

  package static let dark = Theme(
    name: "dark", paper: Color(hex: 0x1C1A18), ink: Color(hex: 0xEAE2D2), faintInk: Color(hex: 0xA89E8E),
    line: Color(hex: 0x75695C), ghost: Color(hex: 0x4A443D), accent: Color(hex: 0xE48A73), grain: 0.8, falloff: 6)

  package static let contrast = Theme(
    name: "contrast", paper: Color(hex: 0xFFFFFF), ink: Color(hex: 0x000000), faintInk: Color(hex: 0x1F1F1F),
    line: Color(hex: 0x3A3A3A), ghost: Color(hex: 0x949494), accent: Color(hex: 0xA30000), grain: 0, falloff: 0)

  var sheet: Paper { Paper(color: paper, grain: grain, falloff: falloff) }
}
