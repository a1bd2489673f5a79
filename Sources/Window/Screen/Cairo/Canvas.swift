import CCairo

/// A Cairo context on a bitmap of the caller: paths, fills and clips in device pixels.
final class Canvas {
  let context: OpaquePointer
  private let surface: OpaquePointer
  private let bitmap: Bitmap
  /// The area being redrawn. Shadows, which are drawn without Cairo, stay inside this area.
  var damage: PixelRect

  /// Wraps the visible part of a bitmap, which must outlive the canvas.
  init(_ bitmap: Bitmap) {
    let bytes = UnsafeMutableRawPointer(bitmap.pixels).assumingMemoryBound(to: UInt8.self)
    // On failure Cairo returns an inert error surface, never NULL, although the imported type is optional.
    guard
      let surface = cairo_image_surface_create_for_data(
        bytes, CAIRO_FORMAT_RGB24, Int32(bitmap.width), Int32(bitmap.height), Int32(bitmap.stride * 4)),
      let context = cairo_create(surface)
    else { preconditionFailure("no surface of \(bitmap.width)×\(bitmap.height)") }
    (self.surface, self.context) = (surface, context)
    self.bitmap = bitmap
    damage = PixelRect(x: 0, y: 0, width: bitmap.width, height: bitmap.height)
    cairo_set_line_cap(context, CAIRO_LINE_CAP_BUTT)
    cairo_set_tolerance(context, 0.05)
  }

  deinit {
    cairo_destroy(context)
    cairo_surface_finish(surface)
    cairo_surface_destroy(surface)
  }

  func saved(_ body: () -> Void) {
    cairo_save(context)
    body()
    cairo_restore(context)
  }

  /// Finishes all drawing, so that the pixels may be accessed directly.
  func flush() { cairo_surface_flush(surface) }

  func shadow(under rect: Rect, radius: Double, strength: Double) {
    cairo_surface_flush(surface)
    SoftShadow.cast(rect, radius: radius, strength: strength, within: damage, into: bitmap)
    cairo_surface_mark_dirty(surface)
  }

  /// Clips to a rectangle, widened to whole pixels. A clip through a pixel is slow and mixes new with old colour, so that the colour would
  /// depend on the number of redraws.
  func clip(_ rect: Rect) {
    let (left, top) = (rect.x.rounded(.down), rect.y.rounded(.down))
    cairo_new_path(context)
    cairo_rectangle(context, left, top, max(0, rect.maxX.rounded(.up) - left), max(0, rect.maxY.rounded(.up) - top))
    cairo_clip(context)
  }

  func translate(_ x: Double, _ y: Double) { cairo_translate(context, x, y) }

  func setColor(_ color: Color) {
    cairo_set_source_rgba(context, color.red, color.green, color.blue, color.alpha)
  }

  func fill(_ rect: Rect, _ color: Color) {
    setColor(color)
    cairo_new_path(context)
    cairo_rectangle(context, rect.x, rect.y, rect.width, rect.height)
    cairo_fill(context)
  }

  func fill(_ path: Path, _ color: Color) {
    setColor(color)
    add(path)
    cairo_fill(context)
  }

  func stroke(_ path: Path, width: Double, _ color: Color, round: Bool = true) {
    setColor(color)
    add(path)
    cairo_set_line_width(context, width)
    cairo_set_line_cap(context, round ? CAIRO_LINE_CAP_ROUND : CAIRO_LINE_CAP_BUTT)
    cairo_set_line_join(context, CAIRO_LINE_JOIN_ROUND)
    cairo_stroke(context)
  }

  private func add(_ path: Path) {
    cairo_new_path(context)
    for step in path.steps {
      switch step {
      case .move(let p): cairo_move_to(context, p.x, p.y)
      case .line(let p): cairo_line_to(context, p.x, p.y)
      case .curve(let a, let b, let p): cairo_curve_to(context, a.x, a.y, b.x, b.y, p.x, p.y)
      case .close: cairo_close_path(context)
      }
    }
  }
}
