import Oracle
import TicTacToe

/// The players that choose from a set of moves with equal chances.
package enum SimpleOpponent: String, MemorylessOpponent, CaseIterable {
  case random
  /// Any move that keeps the value of the position.
  case perfect
  /// The value-preserving move with the quickest win, or the slowest loss or draw.
  case perfectDistance = "perfect_distance"
  /// Wins at once if it can, else blocks, else plays any legal move.
  case winBlock = "win_block"
  /// Takes the quickest win, else the value-preserving move after which the greatest share of replies loses value.
  case trap

  package var name: String { rawValue }

  package func distribution(in position: Position, lastMove: Square?) -> MoveDistribution {
    MoveDistribution(uniformOver: moves(in: position, by: .shared))
  }

  func moves(in position: Position, by solver: Solver) -> SquareSet {
    switch self {
    case .random: return position.legalMoves
    case .perfect: return solver.valuePreservingMoves(in: position)
    case .perfectDistance: return solver.distanceOptimalMoves(in: position)
    case .winBlock where solver.lineLoses:
      let safe = position.movesWithoutLine
      return safe.isEmpty ? position.legalMoves : safe
    case .winBlock:
      let wins = [position.turn, position.turn.opponent].map { position.winningSquares(for: $0) }
      return wins.first { !$0.isEmpty } ?? position.legalMoves
    case .trap:
      return solver.luringMoves(in: position) { after in
        let replies = after.legalMoves
        let losing = replies.count - solver.valuePreservingMoves(in: after).count
        return replies.isEmpty ? 0 : Double(losing) / Double(replies.count)
      }
    }
  }
}

extension Solver {
  /// In a won position the quickest wins; otherwise the value-preserving moves after which the other side errs most often.
  func luringMoves(in position: Position, errorRate: (Position) -> Double) -> SquareSet {
    if evaluation(of: position).value == .win { return distanceOptimalMoves(in: position) }
    return valuePreservingMoves(in: position).greatest { errorRate(position.playing($0)) }
  }
}

extension SquareSet {
  func greatest<Number: Comparable>(_ number: (Square) -> Number) -> SquareSet {
    var greatest: Number?
    return reduce(into: []) { result, square in
      let this = number(square)
      if let known = greatest, this < known { return }
      if this != greatest { (result, greatest) = ([], this) }
      result.insert(square)
    }
  }
}
