extension Rules {
  /// The number of sequences of exactly `depth` moves from a state.
  package static func perft(_ state: State, depth: Int) -> Int {
    let moves = moves(state)
    guard depth > 1 else { return depth == 1 ? moves.count : 1 }
    var count = 0
    for cell in moves {
      var next = state
      if play(cell, &next) == nil { count += perft(next, depth: depth - 1) }
    }
    return count
  }
}
