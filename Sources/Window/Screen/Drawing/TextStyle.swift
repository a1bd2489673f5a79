struct TextStyle: Sendable, Hashable {
  /// The em in device pixels.
  var size: Double
  var isItalic = false
  /// Whether all letters become small capitals.
  var isSmallCaps = false
  /// Extra space between letters in em.
  var tracking = 0.0

  init(_ size: Double, italic: Bool = false, smallCaps: Bool = false, tracking: Double = 0) {
    // Quarter pixels let cached layouts be used again while a window is resized. In a tiny window `size` may be negative or not a number.
    self.size = max(0.25, (size * 4).rounded() / 4)
    isItalic = italic
    isSmallCaps = smallCaps
    self.tracking = tracking
  }
}

struct TextKey: Hashable {
  var text: String
  var style: TextStyle
  var width: Double
  var alignment: TextAlignment
}

/// Relative to the x at which the text is drawn.
enum TextAlignment: Sendable, Hashable {
  case left, center, right
}

extension Canvas {
  /// `x` is the text's left edge, middle or right edge, depending on `alignment`.
  func text(
    _ text: String, _ style: TextStyle, _ typeface: Typeface, x: Double, baseline y: Double,
    alignment: TextAlignment = .left, _ color: Color
  ) {
    let block = typeface.block(text, style)
    let left = alignment == .left ? x : alignment == .center ? x - block.width / 2 : x - block.width
    draw(block, at: Point(left, y - block.baseline), color)
  }
}
