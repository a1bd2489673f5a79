import Base
import Oracle
import TicTacToe

/// One of the six opponents of the window, as it plays Ultimate.
///
/// A level looks ahead by tree search. The lower ones are blind at times as people are: they see the board they play in and
/// not where their move sends the other side. Each level scores 80–84 % against the one below it over 1,000 games
/// (docs/performance.md); no more is known, as Ultimate is not solved.
package struct UltimateLevel: NumberedLevel {
  /// 1 the weakest to 6.
  package let number: Int
  /// Simulations a move.
  package let simulations: Int
  /// In how many moves of twenty it sees one board alone.
  package let narrowMoves: Int
  /// In how many such moves of twenty it sees not even the lines of that board.
  package let hastyMoves: Int
  /// Whether it knows `UltimateValue` beyond playouts.
  package let needsValue: Bool

  /// The six levels, weakest first.
  package static let all: [UltimateLevel] = [
    UltimateLevel(number: 1, simulations: 0, narrowMoves: 20, hastyMoves: 13, needsValue: false),
    UltimateLevel(number: 2, simulations: 100, narrowMoves: 17, hastyMoves: 2, needsValue: false),
    UltimateLevel(number: 3, simulations: 400, narrowMoves: 6, hastyMoves: 3, needsValue: false),
    UltimateLevel(number: 4, simulations: 1200, narrowMoves: 3, hastyMoves: 2, needsValue: false),
    UltimateLevel(number: 5, simulations: 200, narrowMoves: 2, hastyMoves: 4, needsValue: true),
    UltimateLevel(number: 6, simulations: 800, narrowMoves: 0, hastyMoves: 0, needsValue: true),
  ]

  /// Chooses a move of a live state.
  /// - Parameter search: With a value where the level needs one. Nobody else may use it during a game.
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

  /// What somebody sees who looks at one board at a time: cells that win a board, else those that hinder the other side
  /// from that, else any; any at once who is in haste.
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
