import Base
import TicTacToe

/// The moves of a variant's game, which do not fit into the eight bytes of a classic one.
struct VariantMoves: Sendable, Hashable {
  /// The position it began from; `nil` for the start of the rules.
  var start: String?
  var cells: [Cell]
}

extension Rules {
  /// What is wrong with a recorded game; `nil` where the rules allow it and its result follows.
  static func fault(in moves: VariantMoves, _ game: PackedGame, opening: VariantOpening) -> String? {
    guard moves.start == opening.start, moves.cells.starts(with: opening.cells) else {
      return "the game does not begin as the header says"
    }
    var (state, outcome): (Self.State, Outcome?) = (opening.state(Self.self), nil)
    for cell in moves.cells {
      guard outcome == nil, self.moves(state).contains(cell) else { return "the game breaks the rules" }
      outcome = play(cell, &state)
    }
    let isRight =
      switch game.ending {
      case .normal: outcome == game.outcome
      case .forfeit, .time: outcome == nil && game.outcome == .win(turn(in: state).opponent)
      case .adjudication: outcome == nil
      }
    return isRight ? nil : "the game breaks the rules"
  }
}
