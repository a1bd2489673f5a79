import CCairo

/// The target of drawing: a bitmap in memory.
package typealias Surface = Bitmap

/// Owns the memory of a bitmap with its apron (the invisible margin).
package final class PixelBuffer {
  private let storage: UnsafeMutablePointer<UInt32>
  /// The bitmap, valid while the buffer lives; use `withExtendedLifetime` if nothing else holds the buffer.
  package let bitmap: Bitmap

  package init(width: Int, height: Int) {
    precondition(width > 0 && height > 0, "a picture of \(width)×\(height)")
    let apron = Bitmap.standardApron
    // Rows start on 64-byte cache lines, for the speed of the shadow pass and of Cairo.
    let stride = (width + 2 * apron + 15) & ~15
    let count = stride * (height + 2 * apron)
    storage = UnsafeMutableRawPointer.allocate(byteCount: count * 4, alignment: 64)
      .bindMemory(to: UInt32.self, capacity: count)
    storage.initialize(repeating: 0, count: count)
    bitmap = Bitmap(
      pixels: storage + apron * stride + apron, width: width, height: height, stride: stride, apron: apron)
  }

  deinit { UnsafeMutableRawPointer(storage).deallocate() }

  package func png() -> [UInt8] { withExtendedLifetime(self) { bitmap.png() } }
}

extension Bitmap {
  /// Copies a rectangle from a bitmap of the same size, shifted down by `rows`, at most the width of the apron (the invisible margin).
  func copy(_ rect: PixelRect, from source: Bitmap, yOffset rows: Int = 0) {
    for y in rect.y..<(rect.y + rect.height) {
      let origin = source.pixels + (y - rows) * source.stride + rect.x
      (pixels + y * stride + rect.x).update(from: origin, count: rect.width)
    }
  }

  /// Mixes `share` (0…1) of another bitmap of the same size into this bitmap.
  func blend(_ other: Bitmap, share: Double) {
    let k = UInt32((share.clamped(to: 0...1) * 256).rounded())
    for y in 0..<height {
      let row = pixels + y * stride
      let above = other.pixels + y * other.stride
      for x in 0..<width {
        let (a, b) = (row[x], above[x])
        let redBlue = ((a & 0xFF00FF) * (256 - k) + (b & 0xFF00FF) * k) >> 8 & 0xFF00FF
        let green = ((a & 0x00FF00) * (256 - k) + (b & 0x00FF00) * k) >> 8 & 0x00FF00
        row[x] = redBlue | green
      }
    }
  }

  /// The same pixels give the same bytes.
  package func png() -> [UInt8] {
    let bytes = UnsafeMutableRawPointer(pixels).assumingMemoryBound(to: UInt8.self)
    guard
      let surface = cairo_image_surface_create_for_data(
        bytes, CAIRO_FORMAT_RGB24, Int32(width), Int32(height), Int32(stride * 4))
    else { return [] }
    defer { cairo_surface_destroy(surface) }
    var file: [UInt8] = []
    withUnsafeMutablePointer(to: &file) { pointer in
      _ = cairo_surface_write_to_png_stream(surface, appendBytes, UnsafeMutableRawPointer(pointer))
    }
    return file
  }
}

private func appendBytes(
  _ closure: UnsafeMutableRawPointer?, _ data: UnsafePointer<UInt8>?, _ length: UInt32
) -> cairo_status_t {
  guard let closure, let data else { return CAIRO_STATUS_WRITE_ERROR }
  closure.assumingMemoryBound(to: [UInt8].self).pointee
    .append(contentsOf: UnsafeBufferPointer(start: data, count: Int(length)))
  return CAIRO_STATUS_SUCCESS
}

extension RootScreen {
  /// Draws the page as it is at `now`; needs no window.
  package func png(width: Int, height: Int, at now: Double) -> [UInt8] {
    let buffer = PixelBuffer(width: width, height: height)
    _ = draw(into: buffer.bitmap, isNew: true, at: now)
    return buffer.png()
  }
}
