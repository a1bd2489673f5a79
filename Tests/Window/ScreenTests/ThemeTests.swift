import Glibc
import Testing

@testable import Screen

@Suite("Themes")
struct ThemeTests {
  static let themes = Samples.themes

  @Test("light, dark and high contrast themes are shipped, and light is built in")
  func shipped() {
    #expect(ThemeTests.themes.map(\.name) == ["light", "dark", "contrast"])
    #expect(ThemeTests.themes[0] == Theme.light)
  }

  @Test("contrast reaches 4.5 : 1 for text and 3 : 1 for lines, in the middle and the darkest corner")
  func contrast() {
    for theme in ThemeTests.themes {
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

  @Test(
    "a bad theme is refused with its line and what is allowed",
    arguments: [
      ("paper #FFFFFF", "line 1: expected \"key = value\""),
      ("\npaper = white", "line 2: paper is \"white\", but must be #RRGGBB"),
      ("# fine\r\n\r\nfalloff = 33\r\n", "line 3: falloff is \"33\", but must be 0 to 32"),
      ("# fine\ngrain = 2", "line 2: grain is \"2\", but must be 0 to 1"),
      ("shine = 1", "line 1: unknown key \"shine\"; known are paper, ink, faint, line, ghost, accent, grain, falloff"),
      ("paper = #FFFFFF", "ink is missing"),
    ])
  func refused(text: String, message: String) {
    do throws(ThemeError) {
      _ = try Theme(name: "x", file: text)
      Issue.record("accepted")
    } catch {
      #expect(error.description == message)
    }
  }

  @Test("an invalid theme file is skipped with a message, a missing one without")
  func reading() {
    var services = Samples.services()
    services.readFile = { $0.hasSuffix("dark.theme") ? Array("ink = 3".utf8) : nil }
    let read = Theme.read(folder: "/t", services: services)
    #expect(read.themes == [.light])
    #expect(read.errors.map(\.path) == ["/t/dark.theme"])
    #expect(read.errors.map { "\($0.error)" } == ["line 1: ink is \"3\", but must be #RRGGBB"])
  }
}

extension Color {
  /// The relative luminance, 0…1 (WCAG 2.2, "relative luminance").
  fileprivate var luminance: Double {
    func linear(_ c: Double) -> Double { c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4) }
    return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
  }

  /// The contrast ratio of two opaque colours, 1…21 (WCAG 2.2, "contrast ratio").
  fileprivate static func contrast(_ a: Color, _ b: Color) -> Double {
    let (la, lb) = (a.luminance, b.luminance)
    return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
  }
}
