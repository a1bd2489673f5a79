#if canImport(CCairo)
  import CCairo
  import CPango
  import Glibc
  import ScoreFormats

  /// Writes the page as PNG with Cairo; not available in headless builds.
  extension ScorePage {
    /// The most pixels of a picture's longer side, a common limit of graphics cards; Cairo's limit is 32,767.
    private static let longest = 16_384.0

    /// Writes the page at `zoom` pixels a point. A page longer than `longest` pixels is split into `NAME-2.png` and so on.
    package func writePNG(to path: String, zoom: Double = 1) throws {
      let stem = path.hasSuffix(".png") ? String(path.dropLast(4)) : path
      for (index, piece) in pieces(of: Self.longest / zoom).enumerated() {
        let name = index == 0 ? path : "\(stem)-\(index + 1)\(path.dropFirst(stem.count))"
        try OutputFile.write(name) { try write(piece, to: $0, zoom: zoom) }
      }
    }

    private func write(_ piece: Range<Double>, to path: String, zoom: Double) throws(ScoreFileError) {
      let height = piece.upperBound - piece.lowerBound
      let surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, Int32(width * zoom), Int32(height * zoom))
      defer { cairo_surface_destroy(surface) }
      let context = cairo_create(surface)
      defer { cairo_destroy(context) }
      cairo_scale(context, zoom, zoom)
      cairo_set_source_rgb(context, 0.984, 0.973, 0.945)
      cairo_paint(context)
      cairo_translate(context, 0, -piece.lowerBound)
      for shape in shapes { draw(shape, context) }
      cairo_surface_flush(surface)
      try Self.write(surface, to: path)
    }

    package static func write(_ surface: OpaquePointer?, to path: String) throws(ScoreFileError) {
      let status = cairo_surface_write_to_png(surface, path)
      guard status != CAIRO_STATUS_WRITE_ERROR else { throw ScoreFileError(unwritable: path, errno) }
      guard status == CAIRO_STATUS_SUCCESS else {
        throw ScoreFileError("\(path): cannot be written (\(String(cString: cairo_status_to_string(status))))")
      }
    }

    private func draw(_ shape: Shape, _ context: OpaquePointer?) {
      func ink(_ grey: Double) { cairo_set_source_rgb(context, grey, grey, grey) }
      switch shape {
      case .line(let x1, let y1, let x2, let y2, let width, let grey):
        ink(grey)
        cairo_set_line_width(context, width)
        cairo_move_to(context, x1, y1)
        cairo_line_to(context, x2, y2)
        cairo_stroke(context)
      case .ellipse(let x, let y, let rx, let ry, let turn, let isFilled, let grey):
        ink(grey)
        cairo_save(context)
        cairo_translate(context, x, y)
        cairo_rotate(context, turn * .pi / 180)
        cairo_scale(context, rx, ry)
        cairo_new_path(context)
        cairo_arc(context, 0, 0, 1, 0, 2 * .pi)
        cairo_restore(context)
        cairo_set_line_width(context, 1.7)
        if isFilled { cairo_fill(context) } else { cairo_stroke(context) }
      case .curve(let points, let width, let grey):
        ink(grey)
        cairo_set_line_width(context, width)
        cairo_set_line_cap(context, CAIRO_LINE_CAP_ROUND)
        cairo_move_to(context, points[0][0], points[0][1])
        for at in stride(from: 1, to: points.count - 2, by: 3) {
          let (a, b, c) = (points[at], points[at + 1], points[at + 2])
          cairo_curve_to(context, a[0], a[1], b[0], b[1], c[0], c[1])
        }
        cairo_stroke(context)
        cairo_set_line_cap(context, CAIRO_LINE_CAP_BUTT)
      case .text(let x, let y, let size, let text, let isItalic, let isCentered, let grey):
        ink(grey)
        write(text, x, y, size, isItalic: isItalic, isCentered: isCentered, context)
      }
    }

    /// Draws text with Pango, which supports lining figures: in old-style figures 1 looks like I.
    private func write(
      _ text: String, _ x: Double, _ y: Double, _ size: Double, isItalic: Bool, isCentered: Bool,
      _ context: OpaquePointer?
    ) {
      guard let layout = pango_cairo_create_layout(context), let description = pango_font_description_new(),
        let attributes = pango_attr_list_new()
      else { preconditionFailure("no Pango layout") }
      defer {
        pango_attr_list_unref(attributes)
        pango_font_description_free(description)
        g_object_unref(UnsafeMutableRawPointer(layout))
      }
      pango_font_description_set_family(description, "EB Garamond, serif")
      pango_font_description_set_style(description, isItalic ? 2 : 0)  // PANGO_STYLE_ITALIC, _NORMAL
      pango_font_description_set_absolute_size(description, size * 1024)
      pango_layout_set_font_description(layout, description)
      pango_attr_list_insert(attributes, pango_attr_font_features_new("lnum=1"))
      pango_layout_set_attributes(layout, attributes)
      // The italic font's space is too narrow between moves: use a third of an em.
      let spaced =
        isItalic ? text.split(separator: " ", omittingEmptySubsequences: false).joined(separator: "\u{2004}") : text
      pango_layout_set_text(layout, spaced, -1)
      var logical = AlinaPangoRectangle()
      pango_layout_get_extents(layout, nil, &logical)
      let left = isCentered ? x - Double(logical.width) / 2048 : x
      cairo_move_to(context, left, y - Double(pango_layout_get_baseline(layout)) / 1024)
      pango_cairo_show_layout(context, layout)
    }
  }
#else
  extension ScorePage {
    /// Always throws: a headless build has no Cairo.
    package func writePNG(to path: String, zoom: Double = 1) throws {
      throw ScoreFileError("\(path): this build has no Cairo (HEADLESS); write --svg instead")
    }
  }
#endif
