import CCairo
import CPango

@testable import Screen

/// Compares pictures that may come from two versions of Cairo, Pango or FreeType, which smooth edges differently and place letters up to
/// two pixels apart. So each channel of a pixel needs only a similar value nearby in the other picture. If an element was moved further, is
/// missing or has another colour, many pixels close together have no similar value.
struct Likeness {
  /// 0xRRGGBB values by row.
  struct Picture {
    var width: Int
    var height: Int
    var pixels: [UInt32]
  }

  /// The libraries that draw in this run, with their versions.
  static var rasteriser: String {
    "cairo \(String(cString: cairo_version_string())), pango \(String(cString: pango_version_string()))"
  }

  /// The levels (of 256) by which a channel may differ from the nearby values of the other picture.
  let tolerance: Int
  /// The distance in pixels that counts as nearby.
  let reach: Int
  /// The number of unmatched pixels that a square of 16 by 16 pixels may have.
  let most: Int

  /// Pixels of the same rasteriser differ by rounding at most.
  static let same = Likeness(tolerance: 2, reach: 0, most: 0)
  /// Debian 12's pictures have at most 7 unmatched pixels per square on Debian 13. Nine in ten words that were erased or moved up by 4
  /// pixels have 11 to 50.
  static let other = Likeness(tolerance: 64, reach: 2, most: 10)

  /// Whether some square of 16 by 16 pixels has more than `most` unmatched pixels.
  func isExceeded(by differences: [Bool], width: Int) -> Bool {
    // Counts in squares of 8 by 8, four of which make a square of 16 by 16.
    let columns = width / 8 + 2
    var counts = [Int](repeating: 0, count: columns * (differences.count / width / 8 + 2))
    for (place, differs) in differences.enumerated() where differs {
      counts[place / width / 8 * columns + place % width / 8] += 1
    }
    return (0..<counts.count - columns - 1).contains { i in
      counts[i] + counts[i + 1] + counts[i + columns] + counts[i + columns + 1] > most
    }
  }

  /// For each pixel, whether no pixel nearby in the other picture is similar. Both pictures have the same size. O(pixels · reach²).
  func differences(_ a: Picture, _ b: Picture) -> [Bool] {
    precondition(a.width == b.width && a.height == b.height)
    return zip(strangers(a, b), strangers(b, a)).map { $0 || $1 }
  }

  private func strangers(_ a: Picture, _ b: Picture) -> [Bool] {
    var result = [Bool](repeating: false, count: a.pixels.count)
    for y in 0..<a.height {
      for x in 0..<a.width where a.pixels[y * a.width + x] != b.pixels[y * b.width + x] {
        var least: (Int, Int, Int) = (255, 255, 255)
        var most: (Int, Int, Int) = (0, 0, 0)
        for row in max(0, y - reach)...min(a.height - 1, y + reach) {
          for column in max(0, x - reach)...min(a.width - 1, x + reach) {
            let (r, g, b) = Likeness.colours(b.pixels[row * b.width + column])
            least = (min(least.0, r), min(least.1, g), min(least.2, b))
            most = (max(most.0, r), max(most.1, g), max(most.2, b))
          }
        }
        let (r, g, b) = Likeness.colours(a.pixels[y * a.width + x])
        result[y * a.width + x] =
          r < least.0 - tolerance || r > most.0 + tolerance || g < least.1 - tolerance || g > most.1 + tolerance
          || b < least.2 - tolerance || b > most.2 + tolerance
      }
    }
    return result
  }

  private static func colours(_ pixel: UInt32) -> (Int, Int, Int) {
    (Int(pixel >> 16 & 255), Int(pixel >> 8 & 255), Int(pixel & 255))
  }
}

extension Likeness.Picture {
  init(_ buffer: PixelBuffer) {
    let bitmap = buffer.bitmap
    (width, height) = (bitmap.width, bitmap.height)
    pixels = withExtendedLifetime(buffer) {
      (0..<bitmap.height).flatMap { y in
        (0..<bitmap.width).map { x in bitmap.pixels[y * bitmap.stride + x] & 0xFFFFFF }
      }
    }
  }
}
