import Glibc

/// A colour of the sRGB space with its opacity, each component 0…1.
package struct Color: Sendable, Hashable {
  package var red: Double
  package var green: Double
  package var blue: Double
  package var alpha: Double

  package init(red: Double, green: Double, blue: Double, alpha: Double = 1) {
    (self.red, self.green, self.blue, self.alpha) = (red, green, blue, alpha)
  }

  /// Makes an opaque colour from `0xRRGGBB`.
  package init(hex: UInt32) {
    self.init(
      red: Double(hex >> 16 & 255) / 255, green: Double(hex >> 8 & 255) / 255, blue: Double(hex & 255) / 255)
  }

  /// The colour with its opacity multiplied by `k`.
  func faded(_ k: Double) -> Color { Color(red: red, green: green, blue: blue, alpha: alpha * k) }

  /// The relative luminance, 0…1 (WCAG 2.2, "relative luminance").
  package var luminance: Double {
    func linear(_ c: Double) -> Double { c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4) }
    return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
  }

  /// The contrast ratio of two opaque colours, 1…21 (WCAG 2.2, "contrast ratio").
  package static func contrast(_ a: Color, _ b: Color) -> Double {
    let (la, lb) = (a.luminance, b.luminance)
    return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
  }
}
