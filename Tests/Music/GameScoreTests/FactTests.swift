import Oracle
import Records
import ScoreModel
import Testing
import TicTacToe

@testable import GameScore
@testable import Tintinnabuli

/// A fact, named as its sign. `check` returns whether the bar answers the fact.
struct FactRow: CustomTestStringConvertible, Sendable {
  let sign: String
  let check: @Sendable (Bar, [ScoreEvent], VariantMove) -> Bool
  var testDescription: String { sign }
}

private func pitchDistance(_ pair: Pair) -> Int {
  pair.m.flatMap { m in pair.t.map { $0.pitch.midi - m.pitch.midi } } ?? 0
}

private let rows: [FactRow] = [
  FactRow(sign: "calm") { bar, events, _ in
    bar.pairs.allSatisfy { rules.scale.triadTone(-1, of: $0.m!.pitch.midi) == $0.t!.pitch.midi }
      && rules.scale.isTriad(bar.pairs.last!.m!.pitch.midi)
      && !events.contains { $0.kind == .bell || $0.chain != 0 }
  },
  FactRow(sign: "threat") { bar, _, _ in
    bar.pairs.allSatisfy { rules.scale.nearestTriadTone(to: $0.m!.pitch.midi) == $0.t!.pitch.midi }
      && !rules.scale.isTriad(bar.pairs.last!.m!.pitch.midi)
  },
  FactRow(sign: "both-threaten") { bar, _, _ in
    bar.pairs.enumerated().allSatisfy {
      rules.scale.triadTone($0 % 2 == 0 ? -2 : 2, of: $1.m!.pitch.midi) == $1.t!.pitch.midi
    }
  },
  FactRow(sign: "fork") { bar, events, _ in
    bar.pairs[0].bass.contains { $0.pitch == Pitch(42) }
      && events.contains { $0.voice == .bass && $0.pitch == Pitch(42) }
  },
  FactRow(sign: "block") { bar, _, move in
    let first = rules.scale.degree(of: bar.pairs[0].m!.pitch.midi)!
    let second = rules.scale.degree(of: bar.pairs[1].m!.pitch.midi)!
    return second == first - 2 && bar.pairs[1].m!.velocity < bar.pairs[0].m!.velocity && pitchDistance(bar.pairs[0]) < 0
  },
  FactRow(sign: "mistake") { bar, events, _ in
    events.filter { $0.kind == .note && $0.chain == rules.chain("glint") }.map(\.voice) == [.t, .m]
      && events.filter { $0.chain != 0 }.allSatisfy { $0.frame < bar.start + .milliseconds(300) }
  },
  FactRow(sign: "only-move") { bar, _, _ in
    bar.pairs[0].t!.pitch.midi == rules.scale.triadTone(-1, of: bar.pairs[0].m!.pitch.midi) + 12
  },
  FactRow(sign: "awakening") { bar, events, _ in
    guard let at = bar.pairs.firstIndex(where: \.isAwakening), at <= 1 else { return false }
    let pedals = events.filter { $0.kind == .pedal }
    return bar.pairs[at].m!.pitch.midi % 12 == 6 && bar.pairs[at].t!.pitch.midi % 12 == 1
      && bar.pairs[at].t! < bar.pairs[at].m! && pedals.contains { $0.amount == 0 }
      && pedals.last?.amount == 127 && events.contains { $0.kind == .bell }
  },
  FactRow(sign: "win") { bar, events, move in
    let cells = Set(move.completed.map { rules.cells[$0.index].midi % 12 })
    let heard = Set(bar.pairs.prefix(5).map { $0.m!.pitch.midi % 12 })
    return cells.isSubset(of: heard)
      && bar.pairs.allSatisfy { rules.scale.triadTone(-1, of: $0.m!.pitch.midi) - 12 == $0.t!.pitch.midi }
      && bar.pairs[bar.pairs.count - 2].bass.map(\.pitch) == rules.drone.notes
      && bar.pairs.last!.m!.pitch.midi % 12 == 11 && events.contains { $0.kind == .bell }
  },
  FactRow(sign: "draw") { bar, events, _ in
    bar.pairs.last!.m!.pitch.midi % 12 == 6 && !events.contains { $0.kind == .bell }
  },
]

extension Note {
  static func < (a: Note, b: Note) -> Bool { a.pitch < b.pitch }
}

private func gameRaising(_ sign: String, human: Player? = nil) -> Game? {
  var conductor = GameConductor(seed: 1, rules: rules)
  _ = conductor.handle(.gameStarted(.classic(.start), human: human), at: .zero)
  return firstGame { game, move in
    let awakens = move == game.variantMoves.awakening
    let known = GameConductor.facts(of: move, awakens: awakens).union(
      move.outcome.map { conductor.end($0).facts } ?? [])
    return rules.signs.first { $0.applies(to: known) }?.name == sign
  }
}

@Test(arguments: rows)
func `Each fact of a move sounds as its row of the table says, at the latest by the second pair`(_ row: FactRow) throws
{
  let game = try #require(gameRaising(row.sign))
  let move = try #require(game.variantMoves.last)
  let (conductor, events) = conducted(game)
  let bar = try #require(conductor.music.bars.last)
  #expect(bar.signs.first == row.sign)
  // In `conducted` the second pair may sound a postponed sign of an earlier move. So the row is checked in a piece of the last move alone.
  var alone = GameConductor(seed: 3, rules: rules)
  let awoke = game.variantMoves.dropLast().awakening != nil
  _ = alone.handle(.gameStarted(move.before, human: nil, awoke: awoke), at: .zero)
  let own = alone.handle(.moved(move), at: .seconds(1))
  let ownBar = try #require(alone.music.bars.last)
  #expect(row.check(ownBar, own, move), "\(row.sign): \(ownBar)")
  #expect(events.contains { $0.frame == bar.start && $0.kind == .note })
}

@Test func `Two games that differ in one fact sound the same before it and differ by its rule afterwards`() throws {
  let calm = try #require(gameRaising("calm"))
  for sign in ["threat", "block", "mistake"] {
    let game = try #require(gameRaising(sign))
    var without = rules
    without.signs.removeAll { $0.name == sign }
    let heard = conducted(game).conductor.music.bars
    let bare = conducted(game, rules: without).conductor.music.bars
    #expect(Array(heard.dropLast()) == Array(bare.dropLast()))
    #expect(heard.last?.pairs[0].m?.pitch == bare.last?.pairs[0].m?.pitch)
    let difference = Array(zip(heard.last!.pairs, bare.last!.pairs)).firstIndex { $0 != $1 }
    if sign == "mistake" {
      // The glint, the sign of a mistake, is an effect on the downbeat itself.
      #expect(conducted(game).last.first { $0.chain != 0 }?.frame == heard.last?.start)
    } else {
      #expect(try #require(difference) <= 1)
    }
  }
  #expect(conducted(calm).conductor.music.bars.last?.signs == ["calm"])
}

@Test func `A win ends with the notes of the winner's first three cells, then the tonic; a human's loss with T alone`()
  throws
{
  let game = try game("a1 b2 a3 a2 c3 c2")  // O wins the middle row
  #expect(game.end?.outcome == .win(.o))
  var record = Record(game: game)
  record.seed = 8
  let win = Rendition(of: record, rules: rules).bars.filter { $0.kind == .closing }
  #expect(win.allSatisfy { $0.voice == .second })
  // The cells of the winning row, b2, a2 and c2, sound an octave lower, because O has won.
  let end = win.flatMap(\.melody).suffix(4).map(\.midi)
  #expect(end.dropLast() == [4, 3, 5].map { rules.cells[$0].midi - 12 }[...])
  // The last note is the tonic nearest to the note before it.
  #expect(end.last.map { $0 % 12 == 11 && abs($0 - end[2]) <= 6 } == true)
  #expect(win.last?.pairs.map { $0.bass.map(\.pitch) } == [rules.drone.notes])
  #expect(win.last?.pairs.last?.t.map { $0.pitch.midi % 12 } == 2)
  let loss = Rendition(of: record, rules: rules, human: .x)
  let closing = loss.bars.filter { $0.kind == .closing }
  #expect(closing.last?.pairs.allSatisfy { $0.m == nil && $0.t != nil } == true)
  #expect(closing.dropLast().last?.pairs.map { $0.m.map { $0.pitch.midi % 12 } } == [11])
  #expect(!loss.events.contains { $0.kind == .bell && $0.frame >= closing[0].start })
  #expect(loss.bars.first { $0.kind == .move && $0.ply == 6 }?.signs.first == "loss")
  func mean(_ bars: [Bar]) -> Int {
    bars.flatMap(\.melody).reduce(0) { $0 + $1.midi } / max(bars.flatMap(\.melody).count, 1)
  }
  #expect(mean(Array(win.suffix(3))) > mean(Array(closing.suffix(3))))
  #expect(Rendition(of: record, rules: rules, human: .o).bars.last?.pairs.last?.m != nil)
}

@Test
func
  `A draw alternates hands, releases the pedal in the last bar but one, and ends on an open fifth over the low tonic`()
  throws
{
  let game = try #require(firstGame { game, move in move.outcome == .draw && game.variantMoves.awakening == nil })
  var record = Record(game: game)
  record.seed = 8
  let rendition = Rendition(of: record, rules: rules)
  let bars = rendition.bars.filter { $0.kind == .closing }
  #expect(zip(bars, bars.dropFirst()).allSatisfy { $0.voice != $1.voice })
  let last = try #require(bars.last?.pairs.last)
  #expect(last.m!.pitch.midi % 12 == 11 && last.t!.pitch.midi % 12 == 6)
  #expect(bars.flatMap(\.pairs).dropLast().allSatisfy(\.bass.isEmpty) && last.bass.map(\.pitch) == rules.drone.notes)
  let up = rendition.events.first { $0.kind == .pedal && $0.amount == 0 }
  #expect(up?.frame == bars[bars.count - 2].start)
  #expect(!rendition.events.contains { $0.kind == .pedal && $0.amount > 0 && $0.frame > up!.frame })
  var kept = Record(game: try GameScoreTests.game("b2 a1"))
  kept.game.finish(GameEnd(outcome: .draw, termination: .agreement))
  kept.seed = 8
  #expect(Rendition(of: kept, rules: rules).bars.filter { $0.kind == .closing }.map(\.pairs.count) == [2, 3])
}

@Test func `A resignation or loss on time gives an arch without the quoted line; an abandoned game ends the pedal`()
  throws
{
  for termination in [Termination.resignation, .time] {
    var game = try game("b2 a1 c1")
    try game.lose(.o, by: termination)
    var record = Record(game: game)
    record.seed = 2
    let bars = Rendition(of: record, rules: rules).bars.filter { $0.kind == .closing }
    #expect(bars.map(\.pairs.count) == [3, 2, 3, 1])
    #expect(bars[0].signs == ["win"] && bars.allSatisfy { $0.voice == .first })
    #expect(bars[0].pairs.allSatisfy { rules.scale.triadTone(-1, of: $0.m!.pitch.midi) - 12 == $0.t!.pitch.midi })
  }
  var conductor = conducted(try game("b2 a1 c1")).conductor
  let moment = conductor.music.bars.last!.start + .seconds(2)
  let events = conductor.handle(.ended(GameEnd(outcome: nil, termination: .abandoned)), at: moment)
  #expect(events.map(\.kind) == [.cut, .pedal] && events[1].amount == 0 && events[1].frame == moment)
  #expect(carryOn(&conductor, from: moment, to: moment + .seconds(60)).isEmpty)
}
