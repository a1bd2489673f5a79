import Base
import Oracle
import Records
@testable import ScoreIO
import ScoreMeasures
import ScoreModel
import Testing
import TicTacToe

@testable import GameScore
@testable import Tintinnabuli

@Test func `A seven-ply game has bars of 2 3 4 5 6 7 8 7 6 5 4 3 2 3 1 note pairs`() throws {
  let game = try game("b2 a2 a1 c3 c1 b1 a3")
  #expect(game.isOver && game.moves.count == 7)
  var record = Record(game: game)
  record.seed = 5
  let bars = Rendition(of: record, rules: rules).bars.filter { $0.kind != .opening }
  #expect(bars.map(\.pairs.count) == [2, 3, 4, 5, 6, 7, 8, 7, 6, 5, 4, 3, 2, 3, 1])
  #expect(bars.prefix(7).allSatisfy { $0.kind == .move } && bars.dropFirst(7).allSatisfy { $0.kind == .closing })
}

@Test func `Every move of every game is a downbeat on its cell's pitch at the move's frame`() {
  var single = rules
  single.melody.candidates = 1
  var moves = 0
  forEveryGame(GameConductor(seed: 1, rules: single)) { game, conductor in
    guard let move = game.moves.last, let bar = conductor.music.bars.last else { return }
    moves += 1
    let isX = game.moves.count % 2 == 1
    let written = rules.cells[move.index].midi + 12 * (isX ? rules.first.octaves : rules.second.octaves)
    #expect(bar.pairs[0].m?.pitch.midi == written)
    // X sounds M and T together. O rolls the two notes: T sounds at the frame of the move, M a moment later.
    #expect(bar.pairs[0].t?.onset == .zero)
    #expect(bar.pairs[0].m?.onset == .milliseconds(isX ? 0 : rules.second.rollMilliseconds))
    // A postponed sign may sound on the second pair, in the opponent's voice and so on the opponent's side.
    for index in bar.pairs.indices where index != 1 || bar.signs.count == 1 {
      #expect((bar.pairs[index].m ?? bar.pairs[index].t)?.pan == (isX ? 64 : -48))
    }
    #expect(bar.pairs.count == min(game.moves.count + 1, 8))
  }
  #expect(moves > 10_000)
}

@Test func `T is a triad tone of its M in every bar of every game, except at an awakening (a sure win)`() {
  var single = rules
  single.melody.candidates = 1
  var games = 0
  forEveryGame(GameConductor(seed: 2, rules: single)) { game, conductor in
    guard let bar = conductor.music.bars.last else { return }
    for pair in bar.pairs where !pair.isAwakening {
      guard let m = pair.m?.pitch.midi, let t = pair.t?.pitch.midi else { continue }
      #expect(StyleMeasures.conforms(t, to: m, rules.scale) && t != m)
    }
    guard game.isOver else { return }
    games += 1
    let awakened = conductor.music.bars.flatMap(\.pairs).filter(\.isAwakening)
    #expect(awakened.count == (game.variantMoves.awakening == nil ? 0 : 1))
    for pair in awakened {
      #expect(pair.m.map { $0.pitch.midi % 12 } == 6 && pair.t.map { $0.pitch.midi % 12 } == 1)
    }
  }
  #expect(games > 10_000)
}

@Test func `A bar in even rhythm has short notes, then one about four times as long, of velocity 58 at most`() throws {
  for index in 0..<50 {
    let game = randomGame(index)
    for bar in Rendition(of: game, rules: rules).bars where bar.kind != .echo && bar.rhythm == .even {
      #expect(bar.pairs.last?.isLong == true && bar.pairs.dropLast().allSatisfy { !$0.isLong })
      var measures = StyleMeasures()
      measures.add(bar, scale: rules.scale)
      #expect(measures.lawful == 1)
      for pair in bar.pairs {
        for note in [pair.m, pair.t].compactMap({ $0 }) {
          #expect((UInt8(rules.performance.softest)...58).contains(note.velocity))
        }
      }
      let shorts = zip(bar.pairs, bar.pairs.dropFirst()).compactMap { a, b in
        a.t.flatMap { t in b.t.map { ($0.onset - t.onset).seconds } }
      }
      let isLast =
        bar.kind == .closing && bar.pairs.count == 3 && bar.index >= Rendition(of: game, rules: rules).bars.count - 2
      // The arch slows down: the short notes of its last bar before the final note last 0.8 s instead of 1.05 s.
      for short in shorts where bar.kind != .closing || isLast {
        #expect(abs(short - (isLast ? 0.8 : 1.05)) < 0.25 || bar.signs[0] == "both-threaten")
      }
      let lengths = StyleMeasures.lengths(of: bar)
      let (long, others) = (try #require(lengths.last), lengths.dropLast())
      // A bar may consist of its long note alone.
      guard !others.isEmpty else { continue }
      let ratio = long * Double(others.count) / others.reduce(0, +)
      #expect((3.2...4.2).contains(ratio), "\(bar.kind) \(bar.index): \(lengths)")
    }
  }
}

@Test func `The style measures recognise a long note by its duration, not by isLong`() throws {
  var bar = try #require(Rendition(of: randomGame(1), rules: rules).bars.first { $0.kind == .move })
  let (last, short) = (bar.pairs.count - 1, try #require(bar.pairs[0].t?.duration))
  bar.pairs[last].t?.duration = short
  bar.pairs[last].m?.duration = short
  var measures = StyleMeasures()
  measures.add(bar, scale: rules.scale)
  #expect(bar.pairs[last].isLong && measures.bars == 1 && measures.lawful == 0)
}

@Test func `Melodies move by at most an octave and stay in their compass`() {
  for index in 0..<100 {
    for bar in Rendition(of: randomGame(index), rules: rules, uncut: true).bars {
      let notes = bar.pairs.compactMap(\.m)
      for (a, b) in zip(notes, notes.dropFirst()) where a.pan == b.pan {
        #expect(abs(a.pitch.midi - b.pitch.midi) <= 12)
      }
      let low = rules.melody.compass.lowerBound.midi - 12
      #expect(bar.melody.allSatisfy { (low...rules.melody.compass.upperBound.midi).contains($0.midi) })
    }
  }
}

@Test func `The same record and rules give the same note log for any steps of time`() {
  for index in 0..<10 {
    let record = randomGame(index)
    let once = Rendition(of: record, rules: rules)
    #expect(once.events == Rendition(of: record, rules: rules).events)
  }
  var coarse = GameConductor(seed: 9, rules: rules)
  var fine = coarse
  let opened = coarse.handle(.opened(resuming: false), at: .zero)
  #expect(opened == fine.handle(.opened(resuming: false), at: .zero))
  let a = carryOn(&coarse, from: .zero, to: .seconds(200), step: .milliseconds(990))
  let b = carryOn(&fine, from: .zero, to: .seconds(200), step: .milliseconds(7))
  #expect(a.filter { $0.frame < .seconds(190) } == b.filter { $0.frame < .seconds(190) })
}

@Test func `The music of a session's game is reproduced from its record alone`() throws {
  var session = GameConductor(seed: 77, rules: rules)
  _ = session.handle(.opened(resuming: false), at: .zero)
  var now = Tick.seconds(20)
  var generator = SplitMix64(seed: 4)
  for round in 0..<4 {
    let start = now
    _ = session.music.advance(to: now)
    let began = session.handle(.gameStarted(.classic(.start), human: .x), at: now)
    var heard = began
    var record = randomGame(100 + round)
    record.seed = session.music.pieceSeed
    record.startFrame = round == 0 ? 0 : start.rawValue
    var frames: [Int64] = []
    for move in record.game.variantMoves {
      now = now + .seconds(0.4 + Double(generator.below(9_000)) / 1000)
      heard += carryOn(&session, from: now - .seconds(12), to: now)
      heard += session.handle(.moved(move), at: now)
      frames.append(now.rawValue)
    }
    heard += carryOn(&session, from: now, to: now + .seconds(100))
    record.times = frames.map { .init(frame: $0) }
    record.bars = session.music.choices
    record.inTime = session.music.autoReplyVoices
    record.station = session.music.station
    now = now + .seconds(100)
    let again = Rendition(of: record, rules: rules, human: .x)
    let origin = round == 0 ? Tick.zero : start
    func notes(_ events: [ScoreEvent], _ origin: Tick, from: Tick) -> [String] {
      sounding(events).filter { $0.frame >= from && $0.voice != .bass }.map {
        "\(($0.frame - origin).rawValue) \($0.pitch.midi) \($0.velocity)"
      }
    }
    let first = Tick(rawValue: frames[0])
    let live = notes(heard, origin, from: first)
    let offline = notes(again.events, .zero, from: first - origin)
    // After the arch the live session goes on with echoes, which are not compared.
    let different = zip(live, offline).enumerated().first { $1.0 != $1.1 }.map { "note \($0): \($1)" }
    #expect(different == nil)
    #expect(offline.count > 40)
  }
}

/// The notes that no later cut has removed.
func sounding(_ events: [ScoreEvent]) -> [ScoreEvent] {
  ScoreEvent.heard(events).filter { $0.kind == .note }.inOrder
}

/// Both players win if they can, else block, else move at random.
func randomGame(_ index: Int) -> Record {
  var generator = SplitMix64(seed: 42, index: UInt64(index))
  var game = Game()
  while !game.isOver {
    let wins = game.position.winningSquares(for: game.turn)
    let blocks = game.position.winningSquares(for: game.turn.opponent)
    let squares = Array(!wins.isEmpty ? wins : !blocks.isEmpty ? blocks : game.position.legalMoves)
    try? game.play(squares[generator.below(squares.count)])
  }
  var record = Record(game: game)
  record.seed = generator.next()
  return record
}
