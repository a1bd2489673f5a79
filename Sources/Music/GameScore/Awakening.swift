import TicTacToe

extension Sequence<VariantMove> {
  /// The awakening: the first move after which a win can no longer be prevented; in Ultimate, the first after which a side needs only
  /// one more board for a line.
  package var awakening: VariantMove? { first { $0.isDecisive } }
}

extension VariantMove {
  /// The cells with which a side would complete a line, and so lose, after this move of Misère; none in the other games.
  package func losingSquares(for side: Player) -> SquareSet {
    if outcome == nil, case .misere(let position) = after { position.winningSquares(for: side) } else { [] }
  }
}
