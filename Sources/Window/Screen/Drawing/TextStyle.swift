/// How a piece of text looks; sizes in device pixels.
struct TextStyle: Sendable, Hashable {
  /// The em in device pixels.
  var size: Double
  var isItalic = false
  /// Letters and capitals as small capitals.
  var isSmallCaps = false
  /// Extra space between letters in em.
  var tracking = 0.0
  /// Figures of one height instead of old-style ones, for tables.
  var hasLiningFigures = false

  init(_ size: Double, italic: Bool = false, smallCaps: Bool = false, tracking: Double = 0, lining: Bool = false) {
    // Sizes are quantised so that the cache hits while a window is being resized.
    self.size = (size * 4).rounded() / 4
    isItalic = italic
    isSmallCaps = smallCaps
    self.tracking = tracking
    hasLiningFigures = lining
  }
}

/// What a block of text is kept by.
struct TextKey: Hashable {
  var text: String
  var style: TextStyle
  var width: Double
  var alignment: TextAlignment
}

/// Where text stands relative to its x.
enum TextAlignment: Sendable, Hashable {
  case left, center, right
}

extension Canvas {
  /// Draws one line with its baseline at `y`; `x` is its left, middle or right after `alignment`.
  func text(
    _ text: String, _ style: TextStyle, _ typeface: Typeface, x: Double, baseline y: Double,
    alignment: TextAlignment = .left, _ color: Color
  ) {
    let block = typeface.block(text, style)
    let left = alignment == .left ? x : alignment == .center ? x - block.width / 2 : x - block.width
    draw(block, at: Point(left, y - block.baseline), color)
  }
}
