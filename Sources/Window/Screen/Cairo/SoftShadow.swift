/// A soft shadow, dithered against banding.
enum SoftShadow {
  /// Darkens `rect` by the share `strength` (0…1), fading out around its edges within `radius` pixels; only inside `limit`.
  static func cast(_ rect: Rect, radius: Double, strength: Double, within limit: PixelRect, into bitmap: Bitmap) {
    let reach = Int(radius.rounded(.up)) + 1
    let left = max(limit.x, Int(rect.x) - reach)
    let right = min(limit.x + limit.width, Int(rect.maxX) + reach)
    let top = max(limit.y, Int(rect.y) - reach)
    let bottom = min(limit.y + limit.height, Int(rect.maxY) + reach)
    guard left < right, top < bottom else { return }
    // A pixel's darkness is the product of a horizontal and a vertical profile, each of which fades out at the rectangle's edges.
    func profile(_ from: Int, _ to: Int, _ a: Double, _ b: Double) -> [Int32] {
      (from..<to).map { i in
        let p = Double(i) + 0.5
        func edge(_ d: Double) -> Double {
          let t = (d / radius * 0.5 + 0.5).clamped(to: 0...1)
          return t * t * (3 - 2 * t)
        }
        return Int32(edge(p - a) * edge(b - p) * 256)
      }
    }
    let columns = profile(left, right, rect.x, rect.maxX)
    let rows = profile(top, bottom, rect.y, rect.maxY)
    let depth = Int32(strength * 256)
    for y in top..<bottom {
      let row = bitmap.pixels + y * bitmap.stride
      let vertical = (rows[y - top] * depth) >> 8
      guard vertical > 0 else { continue }
      for x in left..<right {
        let keep = 65536 - columns[x - left] * vertical
        let dither = Int32(Paper.hash(UInt32(truncatingIfNeeded: x), UInt32(truncatingIfNeeded: y)) >> 16)
        let pixel = row[x]
        func channel(_ shift: UInt32) -> UInt32 {
          let value = Int64(pixel >> shift & 255) * Int64(keep) + Int64(dither)
          return UInt32(min(255, value >> 16)) << shift
        }
        row[x] = channel(16) | channel(8) | channel(0)
      }
    }
  }
}
