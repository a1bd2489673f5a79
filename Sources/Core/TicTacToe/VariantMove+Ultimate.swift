/// Facts about the nine boards after a move of Ultimate; false, zero or empty for the other games.
extension VariantMove {
  package var winsBoard: Bool {
    if case .ultimate(let state) = after { return state.boards(of: mover).contains(Square(board)) }
    return false
  }

  /// Whether the move filled its small board without a winner.
  package var fillsBoard: Bool {
    if case .ultimate(let state) = after { return state.closed.contains(Square(board)) && !winsBoard }
    return false
  }

  /// The board to which the move sends the opponent; `nil` if any board is allowed.
  package var sendsTo: Int? {
    guard case .ultimate(let state) = after, state.target != Ultimate.anyBoard else { return nil }
    return Int(state.target)
  }

  /// The three or more boards that won the game, with the board of the last move at the end.
  package var winningBoards: [Int] {
    guard case .ultimate(let state) = after, outcome == .win(mover) else { return [] }
    let boards = state.boards(of: mover)
    let line: SquareSet = Line.all.filter { $0.isSubset(of: boards) && $0.contains(Square(board)) }.reduce(into: []) {
      $0.formUnion($1)
    }
    return line.map { $0.index }.filter { $0 != board } + [board]
  }

  /// Whether there was a single legal move, or every other move let the opponent win at once.
  package var isForced: Bool { !after.variant.isOneBoard && (before.moves.count == 1 || isOnlyMove) }

  /// The number of moves that would not let the opponent win at once, counted up to `most`.
  func savingMoves(most: Int) -> Int {
    guard case .ultimate(let state) = before else { return 0 }
    var count = 0
    for cell in Ultimate.moves(state) where count < most {
      var next = state
      if Ultimate.play(cell, &next) != nil || !next.isGiven { count += 1 }
    }
    return count
  }
}

extension Ultimate.State {
  /// The open boards that would complete a line of boards for a side, and in which this side can still complete a line of cells.
  package func prospects(of player: Player) -> SquareSet {
    var found: SquareSet = []
    for board in Line.completions(of: boards(of: player)).subtracting(closed) {
      let opposing = position(on: board.index)[player.opponent]
      if Line.all.contains(where: { $0.intersection(opposing).isEmpty }) { found.insert(board) }
    }
    return found
  }

  /// Whether the side to move can win the game at once.
  package var isGiven: Bool {
    guard Ultimate.outcome(of: self) == nil else { return false }
    return prospects(of: turn).intersection(openTargets).contains(where: {
      !position(on: $0.index).winningSquares(for: turn).isEmpty
    })
  }
}
