/// The game's typeface, shaped and measured by the browser.
final class Typeface {
  /// Laid-out texts, and the previous cache, from which texts still in use are taken over.
  private var (cache, older): ([TextKey: Block], [TextKey: Block]) = ([:], [:])

  /// EB Garamond's ascent and line spacing in em, from the font file.
  private static let (ascent, leading) = (0.71, 1.26)

  /// A piece of a line in one style; the web page's script stores its layout under `id`.
  fileprivate final class Run {
    let id: Int32
    let width: Double

    init(_ text: String, _ style: TextStyle) {
      var text = text
      let flags: Int32 = (style.isItalic ? 1 : 0) | (style.isSmallCaps ? 2 : 0)
      id = text.withUTF8 {
        textMake($0.baseAddress, Int32($0.count), style.size, flags, style.tracking * style.size)
      }
      // Letter spacing is only between letters, not after the last letter.
      width = textWidth(id) - (text.isEmpty ? 0 : style.tracking * style.size)
    }

    deinit { Commands.add(.freeText, id: id) }
  }

  /// A laid-out text: one line, or a paragraph if a width was given.
  final class Block {
    /// The width of the widest line and the height of all lines, in pixels.
    let width: Double
    let height: Double
    /// From the top to the first baseline, in pixels.
    let baseline: Double
    fileprivate let lines: [(line: SignedLine<Run>, x: Double)]
    fileprivate let style: TextStyle
    private let text: String

    fileprivate init(_ text: String, _ style: TextStyle, _ lines: [(line: SignedLine<Run>, x: Double)]) {
      (self.text, self.style, self.lines) = (text, style, lines)
      width = lines.map { $0.line.width }.max() ?? 0
      height = style.size * (1 + Typeface.leading * Double(lines.count - 1))
      baseline = style.size * Typeface.ascent
    }

    /// The x offset of the caret after the first `bytes` UTF-8 bytes of a one-line text.
    func caret(after bytes: Int) -> Double {
      bytes >= text.utf8.count ? width : Run(String(decoding: text.utf8.prefix(bytes), as: UTF8.self), style).width
    }
  }

  /// Lays out a wrapped paragraph if `width` is positive, else one line. Layouts are cached.
  func block(_ text: String, _ style: TextStyle, width: Double = 0, alignment: TextAlignment = .left) -> Block {
    let key = TextKey(text: text, style: style, width: width, alignment: alignment)
    if let hit = cache[key] { return hit }
    // Clocks and sliders make new texts all the time, so a full cache becomes `older`, from which texts still in use are copied.
    if cache.count > 300 { (older, cache) = (cache, [:]) }
    let block =
      older[key]
      ?? (width > 0 ? paragraph(text, style, width, alignment) : Block(text, style, [(line(text, style), 0)]))
    cache[key] = block
    return block
  }

  private func line(_ text: String, _ style: TextStyle) -> SignedLine<Run> {
    SignedLine(text, size: style.size, make: { Run($0, style) }, width: { $0.width })
  }

  /// Splits a text where lines may break: at spaces and, like Pango, after a hyphen between letters.
  private static func words(of text: Substring) -> [Substring] {
    text.split(separator: " ", omittingEmptySubsequences: false).flatMap { word -> [Substring] in
      guard word.utf8.contains(UInt8(ascii: "-")) else { return [word] }
      var start = word.startIndex
      var pieces: [Substring] = []
      for index in word.indices where index > start && word[index].isLetter {
        let before = word[start..<index]
        guard before.last == "-", before.utf8.count > 1 else { continue }
        pieces.append(before)
        start = index
      }
      return pieces + [word[start...]]
    }
  }

  /// The approximate width of a letter in em: a first guess of line breaks, so that few lines are measured.
  private static let letter = 0.4

  private func paragraph(_ text: String, _ style: TextStyle, _ width: Double, _ alignment: TextAlignment) -> Block {
    var lines: [SignedLine<Run>] = []
    func line(_ start: String.Index, _ end: String.Index) -> SignedLine<Run> {
      self.line(String(text[start..<end]), style)
    }
    for part in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let words = Typeface.words(of: part)
      // The line begins at `start`; `next` is the first word that is not yet in the line.
      var (start, next) = (part.startIndex, 0)
      while next < words.count {
        func fits(_ last: Int) -> Bool { line(start, words[last].endIndex).width <= width }
        let guess = text.utf8.index(
          start, offsetBy: Int(width / (style.size * Typeface.letter)), limitedBy: part.endIndex)
        var last = max(next, (words[next...].firstIndex { $0.endIndex > guess ?? part.endIndex } ?? words.count) - 1)
        if fits(last) {
          while last + 1 < words.count, fits(last + 1) { last += 1 }
        } else {
          repeat { last -= 1 } while last >= next && !fits(last)
        }
        next = max(next, last + 1)
        guard next < words.count else { break }
        if start < words[next].startIndex {
          lines.append(line(start, words[next - 1].endIndex))
          start = words[next].startIndex
        } else {
          // A word wider than the column is broken at the column's end.
          for index in words[next].indices where index > start {
            guard line(start, words[next].index(after: index)).width > width else { continue }
            lines.append(line(start, index))
            start = index
          }
          next += 1
        }
      }
      lines.append(line(start, part.endIndex))
    }
    let placed = lines.map { line -> (line: SignedLine<Run>, x: Double) in
      let room = max(0, width - line.width)
      return (line, alignment == .left ? 0 : alignment == .center ? room / 2 : room)
    }
    return Block(text, style, placed)
  }

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
