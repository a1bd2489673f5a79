import TicTacToe

extension Sequence<VariantMove> {
  /// The awakening: the first move after which a winning threat cannot be blocked any more, or in Ultimate the first after which a
  /// side needs only one more board for a line.
  package var awakening: VariantMove? { first { $0.isDecisive } }
}
