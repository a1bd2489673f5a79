/// A rectangle of device pixels, origin top left.
package struct PixelRect: Sendable, Hashable {
  package var x: Int
  package var y: Int
  package var width: Int
  package var height: Int

  package init(x: Int, y: Int, width: Int, height: Int) {
    (self.x, self.y, self.width, self.height) = (x, y, width, height)
  }
}

/// A frame buffer: 32-bit XRGB rows inside an apron. The apron's pixels are readable and writable but never shown, so that blurs and
/// shifted blits need no edge cases.
package struct Bitmap {
  /// The first visible pixel, `0x00RRGGBB`.
  package let pixels: UnsafeMutablePointer<UInt32>
  package let width: Int
  package let height: Int
  /// Pixels from one row to the next, including the apron (the invisible margin).
  package let stride: Int
  /// The width in pixels of the apron, the invisible margin on every side.
  package let apron: Int

  /// The width in pixels of the invisible margin that every platform gives its bitmaps.
  package static let standardApron = 32

  /// Makes a bitmap of memory that the caller owns.
  package init(pixels: UnsafeMutablePointer<UInt32>, width: Int, height: Int, stride: Int, apron: Int) {
    (self.pixels, self.width, self.height, self.stride, self.apron) = (pixels, width, height, stride, apron)
  }
}
