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
  /// The room of an accidental in a line of text, in em.
  private static let accidentalAdvance = 0.34

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
      width = textWidth(id)
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
    /// The pieces and where they begin, from the block's left and its first baseline.
    fileprivate let pieces: [(run: Run, at: Point)]
    /// Accidentals to be drawn as paths: kind and the place of their left edge from the block's left.
    fileprivate let accidentals: [(isSharp: Bool, x: Double)]
    fileprivate let style: TextStyle
    private let text: String

    fileprivate init(
      _ text: String, _ style: TextStyle, _ pieces: [(run: Run, at: Point)],
      accidentals: [(isSharp: Bool, x: Double)] = [], width: Double, lines: Int = 1
    ) {
      (self.text, self.style, self.pieces, self.accidentals) = (text, style, pieces, accidentals)
      self.width = width
      height = style.size * (1 + Typeface.leading * Double(lines - 1))
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
    let block = width > 0 ? paragraph(text, style, width, alignment) : line(text, style)
    cache[key] = block
    return block
  }

  /// One line; ♯ and ♭, which the typeface lacks, are drawn, with room for them between the pieces.
  private func line(_ text: String, _ style: TextStyle) -> Block {
    var pieces: [(run: Run, at: Point)] = []
    var accidentals: [(isSharp: Bool, x: Double)] = []
    var x = 0.0
    var rest = ""
    func flush() {
      guard !rest.isEmpty else { return }
      let run = Run(rest, style)
      pieces.append((run, Point(x, 0)))
      x += run.width
      rest = ""
    }
    for scalar in text.unicodeScalars {
      if scalar == "♯" || scalar == "♭" {
        flush()
        accidentals.append((scalar == "♯", x))
        x += style.size * Typeface.accidentalAdvance
      } else {
        rest.unicodeScalars.append(scalar)
      }
    }
    flush()
    return Block(text, style, pieces, accidentals: accidentals, width: x)
  }

  private func paragraph(_ text: String, _ style: TextStyle, _ width: Double, _ alignment: TextAlignment) -> Block {
    var lines: [Run] = []
    for part in text.split(separator: "\n", omittingEmptySubsequences: false) {
      var line = ""
      for word in part.split(separator: " ", omittingEmptySubsequences: false) {
        let longer = line.isEmpty ? String(word) : line + " " + word
        if Run(longer, style).width <= width {
          line = longer
          continue
        }
        if !line.isEmpty { lines.append(Run(line, style)) }
        line = ""
        // A word broader than the column is broken where the column ends.
        for letter in word {
          if !line.isEmpty, Run(line + String(letter), style).width > width {
            lines.append(Run(line, style))
            line = ""
          }
          line.append(letter)
        }
      }
      lines.append(Run(line, style))
    }
    var pieces: [(run: Run, at: Point)] = []
    for (index, run) in lines.enumerated() {
      let room = max(0, width - run.width)
      let x = alignment == .left ? 0 : alignment == .center ? room / 2 : room
      pieces.append((run, Point(x, Double(index) * style.size * Typeface.leading)))
    }
    return Block(text, style, pieces, width: lines.map { $0.width }.max() ?? 0, lines: lines.count)
  }

  /// Draws a laid-out text with its top left at `origin`.
  fileprivate static func draw(_ block: Block, at origin: Point, _ color: Color, on canvas: Canvas) {
    canvas.setColor(color)
    let baseline = origin.y + block.baseline
    for piece in block.pieces { Commands.add(.text, id: piece.run.id, origin.x + piece.at.x, baseline + piece.at.y) }
    for sign in block.accidentals {
      let (size, space) = (block.style.size, block.style.size * 0.17)
      let at = Point(origin.x + sign.x + size * accidentalAdvance * 0.47, baseline - size * 0.3)
      canvas.fill((sign.isSharp ? Glyphs.sharp : Glyphs.flat).scaled(space, space).moved(at.x, at.y), color)
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
