import Base
import Oracle
import Records
import ScoreMeasures
import ScoreModel
import Testing
import TicTacToe

@testable import GameScore
@testable import ScoreIO
@testable import Tintinnabuli

private func game(_ variant: Variant, _ cells: String) throws -> Game {
  var game = Game(from: VariantState(startOf: variant))
  for name in cells.split(separator: " ") { try game.play(#require(variant.cell(named: name))) }
  return game
}

/// The record has no times, so each move comes at the end of the bar before it.
private func rendition(_ game: Game, seed: UInt64 = 5, rules: ScoreRules = rules) -> Rendition {
  var record = Record(game: game)
  record.seed = seed
  return Rendition(of: record, rules: rules, explains: true)
}

private func moves(_ rendition: Rendition) -> [Bar] { rendition.bars.filter { $0.kind == .move } }

/// Degrees of M from the lowest tonic up. O's notes are moved to X's register.
private func degrees(_ bar: Bar) -> [Int] {
  let octaves = rules.manner(of: bar.voice).octaves
  return bar.pairs.compactMap { $0.m.flatMap { rules.scale.degree(of: $0.pitch.midi - 12 * octaves) } }
}

private func played(_ variant: Variant, _ count: Int = 12, seed: UInt64 = 4) -> [(record: Record, music: Rendition)] {
  ReferenceGames.games(count, of: variant, seed: seed).map { ($0, Rendition(of: $0, rules: rules)) }
}

@Test(arguments: Variant.allCases.filter { $0.isLong })
func `A bar of a longer game has two to four note pairs, and the first bar two`(_ variant: Variant) {
  var counts: [Int: Int] = [:]
  for (record, music) in played(variant) {
    let bars = moves(music)
    #expect(bars.count == record.game.cells.count && bars[0].pairs.count == 2)
    for bar in bars { counts[bar.pairs.count, default: 0] += 1 }
  }
  #expect(counts.keys.sorted() == [2, 3, 4] && counts.values.allSatisfy { $0 > 10 }, "\(counts)")
}

@Test func `Infinite: a removed mark sounds as two falling notes of voice T alone, panned like the mover's notes`()
  throws
{
  var seen = 0
  for (record, music) in played(.infinite, 6) {
    for (move, bar) in zip(record.game.variantMoves, moves(music)) {
      let alone = bar.pairs.filter { $0.m == nil }
      guard let removed = move.removed else {
        #expect(alone.isEmpty || bar.rhythm == .held)
        continue
      }
      seen += 1
      let octaves = music.rules.manner(of: bar.voice).octaves
      let left = music.rules.cells[removed.index].midi + 12 * octaves
      let (first, second) = (try #require(alone.first?.t), try #require(alone.first?.answer))
      #expect(alone.count == 1 && bar.pairs.first?.m != nil && bar.pairs.last?.m != nil)
      #expect(first.pitch.midi == music.rules.scale.triadTone(-1, of: left))
      #expect(second.pitch.midi == music.rules.scale.triadTone(-2, of: left) && second.onset > first.onset)
      #expect(first.pan == bar.pairs[0].m?.pan)
    }
  }
  #expect(seen > 30)
}

@Test func `Infinite: a repeated position repeats its melody, and its bar has the sign of a repetition`() throws {
  // The position after ply 14 is the one after ply 6.
  let (earlier, later) = (6, 14)
  let game = try game(.infinite, "a1 a2 a3 b3 c3 c2 c1 b1 a1 a2 a3 b3 c3 c2")
  let music = rendition(game)
  let bars = moves(music)
  let (first, again) = (bars[earlier - 1], bars[later - 1])
  #expect(again.signs.contains("returns:\(earlier)"), "\(again.signs)")
  let (before, now) = (degrees(first), degrees(again))
  let common = min(before.count, now.count) - 1
  #expect(common >= 1 && Array(before.prefix(common)) == Array(now.prefix(common)), "\(before) \(now)")
  let sign = rules.signs.first { $0.when == [.again] }
  #expect(
    sign != nil && Explanation.text(music, record: Record(game: game)).contains("a position that has stood before"))
}

@Test func `Ultimate: each board has a root and a register, and T stays in its triad`() throws {
  var (pairs, home) = (0, 0)
  var centers: [Int: [Int]] = [:]
  for (record, music) in played(.ultimate) {
    for (move, bar) in zip(record.game.variantMoves, moves(music)) {
      let root = (music.rules.boards[move.board].midi - music.rules.boards[4].midi + 120) % 12
      #expect(root == music.rules.scale.steps[bar.root])
      var scale = music.rules.scale
      scale.root = bar.root
      for pair in bar.pairs where !pair.isAwakening {
        guard let m = pair.m?.pitch.midi, let t = pair.t?.pitch.midi else { continue }
        pairs += 1
        if !scale.isTriad(t) || t == m { Issue.record("\(bar)") }
        if music.rules.scale.isTriad(t) { home += 1 }
      }
      centers[move.board, default: []] += degrees(bar)
    }
  }
  // At least a tenth of the T notes are outside the tonic's triad.
  #expect(pairs > 1_000 && home < pairs * 9 / 10)
  func mean(_ board: Int) -> Double { Double(centers[board]!.reduce(0, +)) / Double(centers[board]!.count) }
  #expect(mean(0) > mean(6) + 1 && mean(2) > mean(8) + 1)
}

@Test func `Ultimate: the bed (the soft low tone) moves to the root of the next board before the next move`() throws {
  let game = try game(.ultimate, "e5 d4")
  let music = rendition(game)
  let bars = moves(music)
  // e5 selects the board b2, whose root is the tonic. d4 selects the board a1, whose root is D.
  let beds = music.events.filter { $0.kind == .drone && $0.amount > 0 && $0.frame >= bars[0].start }
  let long = bars[1].start + (try #require(bars[1].pairs.last?.t?.onset))
  #expect(beds.map(\.frame) == [long])
  #expect((beds.first.map { $0.pitch.midi } ?? 0) % 12 == 2)
  var stays = GameConductor(seed: 5, rules: rules)
  _ = stays.handle(.gameStarted(game.startState, human: nil), at: .zero)
  var events: [ScoreEvent] = []
  for (index, move) in game.variantMoves.enumerated() {
    events += stays.handle(.moved(move), at: .seconds(Double(1 + 8 * index)))
  }
  events += stays.handle(.undone, at: .seconds(20))
  // The undo takes back d4, so the bed returns to the tonic.
  #expect(events.last { $0.kind == .drone }?.pitch == rules.drone.bed)
}

@Test func `Ultimate: two or three bars after a won board end with its motto (its winner's first three notes)`() throws
{
  var seen = 0
  for (record, music) in played(.ultimate, 6) {
    let all = record.game.variantMoves
    for move in all where move.winsBoard && move.outcome == nil {
      let halves = music.bars.filter { $0.kind == .sentence && $0.ply == move.ply }
      #expect((2...3).contains(halves.count), "move \(move.ply)")
      let event = try #require(moves(music).first { $0.ply == move.ply })
      #expect(event.signs.contains { $0.hasSuffix("board") || $0 == "awakening" || $0 == "mistake" }, "\(event.signs)")
      let motto = all.filter { $0.mover == move.mover && $0.board == move.board }.prefix(3).map { move in
        moves(music).first { $0.ply == move.ply }!.pairs[0].m!.pitch.midi % 12
      }
      let last = halves.flatMap(\.pairs).compactMap { $0.m?.pitch.midi }.suffix(3).map { $0 % 12 }
      #expect(last == motto, "move \(move.ply)")
      #expect(halves.allSatisfy { $0.root == event.root && $0.voice == event.voice })
      seen += 1
    }
  }
  #expect(seen > 15)
}

@Test func `Ultimate: the end quotes the mottos (the winner's first three notes) of the three winning boards`() throws {
  var won = 0
  for (record, music) in played(.ultimate) {
    guard let last = record.game.variantMoves.last, !last.winningBoards.isEmpty else { continue }
    won += 1
    let boards = last.winningBoards.filter { $0 != last.board } + [last.board]
    let motto = boards.flatMap { board in
      record.game.variantMoves.filter { $0.mover == last.mover && $0.board == board }.prefix(3).map { move in
        moves(music).first { $0.ply == move.ply }!.pairs[0].m!.pitch.midi % 12
      }
    }
    let closing = music.bars.filter { $0.kind == .closing }
    let end = closing.flatMap(\.pairs).compactMap { $0.m?.pitch.midi }.suffix(motto.count + 1).map { $0 % 12 }
    #expect(end == motto + [music.rules.scale.tonic] && closing.suffix(2).allSatisfy { $0.root == 0 })
    #expect(closing.suffix(boards.count + 1).map(\.pairs.count) == boards.map { _ in 3 } + [1])
  }
  #expect(won > 4)
}

@Test func `Ultimate: an awakening is the prospect of a line of boards; a forced reply has no note of voice T`() {
  var (awakenings, forced) = (0, 0)
  for (record, music) in played(.ultimate, 30) {
    let awakened = moves(music).flatMap(\.pairs).count(where: \.isAwakening)
    let isInProspect = record.game.variantMoves.awakening != nil
    #expect(awakened <= 1 && (awakened == 1) == isInProspect)
    awakenings += awakened
    for (move, bar) in zip(record.game.variantMoves, moves(music)) where bar.signs.first == "forced" {
      #expect(move.isForced && bar.pairs.allSatisfy { $0.m != nil } && bar.pairs[0].m?.onset == .zero)
      #expect(bar.pairs.enumerated().allSatisfy { $1.t == nil || ($0 == 1 && bar.signs.count > 1) })
      forced += 1
    }
  }
  #expect(awakenings > 20 && forced > 3, "\(awakenings) \(forced)")
}

@Test(arguments: Variant.allCases.filter { $0.isLong })
func `A longer game with an undo is reproduced from its record`(_ variant: Variant) throws {
  let record = try #require(ReferenceGames.games(20, of: variant, seed: 9).first { $0.game.cells.count >= 20 })
  var session = GameConductor(seed: record.seed!, rules: rules)
  session.music.autoReplyVoices = []
  var heard = session.handle(.opened(resuming: false), at: .zero)
  heard += session.handle(.gameStarted(record.game.startState, human: .x), at: .zero)
  var now = Tick.seconds(9)
  var generator = SplitMix64(seed: 6)
  var times: [Record.MoveTimes] = []
  for move in record.game.variantMoves {
    if move.ply == 12, let other = move.before.moves.first(where: { $0 != move.cell }) {
      heard += session.handle(.moved(VariantMove(valued: other, in: move.before)), at: now)
      now = now + .seconds(2)
      heard += session.music.advance(to: now - Conductor.lookahead)
      heard += session.handle(.undone, at: now)
      now = now + .seconds(1)
    }
    heard += session.music.advance(to: now - Conductor.lookahead)
    heard += session.handle(.moved(move), at: now)
    times.append(.init(frame: now.rawValue))
    now = now + .milliseconds(400 + generator.below(9_000))
  }
  heard += session.music.renderToEnd()
  var kept = Record(game: record.game)
  kept.times = times
  (kept.seed, kept.startFrame, kept.bars) = (record.seed, 0, session.music.choices)
  (kept.inTime, kept.annotations) = (session.music.autoReplyVoices, session.annotations)
  let read = try Record(jsonLine: kept.jsonLine, variants: Variant.allCases)
  #expect(read.annotations == kept.annotations && kept.annotations.count == 2)
  func log(_ events: [ScoreEvent]) -> [String] {
    sounding(events).map { "\($0.frame) \($0.voice) \($0.pitch.midi) \($0.velocity)" }
  }
  let (live, offline) = (log(heard), log(Rendition(of: read, rules: rules, human: .x).events))
  let different = zip(live, offline).first { $0 != $1 }
  #expect(different == nil && live.count == offline.count && live.count > 100, "\(String(describing: different))")
}
