/// The colours of pages.
package struct Theme: Sendable, Hashable {
  /// The name in settings and file names.
  package var name: String
  package var paper: Color
  package var ink: Color
  /// Secondary text; at least 4.5 : 1 on paper, like `ink` and `accent`.
  package var faintInk: Color
  /// The colour of staff lines, rules and the grid; not of text.
  package var line: Color
  /// Ghosts of marks under pointer or focus; not text.
  package var ghost: Color
  /// The colour of the winning line, the focus and the flower.
  package var accent: Color
  /// The strength of the paper's grain, 0…1.
  package var grain: Double
  /// The difference in brightness between middle and corners, in levels of 255.
  package var falloff: Double

  /// The default theme, which needs no file: warm paper, black ink, red accent.
  package static let light = Theme(
    name: "light", paper: Color(hex: 0xF7F1E3), ink: Color(hex: 0x1D1916), faintInk: Color(hex: 0x6A5F52),
    line: Color(hex: 0x857A6C), ghost: Color(hex: 0xCFC5B2), accent: Color(hex: 0x9B2D20), grain: 1, falloff: 9)

  var sheet: Paper { Paper(color: paper, grain: grain, falloff: falloff) }
}
