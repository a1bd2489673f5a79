import Base
import TicTacToe

/// The moves of a game of a variant whose games do not fit into `PackedGame`.
struct VariantMoves: Sendable, Hashable {
  /// The initial position; `nil` for the usual initial position of the variant.
  var start: String?
  var cells: [Cell]

  /// The game in its initial position, before the moves.
  func begun(_ variant: Variant) throws(NotationError) -> Game {
    Game(
      from: try start.map { (start) throws(NotationError) in try VariantState(variant, notation: start) }
        ?? VariantState(startOf: variant))
  }
}

extension ArenaRules {
  /// Returns the error in a recorded game; `nil` if its moves are legal and lead to its result.
  static func fault(in moves: VariantMoves, _ game: PackedGame, opening: VariantOpening, _ adjudication: Adjudication)
    -> String?
  {
    guard moves.start == opening.start, moves.cells.starts(with: opening.cells) else {
      return "the game does not begin as the header says"
    }
    var (state, outcome): (Self.State, Outcome?) = (opening.state(Self.self), nil)
    for cell in moves.cells {
      guard outcome == nil, self.moves(state).contains(cell) else { return "the game breaks the rules" }
      outcome = play(cell, &state)
    }
    let boards = outcome == .draw ? wonBoards(state) : nil
    let verdict = boards.flatMap { Referee(adjudication).verdict(onDraw: $0) }
    let isRight =
      switch game.ending {
      case .normal: outcome == game.outcome && verdict == nil
      case .forfeit, .time: outcome == nil && game.outcome == .win(turn(in: state).opponent)
      case .adjudication: outcome == nil || verdict?.outcome == game.outcome
      }
    return isRight ? nil : "the game breaks the rules"
  }
}
