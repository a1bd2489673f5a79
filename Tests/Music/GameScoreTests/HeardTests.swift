import Base
import Oracle
import Records
import ScoreIO
import ScoreModel
import Testing
import TicTacToe

@testable import GameScore
@testable import Tintinnabuli

private func shipped(_ name: String) throws -> ScoreRules { try RuleLibrary.load("\(assets)/\(name).yaml").rules }

/// The pauses between the moves are random, of 50 ms to about `most` ms. Returns the events of each move.
private func hasty(_ game: Game, seed: UInt64, rules: ScoreRules, most: Int = 2_500) -> (GameConductor, [[ScoreEvent]])
{
  var generator = SplitMix64(seed: seed)
  var conductor = GameConductor(seed: seed, rules: rules)
  conductor.music.autoReplyVoices = []
  _ = conductor.handle(.gameStarted(.classic(.start), human: nil), at: .zero)
  var now = Tick.seconds(1)
  var answers: [[ScoreEvent]] = []
  for move in game.variantMoves {
    answers.append(conductor.handle(.moved(move), at: now))
    now = now + .milliseconds(50 + generator.below(most))
  }
  return (conductor, answers)
}

@Test func `A line of three cells can be composed even with few notes and a narrow compass`() throws {
  var narrow = rules
  narrow.bars.longest = 4
  narrow.melody.widest = 4
  for rules in [try shipped("night"), narrow] {
    for (a, b) in [("a2", "b1"), ("a3", "c1"), ("c2", "b3"), ("b1", "a2")] {
      for seed in 0..<20 {
        let (conductor, _) = hasty(try game("a1 \(a) c3 \(b) b2"), seed: UInt64(seed), rules: rules)
        #expect(conductor.music.bars.count(where: { $0.kind == .move }) == 5)
      }
    }
  }
  // These fixed notes violate the constraints of a melody, so the search must relax the constraints.
  let problem = MelodyProblem(
    count: 3, fixed: [0: 36, 1: 46, 2: 36], goal: .triad, direction: [0, 0, 0], leans: false, center: 40, own: [],
    motto: [], opposing: [])
  var search = MelodySearch(problem, rules: narrow.melody, scale: rules.scale, seed: 1)
  search.choose(0)
  #expect(search.solve().degrees == [36, 46, 36])
}

@Test func `A lost connection does not restore events dropped by a cut`() throws {
  let game = try game("b2 a1 c1")
  var conductor = GameConductor(seed: 6, rules: rules)
  var events = conductor.handle(.gameStarted(.classic(.start), human: nil), at: .zero)
  events += conductor.handle(.moved(game.variantMoves[0]), at: .seconds(1))
  events += conductor.handle(.moved(game.variantMoves[1]), at: .seconds(1.5))
  let whole = sounding(events).filter { $0.voice == .m }
  events += conductor.handle(.connection(lost: true), at: .seconds(1.8))
  #expect(sounding(events).filter { $0.voice == .m }.map(\.frame) == whole.map(\.frame))
}

@Test func `Every awakening (a sure win) has a bell, and every delayed block a falling third`() throws {
  var (bells, thirds) = (0, 0)
  for index in 0..<400 {
    let game = randomGame(index).game
    let (conductor, answers) = hasty(game, seed: UInt64(index), rules: rules)
    for (bar, answer) in zip(conductor.music.bars.filter { $0.kind == .move }, answers) {
      if let at = bar.pairs.firstIndex(where: \.isAwakening), bar.signs.contains(where: { $0.hasSuffix("awakening") }) {
        bells += 1
        let onset = bar.start + min(bar.pairs[at].t!.onset, bar.pairs[at].m!.onset)
        #expect(answer.contains { $0.kind == .bell && $0.frame == onset }, "game \(index), bar \(bar.index)")
      }
      guard bar.signs.contains("owed:block") else { continue }
      thirds += 1
      let degrees = bar.pairs.prefix(2).map { pair in
        rules.scale.degree(of: pair.m!.pitch.midi - 12 * (bar.voice == .first ? rules.first : rules.second).octaves)!
      }
      #expect(degrees[1] == degrees[0] - 2, "game \(index), bar \(bar.index)")
    }
  }
  #expect(bells > 50 && thirds > 10)
  // A postponed sign sounds in the voice of the player whose move caused it, even in the opponent's bar.
  let owed = (0..<400).lazy.flatMap { hasty(randomGame($0).game, seed: UInt64($0), rules: rules).0.music.bars }
    .filter { $0.signs.count > 1 }.prefix(100)
  #expect(owed.contains { $0.pairs[1].m!.pan != $0.pairs[0].m!.pan })
}

@Test func `The opening and the arch have voice T in the position that the rule file gives in its row calm`() throws {
  for (name, position) in [("night", -2), ("morning", 1), ("score", -1)] {
    let rules = try shipped(name)
    let bars = Rendition(of: randomGame(3), rules: rules).bars.filter { $0.kind == .opening || $0.kind == .closing }
    let pairs = bars.flatMap(\.pairs).compactMap { pair in pair.m.flatMap { m in pair.t.map { (m, $0) } } }
    #expect(pairs.count > 6)
    for (m, t) in pairs { #expect(t.pitch.midi == rules.scale.triadTone(position, of: m.pitch.midi), "\(name)") }
  }
}

@Test func `Undone moves and lost connections are in the record, and its rendition reproduces them`() throws {
  let record = randomGame(7)
  var session = GameConductor(seed: record.seed!, rules: rules)
  session.music.autoReplyVoices = []
  var heard = session.handle(.opened(resuming: false), at: .zero)
  heard += session.handle(.gameStarted(.classic(.start), human: .x), at: .zero)
  var game = Game()
  var now = Tick.seconds(9)
  func go(_ seconds: Double) {
    now = now + .seconds(seconds)
    heard += session.music.advance(to: now - Conductor.lookahead)
  }
  var times: [Record.MoveTimes] = []
  for (number, cell) in record.game.cells.enumerated() {
    if number == 3 {
      // Two moves that are not of the game, one of them while the connection is lost, are taken back together.
      var astray = game
      for other in game.state.moves.filter({ $0 != cell }).prefix(2) {
        go(3)
        heard += session.handle(.moved(try astray.playValued(other)), at: now)
        go(0.5)
        heard += session.handle(.connection(lost: other == game.state.moves.first { $0 != cell }), at: now)
      }
      go(2)
      heard += session.handle(.undone, at: now) + session.handle(.undone, at: now)
    }
    go(4)
    heard += session.handle(.moved(try game.playValued(cell)), at: now)
    times.append(.init(frame: now.rawValue))
  }
  go(20)
  var kept = Record(game: game)
  kept.times = times
  kept.seed = record.seed
  kept.startFrame = 0
  kept.bars = session.music.choices
  kept.inTime = session.music.autoReplyVoices
  kept.annotations = session.annotations
  #expect(kept.annotations.count == 6)
  let read = try Record(jsonLine: kept.jsonLine)
  #expect(read.annotations == kept.annotations && read.inTime == [])
  let again = Rendition(of: read, rules: rules, human: .x)
  func log(_ events: [ScoreEvent]) -> [String] {
    events.filter { $0.frame < now && $0.kind == .note }.map {
      "\($0.frame) \($0.voice) \($0.pitch.midi) \($0.velocity)"
    }
  }
  let (live, offline) = (log(sounding(heard)), log(sounding(again.events)))
  #expect(zip(live, offline).first { $0 != $1 } == nil && live.count == offline.count && live.count > 50)
}

@Test func `A record with too many undone moves keeps only complete undos, and the other moves keep their plies`()
  throws
{
  var kept = Record(game: try game("b2 a1 c3"))
  kept.startFrame = 0
  kept.times = (1...3).map { .init(frame: Int64($0) * 480_000) }
  let all = (0..<60).flatMap { number in
    let frame = 600_000 + Int64(number) * 3_000
    // Two moves, then two undos at the same frame.
    return [
      Annotation(frame: frame, kind: .taken(Cell(0), choices: [1])),
      Annotation(frame: frame + 1_000, kind: .taken(Cell(1), choices: [0])),
      Annotation(frame: frame + 2_000, kind: .undone), Annotation(frame: frame + 2_000, kind: .undone),
    ]
  }
  kept.annotations = all
  #expect(
    kept.annotations.count % 4 == 0 && kept.annotations.count > 40
      && kept.annotations == Array(all.prefix(kept.annotations.count)))
  #expect((kept[tag: "Asides"]?.utf8.count ?? 0) > 960)
  // Older versions could cut the list inside a group of two moves and two undos. A reader drops the incomplete group.
  let words = try #require(kept[tag: "Asides"]).split(separator: " ")
  for left in 0...4 {
    kept[tag: "Asides"] = words.prefix(8 + left).joined(separator: " ")
    #expect(kept.annotations.count == (left == 4 ? 12 : 8))
  }
  let bars = Rendition(of: kept, rules: rules).bars.filter { $0.kind == .move }
  #expect(bars.map(\.ply).suffix(2) == [2, 3])
}

@Test func `A match is composed from its log: three listeners hear the same notes, also after a reconnect`() throws {
  let game = randomGame(12).game
  var log: [(move: VariantMove, at: Tick)] = []
  var generator = SplitMix64(seed: 5)
  var time = Tick.seconds(3)
  for move in game.variantMoves {
    log.append((move, time))
    time = time + .milliseconds(250 * (1 + generator.below(30)))
  }
  /// The pitches of M in each move's bar. Each message arrives `delay` to twice `delay` ms after its move, or, if `begin` is given, at
  /// `begin` ms.
  func listen(_ delay: Int, from begin: Int = 0, seed: UInt64) -> [[Pitch?]] {
    var way = SplitMix64(seed: seed)
    var conductor = GameConductor(seed: seed, rules: rules)
    conductor.music.autoReplyVoices = []
    _ = conductor.handle(.opened(resuming: false), at: .zero)
    // Another game heard before must make no difference.
    for move in randomGame(Int(seed)).game.variantMoves {
      _ = conductor.handle(.moved(move), at: .milliseconds(Int(seed)))
    }
    _ = conductor.handle(.matchStarted(seed: 4_711), at: .seconds(2))
    var last = Tick.zero
    for (move, at) in log {
      let arrival = begin > 0 ? .milliseconds(begin) : at + .milliseconds(delay + way.below(max(delay, 1)))
      let moment = max(arrival, last + .milliseconds(1))
      last = moment
      _ = conductor.music.advance(to: moment - Conductor.lookahead)
      _ = conductor.handle(.moved(move), at: moment, logged: at + .milliseconds(way.below(100)))
    }
    return conductor.music.bars.filter { $0.kind == .move }.suffix(log.count).map { $0.pairs.map { $0.m?.pitch } }
  }
  let near = listen(0, seed: 1)
  #expect(near.count == log.count && listen(80, seed: 2) == near && listen(300, seed: 3) == near)
  // All moves arrive at once, each with the time at which the server logged it.
  #expect(listen(0, from: 60_000, seed: 4) == near)
}

@Test func `A bar's length depends on the opponent's answer, or, between two people, on the game's pace`() throws {
  let game = try game("b2 a1 c1 a3 a2 c2 b3 b1 c3")
  func lengths(_ inTime: Set<Voice>, every seconds: Double) -> [Int] {
    var conductor = GameConductor(seed: 1, rules: rules)
    conductor.music.autoReplyVoices = inTime
    _ = conductor.handle(.gameStarted(.classic(.start), human: nil), at: .zero)
    var now = Tick.seconds(3)
    for move in game.variantMoves {
      now = inTime.contains(move.mover.voice) ? conductor.music.replySlot(ready: now) : now + .seconds(seconds)
      _ = conductor.handle(.moved(move), at: now)
    }
    return conductor.music.bars.map(\.pairs.count)
  }
  #expect(lengths([.first, .second], every: 0) == [2, 3, 4, 5, 6, 7, 8, 8, 8])
  // O answers each of X's bars at the first moment for a reply, so these have two to four short pairs and a long one. X's last bar has
  // eight pairs, because O does not answer.
  let against = lengths([.second], every: 30)
  #expect(stride(from: 0, to: 8, by: 2).map { against[$0] } == [3, 4, 5, 5] && against[8] == 8)
  let (quick, slow) = (lengths([], every: 1.5), lengths([], every: 30))
  #expect(quick.dropLast().allSatisfy { $0 <= 3 } && slow.dropFirst(3).dropLast() == [5, 6, 7, 8, 8])
}

@Test func `A long note that was cut sounds with the next downbeat, in its own voice`() throws {
  let game = try game("b2 a1")
  var conductor = GameConductor(seed: 1, rules: rules)
  _ = conductor.handle(.gameStarted(.classic(.start), human: nil), at: .zero)
  _ = conductor.handle(.moved(game.variantMoves[0]), at: .seconds(1))
  let goal = try #require(conductor.music.bars[0].pairs.last?.m)
  var heardOut = conductor
  _ = conductor.handle(.moved(game.variantMoves[1]), at: .seconds(1.6))
  _ = heardOut.handle(.moved(game.variantMoves[1]), at: .seconds(4))
  let resolved = try #require(conductor.music.bars[1].pairs[0].bass.first)
  #expect(resolved.pitch == goal.pitch && resolved.pan == goal.pan && resolved.velocity < goal.velocity)
  #expect(heardOut.music.bars[1].pairs[0].bass.isEmpty)
}

@Test func `Whether a long note sounded enough before its cut is counted from its M, not its earlier T`() throws {
  let game = try game("b2 a1 c1")
  var conductor = GameConductor(seed: 1, rules: rules)
  _ = conductor.handle(.gameStarted(.classic(.start), human: nil), at: .zero)
  _ = conductor.handle(.moved(game.variantMoves[0]), at: .seconds(1))
  _ = conductor.handle(.moved(game.variantMoves[1]), at: .seconds(9))
  let (t, m) = try #require(
    conductor.music.bars[1].pairs.last.flatMap { pair in pair.t.flatMap { t in pair.m.map { (t, $0) } } })
  #expect(m.onset == t.onset + .milliseconds(60))
  _ = conductor.handle(.moved(game.variantMoves[2]), at: .seconds(9) + m.onset + .milliseconds(50))
  #expect(conductor.music.bars[2].pairs[0].bass.first?.pitch == m.pitch)
}
