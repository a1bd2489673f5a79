/// The one typeface of the game, as the browser shapes and measures it.
final class Typeface {
  private var cache: [Key: Block] = [:]

  private struct Key: Hashable {
    var text: String
    var style: TextStyle
    var width: Double
    var alignment: TextAlignment
  }

  /// EB Garamond's ascent and line, in em, as its file states them and Pango takes them; the distance of two lines.
  private static let (ascent, leading) = (0.71, 1.26)

  /// A piece of one line in one style, which the page's script keeps by its number.
  fileprivate final class Run {
    let id: Int32
    let width: Double

    init(_ text: String, _ style: TextStyle) {
      var text = text
      let flags: Int32 = (style.isItalic ? 1 : 0) | (style.isSmallCaps ? 2 : 0) | (style.hasLiningFigures ? 4 : 0)
      id = text.withUTF8 {
        textMake($0.baseAddress, Int32($0.count), style.size, flags, style.tracking * style.size)
      }
      // Space between letters stands between them only.
      width = textWidth(id) - (text.isEmpty ? 0 : style.tracking * style.size)
    }

    deinit { Commands.add(.freeText, id: id) }
  }

  /// A laid-out text: one line, or a paragraph where a width was given.
  final class Block {
    /// The advance width and the height of all lines, in pixels.
    let width: Double
    let height: Double
    /// The first baseline, from the top.
    let baseline: Double
    /// The lines and where they begin, from the block's left.
    fileprivate let lines: [(line: SignedLine<Run>, x: Double)]
    fileprivate let style: TextStyle
    private let text: String

    fileprivate init(_ text: String, _ style: TextStyle, _ lines: [(line: SignedLine<Run>, x: Double)]) {
      (self.text, self.style, self.lines) = (text, style, lines)
      width = lines.map { $0.line.width }.max() ?? 0
      height = style.size * (1 + Typeface.leading * Double(lines.count - 1))
      baseline = style.size * Typeface.ascent
    }

    /// How far from its left a caret stands after so many bytes of a text of one line.
    func caret(after bytes: Int) -> Double {
      bytes >= text.utf8.count ? width : Run(String(decoding: text.utf8.prefix(bytes), as: UTF8.self), style).width
    }
  }

  /// Lays a text out; cached. A `width` makes a wrapped paragraph, else the text stays on one line.
  func block(_ text: String, _ style: TextStyle, width: Double = 0, alignment: TextAlignment = .left) -> Block {
    let key = Key(text: text, style: style, width: width, alignment: alignment)
    if let hit = cache[key] { return hit }
    if cache.count > 600 { cache.removeAll(keepingCapacity: true) }  // clocks and sliders make new texts all the time
    let block = width > 0 ? paragraph(text, style, width, alignment) : Block(text, style, [(line(text, style), 0)])
    cache[key] = block
    return block
  }

  private func line(_ text: String, _ style: TextStyle) -> SignedLine<Run> {
    SignedLine(text, size: style.size, make: { Run($0, style) }, width: { $0.width })
  }

  /// The pieces of a text between which a line may end, each with what stands before it in a line: at spaces, and, as Pango does,
  /// after a hyphen between two letters.
  private static func words(of text: Substring) -> [(word: Substring, space: String)] {
    text.split(separator: " ", omittingEmptySubsequences: false).flatMap { word -> [(word: Substring, space: String)] in
      var (start, space) = (word.startIndex, " ")
      var pieces: [(word: Substring, space: String)] = []
      for index in word.indices where index > start && word[index].isLetter {
        let before = word[start..<index]
        guard before.last == "-", before.utf8.count > 1 else { continue }
        pieces.append((before, space))
        (start, space) = (index, "")
      }
      return pieces + [(word[start...], space)]
    }
  }

  private func paragraph(_ text: String, _ style: TextStyle, _ width: Double, _ alignment: TextAlignment) -> Block {
    var lines: [SignedLine<Run>] = []
    for part in text.split(separator: "\n", omittingEmptySubsequences: false) {
      var line = ""
      for (word, space) in Typeface.words(of: part) {
        let longer = line.isEmpty ? String(word) : line + space + word
        if self.line(longer, style).width <= width {
          line = longer
          continue
        }
        if !line.isEmpty { lines.append(self.line(line, style)) }
        line = ""
        // A word broader than the column is broken where the column ends.
        for letter in word {
          if !line.isEmpty, self.line(line + String(letter), style).width > width {
            lines.append(self.line(line, style))
            line = ""
          }
          line.append(letter)
        }
      }
      lines.append(self.line(line, style))
    }
    let placed = lines.map { line -> (line: SignedLine<Run>, x: Double) in
      let room = max(0, width - line.width)
      return (line, alignment == .left ? 0 : alignment == .center ? room / 2 : room)
    }
    return Block(text, style, placed)
  }

  /// Draws a laid-out text with its top left at `origin`.
  fileprivate static func draw(_ block: Block, at origin: Point, _ color: Color, on canvas: Canvas) {
    for (index, (line, x)) in block.lines.enumerated() {
      let (left, baseline) = (origin.x + x, origin.y + block.baseline + Double(index) * block.style.size * leading)
      canvas.setColor(color)
      for (run, x) in line.pieces { Commands.add(.text, id: run.id, left + x, baseline) }
      line.drawSigns(on: canvas, x: left, baseline: baseline, color)
    }
  }
}

extension Canvas {
  /// Draws a laid-out text with its top left at `origin`.
  func draw(_ block: Typeface.Block, at origin: Point, _ color: Color) {
    Typeface.draw(block, at: origin, color, on: self)
  }
}

@_extern(wasm, module: "env", name: "textMake")
private func textMake(
  _ bytes: UnsafePointer<UInt8>?, _ count: Int32, _ size: Double, _ flags: Int32, _ tracking: Double
) -> Int32

@_extern(wasm, module: "env", name: "textWidth")
private func textWidth(_ id: Int32) -> Double
