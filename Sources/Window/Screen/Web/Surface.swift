/// The target of drawing: a canvas of the web page's script, by its id.
package struct Surface {
  let id: Int32
  package let width: Int
  package let height: Int

  /// Makes the surface of the visible canvas.
  package init(width: Int, height: Int) { self.init(id: 0, width: width, height: height) }

  /// The canvas for films, created by the web page's script.
  package static func film(width: Int, height: Int) -> Surface { Surface(id: -1, width: width, height: height) }

  fileprivate init(id: Int32, width: Int, height: Int) { (self.id, self.width, self.height) = (id, width, height) }

  package func flush() { Commands.flush() }

  /// Copies a rectangle from a canvas of the same size, shifted down by `rows`.
  func copy(_ rect: PixelRect, from source: Surface, yOffset rows: Int = 0) {
    Commands.add(.target, id: id)
    Commands.add(
      .copy, id: source.id, Double(rect.x), Double(rect.y), Double(rect.width), Double(rect.height), Double(rows))
  }

  /// Mixes `share` (0…1) of a canvas of the same size into this canvas.
  func blend(_ other: Surface, share: Double) {
    Commands.add(.target, id: id)
    Commands.add(.blend, id: other.id, share)
  }
}

/// An invisible canvas, kept after the buffer's release for the next buffer of the same size.
final class PixelBuffer {
  let bitmap: Surface
  /// Each page transition needs a canvas, and creating a canvas takes a browser as long as drawing a frame.
  nonisolated(unsafe) private static var spare: Surface?

  init(width: Int, height: Int) {
    let kept = PixelBuffer.spare.flatMap { $0.width == width && $0.height == height ? $0 : nil }
    if kept != nil { PixelBuffer.spare = nil }
    bitmap = kept ?? Surface(id: surfaceMake(Int32(width), Int32(height)), width: width, height: height)
  }

  deinit {
    if let spare = PixelBuffer.spare { Commands.add(.freeSurface, id: spare.id) }
    PixelBuffer.spare = bitmap
  }
}

extension Paper {
  /// The last drawn paper, kept because its grain takes as long to draw as a whole page, and pages change often.
  nonisolated(unsafe) private static var last: (paper: Paper, sheet: PixelBuffer)?

  func fill(_ surface: Surface) {
    let all = PixelRect(x: 0, y: 0, width: surface.width, height: surface.height)
    if let last = Paper.last, last.paper == self, last.sheet.bitmap.width == surface.width,
      last.sheet.bitmap.height == surface.height
    {
      return surface.copy(all, from: last.sheet.bitmap)
    }
    let sheet = PixelBuffer(width: surface.width, height: surface.height)
    let count = surface.width * surface.height
    let pixels = UnsafeMutablePointer<UInt32>.allocate(capacity: count)
    defer { pixels.deallocate() }
    fill(Bitmap(pixels: pixels, width: surface.width, height: surface.height, stride: surface.width, apron: 0))
    for i in 0..<count {
      // The browser expects red in the lowest byte and an opaque alpha in the highest.
      let pixel = pixels[i]
      pixels[i] = 0xFF00_0000 | (pixel & 0xFF) << 16 | pixel & 0xFF00 | pixel >> 16 & 0xFF
    }
    surfacePut(sheet.bitmap.id, pixels)
    Paper.last = (self, sheet)
    // `Canvas` selects this canvas, for which the browser then makes a context. The canvas becomes the spare canvas, so that the first page
    // transition need not wait for a new canvas.
    _ = Canvas(PixelBuffer(width: surface.width, height: surface.height).bitmap)
    surface.copy(all, from: sheet.bitmap)
  }
}

@_extern(wasm, module: "env", name: "surfaceMake")
private func surfaceMake(_ width: Int32, _ height: Int32) -> Int32

@_extern(wasm, module: "env", name: "surfacePut")
private func surfacePut(_ id: Int32, _ pixels: UnsafePointer<UInt32>)
