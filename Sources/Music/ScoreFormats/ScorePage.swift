import GameScore
import ScoreModel
import Tintinnabuli

/// The score as a picture of vector shapes, which the SVG and PNG writers draw.
package struct ScorePage: Sendable {
  /// A shape of the page; lengths in points, grey from 0 (black) to 1 (white).
  package enum Shape: Sendable, Hashable {
    case line(x1: Double, y1: Double, x2: Double, y2: Double, width: Double, grey: Double = ink)
    /// A note head or petal, rotated by `turn` degrees.
    case ellipse(
      x: Double, y: Double, rx: Double, ry: Double, turn: Double = 0, isFilled: Bool = true, grey: Double = ink)
    /// Cubic curves: a starting point, then three points for each curve.
    case curve(points: [[Double]], width: Double, grey: Double = ink)
    case text(
      x: Double, y: Double, size: Double, text: String, isItalic: Bool = false, isCentered: Bool = false,
      grey: Double = pale)

    /// The grey of notes (`ink`) and the grey of text (`pale`).
    package static let (ink, pale) = (0.12, 0.42)
  }

  /// The page's width in points; below 1,400 if the score is a single short line.
  package private(set) var width = 1_400.0
  package private(set) var height = 0.0
  package private(set) var shapes: [Shape] = []

  /// A line of bars, and the factor by which the bars are widened to fill the page.
  private struct System {
    var bars: [Bar]
    var stretch = 1.0
  }

  /// The top of each system, in points from the page's top.
  private var tops: [Double] = []
  private let scale: Scale
  /// Half the distance between staff lines, in points.
  private let step = 4.5
  private let margin = 70.0

  /// Lays out the bars that sounded, with a title and a subtitle; an excerpt has no final double bar.
  package init(_ bars: [Bar], rules: ScoreRules, title: String, subtitle: String, isExcerpt: Bool = false) {
    scale = rules.scale
    let systems = systems(bars.filter { !$0.sounding.isEmpty })
    if systems.count == 1 { width = max(2 * margin + width(of: systems[0]), 700) }
    var y = 70.0
    shapes.append(.text(x: width / 2, y: y, size: 34, text: title, isCentered: true, grey: Shape.ink))
    if !subtitle.isEmpty {
      shapes.append(.text(x: width / 2, y: y + 30, size: 17, text: subtitle, isItalic: true, isCentered: true))
    }
    y += 130
    for (index, system) in systems.enumerated() {
      draw(system, endsMusic: index == systems.count - 1 && !isExcerpt, top: y)
      tops.append(y)
      y += 330
    }
    height = y - 20
  }

  /// Splits the page between systems (lines of bars) into pieces at most `limit` points high, from top to bottom.
  package func pieces(of limit: Double) -> [Range<Double>] {
    // A cut 62 points above a system leaves room for its captions and for the ledger lines of the system before.
    let cuts = tops.dropFirst().map { $0 - 62 }
    var pieces: [Range<Double>] = []
    var begin = 0.0
    for (cut, foot) in zip(cuts, cuts.dropFirst() + [height]) where foot - begin > limit {
      pieces.append(begin..<cut)
      begin = cut
    }
    return pieces + [begin..<height]
  }

  private func width(of pair: Pair) -> Double { pair.isLong ? 70 : 38 }
  private func width(of bar: Bar) -> Double { bar.sounding.reduce(26) { $0 + width(of: $1) } }
  private func width(of system: System) -> Double {
    prelude + system.stretch * system.bars.reduce(0) { $0 + width(of: $1) }
  }
  private var prelude: Double { 58 + 11 * Double(scale.signature.count) }

  /// Breaks bars into lines and stretches each line to the margins. A last line that would need a factor above 1.6 is not stretched.
  private func systems(_ bars: [Bar]) -> [System] {
    var systems: [System] = []
    let room = width - 2 * margin - prelude
    var used = 0.0
    func justify() {
      guard let last = systems.indices.last else { return }
      systems[last].stretch = room / used
    }
    for bar in bars {
      if systems.isEmpty || used + width(of: bar) > room {
        justify()
        systems.append(System(bars: []))
        used = 0
      }
      systems[systems.count - 1].bars.append(bar)
      used += width(of: bar)
    }
    justify()
    if let last = systems.indices.last, systems[last].stretch > 1.6 { systems[last].stretch = 1 }
    return systems
  }

  /// The vertical positions of the bottom lines of a system's three staves.
  private func bottoms(_ top: Double) -> [Double] { [top + 8 * step, top + 100 + 8 * step, top + 200 + 8 * step] }

  private mutating func draw(_ system: System, endsMusic: Bool, top: Double) {
    let bottoms = bottoms(top)
    let right = margin + width(of: system)
    for bottom in bottoms {
      for line in 0..<5 {
        let y = bottom - Double(2 * line) * step
        shapes.append(.line(x1: margin, y1: y, x2: right, y2: y, width: 0.7, grey: 0.55))
      }
    }
    barline(margin, top, bottoms, 1)
    for (index, bottom) in bottoms.enumerated() {
      if index < 2 { trebleClef(margin + 20, bottom) } else { bassClef(margin + 12, bottom) }
      drawSignature(margin + 44, bottom, isBass: index == 2)
    }
    var x = margin + prelude
    for bar in system.bars {
      draw(bar, left: x, stretch: system.stretch, top: top, bottoms: bottoms)
      x += system.stretch * width(of: bar)
      // A bar that the next bar cut short ends with a thinner barline than other bars.
      if endsMusic && bar.index == system.bars.last?.index {
        barline(x - 7, top, bottoms, 0.9)
        barline(x - 1.5, top, bottoms, 3.2)
      } else {
        barline(x, top, bottoms, bar.cut == nil ? 0.9 : 0.45)
      }
    }
  }

  private mutating func barline(_ x: Double, _ top: Double, _ bottoms: [Double], _ width: Double) {
    shapes.append(.line(x1: x, y1: top, x2: x, y2: bottoms[2], width: width, grey: 0.4))
  }

  private mutating func draw(_ bar: Bar, left: Double, stretch: Double, top: Double, bottoms: [Double]) {
    let words = bar.caption
    if bar.kind == .move {
      shapes.append(.text(x: left + 8, y: top - 46, size: 11, text: "\(bar.ply)"))
    }
    if !words.isEmpty {
      shapes.append(.text(x: left + 20, y: top - 46, size: 13, text: words, isItalic: true))
    }
    var x = left + 14 + 8 * (stretch - 1)
    for pair in bar.sounding {
      let roll = bar.voice == .second && pair.m != nil && pair.t != nil ? 4.0 : 0
      if let m = pair.m { head(x + roll, bottoms[0], 30, m.pitch, isLong: pair.isLong) }
      if let t = pair.t { head(x - roll / 2, bottoms[1], 30, t.pitch, isLong: pair.isLong) }
      if let t = pair.answer { head(x + stretch * 19, bottoms[1], 30, t.pitch, isLong: false) }
      for note in pair.bass { head(x, bottoms[2], 18, note.pitch, isLong: true) }
      if pair.isAwakening { flower(x, top - 28) }
      x += stretch * width(of: pair)
    }
  }

  /// Draws a note head without a stem. `lowest` is the note on the staff's bottom line, in letters counted from C0: 30 is E4, 18 is G2.
  private mutating func head(_ x: Double, _ bottom: Double, _ lowest: Int, _ pitch: Pitch, isLong: Bool) {
    let spelling = scale.spelling(of: pitch.midi)
    let place = 7 * spelling.octave + spelling.letter - lowest
    let y = bottom - Double(place) * step
    for ledger in Array(stride(from: -2, through: place, by: -2)) + Array(stride(from: 10, through: place, by: 2)) {
      let y = bottom - Double(ledger) * step
      shapes.append(.line(x1: x - 9, y1: y, x2: x + 9, y2: y, width: 0.8, grey: 0.45))
    }
    shapes.append(
      .ellipse(
        x: x, y: y, rx: isLong ? 6.6 : 5.4, ry: isLong ? 4.0 : 3.8, turn: isLong ? 0 : -22, isFilled: !isLong))
    if spelling.alteration != scale.alterationInKey(of: spelling.letter) { accidental(x - 13, y, spelling.alteration) }
  }

  private mutating func flower(_ x: Double, _ y: Double) {
    for (dx, dy, turn) in [(0.0, -4.0, 90.0), (3.8, -1.2, 18), (2.4, 3.2, -54), (-2.4, 3.2, 54), (-3.8, -1.2, -18)] {
      shapes.append(.ellipse(x: x + dx, y: y + dy, rx: 3.1, ry: 1.9, turn: turn, isFilled: false, grey: Shape.pale))
    }
    shapes.append(.ellipse(x: x, y: y, rx: 1.2, ry: 1.2))
  }

  // MARK: Key signature and clefs

  private mutating func drawSignature(_ x: Double, _ bottom: Double, isBass: Bool) {
    for (index, sign) in scale.signature.enumerated() {
      // On a bass staff each letter lies two positions lower than on a treble staff.
      let y = bottom - Double(sign.treblePlace - (isBass ? 2 : 0)) * step
      accidental(x + 11 * Double(index), y, sign.alteration)
    }
  }

  private mutating func accidental(_ x: Double, _ y: Double, _ alteration: Int) {
    switch alteration {
    case 1:
      for dx in [-1.8, 1.8] {
        shapes.append(.line(x1: x + dx, y1: y - 8 + dx / 3, x2: x + dx, y2: y + 9 + dx / 3, width: 0.9))
      }
      for dy in [-2.6, 2.6] {
        shapes.append(.line(x1: x - 4, y1: y + dy + 1.2, x2: x + 4, y2: y + dy - 1.2, width: 2.1))
      }
    case -1:
      shapes.append(.line(x1: x - 2.5, y1: y - 13, x2: x - 2.5, y2: y + 4.5, width: 0.9))
      shapes.append(
        .curve(points: [[x - 2.5, y - 1], [x + 1, y - 5.5], [x + 5.5, y - 3], [x - 2.5, y + 4.5]], width: 1.4))
    default:
      for dx in [-2.4, 2.4] {
        shapes.append(
          .line(x1: x + dx, y1: y - (dx < 0 ? 10 : 5), x2: x + dx, y2: y + (dx < 0 ? 5 : 10), width: 0.9))
      }
      for dy in [-3.4, 3.4] {
        shapes.append(.line(x1: x - 2.4, y1: y + dy + 0.8, x2: x + 2.4, y2: y + dy - 0.8, width: 1.8))
      }
    }
  }

  private mutating func trebleClef(_ x: Double, _ bottom: Double) {
    let s = step
    func at(_ dx: Double, _ up: Double) -> [Double] { [x + dx * s, bottom - up * s] }
    shapes.append(
      .curve(
        points: [
          at(0.4, 1.2), at(-1.6, 1.2), at(-1.8, 3.6), at(0.2, 3.8), at(2.6, 4), at(2.9, 0.2), at(0.1, 0.1),
          at(-3.6, 0), at(-3.8, 3.6), at(-1.4, 5.6), at(0.6, 7.4), at(2.2, 8.6), at(1.5, 10.6), at(1, 12), at(-0.8, 11),
          at(-0.6, 8), at(-0.4, 5), at(0.6, 0.5), at(0.9, -2.2), at(1.1, -4.4), at(-1.9, -4.4), at(-1.9, -2.7),
        ], width: 1.7))
    shapes.append(.ellipse(x: x - 1.3 * s, y: bottom + 2.5 * s, rx: 3, ry: 3))
  }

  private mutating func bassClef(_ x: Double, _ bottom: Double) {
    let s = step
    func at(_ dx: Double, _ up: Double) -> [Double] { [x + dx * s, bottom - up * s] }
    shapes.append(.ellipse(x: x + 0.3 * s, y: bottom - 6 * s, rx: 3.2, ry: 3.2))
    shapes.append(
      .curve(
        points: [at(-0.4, 6.2), at(-0.2, 8.6), at(4, 8.6), at(4, 5.6), at(4, 3.2), at(1.6, 1.6), at(-0.8, 0.8)],
        width: 2))
    for up in [5.0, 7.0] {
      shapes.append(.ellipse(x: x + 5.4 * s, y: bottom - up * s, rx: 1.5, ry: 1.5))
    }
  }
}
