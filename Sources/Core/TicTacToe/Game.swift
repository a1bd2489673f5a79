package enum RuleViolation: Error, Sendable, Hashable {
  case gameIsOver
  /// The cell is marked already or may not be marked now.
  case notAllowed(Cell)
}

package enum Termination: String, Sendable, Hashable, CaseIterable {
  /// A completed line or a full board.
  case normal
  case resignation
  case time
  case agreement
  case abandoned
  /// A side broke the rules of the match: its engine crashed, cheated or hung.
  case forfeit

  /// How a game with this outcome can end other than by a line or a full board; the usual way first.
  package static func byHand(_ outcome: Outcome?) -> [Termination] {
    switch outcome {
    case .win: [.resignation, .time, .forfeit]
    case .draw: [.agreement]
    case nil: [.abandoned]
    }
  }
}

package struct GameEnd: Sendable, Hashable {
  /// `nil` for an abandoned game.
  package let outcome: Outcome?
  package let termination: Termination

  package init(outcome: Outcome?, termination: Termination) {
    (self.outcome, self.termination) = (outcome, termination)
  }
}

/// `start`, `moves` and `position` are for classic games only; `startState`, `cells` and `state` for games of any variant.
package struct Game: Sendable, Hashable {
  package let startState: VariantState
  package private(set) var cells: [Cell] = []
  package private(set) var state: VariantState
  package private(set) var end: GameEnd?
  /// The side whose draw offer is open; `nil` in a finished game.
  package var drawOffer: Player?

  package init(from state: VariantState) {
    (startState, self.state) = (state, state)
    end = state.outcome.map { GameEnd(outcome: $0, termination: .normal) }
  }

  package init(start: Position = .start) {
    precondition(start.isReachable, "unreachable start position")
    self.init(from: .classic(start))
  }

  package var variant: Variant { state.variant }

  package var start: Position { Game.position(of: startState) }

  package var position: Position { Game.position(of: state) }

  package var moves: [Square] { cells.map { Square($0.index) } }

  private static func position(of state: VariantState) -> Position {
    guard let position = Classic.state(of: state) else { preconditionFailure("a game of \(state.variant.rawValue)") }
    return position
  }

  package var isFromStart: Bool { startState == VariantState(startOf: variant) }

  package var isOver: Bool { end != nil }

  package var turn: Player { state.turn }

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

  package mutating func play(_ square: Square) throws(RuleViolation) { try play(Cell(rawValue: square.rawValue)) }

  package mutating func lose(_ player: Player, by termination: Termination) throws(RuleViolation) {
    guard end == nil else { throw .gameIsOver }
    finish(GameEnd(outcome: .win(player.opponent), termination: termination))
  }

  /// Ends a live game without a move, for example by agreement.
  package mutating func finish(_ end: GameEnd) {
    drawOffer = nil
    self.end = end
  }

  /// Takes back the last move, and with it the game's end.
  @discardableResult
  package mutating func undo() -> Cell? {
    guard let last = cells.last else { return nil }
    var replay = Game(from: startState)
    for cell in cells.dropLast() { try? replay.play(cell) }
    self = replay
    return last
  }
}
