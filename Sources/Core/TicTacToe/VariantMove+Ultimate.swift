/// What is true of the nine boards after a move of Ultimate; of other games nothing of it is.
extension VariantMove {
  /// Whether the mover has won the board that it played on.
  package var winsBoard: Bool {
    if case .ultimate(let state) = after { return state.boards(of: mover).contains(Square(board)) }
    return false
  }

  /// Whether the move has filled the board that it played on, and nobody has won it.
  package var fillsBoard: Bool {
    if case .ultimate(let state) = after { return state.closed.contains(Square(board)) && !winsBoard }
    return false
  }

  /// The board to which the move sends; `nil` where the next move may go to any.
  package var sendsTo: Int? {
    guard case .ultimate(let state) = after, state.target != Ultimate.anyBoard else { return nil }
    return Int(state.target)
  }

  /// The numbers of the three boards, or more, that won the game, the one that was won last at the end; none of other games
  /// and ends.
  package var winningBoards: [Int] {
    guard case .ultimate(let state) = after, outcome == .win(mover) else { return [] }
    let boards = state.boards(of: mover)
    let line: SquareSet = Line.all.filter { $0.isSubset(of: boards) && $0.contains(Square(board)) }.reduce(into: []) {
      $0.formUnion($1)
    }
    return line.map { $0.index }.filter { $0 != board } + [board]
  }

  /// Whether the mover had no other choice worth the name: one cell alone, or all others lost at once.
  package var isForced: Bool { after.variant == .ultimate && (before.moves.count == 1 || isOnlyMove) }

  /// How many moves, counted up to `most`, would not have let the opponent win at once.
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
  /// The open boards with which a side would have three in a line, and on which it can still have a line.
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
