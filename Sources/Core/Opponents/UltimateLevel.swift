import Base
import Oracle
import TicTacToe

/// One of the six levels that users choose from, for Ultimate.
///
/// A level searches a tree. The lower levels sometimes overlook what people overlook: they see only the board they play in, not the board
/// to which their move sends the other side. Each level scores 80–85 % against the level below over 1,000 games (docs/performance.md).
/// These scores are measured: Ultimate is not solved, so exact odds are unknown.
package struct UltimateLevel: NumberedLevel {
  /// The level, 1 (weakest) to 6.
  package let number: Int
  /// Simulations per move.
  package let simulations: Int
  /// In how many of twenty moves the level considers only the board that it plays in.
  package let narrowMoves: Int
  /// In how many of twenty moves that consider only one board (`narrowMoves`) the level also overlooks the lines of that board.
  package let hastyMoves: Int
  /// Whether the level evaluates with `UltimateValue` rather than playouts.
  package let needsValue: Bool

  /// The six levels, weakest first.
  package static let all: [UltimateLevel] = [
    UltimateLevel(number: 1, simulations: 0, narrowMoves: 20, hastyMoves: 13, needsValue: false),
    UltimateLevel(number: 2, simulations: 115, narrowMoves: 17, hastyMoves: 2, needsValue: false),
    UltimateLevel(number: 3, simulations: 440, narrowMoves: 6, hastyMoves: 3, needsValue: false),
    UltimateLevel(number: 4, simulations: 1800, narrowMoves: 3, hastyMoves: 2, needsValue: false),
    UltimateLevel(number: 5, simulations: 120, narrowMoves: 2, hastyMoves: 4, needsValue: true),
    UltimateLevel(number: 6, simulations: 500, narrowMoves: 0, hastyMoves: 0, needsValue: true),
  ]

  /// Chooses a move of a live state.
  /// - Parameter search: A search that only this game uses. Has a value function if and only if `needsValue`.
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

  /// The moves of a player who sees one board at a time: cells that win a board, else cells that prevent the other side from
  /// winning a board, else any cell. All moves if `isHasty`.
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
