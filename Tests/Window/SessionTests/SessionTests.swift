import GameScore
import Opponents
import Records
import ScoreModel
import Testing
import TicTacToe
import Tintinnabuli

@testable import Session

@Suite struct SessionTests {
  @Test("A move sounds on the first unrendered frame, which the record keeps")
  func downbeat() throws {
    let bench = Bench()
    let session = bench.session(x: person, o: person)
    session.open()
    bench.now = Tick(rawValue: 123_456)
    #expect(session.play(Cell(4)))
    #expect(session.record.times.last?.frame == 123_456)
    #expect(bench.posted.last?.contains { $0.kind == .note && $0.frame.rawValue == 123_456 } == true)
  }

  @Test("While the window is hidden only low notes and drone are posted, and the score continues")
  func withoutVoices() {
    let bench = Bench()
    let session = bench.session(x: person, o: person)
    session.open()
    bench.pass(session, seconds: 3)
    session.voices = .bass
    bench.posted = []
    #expect(session.play(Cell(4)))
    bench.pass(session, seconds: 30)
    let notes = bench.posted.joined().filter { $0.kind == .note || $0.kind == .bell }
    #expect(notes.allSatisfy { $0.voice == .bass })
    #expect(session.bars.contains { $0.kind == .move })
    session.voices = .all
    bench.posted = []
    #expect(session.play(Cell(0)))
    #expect(bench.posted.joined().contains { $0.kind == .note && $0.voice == .m })
  }

  @Test("While all voices are off no sound is posted, and clocks, opponents and the score continue")
  func silence() throws {
    let bench = Bench()
    let session = bench.session(x: person, o: .opponent(SimpleOpponent.perfect))
    session.open()
    session.newGame(Participants(x: person, o: .opponent(SimpleOpponent.perfect)), clockSeconds: 60)
    session.voices = .none
    bench.posted = []
    #expect(session.play(Cell(4)))
    bench.pass(session, seconds: 10)
    #expect(session.game.moves.count == 2)
    bench.pass(session, seconds: 5)
    #expect(try #require(session.milliseconds(left: .x)) < 56_000)
    #expect(!bench.posted.joined().contains { $0.kind == .note || $0.kind == .bell || $0.kind == .drone })
  }

  @Test("A board that follows a match adds missing moves and takes back unconfirmed ones")
  func syncBoard() {
    let bench = Bench()
    let session = bench.session(x: person, o: .remote(name: "Ida"))
    session.open()
    session.join(Participants(x: person, o: .remote(name: "Ida")), seed: 1)
    #expect(session.play(Cell(4)))
    session.syncBoard([4, 0].map { Cell($0) })
    #expect(session.game.moves.map(\.index) == [4, 0])
    session.syncBoard([1, 0, 8].map { Cell($0) })
    bench.pass(session, seconds: 1)
    #expect(session.game.moves.map(\.index) == [1, 0, 8])
  }

  /// The listener is the player of a side, or a spectator. Messages take `delay` ms. At ply `refused` the server refuses the player's mark;
  /// after ply `leaves` a new window resumes.
  private func listen(
    _ side: Player?, delay: Int, refused: Int? = nil, leaves: Int? = nil, match: (squares: [Cell], times: [Int64])
  ) -> GameSession {
    let players = Participants(
      x: side == .x ? person : .remote(name: "Ida"), o: side == .o ? person : .remote(name: "Otto"))
    var bench = Bench()
    func come(_ seen: Int) -> GameSession {
      bench = Bench()
      let session = bench.session(x: person, o: person, seed: UInt64(delay + seen))
      session.open()
      bench.pass(session, seconds: Double(1 + delay % 7))
      bench.start = bench.now
      session.join(
        players, seed: 4_711, station: 13, moves: Array(match.squares.prefix(seen)),
        times: Array(match.times.prefix(seen)))
      return session
    }
    var session = come(0)
    var begun: Int64 = -4_000
    for (ply, time) in match.times.enumerated() {
      func pass(to moment: Int64) {
        let ahead = bench.start + .milliseconds(Int(moment - begun)) - bench.now
        bench.pass(session, seconds: ahead.seconds)
      }
      if side == (ply % 2 == 0 ? .x : .o) {
        pass(to: time - Int64(delay))
        if ply == refused, let wrong = match.squares.last {
          #expect(session.play(wrong))
          session.syncBoard(Array(match.squares.prefix(ply)), times: Array(match.times.prefix(ply)))
        }
        #expect(session.play(match.squares[ply]))
      }
      pass(to: time + Int64(delay))
      session.syncBoard(Array(match.squares.prefix(ply + 1)), times: Array(match.times.prefix(ply + 1)))
      if ply == leaves {
        session = come(ply + 1)
        begun = time + Int64(delay)
      }
    }
    bench.pass(session, seconds: 90)
    return session
  }

  private func notes(_ bars: [Bar]) -> [[[Pitch?]]] {
    bars.filter { $0.kind == .move || $0.kind == .closing }.map { bar in
      bar.pairs.map { [$0.m?.pitch, $0.t?.pitch, $0.answer?.pitch] }
    }
  }

  @Test("A match has the same music for all players and spectators at any delay, and its export has that music, too")
  func match() throws {
    for (number, cells) in [[4, 0, 2, 6, 3, 5, 1, 7, 8], [0, 1, 4, 8, 6, 3, 2]].enumerated() {
      let times: [Int64] = [0, 2_130, 14_610, 15_500, 20_880, 42_620, 43_660, 46_780, 51_650]
      let match = (squares: cells.map { Cell($0) }, times: Array(times.prefix(cells.count)))
      let near = listen(nil, delay: 0, match: match)
      let piece = notes(near.bars)
      #expect(piece.count > cells.count && near.game.isOver)
      #expect(near.rulesInForce.scale.tonicSpelling.letterName == "E")
      for (listener, session) in [
        listen(.x, delay: 80, match: match), listen(.o, delay: 300, match: match),
        listen(.x, delay: 150, refused: 4, match: match), listen(nil, delay: 40, leaves: 4, match: match),
        listen(.o, delay: 20, leaves: 5, match: match),
      ].enumerated() {
        #expect(notes(session.bars) == piece, "game \(number), listener \(listener)")
        let read = try Record(text: session.record.text)
        #expect(notes(Rendition(of: read, rules: testRules).bars) == piece, "export \(number), \(listener)")
      }
    }
  }

  @Test("The next game has a different tonic, and its record is rendered on that tonic")
  func tonics() throws {
    let bench = Bench()
    let session = bench.session(x: person, o: person)
    session.open()
    for cells in [[0, 1, 4, 8, 6, 3, 2], [4, 0, 2, 6, 3, 5, 1, 7, 8]] {
      for cell in cells {
        bench.pass(session, seconds: 5)
        #expect(session.play(Cell(cell)))
      }
      guard session.gameNumber == 0 else { break }
      session.newGame(session.participants)
    }
    bench.pass(session, seconds: 90)
    let scales = [session.rulesInForce, session.rules].map(\.scale)
    #expect(scales.map(\.tonicSpelling.letterName) == ["D", "B"])
    let record = try Record(text: session.record.text)
    #expect(record.station == Station(game: 1, place: 1))
    let again = Rendition(of: record, rules: testRules)
    #expect(again.rules == session.rulesInForce)
    let game = notes(session.bars)
    #expect(game.count > 9 && notes(again.bars) == game)
    let other = bench.session(x: person, o: person)
    other.open(resuming: record)
    #expect(other.rulesInForce == session.rulesInForce)
  }

  @Test("A resumed game with clocks has its remaining time")
  func resumedClocks() throws {
    let bench = Bench()
    let first = bench.session(x: person, o: person)
    first.open()
    first.newGame(Participants(x: person, o: person), clockSeconds: 60)
    for cell in [4, 0, 8] {
      bench.pass(first, seconds: 5)
      #expect(first.play(Cell(cell)))
    }
    let left = try #require(first.milliseconds(left: .x))
    #expect(left < 60_000)
    let later = Bench()
    let second = later.session(x: person, o: person)
    second.open(resuming: first.record)
    #expect(second.clockSeconds == 60)
    #expect(second.milliseconds(left: .x) == left)
    #expect(second.record.timeControl == "60+0")
    // An invalid time control gives a game without a clock.
    for text in ["-", "-5", "0+1", "86401", "9223372036854775807"] {
      var record = first.record
      record.timeControl = text
      let bench = Bench()
      let third = bench.session(x: person, o: person)
      third.open(resuming: record)
      #expect(third.milliseconds(left: .x) == nil, "\(text)")
    }
  }

  @Test("When a sound block starts while a bar is composed, the bar is composed again for the next block")
  func stamping() {
    let bench = Bench()
    let session = bench.session(x: person, o: person)
    session.open()
    bench.now = Tick(rawValue: 48_000)
    var looks = 0
    bench.duringCompose = { [unowned bench] in
      looks += 1
      if looks == 1 { bench.now = Tick(rawValue: 49_024) }
    }
    session.play(Cell(0))
    #expect(session.record.times.last?.frame == 49_024)
    #expect(bench.posted.last?.first?.frame.rawValue ?? 0 >= 49_024)
  }

  @Test("A late batch shifts the frame in the record by the same amount")
  func lateness() throws {
    let bench = Bench()
    let session = bench.session(x: person, o: person)
    session.open()
    bench.now = .seconds(3)
    session.play(Cell(0))
    let generation = try #require(bench.posted.last?.first?.generation)
    bench.late = [.init(generation: generation, frame: .seconds(3) + Tick(rawValue: 1_024), lateness: 1_024)]
    session.advance()
    let frame = try #require(session.record.times.last?.frame)
    #expect(frame == 145_024)
  }

  @Test("An opponent answers in musical time, two slots after the human's downbeat at the earliest")
  func musicalReply() throws {
    let bench = Bench()
    let session = bench.session(x: person, o: .opponent(SimpleOpponent.perfect))
    session.open()
    bench.pass(session, seconds: 8)
    session.play(Cell(4))
    #expect(session.isThinking && !session.acceptsMove)
    bench.pass(session, seconds: 6)
    let times = session.record.times
    #expect(times.count == 2)
    let gap = try #require(times[1].frame) - (times[0].frame ?? 0)
    // The answer comes after two short notes: 2.1 s at the standard tempo, but the performance varies the tempo.
    #expect(gap > Tick.seconds(1.6).rawValue && gap < Tick.seconds(4).rawValue, "\(gap)")
  }

  @Test("An immediate answer is played as soon as it is known")
  func immediateReply() throws {
    let bench = Bench()
    let session = bench.session(x: person, o: .opponent(SimpleOpponent.perfect))
    session.reply = .immediate
    session.open()
    bench.pass(session, seconds: 8)
    session.play(Cell(4))
    bench.pass(session, seconds: 0.2)
    #expect(session.record.game.moves.count == 2)
  }

  @Test("Undo takes back the opponent's answer too, redo plays both again, a new move discards them")
  func undoRedo() {
    let bench = Bench()
    let session = bench.session(x: person, o: .opponent(SimpleOpponent.perfect))
    session.reply = .immediate
    session.open()
    session.play(Cell(4))
    bench.pass(session, seconds: 1)
    let after = session.game.position
    #expect(session.canUndo)
    session.undo()
    #expect(session.game.moves.isEmpty && session.acceptsMove && session.undone.count == 2)
    #expect(!session.canUndo)
    session.redo()
    #expect(session.game.position == after && session.undone.isEmpty)
    session.undo()
    session.play(Cell(0))
    #expect(session.undone.isEmpty)
  }

  @Test("after redo the opponent waits for the player's move")
  func redoLeavesNoSearch() {
    let bench = Bench()
    let session = bench.session(x: person, o: .opponent(SimpleOpponent.perfect))
    session.open()
    session.play(Cell(4))
    bench.pass(session, seconds: 10)
    #expect(session.game.moves.count == 2)
    session.undo()
    session.redo()
    let knocks = bench.posted.joined().count { $0.kind == .knock }
    bench.pass(session, seconds: 10)
    #expect(session.game.moves.count == 2 && bench.posted.joined().count { $0.kind == .knock } == knocks)
    session.undo()
    session.redo()
    session.play(session.game.state.moves.first { _ in true } ?? Cell(0))
    bench.pass(session, seconds: 10)
    #expect(session.game.moves.count == 4)
  }

  @Test("With the same seed the opponent plays the same moves after any undo")
  func seededOpponent() {
    var games: [[Square]] = []
    for detour in [false, true] {
      let bench = Bench()
      let session = bench.session(x: person, o: .opponent(SimpleOpponent.random), seed: 77)
      session.reply = .immediate
      session.open()
      if detour {
        session.play(Cell(8))
        bench.pass(session, seconds: 1)
        session.undo()
      }
      while !session.game.isOver {
        session.play(session.game.state.moves.first { _ in true } ?? Cell(0))
        bench.pass(session, seconds: 1)
      }
      games.append(session.game.moves)
    }
    #expect(games[0] == games[1])
  }

  @Test("An occupied cell is refused with a knock and changes nothing")
  func refusal() {
    let bench = Bench()
    let session = bench.session(x: person, o: person)
    session.open()
    session.play(Cell(4))
    #expect(!session.play(Cell(4)))
    #expect(bench.posted.last?.contains { $0.kind == .knock } == true)
    #expect(session.game.moves.count == 1)
  }

  @Test("A resignation ends the game and has its frame in the record, and the next game may swap sides")
  func resignation() {
    let bench = Bench()
    let session = bench.session(x: person, o: .opponent(SimpleOpponent.perfect))
    session.open()
    bench.now = .seconds(2)
    let resignation = GameEnd(outcome: .win(.o), termination: .resignation)
    session.end(with: resignation)
    #expect(session.game.end == resignation)
    #expect(session.record.endFrame == 96_000)
    session.newGame(Participants(x: session.participants.o, o: session.participants.x))
    #expect(session.participants.loneHuman == .o)
    #expect(session.game.moves.isEmpty && session.gameNumber == 1)
    #expect(session.record.seed != 1)
  }

  @Test(
    "An end is saved so that it can be read again, with any reason from the server",
    arguments: [
      (Outcome.draw, Termination.resignation, Termination.agreement), (.win(.x), .agreement, .resignation),
      (.win(.o), .time, .time),
    ])
  func strangeEnd(outcome: Outcome, reason: Termination, kept: Termination) throws {
    let bench = Bench()
    let session = bench.session(x: person, o: person)
    session.open()
    session.play(Cell(4))
    session.end(with: GameEnd(outcome: outcome, termination: reason))
    #expect(try Record(text: session.record.text).game.end == GameEnd(outcome: outcome, termination: kept))
  }

  @Test(
    "the other games are played to their ends by their levels, saved unchanged, and undone to the first mark",
    arguments: Variant.allCases.filter { !$0.isImplied })
  func variants(variant: Variant) throws {
    let bench = Bench()
    let machine =
      switch variant {
      case .classic: MachinePlayer(Level.all[3])
      case .infinite: MachinePlayer(InfiniteOpponent.level(InfiniteLevel.all[3]))
      case .misere: MachinePlayer(MisereOpponent.level(MisereLevel.all[3]))
      case .ultimate: MachinePlayer(UltimateLevel.all[1], value: nil)
      }
    let session = bench.session(x: .machine(machine), o: .machine(machine))
    session.set(variant)
    session.open()
    for _ in 0..<2_000 where !session.game.isOver { bench.pass(session, seconds: 1) }
    #expect(session.game.isOver && session.game.cells.count >= 5)
    #expect(session.times.count == session.game.cells.count)
    let record = try Record(text: session.record.text, variants: [variant])
    #expect(record.game == session.game && record.game.variant == variant)

    let pair = bench.session(x: person, o: person)
    pair.set(variant)
    pair.open()
    // After four plies no side can have won.
    for cell in session.game.cells.prefix(4) { #expect(pair.play(cell)) }
    #expect(!pair.play(session.game.cells[3]))
    for _ in 0..<4 { pair.undo() }
    #expect(pair.game.cells.isEmpty && pair.undone.count == 4)
    pair.redo()
    #expect(pair.game.cells == Array(session.game.cells.prefix(1)))
  }

  @Test("A resumed game keeps the frames of its moves, and its later frames continue after them")
  func resuming() throws {
    let first = Bench()
    let before = first.session(x: person, o: person)
    before.open()
    first.now = .seconds(20)
    before.play(Cell(4))
    let saved = before.record
    let second = Bench()
    let session = second.session(x: person, o: person)
    session.open(resuming: saved)
    second.now = .seconds(1)
    session.play(Cell(0))
    let frames = session.record.times.compactMap(\.frame)
    #expect(frames.count == 2)
    #expect(frames[0] == 20 * 48_000)
    #expect(frames[1] == 22 * 48_000)
  }

  @Test("A clock starts with the first move, sounds below ten seconds, and loses the game at zero")
  func clocks() {
    let bench = Bench()
    let session = bench.session(x: person, o: person)
    session.open()
    session.newGame(Participants(x: person, o: person), clockSeconds: 30)
    bench.pass(session, seconds: 60)
    #expect(session.milliseconds(left: .x) == 30_000)
    session.play(Cell(4))
    bench.pass(session, seconds: 19)
    #expect(abs((session.milliseconds(left: .o) ?? 0) - 11_000) < 100)
    bench.pass(session, seconds: 2)
    session.play(Cell(0))
    #expect(abs((session.record.times.last?.clock ?? 0) - 9_000) < 100)
    #expect(!session.canUndo)
    bench.pass(session, seconds: 31)
    #expect(session.game.end == GameEnd(outcome: .win(.o), termination: .time))
    #expect(session.milliseconds(left: .x) == 0)
    #expect(session.record.timeControl == "30+0")
  }

  @Test("A session updated only on its own request has the same score and moves as one updated all the time")
  func wakes() {
    func play(_ step: (GameSession) -> Double) -> (
      events: [String], moves: [Square], times: [Record.MoveTimes], looks: Int
    ) {
      let bench = Bench()
      let session = bench.session(x: person, o: .opponent(SimpleOpponent.perfect))
      session.open()
      var looks = 0
      for second in [8.0, 40, 70, 120] {
        while bench.now < .seconds(second) {
          bench.now = min(.seconds(second), bench.now + .seconds(step(session)))
          session.advance()
          looks += 1
        }
        if let cell = Array(session.game.state.moves).first { session.play(cell) }
      }
      return (bench.posted.flatMap { $0 }.map { "\($0)" }.sorted(), session.game.moves, session.times, looks)
    }
    let always = play { _ in 0.02 }
    let asked = play { $0.wake ?? 1_000 }
    #expect(
      asked.events == always.events && asked.moves == always.moves && asked.times == always.times
        && asked.moves.count > 5)
    #expect(asked.looks < always.looks / 20, "\(asked.looks) looks in two minutes, \(always.looks) without asking")
  }

  @Test("A clock requests updates when its display changes and when it runs out")
  func clockWakes() {
    let bench = Bench()
    let session = bench.session(x: person, o: person)
    session.open()
    session.newGame(Participants(x: person, o: person), clockSeconds: 12)
    session.play(Cell(4))
    var (seconds, tenths, looks) = (Set<Int>(), Set<Int>(), 0)
    while !session.game.isOver, looks < 1_000, let wait = session.wake {
      bench.now = bench.now + .seconds(wait)
      session.advance()
      looks += 1
      let left = session.milliseconds(left: .o) ?? 0
      if left < 10_000 { tenths.insert(left / 100) } else { seconds.insert(left / 1_000) }
    }
    #expect(session.game.end == GameEnd(outcome: .win(.x), termination: .time))
    #expect(seconds == [10, 11] && tenths == Set(0..<100))
    #expect(looks < 160)
  }

  @Test("While another piece plays, the music that begins by itself is not posted")
  func resting() {
    let bench = Bench()
    let session = bench.session(x: person, o: person)
    session.open()
    session.isResting = true
    let before = bench.posted.count
    bench.pass(session, seconds: 30)
    #expect(bench.posted.count == before)
    session.isResting = false
    bench.pass(session, seconds: 60)
    #expect(bench.posted.count > before)
    // Music that was due while the session rested is not posted later.
    let late = bench.posted.dropFirst(before).flatMap(\.self).filter { $0.frame < .seconds(30) }
    #expect(late.isEmpty)
  }
}
