import Screen

/// The memory of one window's picture: XRGB rows inside an apron, aligned for SIMD.
final class FrameMemory {
  let width: Int
  let height: Int
  private let memory: UnsafeMutablePointer<UInt32>
  private let stride: Int
  private let apron = Bitmap.standardApron

  /// Takes zeroed memory for a picture of at least one pixel.
  init(width: Int, height: Int) {
    precondition(width > 0 && height > 0, "a bitmap of \(width) × \(height) pixels")
    self.width = width
    self.height = height
    // Rows start on 64-byte lines: what the shadow pass and Cairo both like.
    stride = (width + 2 * apron + 15) & ~15
    let count = stride * (height + 2 * apron)
    let raw = UnsafeMutableRawPointer.allocate(byteCount: count * 4, alignment: 64)
    memory = raw.bindMemory(to: UInt32.self, capacity: count)
    memory.initialize(repeating: 0, count: count)
  }

  deinit { UnsafeMutableRawPointer(memory).deallocate() }

  /// The picture as the game draws into it; valid while this object lives.
  var bitmap: Bitmap {
    Bitmap(
      pixels: memory + (apron * stride + apron), width: width, height: height, stride: stride, apron: apron)
  }

  /// The part of a rectangle inside the visible picture, `nil` when nothing is.
  func clip(_ rect: PixelRect) -> PixelRect? {
    let left = max(0, rect.x)
    let top = max(0, rect.y)
    let right = min(width, rect.x + rect.width)
    let bottom = min(height, rect.y + rect.height)
    guard right > left, bottom > top else { return nil }
    return PixelRect(x: left, y: top, width: right - left, height: bottom - top)
  }
}
