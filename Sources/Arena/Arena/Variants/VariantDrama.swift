import TicTacToe

extension Drama {
  /// A won board counts 3, 4 more if the opponent needed only this board for a line of three boards, and 2 more if the winner then needs
  /// one more board for a line. A move after which the opponent may play in any board counts 1.
  static func ultimatePoints(of moves: GameMoves) -> Int {
    var state = moves.state(Ultimate.self)
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
