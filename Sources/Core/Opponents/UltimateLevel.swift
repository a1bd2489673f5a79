import Base
import Oracle
import TicTacToe

/// A level of Ultimate searches a tree. The lower levels sometimes see only the board they play in, as people do.
///
/// Each level scores 80–85 % against the level below over 1,000 games (docs/performance.md).
package struct UltimateLevel: NumberedLevel {
  package let number: Int
  package let simulations: Int
  /// In how many of 20 moves the level considers only the board that it plays in.
  package let narrowMoves: Int
  /// In how many of 20 `narrowMoves` the level also overlooks the lines of its board.
  package let hastyMoves: Int
  /// Whether the level evaluates with `UltimateValue` rather than playouts.
  package let needsValue: Bool

  package static let all: [UltimateLevel] = [
    UltimateLevel(number: 1, simulations: 0, narrowMoves: 20, hastyMoves: 13, needsValue: false),
    UltimateLevel(number: 2, simulations: 115, narrowMoves: 17, hastyMoves: 2, needsValue: false),
    UltimateLevel(number: 3, simulations: 440, narrowMoves: 6, hastyMoves: 3, needsValue: false),
    UltimateLevel(number: 4, simulations: 1800, narrowMoves: 3, hastyMoves: 2, needsValue: false),
    UltimateLevel(number: 5, simulations: 120, narrowMoves: 2, hastyMoves: 4, needsValue: true),
    UltimateLevel(number: 6, simulations: 500, narrowMoves: 0, hastyMoves: 0, needsValue: true),
  ]

  /// `search` must be used for this game only, and have a value function if and only if `needsValue`.
  package func move(
    in state: Ultimate.State, with search: UltimateSearch, using generator: inout SplitMix64,
    isStopped: () -> Bool = { false }
  ) -> Cell {
    precondition(search.hasValue == needsValue, "\(name) \(needsValue ? "needs a" : "has no") value")
    if generator.below(20) < narrowMoves {
      let isHasty = generator.below(20) < hastyMoves
      return UltimateLevel.narrowMoves(in: state, isHasty: isHasty).randomCell(using: &generator)
    }
    return search.bestMove(in: state, simulations: simulations, using: &generator, isStopped: isStopped)
  }

  /// The moves of a player who sees one board at a time: cells that win a board, else cells that block one, else any cell.
  static func narrowMoves(in state: Ultimate.State, isHasty: Bool) -> MoveSet {
    let moves = Ultimate.moves(state)
    if isHasty { return moves }
    for side in [state.turn, state.turn.opponent] {
      var seen = MoveSet()
      for board in state.openTargets {
        let squares = state.position(on: board.index).winningSquares(for: side)
        seen.rawValue |= MoveSet(squares).rawValue << UInt128(9 * board.rawValue)
      }
      if !seen.isEmpty { return seen }
    }
    return moves
  }
}
