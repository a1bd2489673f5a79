import CCairo

@testable import Screen

extension PixelBuffer {
  /// `nil` if the file is invalid or larger than 8,192 pixels in either direction.
  convenience init?(png file: [UInt8]) {
    var reader = ByteReader(bytes: file)
    let surface = withUnsafeMutablePointer(to: &reader) {
      cairo_image_surface_create_from_png_stream(takeBytes, UnsafeMutableRawPointer($0))
    }
    defer { cairo_surface_destroy(surface) }
    let width = Int(cairo_image_surface_get_width(surface))
    let height = Int(cairo_image_surface_get_height(surface))
    guard cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS, (1...8192).contains(width),
      (1...8192).contains(height), let data = cairo_image_surface_get_data(surface)
    else { return nil }
    let stride = Int(cairo_image_surface_get_stride(surface))
    self.init(width: width, height: height)
    for y in 0..<height {
      let row = UnsafeRawPointer(data + y * stride).assumingMemoryBound(to: UInt32.self)
      for x in 0..<width { bitmap.pixels[y * bitmap.stride + x] = row[x] & 0xFFFFFF }
    }
  }
}

private struct ByteReader {
  var bytes: [UInt8]
  var offset = 0
}

private func takeBytes(
  _ closure: UnsafeMutableRawPointer?, _ target: UnsafeMutablePointer<UInt8>?, _ length: UInt32
) -> cairo_status_t {
  guard let closure, let target else { return CAIRO_STATUS_READ_ERROR }
  let reader = closure.assumingMemoryBound(to: ByteReader.self)
  let (from, count) = (reader.pointee.offset, Int(length))
  guard from + count <= reader.pointee.bytes.count else { return CAIRO_STATUS_READ_ERROR }
  for i in 0..<count { target[i] = reader.pointee.bytes[from + i] }
  reader.pointee.offset = from + count
  return CAIRO_STATUS_SUCCESS
}
