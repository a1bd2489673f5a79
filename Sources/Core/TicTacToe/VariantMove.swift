/// The facts of one move of any game.
///
/// In Ultimate the facts about lines concern the small board played on; the facts about the nine boards are in
/// `VariantMove+Ultimate.swift`.
package struct VariantMove: Sendable, Hashable {
  package let before: VariantState
  package let after: VariantState
  package let cell: Cell
  package let outcome: Outcome?
  /// `nil` if they were not computed.
  package let values: MoveValues?

  package init(_ cell: Cell, in before: VariantState, values: MoveValues? = nil) {
    var after = before
    outcome = after.play(cell)
    (self.cell, self.before, self.after, self.values) = (cell, before, after, values)
  }

  package var mover: Player { before.turn }

  /// From 1.
  package var ply: Int { after.plies }

  /// The number of the small board played on; 0 in games with one board.
  package var board: Int { cell.index / 9 }

  /// The cell's place on its small board.
  package var square: Square { Square(cell.index % 9) }

  /// The cells with which the mover would complete a line at its next move.
  package var threats: SquareSet { outcome == nil ? after.winningSquares(for: mover, on: board) : [] }

  /// The cells with which the opponent would complete a line at its next move.
  package var opposingThreats: SquareSet {
    outcome == nil ? after.winningSquares(for: mover.opponent, on: board) : []
  }

  /// Whether the move took a cell that would have completed a line for the opponent.
  package var isBlock: Bool { before.winningSquares(for: mover.opponent, on: board).contains(square) }

  /// Whether the mover has two or more threats after the move and had fewer before.
  package var isFork: Bool { threats.count >= 2 && before.winningSquares(for: mover, on: board).count < 2 }

  /// Whether the move lost value. In Ultimate: whether the opponent can now win at once, and another move would have prevented this.
  package var isMistake: Bool {
    if case .ultimate(let state) = after { return state.isGiven && savingMoves(most: 1) > 0 }
    return values.map { $0.after < $0.before } ?? false
  }

  /// Whether the mover had two or more moves and only this move kept the value. In Ultimate: only after this move the opponent cannot win
  /// at once.
  package var isOnlyMove: Bool {
    if case .ultimate(let state) = after {
      return !state.isGiven && before.moves.count >= 2 && savingMoves(most: 2) == 1
    }
    return values?.isOnlyMove ?? false
  }

  /// Whether the result is in sight, for example because the mover has two threats. Misère: each move of the opponent completes a line.
  /// Ultimate: a side needs one more board for a line and can still win this board.
  package var isDecisive: Bool {
    guard outcome == nil else { return false }
    switch after {
    case .ultimate(let state): return !state.prospects(of: .x).union(state.prospects(of: .o)).isEmpty
    case .misere(let position): return position.winningSquares(for: position.turn) == position.empty
    case .classic, .infinite: break
    }
    if !after.winningSquares(for: after.turn).isEmpty { return true }
    return after.winningSquares(for: mover).count >= 2
  }

  /// The cells of the line or lines that the move completed, on its small board.
  package var completed: SquareSet {
    let position = after.position(on: board)
    return position.completedLines(of: mover).reduce(into: []) { if $1.contains(square) { $0.formUnion($1) } }
  }

  /// The mark that the move removed, in Infinite.
  package var removed: Square? {
    if case .infinite(let state) = before { return state.board[state.board.turn].oldestMark }
    return nil
  }

  /// The earlier occurrences of the position after the move, in Infinite.
  package var repetitions: Int {
    if case .infinite(let state) = after { return state.repetitions }
    return 0
  }
}

extension VariantState {
  /// The marks on a small board, or on the only board of the other games.
  package func position(on board: Int) -> Position {
    switch self {
    case .classic(let position), .misere(let position): position
    case .infinite(let state): state.board.position
    case .ultimate(let state): state.position(on: board)
    }
  }

  /// The empty cells of a small board with which a side would complete a line there; none in misère, where a line loses.
  package func winningSquares(for player: Player, on board: Int = 0) -> SquareSet {
    switch self {
    case .classic(let position): position.winningSquares(for: player)
    case .infinite(let state): state.board.winningSquares(for: player)
    case .misere: []
    case .ultimate(let state):
      state.closed.contains(Square(board)) ? [] : state.position(on: board).winningSquares(for: player)
    }
  }
}

extension Infinite.Board {
  /// The cells with which a side would complete a line. The oldest of three marks does not count, as the move removes this mark.
  package func winningSquares(for player: Player) -> SquareSet {
    let marks = self[player]
    let kept = marks.oldestMark.map { marks.set.subtracting(SquareSet($0)) } ?? marks.set
    return Line.completions(of: kept).intersection(moves)
  }
}
