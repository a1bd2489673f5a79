import TicTacToe

extension Drama {
  /// The points of a game of Ultimate: 3 for each won board, 4 more if the board blocks a line of three boards of the opponent, 2 more if
  /// the board's winner then needs one more board for a line; and 1 for each move after which the opponent may play in any board.
  static func ultimatePoints(of moves: VariantMoves) -> Int {
    var state = VariantOpening.state(moves.start, Ultimate.self)
    var sum = 0
    for cell in moves.cells {
      let (mover, before) = (state.turn, state)
      let outcome = Ultimate.play(cell, &state)
      let won = state.boards(of: mover).subtracting(before.boards(of: mover))
      if !won.isEmpty {
        let feared = Line.completions(of: before.boards(of: mover.opponent))
        let prospect = Line.completions(of: state.boards(of: mover)).subtracting(state.closed)
        sum += 3 + (feared.intersection(won).isEmpty ? 0 : 4) + (prospect.isEmpty ? 0 : 2)
      }
      if outcome == nil, state.target == Ultimate.anyBoard { sum += 1 }
    }
    return sum
  }
}
