/// The rule that a refused move or other action would break.
package enum RuleViolation: Error, Sendable, Hashable {
  case gameIsOver
  /// The cell is marked already or may not be marked now.
  case notAllowed(Cell)
}

/// The reason a game ended.
package enum Termination: String, Sendable, Hashable, CaseIterable {
  /// A completed line or a full board.
  case normal
  case resignation
  /// A side ran out of time.
  case time
  /// Both sides agreed to a draw.
  case agreement
  /// The game was abandoned without a result.
  case abandoned
  /// A side broke the rules of the match (an engine that crashed, cheated or hung).
  case forfeit

  /// The ways in which a game with this outcome can end other than by a line or a full board; the usual way first.
  package static func byHand(_ outcome: Outcome?) -> [Termination] {
    switch outcome {
    case .win: [.resignation, .time, .forfeit]
    case .draw: [.agreement]
    case nil: [.abandoned]
    }
  }
}

/// The end of a game: result and reason. An abandoned game has no outcome.
package struct GameEnd: Sendable, Hashable {
  /// The result, `nil` when the game was abandoned.
  package let outcome: Outcome?
  package let termination: Termination

  package init(outcome: Outcome?, termination: Termination) {
    (self.outcome, self.termination) = (outcome, termination)
  }
}

/// A game: start, moves, draw offer and end.
///
/// `start`, `moves` and `position` are for classic games only; `startState`, `cells` and `state` for games of any variant.
package struct Game: Sendable, Hashable {
  /// The position before the first move.
  package let startState: VariantState
  /// The cells marked, in order.
  package private(set) var cells: [Cell] = []
  /// The current position.
  package private(set) var state: VariantState
  /// The end; `nil` while the game is live.
  package private(set) var end: GameEnd?
  /// The side whose draw offer is open; `nil` in a finished game.
  package var drawOffer: Player?

  /// Starts a game from a position.
  package init(from state: VariantState) {
    (startState, self.state) = (state, state)
    end = state.outcome.map { GameEnd(outcome: $0, termination: .normal) }
  }

  /// Starts a classic game from a reachable position.
  package init(start: Position = .start) {
    precondition(start.isReachable, "unreachable start position")
    self.init(from: .classic(start))
  }

  package var variant: Variant { state.variant }

  /// The position before the first move of a classic game.
  package var start: Position { Game.position(of: startState) }

  /// The current position of a classic game.
  package var position: Position { Game.position(of: state) }

  /// The moves of a classic game, in order.
  package var moves: [Square] { cells.map { Square($0.index) } }

  private static func position(of state: VariantState) -> Position {
    guard let position = Classic.state(of: state) else { preconditionFailure("a game of \(state.variant.rawValue)") }
    return position
  }

  /// Whether the game began from the variant's start position.
  package var isFromStart: Bool { startState == VariantState(startOf: variant) }

  package var isOver: Bool { end != nil }

  /// The side to move.
  package var turn: Player { state.turn }

  /// The side that makes the move with the given index, counted from 0.
  package func mover(ofMove index: Int) -> Player { index % 2 == 0 ? startState.turn : startState.turn.opponent }

  /// Marks a cell for the side to move and cancels an open draw offer.
  package mutating func play(_ cell: Cell) throws(RuleViolation) {
    guard end == nil else { throw .gameIsOver }
    guard state.moves.contains(cell) else { throw .notAllowed(cell) }
    let outcome = state.play(cell)
    cells.append(cell)
    drawOffer = nil
    end = outcome.map { GameEnd(outcome: $0, termination: .normal) }
  }

  /// Marks a cell of a 3×3 board.
  package mutating func play(_ square: Square) throws(RuleViolation) { try play(Cell(rawValue: square.rawValue)) }

  /// Ends the game with a loss of `player`, for example by resignation or on time.
  package mutating func lose(_ player: Player, by termination: Termination) throws(RuleViolation) {
    guard end == nil else { throw .gameIsOver }
    finish(GameEnd(outcome: .win(player.opponent), termination: termination))
  }

  /// Ends a live game without a move, for example by agreement or forfeit.
  package mutating func finish(_ end: GameEnd) {
    drawOffer = nil
    self.end = end
  }

  /// Takes back the last move, and with it the game's end; returns the move, or `nil` if there is none.
  @discardableResult
  package mutating func undo() -> Cell? {
    guard let last = cells.last else { return nil }
    var replay = Game(from: startState)
    for cell in cells.dropLast() { try? replay.play(cell) }
    self = replay
    return last
  }
}
