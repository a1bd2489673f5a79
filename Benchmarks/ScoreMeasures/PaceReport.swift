import Base
import GameScore
import Oracle
import Records
import ScoreModel
import ScoreFormats
import ScoreIO
import TicTacToe
import Tintinnabuli

/// Measures how many bars of moves are heard up to their long note (their last note), with realistic thinking times.
package struct PaceReport: Sendable {
  package static let medians = [
    (name: "quick", seconds: 1.5), (name: "median", seconds: 4), (name: "slow", seconds: 12),
  ]
  /// Twenty equally likely thinking times as multiples of their median, from a log-normal distribution with σ = 0.65.
  package static let spread = [
    0.28, 0.39, 0.47, 0.55, 0.61, 0.68, 0.75, 0.81, 0.88, 0.96, 1.04, 1.13, 1.23, 1.34, 1.48, 1.64, 1.83, 2.11, 2.55,
    3.58,
  ]

  package let pace: String
  /// Whether O's replies come on the beats of the music; otherwise O is a person, as X always is.
  package let hasOpponent: Bool
  /// The number of bars of moves. Bars of takebacks and of the closing music do not count.
  package private(set) var bars = 0
  /// The number of those bars whose last, long note was heard: the bar was not cut, or was cut `gestures.heard` seconds or more after that
  /// note began.
  package private(set) var reached = 0
  package private(set) var pairs = 0
  /// Seconds from each heard long note (a bar's last note) to the next. A cut long note counts when the next bar repeats it in the bass.
  package private(set) var between: [Double] = []

  package var share: Double { bars == 0 ? 1 : Double(reached) / Double(bars) }

  package static func all(_ records: [Record], rules: ScoreRules, paces: String = "all") -> [PaceReport] {
    medians.filter { paces == "all" || $0.name == paces }.flatMap { pace in
      [false, true].map { hasOpponent in
        var report = PaceReport(pace: pace.name, hasOpponent: hasOpponent)
        for record in records { report.add(record, median: pace.seconds, rules: rules) }
        return report
      }
    }
  }

  private mutating func add(_ record: Record, median: Double, rules: ScoreRules) {
    let seed = record.seed ?? 1
    var generator = SplitMix64(seed: seed, index: 0x9ACE)
    var conductor = GameConductor(seed: seed, rules: rules)
    conductor.music.autoReplyVoices = hasOpponent ? [.second] : []
    _ = conductor.handle(.opened(resuming: false), at: .zero)
    _ = conductor.handle(.gameStarted(record.game.startState, human: hasOpponent ? .x : nil), at: .zero)
    var now = Tick.seconds(rules.opening.phrase)
    for move in record.game.variantMoves {
      now =
        hasOpponent && move.mover == .o
        ? conductor.music.replySlot(ready: now + .milliseconds(200))
        : now + .seconds(median * Self.spread[generator.below(Self.spread.count)])
      _ = conductor.music.advance(to: now - Conductor.lookahead)
      _ = conductor.handle(.moved(move), at: now)
    }
    _ = conductor.music.renderToEnd()
    var last: Tick?
    func hear(_ moment: Tick) {
      if let last { between.append((moment - last).seconds) }
      last = moment
    }
    for bar in conductor.music.bars {
      guard let long = (bar.pairs.last?.m ?? bar.pairs.last?.t)?.onset, bar.kind != .undo else { continue }
      // A bass note after the downbeat repeats the long note that this bar has cut.
      for note in bar.pairs[0].bass where note.onset > .zero {
        let held = min(bar.cut ?? note.onset + note.duration, note.onset + note.duration) - note.onset
        if held.seconds >= 2 * rules.bars.quickest { hear(bar.start + note.onset) }
      }
      let isHeard = bar.cut.map { $0 >= long + .seconds(rules.gestures.heard) } ?? true
      if bar.kind == .move {
        bars += 1
        pairs += bar.pairs.count
        if isHeard { reached += 1 }
      }
      if isHeard { hear(bar.start + long) }
    }
  }

  package static func text(_ reports: [PaceReport]) -> String {
    var lines = [
      "pace    against   bars  reach their long note  pairs a bar  seconds between long notes: 10 %, half, 90 %, most"
    ]
    for report in reports {
      let sorted = report.between.sorted()
      func at(_ share: Double) -> String {
        sorted.isEmpty ? "–" : fixed(sorted[Int(share * Double(sorted.count - 1))], 1).paddedLeft(to: 5)
      }
      lines.append(
        report.pace.padded(to: 8) + (report.hasOpponent ? "opponent" : "people").padded(to: 10)
          + "\(report.bars)".paddedLeft(to: 4) + (fixed(100 * report.share, 1) + " %").paddedLeft(to: 23)
          + fixed(Double(report.pairs) / Double(max(report.bars, 1)), 1).paddedLeft(to: 13) + "  "
          + [0.1, 0.5, 0.9, 1].map(at).joined(separator: " "))
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
