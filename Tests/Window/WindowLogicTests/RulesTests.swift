import Base
import Interface
import MatchProtocol
import TestSupport
import Testing
import TicTacToe

@testable import ClientModel
@testable import WindowLogic

@Suite struct RulesTests {
  @Test(arguments: [(Variant.classic, "60+2"), (.infinite, "60+2"), (.misere, "60+2"), (.ultimate, "300+3")])
  func `a seek is for the last chosen game, with its usual clock unless another is set`(
    rules: Variant, usual: String
  ) throws {
    var window = TestWindow()
    try window.connect(destination: .resume)
    window.online()
    window.turn(to: .network)
    window.state.preferences.game = rules
    #expect(window.state.usualClock == usual)
    #expect(window.want(.quickMatch).contains(.command(.seek(MatchTerms(rules: rules)))))
    window.want(.leave)
    window.state.preferences.roomClock = "600+5"
    let terms = MatchTerms(rules: rules, clock: TimeControl("600+5"))
    #expect(window.want(.openRoom).contains(.command(.create(terms))))
  }

  @Test func `the side is chosen for a room, but not for a seek`() throws {
    var window = TestWindow()
    try window.connect(destination: .resume)
    window.online()
    window.turn(to: .network)
    window.state.preferences.roomSide = .o
    var waiting = window
    #expect(waiting.want(.quickMatch).contains(.command(.seek(MatchTerms()))))
    #expect(window.want(.openRoom).contains(.command(.create(MatchTerms(clock: nil, opener: .o)))))
  }

  @Test func `outside the network page a seek is for the game on the board`() throws {
    var window = TestWindow()
    try window.connect(destination: .resume)
    window.online()
    window.turn(to: .board)
    window.want(.newGame(GameSetup(x: .human, o: .level(3), variant: .ultimate)))
    let effects = window.want(.quickMatch)
    #expect(effects.contains(.remember(.game(.ultimate))))
    #expect(effects.contains(.command(.seek(MatchTerms(rules: .ultimate)))))
  }

  @Test(arguments: Variant.allCases.filter { !$0.isImplied }, [Player.x, nil])
  func `a match of any game is shown on the board, played or watched`(rules: Variant, you: Player?) throws {
    var window = TestWindow()
    try window.connect(destination: .resume)
    window.online()
    if you == nil { window.want(.watch(id: TestWindow.m.rawValue)) }
    let players = Sides(
      x: PlayerInfo(name: "Vera", rating: 1_500, guest: false), o: PlayerInfo(name: "Ida", rating: 1_518, guest: false))
    window.log(
      .start(players, MatchTerms(rules: rules), confirm: false, previous: nil, keys: []), you: you)
    #expect(window.state.setup.variant == rules)
    let joined = window.effects.compactMap { if case .join(let match) = $0 { match } else { nil } }.last
    #expect(joined?.rules == rules && joined?.you == you)
    window.board.game = Game(from: VariantState(startOf: rules))
    window.board.acceptsMove = true
    let cell = Cell(rules == .ultimate ? 40 : 4)
    if you != nil {
      #expect(window.want(.play(cell)).contains(.command(.move(TestWindow.m, cell))))
    }
    let effects = window.log(.move(ply: 0, cell: CellName(cell, in: rules), spent: 100), .x)
    if you == nil {
      #expect(effects.contains { if case .syncBoard([cell], _) = $0 { true } else { false } })
    }
    #expect(window.state.onlineMatch?.view?.state.moves == [cell])
  }

  @Test func `the rating in each game is requested on login and after a match`() throws {
    var window = TestWindow()
    try window.connect(destination: .resume)
    window.online()
    window.turn(to: .network)
    func asks() -> Bool {
      window.now += 6
      return window.step(.tick).contains(.command(.me))
    }
    #expect(asks() && asks())
    let rows: [JSONObject] = [["rating": .int(1612)], ["rules": .string("ultimate"), "rating": .int(1702)]]
    window.step(.network(.page("me", rows: rows, more: nil), nil))
    let you = try #require(window.state.network.you)
    #expect(Variant.allCases.map(you.rating) == [1_612, 1_500, 1_500, 1_702])
    #expect(!asks())
    window.start()
    window.log(.resign, .o)
    window.log(.end(.win(.x), .resign, ratings: nil))
    window.want(.newGame(GameSetup(x: .human, o: .human)))
    window.turn(to: .network)
    #expect(asks())
  }

  @Test func `the list of matches names every game except classic`() throws {
    var window = TestWindow()
    try window.connect(destination: .resume)
    window.online()
    let rows: [JSONObject] = [
      ["m": .string("a"), "x": .string("Ann"), "o": .string("Bob")],
      ["m": .string("b"), "x": .string("Ann"), "o": .string("Eve"), "rules": .string("ultimate")],
    ]
    window.step(.network(.page("list", rows: rows, more: nil), nil))
    #expect(window.state.network.matches.map(\.title) == ["Ann – Bob", "Ann – Eve · \(.ultimate)"])
  }
}
