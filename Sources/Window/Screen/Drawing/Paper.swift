/// The paper background: a colour, grain, and corners darker than the middle. Dithered once at the end: layers of translucent colour would
/// show bands, because each layer would be rounded to whole levels.
struct Paper: Sendable, Hashable {
  var color: Color
  /// From 0 (no grain) to 1.
  var grain: Double
  /// By how many of 255 levels of brightness the corners are darker than the middle.
  var falloff: Double

  /// Fills a bitmap including its apron (the invisible margin), so that a picture shifted by some pixels shows paper at its edge.
  func fill(_ bitmap: Bitmap) {
    let fine = Int32(grain * 330)
    let coarse = Int32(grain * 360)
    let fall = Int32(falloff * 256)
    let isEven = fine == 0 && fall == 0
    // A pixel's colour depends only on the sum of noise, falloff and dither, in 1/256 of a level: compute the colour of each sum once.
    let lowest = -(fine + coarse / 2 + fall + 8)
    let highest = fine + coarse / 2 + 264
    let pixels = (lowest...highest).map { self.pixel(sum: $0) }
    let apron = bitmap.apron
    // `clouds`: coarse noise at every eighth pixel. `across`: a column's squared distance from the middle, 256 at the edge.
    let firstKnot = -apron >> 3
    var clouds = [Int32](repeating: 0, count: (bitmap.width + 2 * apron) / 8 + 3)
    let halfWidth = Int32(max(1, bitmap.width / 2))
    let halfHeight = Int32(max(1, bitmap.height / 2))
    let across = (-apron..<(bitmap.width + apron)).map { x -> Int32 in
      let dx = (Int32(x) - halfWidth) * 256 / halfWidth
      return (dx * dx) >> 8
    }
    clouds.withUnsafeMutableBufferPointer { clouds in
      across.withUnsafeBufferPointer { across in
        pixels.withUnsafeBufferPointer { pixels in
          for y in -apron..<(bitmap.height + apron) {
            let row = bitmap.pixels + y * bitmap.stride - apron
            if isEven {
              row.update(repeating: pixels[Int(128 - lowest)], count: bitmap.width + 2 * apron)
              continue
            }
            for i in clouds.indices { clouds[i] = (Paper.cloud(firstKnot + i, y) * coarse) >> 8 }
            let dy = (Int32(y) - halfHeight) * 256 / halfHeight
            let down = (dy * dy) >> 8
            for i in across.indices {
              let x = i - apron
              let noise = Paper.hash(UInt32(truncatingIfNeeded: x), UInt32(truncatingIfNeeded: y))
              // The sum of two uniform numbers has a triangular distribution, so that few pixels are extreme.
              var sum = ((Int32(noise & 255) + Int32(noise >> 8 & 255) - 255) * fine) >> 8
              let knot = (x >> 3) - firstKnot
              let within = Int32(x & 7)
              sum += (clouds[knot] * (8 - within) + clouds[knot + 1] * within) >> 3
              let far = min(512, across[i] + down)  // 0 in the middle, 512 in the corners
              sum -= (((far * far) >> 10) * fall) >> 8
              sum += Int32(noise >> 16 & 255)
              row[i] = pixels[Int(sum - lowest)]
            }
          }
        }
      }
    }
  }

  private func pixel(sum: Int32) -> UInt32 {
    func channel(_ c: Double, _ tint: Int32) -> UInt32 {
      UInt32(min(255, max(0, (Int32((c * 65280).rounded()) + sum + ((sum * tint) >> 8)) >> 8)))
    }
    // Darker paper is warmer: blue decreases faster than red.
    return channel(color.red, -24) << 16 | channel(color.green, 0) << 8 | channel(color.blue, 40)
  }

  /// A hash of a position (the finalizer of MurmurHash3, public domain).
  @inline(__always)
  static func hash(_ x: UInt32, _ y: UInt32) -> UInt32 {
    var h = x &* 0x9E37_79B1 ^ y &* 0x85EB_CA77
    h ^= h >> 16
    h &*= 0x85EB_CA6B
    h ^= h >> 13
    h &*= 0xC2B2_AE35
    return h ^ h >> 16
  }

  /// Coarse noise −127…128 at pixel `8 * column`: random at every fourth row, interpolated between these rows.
  @inline(__always)
  private static func cloud(_ column: Int, _ y: Int) -> Int32 {
    let fy = Int32(y & 3)
    @inline(__always) func corner(_ j: Int) -> Int32 {
      Int32(hash(UInt32(truncatingIfNeeded: column), UInt32(truncatingIfNeeded: (y >> 2) + j) ^ 0x5bd1) & 255) - 127
    }
    return (corner(0) * (4 - fy) + corner(1) * fy) >> 2
  }
}
