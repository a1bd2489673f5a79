/// The colours of a page, as data: what is paper, what is ink.
package struct Theme: Sendable, Hashable {
  /// The stable name, as settings and file names spell it.
  package var name: String
  package var paper: Color
  package var ink: Color
  /// Secondary text; at least 4.5 : 1 on paper, like `ink` and `accent`.
  package var faintInk: Color
  /// Staff lines, rules and the grid; not text.
  package var line: Color
  /// Ghosts of marks under pointer or focus; not text.
  package var ghost: Color
  /// The one colour beside ink: the winning line, the focus, the flower.
  package var accent: Color
  /// The strength of the paper's grain, 0…1.
  package var grain: Double
  /// How many levels of 255 the corners are darker than the middle.
  package var falloff: Double

  /// The theme that needs no file: warm paper, black ink, a rubric of red.
  package static let light = Theme(
    name: "light", paper: Color(hex: 0xF7F1E3), ink: Color(hex: 0x1D1916), faintInk: Color(hex: 0x6A5F52),
    line: Color(hex: 0x857A6C), ghost: Color(hex: 0xCFC5B2), accent: Color(hex: 0x9B2D20), grain: 1, falloff: 9)

  var sheet: Paper { Paper(color: paper, grain: grain, falloff: falloff) }
}
