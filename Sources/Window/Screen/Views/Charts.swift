import Interface
import TicTacToe

/// A bar: wins solid, draws hatched, losses open, distinguishable without colour.
final class TallyRow: PageRow {
  let name: String
  let tally: Tally
  /// The number of games in the longest row, which sets the scale of all bars.
  let most: Int

  init(context: ViewContext, name: String, tally: Tally, most: Int) {
    (self.name, self.tally) = (name, tally)
    self.most = max(1, most)
    super.init(context: context)
    gapAfter = 0.15
  }

  override var accessibilityText: String? {
    let words = [(tally.wins, Phrase.wins), (tally.draws, .draws), (tally.losses, .losses)].map {
      "\($0.0) \(context.text($0.1))"
    }
    return "\(name): \(words.joined(separator: ", "))"
  }

  override func height(_ width: Double) -> Double { em * 1.75 }

  override func draw(_ canvas: Canvas) {
    let baseline = frame.y + em * 1.2
    let nameWidth = min(em * 8, frame.width * 0.3)
    canvas.saved {
      canvas.clip(Rect(frame.x, frame.y, nameWidth - em * 0.4, frame.height))
      canvas.text(name, TextStyle(em), context.typeface, x: frame.x, baseline: baseline, theme.ink)
    }
    let numbers = "\(tally.wins) · \(tally.draws) · \(tally.losses)"
    canvas.text(
      numbers, TextStyle(em), context.typeface, x: frame.maxX, baseline: baseline, alignment: .right,
      theme.faintInk)
    let room = frame.width - nameWidth - em * 5.2
    guard room > em else { return }
    let unit = room / Double(most)
    let bar = Rect(frame.x + nameWidth, baseline - em * 0.68, 0, em * 0.72)
    canvas.stackedBar(tally, from: bar, unit: unit, context)
  }
}

extension Canvas {
  /// `unit`: the width of one game in pixels.
  func stackedBar(_ tally: Tally, from bar: Rect, unit: Double, _ context: ViewContext) {
    let theme = context.theme
    let line = max(1, context.metrics.em * 0.055)
    var x = bar.x
    let wins = Double(tally.wins) * unit
    fill(Rect(x, bar.y, wins, bar.height), theme.ink)
    x += wins
    let draws = Double(tally.draws) * unit
    saved {
      let area = Rect(x, bar.y, draws, bar.height)
      clip(area)
      var at = x - bar.height
      while at < x + draws {
        self.line(Point(at, bar.maxY), Point(at + bar.height, bar.y), width: line, theme.ink)
        at += max(3, context.metrics.em * 0.24)
      }
    }
    x += draws
    let end = x + Double(tally.losses) * unit
    if end > bar.x {
      for y in [bar.y, bar.maxY - line] { fill(Rect(bar.x, y, end - bar.x, line), theme.ink) }
      for edge in [x - line / 2, end - line] where edge > bar.x { fill(Rect(edge, bar.y, line, bar.height), theme.ink) }
    }
  }
}

/// Nine cells, each with a tally of the games that began in the cell.
final class OpeningsRow: PageRow {
  let openings: [Tally]

  init(context: ViewContext, openings: [Tally]) {
    self.openings = openings
    super.init(context: context)
  }

  override func arrange(x: Double, y: Double, width: Double) -> Double {
    let side = min(width, em * 13)
    frame = Rect(x + (width - side) / 2, y, side, side * 0.72)
    return side * 0.72
  }

  override func draw(_ canvas: Canvas) {
    let w = frame.width / 3
    let h = frame.height / 3
    for i in 1...2 {
      canvas.fill(Rect(frame.x + Double(i) * w, frame.y, 1, frame.height), theme.line)
      canvas.fill(Rect(frame.x, frame.y + Double(i) * h, frame.width, 1), theme.line)
    }
    for square in Square.all {
      let tally = openings[square.index]
      guard tally.games > 0 else { continue }
      let x = frame.x + Double(square.column) * w
      let y = frame.y + Double(square.row) * h
      canvas.text(
        "\(tally.games)", TextStyle(em), context.typeface, x: x + w / 2, baseline: y + h * 0.48,
        alignment: .center, theme.ink)
      let bar = Rect(x + w * 0.14, y + h * 0.62, 0, h * 0.18)
      canvas.stackedBar(tally, from: bar, unit: w * 0.72 / Double(tally.games), context)
    }
  }
}

/// Results in time order as notes on a staff: a win high, a draw in the middle, a loss low.
final class MelodyRow: PageRow {
  let results: [Int]

  init(context: ViewContext, results: [Int]) {
    self.results = results
    super.init(context: context)
  }

  override func height(_ width: Double) -> Double { em * 3.4 }

  override func draw(_ canvas: Canvas) {
    let space = (em * 0.42).rounded()
    let bottom = (frame.midY + space * 2).rounded()
    for line in 0..<5 {
      canvas.fill(Rect(frame.x, bottom - Double(line) * space, frame.width, 1), theme.line)
    }
    let pitch = space * 2.6
    let room = Int((frame.width - space * 2) / pitch)
    for (index, result) in results.suffix(max(1, room)).enumerated() {
      let y = bottom - space * (2 + Double(result) * 2) + 0.5
      let x = frame.x + space * 1.6 + Double(index) * pitch
      let glyph = result == 0 ? Glyphs.openHead : Glyphs.blackHead
      canvas.fill(glyph.scaled(space, space).moved(x, y), result < 0 ? theme.faintInk : theme.ink)
    }
  }
}

final class LegendRow: PageRow {
  override func height(_ width: Double) -> Double { em * 1.4 }

  override func draw(_ canvas: Canvas) {
    var x = frame.x
    let parts: [(Phrase, Tally)] = [(.wins, Tally(wins: 1)), (.draws, Tally(draws: 1)), (.losses, Tally(losses: 1))]
    for (phrase, tally) in parts {
      canvas.stackedBar(tally, from: Rect(x, frame.y + em * 0.3, 0, em * 0.72), unit: em * 1.4, context)
      let word = context.typeface.block(context.text(phrase), TextStyle(em * 0.95, italic: true))
      canvas.draw(word, at: Point(x + em * 1.8, frame.y + em - word.baseline), theme.faintInk)
      x += em * 3 + word.width
    }
  }
}
