import CCairo
import CPango

/// The game's typeface, loaded from its files, so that fontconfig cannot choose another optical size.
final class Typeface {
  /// The two faces in Debian's package `fonts-ebgaramond`.
  static let files = [
    "/usr/share/fonts/opentype/ebgaramond/EBGaramond12-Regular.otf",
    "/usr/share/fonts/opentype/ebgaramond/EBGaramond12-Italic.otf",
  ]

  private let pango: OpaquePointer
  /// A Pango context with all fonts of the machine, for names and texts in other scripts.
  private lazy var everyFont = Typeface.context(FcInitLoadConfigAndFonts(), onlyOurs: false).pango
  private var cache: [TextKey: Block] = [:]

  /// Whether the typeface's files were found; if not, the system's serif font replaces the typeface.
  let isGenuine: Bool

  init() {
    // Only the typeface's two files, so that the result does not depend on the machine's fonts.
    (pango, isGenuine) = Typeface.context(FcConfigCreate(), onlyOurs: true)
  }

  private static func context(_ config: OpaquePointer?, onlyOurs: Bool) -> (pango: OpaquePointer, isGenuine: Bool) {
    let fontTypeFreeType: Int32 = 1  // CAIRO_FONT_TYPE_FT
    guard let map = pango_cairo_font_map_new_for_font_type(fontTypeFreeType) else {
      preconditionFailure("Pango was built without FreeType")
    }
    var found = 0
    if let config {
      for file in files where FcConfigAppFontAddFile(config, file) != 0 { found += 1 }
      if !onlyOurs || found == files.count { pango_fc_font_map_set_config(map, config) }
      FcConfigDestroy(config)
    }
    guard let pango = pango_font_map_create_context(map) else { preconditionFailure("no Pango context") }
    // The context holds its own reference to the font map.
    g_object_unref(UnsafeMutableRawPointer(map))
    pango_cairo_context_set_resolution(pango, 72)
    let options = cairo_font_options_create()
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY)
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE)
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF)
    pango_cairo_context_set_font_options(pango, options)
    cairo_font_options_destroy(options)
    pango_context_set_round_glyph_positions(pango, 0)
    return (pango, found == files.count)
  }

  deinit {
    cache.removeAll()
    g_object_unref(UnsafeMutableRawPointer(pango))
  }

  /// A laid-out text: one line, or a paragraph if a width was given.
  final class Block {
    fileprivate let layout: OpaquePointer
    /// The width of the widest line and the height of all lines, in pixels.
    let width: Double
    let height: Double
    /// From the top to the first baseline, in pixels.
    let baseline: Double
    /// The parts of a one-line text with ♯ or ♭, which the typeface lacks; `nil` for other texts.
    fileprivate let line: SignedLine<Block>?

    fileprivate init(layout: OpaquePointer) {
      self.layout = layout
      var logical = AlinaPangoRectangle()
      pango_layout_get_extents(layout, nil, &logical)
      width = Double(logical.width) / 1024
      height = Double(logical.height) / 1024
      baseline = Double(pango_layout_get_baseline(layout)) / 1024
      line = nil
    }

    fileprivate init(_ line: SignedLine<Block>) {
      let first = line.pieces[0].piece
      layout = first.layout
      g_object_ref_layout(first.layout)
      (width, height, baseline) = (line.width, first.height, first.baseline)
      self.line = line
    }

    deinit { g_object_unref(UnsafeMutableRawPointer(layout)) }

    /// The x offset of the caret after the first `bytes` UTF-8 bytes of a one-line text.
    func caret(after bytes: Int) -> Double {
      guard line == nil else { return width }
      var place = AlinaPangoRectangle()
      pango_layout_get_cursor_pos(layout, Int32(bytes), &place, nil)
      return Double(place.x) / 1024
    }
  }

  /// Lays out a wrapped paragraph if `width` is positive, else one line. Layouts are cached.
  func block(_ text: String, _ style: TextStyle, width: Double = 0, alignment: TextAlignment = .left) -> Block {
    let key = TextKey(text: text, style: style, width: width, alignment: alignment)
    if let hit = cache[key] { return hit }
    if cache.count > 600 { cache.removeAll(keepingCapacity: true) }  // clocks and sliders make new texts all the time
    let hasAccidental = text.unicodeScalars.contains { $0 == "♯" || $0 == "♭" }
    let block =
      hasAccidental && width == 0
      ? Block(SignedLine(text, size: style.size, make: { make($0, style, 0, .left) }, width: \.width))
      : make(text, style, width, alignment)
    cache[key] = block
    return block
  }

  private func make(_ text: String, _ style: TextStyle, _ width: Double, _ alignment: TextAlignment) -> Block {
    let block = make(text, style, width, alignment, in: pango)
    guard isGenuine, pango_layout_get_unknown_glyphs_count(block.layout) > 0 else { return block }
    return make(text, style, width, alignment, in: everyFont)
  }

  private func make(
    _ text: String, _ style: TextStyle, _ width: Double, _ alignment: TextAlignment, in pango: OpaquePointer
  ) -> Block {
    guard let layout = pango_layout_new(pango), let description = pango_font_description_new() else {
      preconditionFailure("no Pango layout")
    }
    pango_font_description_set_family(description, isGenuine ? "EB Garamond,serif" : "serif")
    pango_font_description_set_style(description, style.isItalic ? 2 : 0)  // PANGO_STYLE_ITALIC, _NORMAL
    pango_font_description_set_absolute_size(description, style.size * 1024)
    pango_layout_set_font_description(layout, description)
    pango_font_description_free(description)
    if let attributes = pango_attr_list_new() {
      // `lnum` avoids old-style digits (0 looks like o, 1 like I); `tnum` makes all digits equally wide.
      var features = "lnum=1,tnum=1"
      if style.isSmallCaps { features += ",smcp=1,c2sc=1" }
      pango_attr_list_insert(attributes, pango_attr_font_features_new(features))
      if style.tracking != 0 {
        pango_attr_list_insert(attributes, pango_attr_letter_spacing_new(Int32(style.tracking * style.size * 1024)))
      }
      pango_layout_set_attributes(layout, attributes)
      pango_attr_list_unref(attributes)
    }
    var text = text
    text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) {
        pango_layout_set_text(layout, $0.baseAddress, Int32($0.count))
      }
    }
    if width > 0 {
      pango_layout_set_width(layout, Int32(width * 1024))
      pango_layout_set_wrap(layout, 2)  // PANGO_WRAP_WORD_CHAR
      pango_layout_set_line_spacing(layout, 1.26)
      pango_layout_set_alignment(layout, alignment == .left ? 0 : alignment == .center ? 1 : 2)
    }
    return Block(layout: layout)
  }

  /// The number of characters without a glyph in the typeface or, `withFallback`, in any font of the machine.
  func missingGlyphs(in text: String, withFallback: Bool = false) -> Int {
    let block = withFallback ? block(text, TextStyle(16)) : make(text, TextStyle(16), 0, .left, in: pango)
    return Int(pango_layout_get_unknown_glyphs_count(block.layout))
  }
}

private func g_object_ref_layout(_ layout: OpaquePointer) { _ = g_object_ref(UnsafeMutableRawPointer(layout)) }

extension Canvas {
  func draw(_ block: Typeface.Block, at origin: Point, _ color: Color) {
    guard let line = block.line else {
      setColor(color)
      cairo_move_to(context, origin.x, origin.y)
      pango_cairo_show_layout(context, block.layout)
      return
    }
    for (piece, x) in line.pieces { draw(piece, at: Point(origin.x + x, origin.y), color) }
    line.drawSigns(on: self, x: origin.x, baseline: origin.y + block.baseline, color)
  }
}
