/// The style of a text; sizes in device pixels.
struct TextStyle: Sendable, Hashable {
  /// The em in device pixels.
  var size: Double
  var isItalic = false
  /// Whether lower-case letters and capitals become small capitals.
  var isSmallCaps = false
  /// Extra space between letters in em.
  var tracking = 0.0

  init(_ size: Double, italic: Bool = false, smallCaps: Bool = false, tracking: Double = 0) {
    // Round to quarter pixels, so that cached layouts can be used again while a window is resized. In a window of a few pixels `size` may
    // be negative, or not a number.
    self.size = max(0.25, (size * 4).rounded() / 4)
    isItalic = italic
    isSmallCaps = smallCaps
    self.tracking = tracking
  }
}

/// The cache key of a laid-out text.
struct TextKey: Hashable {
  var text: String
  var style: TextStyle
  var width: Double
  var alignment: TextAlignment
}

/// The alignment of a text relative to the x at which it is drawn.
enum TextAlignment: Sendable, Hashable {
  case left, center, right
}

extension Canvas {
  /// Draws a line of text with its baseline at `y`; `x` is its left edge, middle or right edge, depending on `alignment`.
  func text(
    _ text: String, _ style: TextStyle, _ typeface: Typeface, x: Double, baseline y: Double,
    alignment: TextAlignment = .left, _ color: Color
  ) {
    let block = typeface.block(text, style)
    let left = alignment == .left ? x : alignment == .center ? x - block.width / 2 : x - block.width
    draw(block, at: Point(left, y - block.baseline), color)
  }
}
