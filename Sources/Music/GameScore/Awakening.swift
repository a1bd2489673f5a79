import TicTacToe

extension Sequence<VariantMove> {
  /// The move of the awakening: the first after which a winning threat can no longer be parried; in Ultimate, after which
  /// three boards in a line are in prospect.
  package var awakening: VariantMove? { first { $0.isDecisive } }
}
