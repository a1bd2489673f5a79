import TicTacToe

extension Drama {
  /// Ultimate: 3 points for a won board, 4 more if it blocks three in a row of the other side there, 2 more if it
  /// leaves the winner one board from a line, and 1 for giving the other side a free choice.
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
