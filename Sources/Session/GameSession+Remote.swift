import Composer
import TicTacToe

/// A game whose other players, or all of them, sit elsewhere: what they do is brought in, and they are told what is done
/// here by whoever holds the connection.
extension GameSession {
  /// Takes up a match as it stands elsewhere: a new one from its first mark, a running one with its marks made silently.
  public func join(_ players: Participants, at game: Game, clocks: ((Player) -> Int?)? = nil) {
    participants = players
    clockSeconds = nil
    clocksElsewhere = clocks
    begin(game)
  }

  /// Marks a cell for the side to move that sits elsewhere; returns the rule where one forbids it.
  @discardableResult
  public func receive(_ square: Square) -> RuleViolation? { mark(square, at: nil) }

  /// Brings the board to where a match is: missing marks are made, those shown too early taken back.
  public func follow(_ moves: [Square]) {
    let common = zip(game.moves.map { $0.square }, moves).prefix { $0 == $1 }.count
    if common < game.moves.count { putRight(to: common) }
    for square in moves[common...] { receive(square) }
  }

  /// Takes back moves shown too early, so that `ply` marks remain; heard as a refusal and the bars backwards.
  public func putRight(to ply: Int) {
    let count = game.moves.count - ply
    guard count > 0 else { return }
    stopThinking()
    for _ in 0..<count where game.undo() != nil { generations.removeLast() }
    endFrame = nil
    submit([.refused] + Array(repeating: .undone, count: count))
  }

  /// Ends the game as the players agreed or it has ended elsewhere; nothing happens if it is over already.
  public func end(with end: GameEnd) {
    guard !game.isOver else { return }
    switch (end.outcome, end.termination) {
    case (.win(let winner), let termination): try? game.lose(winner.opponent, by: termination)
    case (.draw, _):
      guard (try? game.offerDraw(by: game.turn)) != nil else { return }
      try? game.acceptDraw(by: game.turn.opponent)
    case (nil, _): try? game.abandon()
    }
    guard game.isOver else { return }
    stopThinking()
    finish()
  }

  /// The connection to the other side, or to the server, was lost or is back.
  public func connection(lost: Bool) { submit([.connection(lost: lost)]) }

  /// A mark that may not be made now: heard, not shown.
  public func refuse() { submit([.refused]) }
}
