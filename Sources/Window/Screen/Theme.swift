/// The colours of pages.
package struct Theme: Sendable, Hashable {
  /// The name in settings and file names.
  package var name: String
  package var paper: Color
  package var ink: Color
  /// The colour of secondary text. Like `ink` and `accent`, it has a contrast of at least 4.5 : 1 to `paper`, as WCAG 2 level AA requires.
  package var faintInk: Color
  /// The colour of staff lines, of lines in charts and controls, and of the board's grid; not of text.
  package var line: Color
  /// The colour of ghost marks under pointer or focus; not of text.
  package var ghost: Color
  /// The colour of the winning line, the focus, and the flower that marks an awakening in the score (a win can no longer be prevented).
  package var accent: Color
  /// The strength of the paper's grain, 0…1.
  package var grain: Double
  /// The levels of brightness, of 255, by which the paper's corners are darker than its middle.
  package var falloff: Double

  /// The themes to choose from. The first theme is used if the settings name an unknown theme.
  package static let all = [light, dark, contrast]

  /// Warm paper, black ink, red accent.
  package static let light = Theme(
    name: "light", paper: Color(hex: 0xF7F1E3), ink: Color(hex: 0x1D1916), faintInk: Color(hex: 0x6A5F52),
    line: Color(hex: 0x857A6C), ghost: Color(hex: 0xCFC5B2), accent: Color(hex: 0x9B2D20), grain: 1, falloff: 9)

  /// Dark paper, light ink, pale red accent.
  package static let dark = Theme(
    name: "dark", paper: Color(hex: 0x1C1A18), ink: Color(hex: 0xEAE2D2), faintInk: Color(hex: 0xA89E8E),
    line: Color(hex: 0x75695C), ghost: Color(hex: 0x4A443D), accent: Color(hex: 0xE48A73), grain: 0.8, falloff: 6)

  /// High contrast: black on white, no faint colours, no grain.
  package static let contrast = Theme(
    name: "contrast", paper: Color(hex: 0xFFFFFF), ink: Color(hex: 0x000000), faintInk: Color(hex: 0x1F1F1F),
    line: Color(hex: 0x3A3A3A), ghost: Color(hex: 0x949494), accent: Color(hex: 0xA30000), grain: 0, falloff: 0)

  var sheet: Paper { Paper(color: paper, grain: grain, falloff: falloff) }
}
