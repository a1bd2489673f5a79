import TicTacToe

extension Sequence<MoveFacts> {
  /// The move of the awakening: the first after which a winning threat can no longer be parried.
  package var awakening: MoveFacts? { first { $0.isDecisive } }
}
