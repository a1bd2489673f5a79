import MatchProtocol
import Testing
import TicTacToe

enum FinishedMatch {
  /// Vera has X, Ida O. A move comes every `pause` milliseconds. O resigns unless the board has a result.
  static func state(
    _ id: String, _ cells: [Int], _ reason: MatchEvent.Reason, pause: Int = 1_500
  ) throws -> MatchState {
    var state = MatchState(id: try #require(MatchID(rawValue: id)))
    var terms = MatchTerms(clock: TimeControl("20+1"))
    terms.tournament = "K7Q2XD"
    let players = Sides(
      x: PlayerInfo(name: "Vera", rating: 1_500, guest: true), o: PlayerInfo(name: "Ida", rating: 1_500, guest: true))
    func add(_ kind: MatchEvent.Kind, _ side: Player? = nil, at time: Int) throws {
      let event = MatchEvent(at: Int64(time), side: side, mid: nil, kind)
      try state.append(event, body: event.body)
    }
    try add(.start(players, terms, confirm: false, previous: nil, keys: []), at: 0)
    for (ply, cell) in cells.enumerated() {
      let name = CellName(Cell(cell), in: .classic)
      try add(.move(ply: ply, cell: name, spent: 1_500), ply % 2 == 0 ? .x : .o, at: pause * (ply + 1))
    }
    let outcome = reason == .normal ? state.position.outcome : .win(.x)
    if reason == .resign { try add(.resign, .o, at: pause * (cells.count + 1)) }
    try add(.end(outcome, reason, ratings: nil), at: pause * (cells.count + 1))
    return state
  }
}
