import Base
import TestSupport
import Testing
import TicTacToe

@testable import MatchProtocol

@Suite struct RulesTests {
  private func parse(_ text: String) throws -> ClientMessage {
    try Array(text.utf8).withUnsafeBytes { try ClientLine($0) }.message
  }

  private func refusal(_ text: String) -> String? {
    do { _ = try parse(text) } catch let error as ProtocolError { return error.message } catch {}
    return nil
  }

  @Test(arguments: Variant.allCases)
  func `a match's terms name the game, and a missing clock means the game's usual clock`(
    rules: Variant
  ) throws {
    let terms = MatchTerms(rules: rules)
    #expect(terms.clockText == (rules == .ultimate ? "300+3" : "60+2"))
    let line = ClientLine(.create(terms, key: "k")).bytes
    let text = String(decoding: line, as: UTF8.self)
    #expect(text.contains("rules") == (rules != .classic), "the classic game is not named: \(text)")
    #expect(try parse(String(text.dropLast())) == .create(terms, key: "k"))
    #expect(try parse(#"{"t":"seek","rules":"\#(rules.rawValue)","key":"k"}"#) == .seek(.init(terms, key: "k")))
    #expect(try parse("create \(rules.rawValue)") == .create(terms, key: nil))
  }

  @Test func `a room may name its opener's side, a seek may not`() throws {
    let terms = MatchTerms(rules: .ultimate, clock: Variant.ultimate.usualClock, opener: .o)
    let text = String(decoding: ClientLine(.create(terms, key: "k")).bytes, as: UTF8.self)
    #expect(text.contains(#""opener":"o""#))
    #expect(try parse(String(text.dropLast())) == .create(terms, key: "k"))
    #expect(try parse("create o ultimate") == .create(terms, key: nil))
    let asked = #"the field "opener" must be left out: only a room has one"#
    #expect(refusal(#"{"t":"seek","opener":"x","key":"k"}"#) == asked)
    #expect(refusal(#"{"t":"create","opener":"z","key":"k"}"#)?.contains("opener") == true)
    #expect(refusal("seek x")?.contains("clock") == true)
  }

  @Test func `an unknown game is refused with the allowed ones`() {
    let text = #"the field "rules" must be \#(Variant.allowed)"#
    #expect(refusal(#"{"t":"seek","rules":"gomoku","key":"k"}"#) == text)
    #expect(refusal(#"{"t":"top","rules":"gomoku"}"#) == text)
    #expect(refusal(#"{"t":"seek","rules":7,"key":"k"}"#)?.contains("rules") == true)
    #expect(refusal("top gomoku") == text)
  }

  @Test func `a client lists the games it supports, and Classic is always among them`() throws {
    guard case .hello(let hello) = try parse(#"{"t":"hello","v":[2],"caps":["bot","ultimate"]}"#) else { return }
    #expect(hello.games == [.classic, .ultimate])
    guard case .hello(let person) = try parse("hello Ann") else { return }
    #expect(person.games == Variant.allCases, "a person reads whatever game it is")
  }

  @Test(arguments: [("b2", "b2"), ("5", "b2"), ("i9", "i9")])
  func `a cell is written with the name that its game gives it`(text: String, name: String) throws {
    #expect(CellName(text: text)?.text == name)
    #expect(CellName(text: "j1") == nil && CellName(text: "a0") == nil && CellName(text: "") == nil)
  }

  @Test(arguments: Variant.allCases.filter { !$0.isImplied })
  func `a whole game is folded from its log, and its state survives a round trip`(rules: Variant) throws {
    var random = SplitMix64(seed: 7)
    let id = try #require(MatchID(rawValue: "0123456789ab"))
    let info = PlayerInfo(name: "Ann", rating: 1500, guest: false)
    var state = MatchState(id: id)
    func add(_ kind: MatchEvent.Kind, _ side: Player? = nil) throws {
      let event = MatchEvent(at: 9, side: side, kind)
      #expect(try MatchEvent(body: event.body) == event)
      try state.append(event, body: event.body)
    }
    try add(
      .start(Sides(x: info, o: info), MatchTerms(rules: rules), confirm: false, previous: nil, keys: []))
    #expect(state.board.count == rules.cellCount && state.board.allSatisfy { $0 == "." })
    while state.position.outcome == nil {
      let cell = state.position.moves.randomCell(using: &random)
      try add(.move(ply: state.moves.count, cell: CellName(cell, in: rules), spent: 1), state.turn)
      let line = ServerMessage.state(state, left: nil, you: nil).bytes()
      let read = try line.dropLast().withUnsafeBytes { try ServerLine($0) }
      #expect(read.message == .state(state, left: nil, you: nil))
    }
    #expect(state.moves.count > 5 && state.position.variant == rules)
    try add(.end(state.position.outcome, .normal, ratings: nil))
    #expect(throws: ProtocolError.self) {
      try add(.end(state.position.outcome, .normal, ratings: nil))
    }
  }

  @Test func `a log with an illegal cell is refused`() throws {
    let id = try #require(MatchID(rawValue: "0123456789ab"))
    let info = PlayerInfo(name: "Ann", rating: 1500, guest: false)
    for (rules, name) in [(Variant.classic, "i9"), (.infinite, "d4")] {
      var state = MatchState(id: id)
      let start = MatchEvent(
        at: 1, .start(Sides(x: info, o: info), MatchTerms(rules: rules), confirm: false, previous: nil, keys: []))
      try state.append(start, body: start.body)
      let cell = try #require(CellName(text: name))
      let move = MatchEvent(at: 2, side: .x, .move(ply: 0, cell: cell, spent: 0))
      #expect(throws: ProtocolError.self) { try state.append(move, body: move.body) }
    }
  }

  @Test func `only a log of another game than Classic needs a later version of the log format`() {
    let info = PlayerInfo(name: "Ann", rating: 1500, guest: false)
    func since(_ rules: Variant) -> [Int] {
      let terms = MatchTerms(rules: rules)
      return [
        MatchEvent.Kind.open(by: "a", terms).since,
        MatchEvent.Kind.start(Sides(x: info, o: info), terms, confirm: false, previous: nil, keys: []).since,
      ]
    }
    #expect(
      since(.classic) == [1, 1] && since(.infinite) == [3, 3] && since(.ultimate) == [3, 3] && since(.misere) == [4, 4])
    #expect(MatchEvent.newest == Variant.allCases.map(\.since).max())
  }
}
