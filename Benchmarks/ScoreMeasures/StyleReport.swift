import Base
import GameScore
import Records
import ScoreModel
import ScoreFormats
import ScoreIO
import TicTacToe
import Tintinnabuli

package struct StyleReport: Sendable {
  package private(set) var games = 0
  /// Measures of all bars that have a note of M, none of them cut.
  package private(set) var style = StyleMeasures()
  /// Those of `allBars` that have as many pairs as the rules demand.
  private var lawfulLengths = 0
  private var allBars = 0
  /// The most pairs in one game that sound an awakening (a win can no longer be prevented).
  private var mostAwakenings = 0
  /// The number of `longBars` whose M notes are those of an earlier bar of the game.
  package private(set) var repeats = 0
  /// Bars with at least four notes of M, except those that quote an earlier bar because a position was repeated.
  package private(set) var longBars = 0
  private var roughness: [String: (sum: Double, time: Double)] = [:]

  package init() {}

  /// Adds a game, composed so that no bar is cut.
  package mutating func add(_ record: Record, rules: ScoreRules) {
    let rendition = Rendition(of: record, rules: rules, uncut: true)
    games += 1
    let bars = rendition.bars.filter { [.move, .sentence, .closing].contains($0.kind) }
    if !record.game.variant.isLong {
      let plies = record.game.cells.count
      let start = record.game.startState.plies
      let outcome = record.game.end?.outcome
      // A won game ends with a bar of one long pair, after the bars of the motto (the notes of the winner's first moves).
      let expected =
        (0..<plies).map { rules.bars.usualPairs(ply: start + $0 + 1) }
        + (outcome == nil ? [] : rules.bars.closing(plies: start + plies))
        + (outcome == nil || outcome == .draw ? [] : [1])
      allBars += max(bars.count, expected.count)
      lawfulLengths += zip(bars, expected).count { $0.pairs.count == $1 }
    } else {
      allBars += bars.count
      lawfulLengths += bars.indices.count { Self.isLawful(bars[$0], after: $0 > 0 ? bars[$0 - 1] : nil, rules) }
    }
    add(bars, scale: rules.scale)
  }

  /// Adds a piece that was not composed from a game: the number of pairs in its bars follows no rule.
  package mutating func add(piece bars: [Bar], scale: Scale) {
    games += 1
    add(bars.filter { [.move, .sentence, .closing].contains($0.kind) }, scale: scale)
  }

  private mutating func add(_ bars: [Bar], scale: Scale) {
    mostAwakenings = max(mostAwakenings, bars.flatMap(\.pairs).count(where: \.isAwakening))
    var heard: Set<[Pitch]> = []
    for bar in bars {
      if bar.pairs.contains(where: { $0.m != nil }) { style.add(bar, scale: scale) }
      let line = bar.pairs.compactMap { $0.m?.pitch }
      // The bar of a repeated position (its sign is `returns:N`) quotes the earlier bar's melody on purpose.
      if line.count >= 4, !bar.signs.contains(where: { $0.hasPrefix("returns:") }) {
        longBars += 1
        if !heard.insert(line).inserted { repeats += 1 }
      }
      if bar.kind == .move, let sign = bar.signs.first, let rough = Roughness.of([bar]) {
        let time = bar.pairs.reduce(0) { $0 + ($1.m?.duration.seconds ?? 0) }
        let old = roughness[sign] ?? (0, 0)
        roughness[sign] = (old.sum + rough * time, old.time + time)
      }
    }
  }

  /// After an arch's first bar, a bar has one pair fewer than the bar before, or three (the motto), or one (the arch's last bar).
  private static func isLawful(_ bar: Bar, after last: Bar?, _ rules: ScoreRules) -> Bool {
    let count = bar.pairs.count
    if bar.kind == .move {
      return rules.sentences.pairs.contains(count) || (count <= 4 && bar.pairs.contains { $0.m == nil })
    }
    guard let last, last.kind == bar.kind, last.start < bar.start else { return true }
    return count == last.pairs.count - 1 || count == 3 || (count == 1 && bar.kind == .closing)
  }

  /// The roughness of M–T pairs in the bars of moves whose first sign is `sign`, weighted by duration; `nil` without such pairs.
  package func roughness(of sign: String) -> Double? {
    roughness[sign].flatMap { $0.time > 0 ? $0.sum / $0.time : nil }
  }

  package var rows: [(name: String, value: String, wanted: String, holds: Bool)] {
    func percent(_ x: Double) -> String { fixed(100 * x, 1) + " %" }
    let conforming = style.pairs == 0 ? 1 : Double(style.conforming + style.awakenings) / Double(style.pairs)
    let lengths = allBars == 0 ? 1 : Double(lawfulLengths) / Double(allBars)
    let even = style.rhythms[.even] ?? 0
    let rhythms = Bar.Rhythm.allCases.compactMap { rhythm in style.rhythms[rhythm].map { (rhythm, $0) } }
    let win = roughness(of: "win")
    let calm = roughness(of: "calm")
    let threat = roughness(of: "threat")
    let rough = [win, calm, threat].compactMap { $0 }
    return [
      (
        "T-rule conformance", percent(conforming), "100 % but for awakenings, at most one a game",
        conforming == 1 && mostAwakenings <= 1
      ),
      ("awakenings in one game, at most", "\(mostAwakenings)", "0–1", mostAwakenings <= 1),
      ("bar-length law", percent(lengths), "100 %", lengths == 1),
      (
        "one long note in an even bar, last", percent(even == 0 ? 1 : Double(style.lawful) / Double(even)), "100 %",
        style.lawful == even
      ),
      (
        "bars by rhythm",
        rhythms.map { "\($0.rawValue) \(percent(Double($1) / Double(max(style.bars, 1))))" }.joined(separator: ", "),
        "as the rules say", true
      ),
      ("M entropy", fixed(style.entropy, 2) + " bits", "2.40–2.80", (2.4...2.8).contains(style.entropy)),
      ("steps", percent(style.stepShare), "50–70 %", (0.5...0.7).contains(style.stepShare)),
      ("triad share of M", percent(style.triadShare), "50–75 %", (0.5...0.75).contains(style.triadShare)),
      ("seconds", percent(style.secondShare), "20–45 %", (0.2...0.45).contains(style.secondShare)),
      ("exact repeats within a game", "\(repeats) of \(longBars)", "0", repeats == 0),
      (
        "roughness win < calm < threat",
        [win, calm, threat].map { $0.map { fixed($0, 3) } ?? "–" }.joined(separator: " "),
        "rising", rough.count > 1 && rough == rough.sorted()
      ),
    ]
  }

  package var json: String {
    func quoted(_ text: String) -> String { "\"\(text.replacing("\"", with: "'"))\"" }
    let rows = rows.map {
      "{\"measure\":\(quoted($0.name)),\"value\":\(quoted($0.value)),\"wanted\":\(quoted($0.wanted)),\"holds\":\($0.holds)}"
    }
    let numbers = [
      "\"games\":\(games)", "\"bars\":\(style.bars)", "\"pairs\":\(style.pairs)",
      "\"entropy\":\(fixed(style.entropy, 4))",
      "\"steps\":\(fixed(style.stepShare, 4))", "\"triad\":\(fixed(style.triadShare, 4))",
      "\"seconds\":\(fixed(style.secondShare, 4))",
      "\"roughness\":{\(["win", "calm", "threat"].map { "\"\($0)\":\(roughness(of: $0).map { fixed($0, 4) } ?? "null")" }.joined(separator: ","))}",
    ]
    return "{\(numbers.joined(separator: ",")),\"rows\":[\(rows.joined(separator: ","))]}"
  }

  package var text: String {
    let rows = rows
    let name = rows.map(\.name.count).max() ?? 0
    let value = rows.map(\.value.count).max() ?? 0
    let head = "\(games) games, \(style.bars) bars, \(style.pairs) pairs\n"
    return head
      + rows.map {
        "\($0.name.padded(to: name))  \($0.value.padded(to: value))  \($0.holds ? "ok " : "NO ") \($0.wanted)\n"
      }
      .joined()
  }
}
