import Interface
import MatchProtocol
import Oracle
import Records
import Testing
import TicTacToe

@testable import ClientModel
@testable import WindowLogic

@Suite("The table: every intent in every state")
struct TableTests {
  /// With valid and invalid values.
  static let intents: [Intent] = [
    .show(.settings), .back, .play(Cell(4)), .play(Cell(0)), .preview(Cell(1)), .preview(nil),
    .newGame(GameSetup(x: .human, o: .human, clockSeconds: 60)), .newGame(GameSetup(x: .menace, o: .human)), .rematch,
    .resign, .undo, .redo, .hint, .analysis, .toggleStrip, .listen, .touchBoard, .touchAlso(Cell(1)), .sleep,
    .stopListening, .today, .shareToday,
    .offerDraw, .declineDraw, .claimWin,
    .abortMatch,
    .review, .seek(3), .playOn(.classic(.start)), .keepPiece, .makeFilm, .stopFilm, .openPieces, .saveGame, .listGames,
    .openGame(path: "x"),
    .deleteGame(path: "x"), .copyGame, .pasteGame, .copyText("x"), .shareRoom(code: "x"), .shareGame, .shareMatch,
    .statistics,
    .playSign(.win), .replay(fromPly: 0),
    .replay(fromPly: nil), .playAll, .reloadRules, .setMuted(true), .connect(address: "a:1"), .connect(address: ""),
    .connect(address: "a:b:c d"), .host, .playFriend, .quickMatch, .acceptBot, .registerName("Vera"), .registerName(""),
    .openRoom,
    .joinRoom(code: "ABC234"), .joinNearby(address: "h:1", code: "ABC234"), .joinNearby(address: "", code: ""),
    .joinRoom(code: "?"), .watch(id: "0123456789ab"), .watch(id: "?"), .leave, .say("👋"),
    .letter(.begin), .letter(.open("x")), .letter(.show(1)), .letter(.send), .letter(.write("x")),
    .letter(.sign("Vera")),
    .letter(.copy), .letter(.share), .letter(.list), .letter(.delete(1)),
    .tournament(.make(name: "Class")), .tournament(.open(path: "ABC234")), .tournament(.open(path: "?")),
    .tournament(.enter(code: "ABC234")), .tournament(.enter(code: "")), .tournament(.pause), .tournament(.play),
    .tournament(.leave), .tournament(.start), .tournament(.end), .tournament(.remove(name: "Ida")), .tournament(.share),
    .tournament(.save),
    .emote(.gg), .setTalkMuted(true), .setBlocked(true), .reportOpponent, .screenshot, .quit, .leavePage,
  ]

  /// Each state is reached through events.
  static var states: [(name: String, window: TestWindow)] {
    func window(_ build: (inout TestWindow) -> Void) -> TestWindow {
      var window = TestWindow()
      build(&window)
      return window
    }
    func connected(_ build: @escaping (inout TestWindow) -> Void) -> TestWindow {
      window {
        $0.want(.connect(address: "127.0.0.1:4664"))
        $0.online()
        build(&$0)
      }
    }
    func match(_ you: Player? = .x, _ build: @escaping (inout TestWindow) -> Void = { _ in }) -> TestWindow {
      connected {
        $0.start(you: you)
        build(&$0)
      }
    }
    let lost = ConnectionStatus.waiting(milliseconds: 900, reason: .lost)
    return [
      ("new", TestWindow()),
      ("local", window { $0.want(.play(Cell(4))) }),
      ("two people", window { $0.want(.newGame(GameSetup(x: .human, o: .human))) }),
      (
        "local over",
        window {
          $0.want(.newGame(GameSetup(x: .human, o: .human))); $0.want(.resign)
        }
      ),
      ("listening", window { $0.want(.listen) }),
      ("free play", window { $0.want(.touchBoard) }),
      (
        "reviewing",
        window {
          $0.want(.play(Cell(4))); $0.turn(to: .review)
        }
      ),
      ("connecting", window { $0.want(.connect(address: "127.0.0.1:4664")) }),
      (
        "never reached",
        window {
          $0.want(.connect(address: "a:1")); $0.step(.network(.status(lost), nil))
        }
      ),
      (
        "refused",
        window {
          $0.want(.connect(address: "a:1")); $0.step(.network(.status(.failed(.banned)), nil))
        }
      ),
      ("lobby", connected { _ in }),
      ("queued", connected { $0.want(.quickMatch) }),
      (
        "queued, bots",
        connected {
          $0.want(.quickMatch); $0.step(.network(.queued(waited: 1, bots: 2), nil))
        }
      ),
      ("room", connected { $0.step(.network(.room(TestWindow.m, code: "ABC234", expiresIn: 9), nil)) }),
      ("match, mine", match()), ("match, theirs", match(.o)),
      ("match, moved", match { $0.want(.play(Cell(4))) }),
      (
        "match, both moved",
        match {
          $0.move(4); $0.move(0)
        }
      ),
      (
        "draw offered",
        match {
          $0.move(4); $0.move(0); $0.log(.draw(.offer, offer: nil), .o)
        }
      ),
      (
        "opponent away",
        match {
          $0.move(4); $0.move(0); $0.log(.gone, .o)
        }
      ),
      (
        "match, lost",
        match {
          $0.move(4); $0.step(.network(.status(lost), nil))
        }
      ),
      (
        "match, failed",
        match {
          $0.move(4); $0.step(.network(.status(.failed(.replaced)), nil))
        }
      ),
      (
        "match, closed",
        match {
          $0.move(4); $0.step(.network(.status(.closed), nil))
        }
      ),
      (
        "match over",
        match {
          $0.log(.resign, .o); $0.log(.end(.win(.x), .resign, ratings: nil))
        }
      ),
      ("letter begun", window { LetterGameTests.begin(&$0) }),
      (
        "letter marked",
        window {
          LetterGameTests.begin(&$0); $0.want(.play(Cell(4)))
        }
      ),
      (
        "letter sent",
        window {
          LetterGameTests.begin(&$0); $0.want(.play(Cell(4))); $0.want(.letter(.send))
        }
      ),
      ("letter over", window { LetterGameTests.begin(&$0, [0, 1, 3, 4, 6]) }),
      ("match aborted", match { $0.log(.end(nil, .aborted, ratings: nil)) }),
      ("watching", match(nil)),
      ("watching, lost", match(nil) { $0.step(.network(.status(lost), nil)) }),
      (
        "watching, over",
        match(nil) {
          $0.log(.resign, .o); $0.log(.end(.win(.x), .resign, ratings: nil))
        }
      ),
    ]
  }

  @Test("every intent in every state has an effect, and a refusal has a message")
  func walk() {
    for (name, window) in TableTests.states {
      for intent in TableTests.intents {
        var window = window
        let effects = window.want(intent)
        #expect(!effects.isEmpty, "\(intent) does nothing in \(name)")
        if effects.contains(.refuse) {
          #expect(
            TestWindow.words(effects).contains { !$0.text(in: .english).isEmpty },
            "\(intent) is refused without words in \(name)")
          #expect(effects.count == 2, "\(intent) is refused and done in \(name)")
        }
      }
    }
  }

  @Test("after any two intents and some time, the window has not crashed and a new game can be started")
  func pairs() {
    for (name, window) in TableTests.states {
      for first in TableTests.intents {
        var after = window
        after.want(first)
        after.step(.tick)
        for second in TableTests.intents {
          var end = after
          #expect(!end.want(second).isEmpty, "\(second) does nothing after \(first) in \(name)")
        }
        // In a live match a new game can be started only after the match was aborted or resigned.
        after.want(.newGame(GameSetup(x: .human, o: .level(1))))
        if after.state.isInLiveMatch {
          let given = after.want(.abortMatch) + after.want(.resign) + after.want(.resign)
          #expect(
            given.contains { if case .command = $0 { true } else { false } }, "no way out of \(name) after \(first)")
        } else {
          #expect(after.state.mode == .local && after.state.match == nil, "no new game in \(name) after \(first)")
          #expect(after.want(.play(Cell(2))) == [.play(Cell(2))])
        }
      }
    }
  }

  @Test("the daily board is of Infinite on Tuesday and Saturday and of Ultimate on Thursday, against the best level")
  func todayOfOthers() throws {
    for (date, variant) in [("2026-11-24", Variant.infinite), ("2026-11-26", .ultimate), ("2026-11-28", .infinite)] {
      var window = TestWindow()
      window.state.preferences.date = date
      window.want(.today)
      let board = try #require(window.state.today)
      #expect(board.state.variant == variant && window.board.game.startState == board.state)
      let other = board.state.turn == .x ? window.state.setup.o : window.state.setup.x
      #expect(other == .level(6) && window.state.setup.variant == variant)
    }
  }

  @Test("choosing a different variant starts it, and shows its rules the first time only")
  func variants() {
    var window = TestWindow()
    for variant in [Variant.infinite, .ultimate, .infinite] {
      let isNew = !window.state.preferences.shownRules.contains(variant)
      let effects = window.want(.newGame(GameSetup(x: .human, o: .menace).playing(variant)))
      #expect(window.state.setup == GameSetup(x: .human, o: .level(3), variant: variant))
      #expect(window.board.game == Game(from: VariantState(startOf: variant)))
      #expect(effects.contains(.show(.rules)) == isNew && effects.contains(.remember(.shownRules(variant))) == isNew)
      window.state.preferences.shownRules.insert(variant)
    }
  }

  @Test("a cell of Ultimate is refused with the reason: it is marked, or on another board than the one to play in")
  func ultimateRefusals() throws {
    var window = TestWindow()
    window.want(.newGame(GameSetup(x: .human, o: .human, variant: .ultimate)))
    let names = ["e5", "d6", "a9"]
    for name in names { window.want(.play(try #require(Variant.ultimate.cell(named: name)))) }
    #expect(window.board.game.cells.map { Variant.ultimate.name(of: $0) } == names)
    // The last mark, a9, is in the top left cell of its board, and so selects the top left board.
    let taken = window.want(.play(try #require(Variant.ultimate.cell(named: "a9"))))
    #expect(taken == [.refuse, .say("\(.cellTaken)")])
    let elsewhere = window.want(.play(try #require(Variant.ultimate.cell(named: "i1"))))
    #expect(elsewhere == [.refuse, .say("\(.otherBoard)")])
    #expect(window.want(.judge) == [.judge])
  }

  @Test("a position of a different variant is continued as a game of that variant")
  func playingOn() throws {
    var window = TestWindow()
    let state = try VariantState(.infinite, notation: "b2c1c3/a3b3a1 x 6")
    window.want(.playOn(state))
    #expect(window.board.game.startState == state && window.state.setup.variant == .infinite)
    window.want(.resign)
    window.want(.rematch)
    #expect(window.board.game.startState == VariantState(startOf: .infinite))
  }

  @Test("the saved file of a game that began from a position can be read again")
  func repetitionPlayedOn() throws {
    var window = TestWindow()
    var state = VariantState(startOf: .infinite)
    let cells = [6, 3, 0, 1, 2, 5, 8, 7, 6, 3, 0, 1, 2, 5].map { Cell($0) }
    for cell in cells { _ = state.play(cell) }
    window.want(.newGame(GameSetup(x: .human, o: .human, variant: .infinite)))
    window.want(.playOn(state))
    for cell in cells[6...] where !window.board.game.isOver { try window.board.game.play(cell) }
    let text = Record(game: window.board.game).text
    #expect(try Record.all(in: text, variants: [.infinite]).map(\.game) == [window.board.game])
  }

  @Test("after a match that followed today's board an ordinary game starts, without the match's score")
  func matchAfterToday() throws {
    var window = TestWindow()
    window.state.preferences.date = "2026-11-25"
    window.want(.today)
    window.want(.connect(address: "127.0.0.1:4664"))
    window.online()
    window.start()
    window.log(.resign, .o)
    window.log(.end(.win(.x), .resign, ratings: nil))
    window.step(.tick)
    window.want(.leave)
    #expect(window.state.match == nil && window.state.today == nil)
    #expect(window.state.score == .init())
  }

  @Test("today's board is selected by the day, is solved only by the right moves, and otherwise can be tried again")
  func today() throws {
    var window = TestWindow()
    window.state.preferences.date = "2026-11-25"
    let effects = window.want(.today)
    let board = try #require(window.state.today)
    #expect(board == DailyBoard(date: "2026-11-25") && effects.contains(.show(.board)))
    let seats = [window.state.setup.x, window.state.setup.o]
    #expect(seats[board.state.turn == .x ? 0 : 1] == .human && seats.contains(.perfect))
    #expect(window.want(.shareToday).count == 1)
    for isRight in [false, true] {
      var game = Game(from: board.state)
      while !game.isOver {
        let best = Solver.shared.distanceOptimalMoves(in: game.position)
        let other = game.position.legalMoves.subtracting(best)
        let isMine = game.turn == board.state.turn
        let moves = isMine && !isRight && !other.isEmpty ? other : best
        try game.play(try #require(moves.first))
      }
      window.board.game = game
      window.effects = []
      window.step(.tick)
      #expect(window.effects.contains(.remember(.solved(day: board.day))) == isRight)
      if !isRight {
        #expect(window.want(.rematch).contains(.begin(window.state.setup, from: board.state)))
      }
    }
    #expect(window.want(.shareToday) == [.shareToday(board)])
    window.want(.newGame(GameSetup(x: .human, o: .level(1))))
    #expect(window.state.today == nil)
  }

  @Test("ending the listening mode restores the player's game")
  func stopping() {
    var window = TestWindow()
    #expect(window.want(.stopListening).contains(.refuse))
    window.want(.listen)
    window.want(.stopListening)
    #expect(window.state.mode == .local && window.state.setup.x == .human)
  }

  @Test("the browser's Back leaves a connected match only after a confirmation, else the page at once")
  func leaving() {
    var window = TestWindow()
    #expect(window.want(.leavePage) == [.quit])
    window.want(.connect(address: "127.0.0.1:4664"))
    window.online()
    window.start()
    #expect(TestWindow.words(window.want(.leavePage)).count == 1)
    #expect(window.want(.leavePage) == [.say(nil), .quit], "the question goes with its answer")
    window.step(.network(.status(.waiting(milliseconds: 900, reason: .lost)), nil))
    #expect(window.want(.leavePage) == [.quit])
    #expect(window.state.isPlaying, "the page keeps its step in the browser's history while the connection is lost")
  }

  @Test("chat is shown once the server accepts it")
  func talk() {
    var window = TestWindow()
    window.want(.connect(address: "127.0.0.1:4664"))
    window.online()
    window.start()
    window.want(.say("hello"))
    window.want(.say("you fool"))
    #expect(window.state.chat.lines.isEmpty && window.state.chat.unsent == ["hello", "you fool"])
    window.step(.network(.chat(TestWindow.m, from: "Vera", text: "hello", emote: nil), nil))
    #expect(
      TestWindow.words(window.step(.network(.refused(.bad, "no such word", .say(TestWindow.m, "you fool")), nil))).count
        == 1)
    #expect(window.state.chat.lines.map(\.text) == ["hello"] && window.state.chat.unsent.isEmpty)
    let told = window.step(.network(.chat(TestWindow.m, from: "Ida", text: nil, emote: "gg"), nil))
    #expect(TestWindow.words(told).map { $0.text(in: .english) } == ["Ida: Good game"] && window.state.chat.unread == 1)
    window.turn(to: .talk)
    #expect(window.state.chat.unread == 0)
  }

  @Test("a click while an opponent's answer waits for the music is refused with the reason")
  func early() {
    var window = TestWindow()
    window.want(.play(Cell(4)))
    #expect(!window.board.acceptsMove)
    for (language, word) in [(Language.english, "music"), (.german, "Musik")] {
      func reason() -> String? { TestWindow.words(window.want(.play(Cell(0)))).first?.text(in: language) }
      #expect(reason()?.contains(word) == true)
      window.state.preferences.isMusical = false
      #expect(reason()?.contains(word) == false)
      window.state.preferences.isMusical = true
    }
  }

  @Test("the listening mode keeps the chosen opponent and has no resignation; deleting a game needs a confirmation")
  func listening() {
    var window = TestWindow()
    let effects = window.want(.listen)
    #expect(!effects.contains { if case .remember = $0 { true } else { false } })
    #expect(window.want(.resign).contains(.refuse))
    let delete = Intent.deleteGame(path: "x")
    #expect(TestWindow.words(window.want(delete)).count == 1)
    #expect(window.want(.deleteGame(path: "y")) != [.file(.deleteGame(path: "y"))])
    window.want(delete)
    #expect(window.want(delete) == [.say(nil), .file(delete)])
  }

  @Test("resigning a match needs a confirmation")
  func resigning() {
    for rated in [true, false] {
      var window = TestWindow()
      window.want(.connect(address: "127.0.0.1:4664"))
      window.online()
      window.start(rated: rated)
      let first = window.want(.resign)
      #expect(!first.contains(.command(.resign(TestWindow.m))) && TestWindow.words(first).count == 1)
      window.now += 3
      #expect(window.want(.resign) == [.say(nil), .command(.resign(TestWindow.m))])
    }
  }

  @Test("a match without moves counts down and shows why it ended; a rematch is offered only as long as it is possible")
  func clocksOfTheServer() {
    var window = TestWindow()
    window.want(.connect(address: "127.0.0.1:4664"))
    window.online()
    window.start()
    window.now += 12
    #expect(window.state.online(at: window.now, client: 0)?.firstMoveIn == 18)
    window.move(4)
    #expect(window.state.online(at: window.now, client: 0)?.firstMoveIn == 30)
    window.log(.end(nil, .aborted, ratings: nil))
    let model = window.state.online(at: window.now, client: 0)
    #expect(model?.firstMoveIn == nil && model?.isCalledOff == false && model?.mayRematch == true)
    #expect(window.board.game.end == GameEnd(outcome: nil, termination: .abandoned))
    #expect(window.want(.rematch) == [.command(.rematch(TestWindow.m))])
    window.now += 29
    window.log(.rematch(next: nil), .o)
    // The opponent's offer of a rematch gives this player another 30 s to answer.
    window.now += 29
    #expect(window.state.online(at: window.now, client: 0)?.rematch == .theirs)
    window.now += 2
    let late = window.state.online(at: window.now, client: 0)
    #expect(late?.mayRematch == false && late?.rematch == .nobody)
    #expect(window.want(.rematch).contains(.refuse))
  }

  @Test("after a late return a rematch is offered only as long as the server certainly accepts it")
  func lateRematch() throws {
    for (away, reason, left) in [
      (5.0, ConnectionProblem.lost, 25), (29.5, .lost, 1), (31, .lost, nil), (4, .silent, 1), (6, .silent, nil),
    ] as [(Double, ConnectionProblem, Int?)] {
      var window = TestWindow()
      window.want(.connect(address: "127.0.0.1:4664"))
      window.online()
      window.start()
      window.move(4)
      window.step(.network(.status(.waiting(milliseconds: 900, reason: reason)), nil))
      window.now += away
      window.online()
      var view = try #require(window.views[TestWindow.m])
      try view.state.append(MatchEvent(at: 0, side: .o, mid: nil, .resign), body: [])
      try view.state.append(
        MatchEvent(at: 0, side: nil, mid: nil, .end(.win(.x), .resign, ratings: nil)), body: [])
      window.step(.network(.state(TestWindow.m), view))
      #expect(window.state.online(at: window.now, client: 0)?.rematchIn == left, "\(away) s away, \(reason)")
    }
  }

  @Test("a mark shown at once is not made twice, and is taken back if the server refuses it")
  func pending() {
    var window = TestWindow()
    window.want(.connect(address: "127.0.0.1:4664"))
    window.online()
    window.start()
    #expect(window.want(.play(Cell(4))) == [.play(Cell(4)), .command(.move(TestWindow.m, Cell(4)))])
    #expect(!window.want(.play(Cell(3))).contains { if case .command = $0 { true } else { false } })
    // The opponent is reported gone before the server answers the move.
    let effects = window.log(.gone, .o)
    #expect(!effects.contains { if case .syncBoard = $0 { true } else { false } })
    let view = window.views[TestWindow.m]
    window.step(.network(.moveRejected(TestWindow.m, CellName(Cell(4), in: .classic), .rules, "no"), view))
    #expect(window.board.game.moves.isEmpty)
    window.move(0)
    #expect(window.board.game.moves.map(\.index) == [0])
  }

  @Test("the lobby's message about a code disappears with the next command or match")
  func staleMessage() {
    var window = TestWindow()
    window.want(.connect(address: "127.0.0.1:4664"))
    window.online()
    window.turn(to: .network)
    window.step(.network(.refused(.code, "no room has this code now", .join(code: "ABC234")), nil))
    #expect(window.state.network.message == "\(english: "no room has this code now", else: .errCode)")
    var waiting = window
    waiting.want(.quickMatch)
    #expect(waiting.state.network.phase == .queued(bots: 0) && waiting.state.network.message == nil)
    window.start()
    #expect(window.state.network.message == nil)
  }
}
