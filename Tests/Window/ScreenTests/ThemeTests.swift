import Glibc
import Testing

@testable import Screen

@Suite("Themes")
struct ThemeTests {
  @Test("contrast reaches 4.5 : 1 for text and 3 : 1 for lines, in the middle and the darkest corner")
  func contrast() {
    for theme in Theme.all {
      let corner = theme.falloff / 255
      let dim = Color(
        red: max(0, theme.paper.red - corner), green: max(0, theme.paper.green - corner),
        blue: max(0, theme.paper.blue - corner))
      for paper in [theme.paper, dim] {
        for (name, ink) in [("ink", theme.ink), ("faint", theme.faintInk), ("accent", theme.accent)] {
          #expect(Color.contrast(ink, paper) >= 4.5, "\(name) of \(theme.name): \(Color.contrast(ink, paper))")
        }
        #expect(Color.contrast(theme.line, paper) >= 3, "line of \(theme.name): \(Color.contrast(theme.line, paper))")
      }
    }
    #expect(abs(Color.contrast(Color(hex: 0), Color(hex: 0xFFFFFF)) - 21) < 1e-9)
  }
}

extension Color {
  /// WCAG 2.2, "relative luminance": 0…1.
  fileprivate var luminance: Double {
    func linear(_ c: Double) -> Double { c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4) }
    return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
  }

  /// WCAG 2.2, "contrast ratio" of two opaque colours: 1…21.
  fileprivate static func contrast(_ a: Color, _ b: Color) -> Double {
    let (la, lb) = (a.luminance, b.luminance)
    return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
  }
}
