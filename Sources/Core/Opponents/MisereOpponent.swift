import Oracle
import TicTacToe

package enum MisereOpponent: MemorylessOpponent, Hashable {
  /// Here `winBlock`, which elsewhere takes an immediate win, avoids an immediate loss: in misère no cell wins at once.
  case simple(SimpleOpponent)
  case level(MisereLevel)

  package var name: String {
    switch self {
    case .simple(let simple): simple.name
    case .level(let level): level.name
    }
  }

  package func distribution(in position: Position, lastMove: Square?) -> MoveDistribution {
    switch self {
    case .simple(let simple): MoveDistribution(uniformOver: simple.moves(in: position, by: .misere))
    case .level(let level): level.distribution(in: position)
    }
  }
}

package struct MisereLevel: NumberedLevel {
  package let number: Int
  /// In how many of 20 moves the level overlooks that a cell completes a line of its own marks, and so loses.
  let line: Int
  /// In how many of 20 moves the level overlooks the cells that keep the value of the position.
  let ahead: Int

  package static let all: [MisereLevel] = [
    MisereLevel(number: 1, line: 14, ahead: 20), MisereLevel(number: 2, line: 9, ahead: 17),
    MisereLevel(number: 3, line: 5, ahead: 13), MisereLevel(number: 4, line: 2, ahead: 8),
    MisereLevel(number: 5, line: 0, ahead: 3), MisereLevel(number: 6, line: 0, ahead: 0),
  ]

  func distribution(in position: Position) -> MoveDistribution {
    if number == 6 { return MoveDistribution(uniformOver: SimpleOpponent.trap.moves(in: position, by: .misere)) }
    // The most important kind of moves comes last. A player that overlooks a kind chooses by the chances before this kind was added.
    var result = MoveDistribution(uniformOver: position.legalMoves)
    result.see(position.movesWithoutLine, near: .full, overlooking: line...line)
    result.see(Solver.misere.valuePreservingMoves(in: position), near: .full, overlooking: ahead...ahead)
    return result
  }
}

extension Position {
  var movesWithoutLine: SquareSet { legalMoves.subtracting(winningSquares(for: turn)) }
}
