import Base
import Oracle
import Records
import ScoreIO
import ScoreMeasures
import ScoreModel
import Testing
import TicTacToe

@testable import GameScore
@testable import Tintinnabuli

private func renditions(_ variant: Variant, _ count: Int, rules: ScoreRules = rules) -> [(Record, Rendition)] {
  ReferenceGames.games(count, of: variant, seed: 4).map { ($0, Rendition(of: $0, rules: rules, explains: true)) }
}

@Test func `At an awakening (a sure win) M holds its note while T moves, and the explanation says so`() throws {
  var seen = 0
  for (record, music) in renditions(.classic, 60) {
    for bar in music.bars where bar.signs.first == "awakening" && bar.pairs.count > 3 {
      seen += 1
      #expect(bar.rhythm == .held && bar.pairs.dropFirst(2).dropLast().allSatisfy { $0.m == nil && $0.t != nil })
      let held = try #require(bar.pairs.prefix(2).compactMap(\.m).last)
      let long = try #require(bar.pairs.last?.m)
      #expect(held.onset + held.duration == long.onset || held.onset + held.duration == bar.pairs.last?.t?.onset)
      #expect(Explanation.text(of: bar, in: music, record: record).contains("rhythm: held"))
    }
  }
  #expect(seen > 5, "\(seen)")
}

@Test func `A half arch (after a won board of Ultimate) has bars of low notes, and bars of long and short notes`()
  throws
{
  var rhythms: [Bar.Rhythm: Int] = [:]
  for (_, music) in renditions(.ultimate, 4) {
    for bar in music.bars where bar.kind == .sentence {
      rhythms[bar.rhythm, default: 0] += 1
      let middle = bar.pairs.dropFirst().dropLast()
      if bar.rhythm == .low { #expect(middle.allSatisfy { $0.m == nil && $0.t == nil && $0.bass.count == 1 }) }
      guard bar.rhythm == .longShort, bar.pairs.count > 2 else { continue }
      let onsets = bar.pairs.compactMap { $0.onset?.seconds }
      #expect((1.7...2.3).contains((onsets[1] - onsets[0]) / (onsets[2] - onsets[1])), "\(onsets)")
    }
  }
  #expect((rhythms[.low] ?? 0) > 5 && (rhythms[.longShort] ?? 0) > 5, "\(rhythms)")
}

@Test func `A bar has the same duration in every rhythm`() {
  var plan = BarPlan(kind: .move, ply: 3, voice: .first, count: 6, sign: rules.calm, short: 1)
  let ends = Bar.Rhythm.allCases.map { rhythm in
    plan.rhythm = rhythm
    let bar = BarWriter(rules: rules).write(
      plan, line: [35, 36, 37, 36, 35, 34], index: 0, start: .zero, generator: SplitMix64(seed: 1))
    return (bar.onsets[5].seconds, bar.bar.pairs.count)
  }
  for (long, count) in ends { #expect(abs(long - ends[0].0) < 0.3 && count == 6, "\(ends)") }
}

@Test func `With night.yaml more than a fifth of the moves' bars are in another rhythm than even`() throws {
  let night = try RuleLibrary.load("\(assets)/night.yaml").rules
  let bars = renditions(.classic, 20, rules: night).flatMap { $1.bars.filter { $0.kind == .move } }
  let uneven = bars.count { $0.rhythm != .even }
  #expect(10 * uneven > 2 * bars.count, "\(uneven) of \(bars.count)")
}

@Test func `A closed board of Ultimate changes the next ten bars, each board in a different way`() throws {
  var kinds: Set<ScoreRules.Sentences.Change> = []
  for (record, _) in renditions(.ultimate, 3) {
    var conductor = GameConductor(seed: 5, rules: rules)
    _ = conductor.handle(.gameStarted(record.game.startState, human: nil), at: .zero)
    var last: Int?
    var before: ScoreRules.Sentences.Change?
    for (index, move) in record.game.variantMoves.enumerated() {
      _ = conductor.handle(.moved(move), at: .seconds(1 + 6 * Double(index)))
      let change = conductor.music.change?.rule
      if let last, move.ply - last <= rules.sentences.lasting, move.outcome == nil {
        #expect(change != nil)
        if move.ply == last + 1 { #expect(change != before, "move \(move.ply)") }
      } else {
        #expect(change == nil)
      }
      if let change { kinds.insert(change) }
      if move.winsBoard || move.fillsBoard { (last, before) = (move.ply, change) }
      let bar = try #require(conductor.music.bars.last { $0.kind == .move })
      if change?.bass != nil, move.outcome == nil { #expect(!bar.pairs[0].bass.isEmpty, "move \(move.ply)") }
    }
  }
  #expect(kinds == Set(rules.sentences.changes))
}

@Test func `A closed board of Ultimate gives the bed other tones of the triad, and the explanation names the change`()
  throws
{
  var tones: Set<[Int]> = []
  for (record, music) in renditions(.ultimate, 3) {
    let bars = music.bars.filter { $0.kind == .move }
    for (move, bar) in zip(record.game.variantMoves, bars) {
      // Later in the bar the bed may move to the root of the next board.
      guard let bed = music.events.last(where: { $0.kind == .drone && $0.amount > 0 && $0.frame <= bar.start }) else {
        continue
      }
      let own = bar.change > 0 ? rules.sentences.changes[bar.change - 1].bed : []
      var triad = music.rules.scale
      triad.root = bar.root
      #expect(triad.isTriad(bed.pitch.midi) && triad.isTriad(bed.pitch.midi + Int(bed.velocity)), "move \(move.ply)")
      let low = music.rules.scale.degree(of: bed.pitch.midi).map { Scale.step($0 - bar.root) + 1 }
      #expect(low == own.first ?? 1, "move \(move.ply)")
      #expect((bed.velocity == 0) == own.isEmpty, "move \(move.ply)")
      tones.insert(own)
      let explained = Explanation.text(of: bar, in: music, record: record)
      #expect(explained.contains("  change \(bar.change): ") == (bar.change > 0))
      if !own.isEmpty { #expect(explained.contains("bed \(own[0]) \(own[1])")) }
    }
    // In the arch the bed is again the tonic with its fifth.
    let last = try #require(music.events.last { $0.kind == .drone && $0.amount > 0 })
    #expect(last.velocity == 0 && last.pitch.midi % 12 == music.rules.drone.bed.midi % 12)
  }
  #expect(tones == Set(rules.sentences.changes.map(\.bed) + [[]]))
}
