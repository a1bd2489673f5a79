import Base
import Foundation
import GameScore
import Oracle
import Records
import ScoreFormats
import ScoreIO
import ScoreModel
import Synth
import TicTacToe
import Tintinnabuli

/// Plays given games one after another and measures the form of their music: with thinking times such as people have, at three paces, and
/// with the replies of computers, for two hours.
package struct FormReport: Sendable {
  package typealias Row = (name: String, value: String, wanted: String, holds: Bool)

  package private(set) var rows: [Row] = []

  package init(_ records: [Record], rules: ScoreRules) {
    for pace in PaceReport.medians { add(Session(records, rules: rules, median: pace.seconds), pace.name) }
    listen(records, rules)
    ends(Session(records, rules: rules, median: 4))
    dynamics(Session(Array(records.prefix(30)), rules: rules, median: 4), rules)
  }

  private mutating func add(_ session: Session, _ pace: String) {
    let arches = session.games.count { $0.count(where: { $0.kind == .closing }) >= 4 }
    share("\(pace): arches of four bars or more", arches, of: session.games.count, least: 90)
    let late = session.games.count { Self.growsAndShrinks($0) }
    let home = zip(session.games, session.tonics).count { Self.endsAtHome($0, tonic: $1) }
    share("\(pace): ends on the tonic, under M of its triad", home, of: session.games.count, least: 95)
    share("\(pace): a longest bar in the middle third or later", late, of: session.games.count, least: 90)
    let rest = session.firstRest
    rows.append(("\(pace): longest rest before a first echo", fixed(rest, 1) + " s", "<= 8 s", rest <= 8.01))
    let (repeats, bars) = Self.repeats(session.games.flatMap { $0 })
    let value = 100 * Double(repeats) / Double(max(bars, 1))
    rows.append(("\(pace): bars heard note for note in half an hour", percent(value), "<= 15 %", value <= 15))
  }

  private mutating func listen(_ records: [Record], _ rules: ScoreRules) {
    let session = Session(records, rules: rules, median: nil, until: .seconds(7_200))
    var (long, all) = (0, 0)
    for bar in session.games.flatMap({ $0 }) where bar.kind == .move && bar.rhythm == .even && bar.pairs.count > 1 {
      all += 1
      let onsets = bar.pairs.compactMap { ($0.m ?? $0.t)?.onset }
      guard let last = onsets.last else { continue }
      let longest = zip(onsets.dropFirst(), onsets).map { $0 - $1 }.max() ?? .zero
      // A bar's last note counts as long if it sounds more than three times as long as any earlier note of the bar.
      if (bar.cut ?? bar.end - bar.start) - last > Tick(rawValue: 3 * longest.rawValue) { long += 1 }
    }
    share("listening: long notes of more than three short ones", long, of: all, least: 85)
    let stations = Set(session.tonics.map(\.tonicSpelling.letterName)).count
    let cycle = max(Set(rules.tonics.map(\.letterName)).count, 1)
    rows.append(("listening: tonics of the cycle in two hours", "\(stations) of \(cycle)", "all", stations == cycle))
  }

  private mutating func ends(_ session: Session) {
    var (played, won) = (0, 0)
    for (record, bars) in zip(session.records, session.games) {
      guard case .win(let winner)? = record.game.end?.outcome else { continue }
      won += 1
      let motto = Self.motto(of: winner, in: record.game.variantMoves).compactMap { move in
        bars.first { $0.kind == .move && $0.ply == move.ply }?.pairs.first?.m?.pitch.midi
      }
      // In the closing bars the motto (the notes of the winner's first moves) comes just before the very last note.
      let last = bars.filter { $0.kind == .closing }.flatMap(\.pairs).compactMap { $0.m?.pitch.midi }.dropLast().suffix(
        motto.count)
      // Intervals in semitones, modulo octaves (0–11).
      func steps(_ notes: [Int]) -> [Int] { zip(notes.dropFirst(), notes).map { ($0 - $1 + 120) % 12 } }
      if steps(Array(last)) == steps(Array(motto)) { played += 1 }
    }
    share("won games whose last notes are the winner's motto", played, of: won, least: 100)
    let draws = zip(session.records, session.games).filter { $0.0.game.end?.outcome == .draw }.map { _, bars in
      bars.filter { $0.kind == .closing }.map { $0.pairs.map { $0.m?.pitch } }
    }
    let same = zip(draws.dropFirst(), draws).count { $0 == $1 }
    rows.append(("draws that end as the draw before", "\(same) of \(draws.count)", "0", same == 0))
  }

  /// The moves whose notes are the motto: the winner's first three, in Ultimate the first three on each board of the winning line.
  private static func motto(of winner: Player, in moves: [VariantMove]) -> [VariantMove] {
    let own = moves.filter { $0.mover == winner }
    guard let last = moves.last, !last.winningBoards.isEmpty else { return Array(own.prefix(3)) }
    return last.winningBoards.flatMap { board in own.filter { $0.board == board }.prefix(3) }
  }

  /// How many dB louder the modal piano plays the loudest bar than the quietest.
  private mutating func dynamics(_ session: Session, _ rules: ScoreRules) {
    let heard = session.bars.filter { $0.sounding.count > 1 }.compactMap { $0.meanVelocity }
    var range = 0.0
    if let soft = heard.min(), let hard = heard.max() {
      range = Self.level(UInt8(clamping: hard), rules) - Self.level(UInt8(clamping: soft), rules)
    }
    rows.append(
      ("from the quietest phrase of a session to the loudest", fixed(range, 1) + " dB", ">= 12 dB", range >= 12))
  }

  private mutating func share(_ name: String, _ part: Int, of all: Int, least: Double) {
    let value = all == 0 ? 100 : 100 * Double(part) / Double(all)
    rows.append((name, percent(value), (least == 100 ? "" : ">= ") + "\(Int(least)) %", value >= least))
  }

  private func percent(_ value: Double) -> String { fixed(value, 1) + " %" }

  /// Whether the last closing bar with M ends on the tonic. Without bass notes the bed, a soft low tone, plays the root.
  private static func endsAtHome(_ bars: [Bar], tonic: Scale) -> Bool {
    guard let bar = bars.last(where: { $0.kind == .closing && $0.pairs.last?.m != nil }), bar.root == 0,
      let pair = bar.pairs.last, let m = pair.m
    else { return false }
    let isTonic = pair.bass.map(\.pitch.midi).min().map { ($0 - tonic.tonic) % 12 == 0 }
    return tonic.isTriad(m.pitch.midi) && isTonic ?? true
  }

  /// Whether the longest bar comes after the first third of the game's bars. Phrases that extend a bar while a player thinks belong to it.
  private static func growsAndShrinks(_ bars: [Bar]) -> Bool {
    var lengths: [Int] = []
    for bar in bars where [.move, .phrase, .sentence, .closing].contains(bar.kind) {
      if bar.kind == .phrase, let last = lengths.indices.last {
        lengths[last] += bar.sounding.count
      } else {
        lengths.append(bar.sounding.count)
      }
    }
    guard let most = lengths.max(), let place = lengths.lastIndex(of: most) else { return false }
    return 3 * place >= lengths.count
  }

  /// The number of bars whose M and T notes equal those of a bar less than half an hour before, and the number of bars compared (`of`).
  private static func repeats(_ bars: [Bar]) -> (Int, of: Int) {
    var heard: [[Pitch?]: Tick] = [:]
    var (repeats, all) = (0, 0)
    for bar in bars where [.opening, .move, .phrase, .sentence, .closing].contains(bar.kind) && bar.pairs.count > 1 {
      all += 1
      let line = bar.pairs.flatMap { [$0.m?.pitch, $0.t?.pitch] }
      if let before = heard[line], bar.start - before < .seconds(1_800) { repeats += 1 }
      heard[line] = bar.start
    }
    return (repeats, all)
  }

  /// The level in dB of the lowest note of M's register, struck with velocity `touch`. Only differences between levels have a meaning.
  private static func level(_ touch: UInt8, _ rules: ScoreRules) -> Double {
    let note = ScoreEvent(
      frame: .zero, generation: 1, kind: .note, voice: .m, pitch: rules.melody.register.lowerBound, velocity: touch,
      duration: 48_000)
    var renderer = OfflineRenderer([note], engine: Engine(patch: Patch(rules)))
    let power = renderer.render(frames: 48_000).reduce(0.0) { $0 + Double($1) * Double($1) }
    return 10 * log10(power)
  }

  package var text: String {
    let name = rows.map(\.name.count).max() ?? 0
    return rows.map {
      "\($0.holds ? "ok " : "NO ") \($0.name.padded(to: name))  \($0.value.padded(to: 9)) \($0.wanted)\n"
    }
    .joined()
  }
}

extension FormReport {
  /// Consecutive games, with their bars as heard: with echoes, and cut by the next bar.
  private struct Session {
    let records: [Record]
    /// The bars of each game, without echoes and the bars of takebacks.
    private(set) var games: [[Bar]] = []
    private(set) var bars: [Bar] = []
    private(set) var tonics: [Scale] = []

    /// The longest time, in seconds, from the end of a bar to the first echo after it.
    var firstRest: Double {
      zip(bars, bars.dropFirst()).filter { $0.kind != .echo && $1.kind == .echo }.map { ($1.start - $0.end).seconds }
        .max() ?? 0
    }

    /// Plays all games once, or again and again until `end`. `median` is the median thinking time in seconds, `nil` for computers.
    init(_ records: [Record], rules: ScoreRules, median: Double?, until end: Tick? = nil) {
      self.records = records
      var generator = SplitMix64(seed: 7, index: 0xF0E)
      var conductor = GameConductor(seed: 7, rules: rules)
      if median != nil { conductor.music.autoReplyVoices = [] }
      _ = conductor.handle(.opened(resuming: false), at: .zero)
      var now = Tick.seconds(12)
      var index = 0
      while end.map({ now < $0 }) ?? (index < records.count) {
        let first = conductor.music.bars.count
        _ = conductor.music.advance(to: now - Conductor.lookahead)
        _ = conductor.handle(.gameStarted(records[index % records.count].game.startState, human: nil), at: now)
        tonics.append(conductor.music.rules.scale)
        for move in records[index % records.count].game.variantMoves {
          now =
            median.map { now + .seconds($0 * PaceReport.spread[generator.below(PaceReport.spread.count)]) }
            ?? conductor.music.replySlot(ready: now + .milliseconds(200))
          _ = conductor.music.advance(to: now - Conductor.lookahead)
          _ = conductor.handle(.moved(move), at: now)
        }
        _ = conductor.music.renderToEnd()
        games.append(conductor.music.bars.dropFirst(first).filter { ![.echo, .undo].contains($0.kind) })
        now = (conductor.music.bars.last?.end ?? now) + .seconds(3)
        index += 1
      }
      bars = conductor.music.bars
    }
  }
}
