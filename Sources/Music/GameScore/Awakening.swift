import TicTacToe

extension Sequence<VariantMove> {
  package var awakening: VariantMove? { first { $0.isDecisive } }
}

extension VariantMove {
  /// The cells with which a side would complete a line, and so lose, after this move of Misère; none in the other games.
  package func losingSquares(for side: Player) -> SquareSet {
    if outcome == nil, case .misere(let position) = after { position.winningSquares(for: side) } else { [] }
  }
}
