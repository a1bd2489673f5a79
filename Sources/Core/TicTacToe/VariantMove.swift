/// What one move of any of the three games did, for code that is not specialised to one of them.
///
/// Its facts are those of a line on the 3×3 board; of Ultimate they are those of the small board that was played on, and
/// what is true of the nine is in `VariantMove+Ultimate.swift`.
package struct VariantMove: Sendable, Hashable {
  /// The position before the move.
  package let before: VariantState
  /// The position after the move.
  package let after: VariantState
  /// The cell just marked.
  package let cell: Cell
  /// The result if the move ended the game.
  package let outcome: Outcome?
  /// What the move was worth; `nil` where no oracle was asked.
  package let values: MoveValues?

  /// Reads the facts of a legal move; whoever has an oracle hands in what it says.
  package init(_ cell: Cell, in before: VariantState, values: MoveValues? = nil) {
    var after = before
    outcome = after.play(cell)
    (self.cell, self.before, self.after, self.values) = (cell, before, after, values)
  }

  /// The side that moved.
  package var mover: Player { before.turn }

  /// The number of the move, from 1.
  package var ply: Int { after.plies }

  /// The number of the small board that was played on; 0 where there is one board.
  package var board: Int { cell.index / 9 }

  /// The cell on its small board.
  package var square: Square { Square(cell.index % 9) }

  /// The cells with which the mover now threatens to complete a line.
  package var threats: SquareSet { outcome == nil ? after.winningSquares(for: mover, on: board) : [] }

  /// The cells with which the opponent now threatens to complete a line.
  package var opposingThreats: SquareSet {
    outcome == nil ? after.winningSquares(for: mover.opponent, on: board) : []
  }

  /// Whether the move took a cell with which the opponent would have completed a line.
  package var isBlock: Bool { before.winningSquares(for: mover.opponent, on: board).contains(square) }

  /// Whether the mover now threatens two or more cells, and did not before.
  package var isFork: Bool { threats.count >= 2 && before.winningSquares(for: mover, on: board).count < 2 }

  /// Whether the move lost value; in Ultimate, whether it lets the opponent win at once where another would not have.
  package var isMistake: Bool {
    if case .ultimate(let state) = after { return state.isGiven && savingMoves(most: 1) > 0 }
    return values.map { $0.after < $0.before } ?? false
  }

  /// Whether the move was the only one, of two or more, that kept the value; in Ultimate, that did not lose at once.
  package var isOnlyMove: Bool {
    if case .ultimate(let state) = after {
      return !state.isGiven && before.moves.count >= 2 && savingMoves(most: 2) == 1
    }
    return values?.isOnlyMove ?? false
  }

  /// Whether one side now has a winning threat that can no longer be parried; in Ultimate, whether a side now needs one
  /// more board for three in a line.
  package var isDecisive: Bool {
    guard outcome == nil else { return false }
    if case .ultimate(let state) = after { return !state.prospects(of: .x).union(state.prospects(of: .o)).isEmpty }
    if !after.winningSquares(for: after.turn).isEmpty { return true }
    return after.winningSquares(for: mover).count >= 2
  }

  /// The cells of the line or lines that the move completed, on its small board.
  package var completed: SquareSet {
    let position = after.position(on: board)
    return position.completedLines(of: mover).reduce(into: []) { if $1.contains(square) { $0.formUnion($1) } }
  }

  /// The mark that the move took away, if the rules do so.
  package var removed: Square? {
    if case .infinite(let state) = before { return state.board[state.board.turn].fading }
    return nil
  }

  /// How often the position after the move has stood before it.
  package var repetitions: Int {
    if case .infinite(let state) = after { return state.repetitions }
    return 0
  }
}

extension VariantState {
  /// The marks on a small board; of other games, on the board.
  package func position(on board: Int) -> Position {
    switch self {
    case .classic(let position): position
    case .infinite(let state): state.board.position
    case .ultimate(let state): state.position(on: board)
    }
  }

  /// The empty cells of a small board with which a side would complete a line there, were it to move there.
  package func winningSquares(for player: Player, on board: Int = 0) -> SquareSet {
    switch self {
    case .classic(let position): position.winningSquares(for: player)
    case .infinite(let state): state.board.winningSquares(for: player)
    case .ultimate(let state):
      state.closed.contains(Square(board)) ? [] : state.position(on: board).winningSquares(for: player)
    }
  }
}

extension Infinite.Board {
  /// The cells that may be marked now and would complete a line of a side, were it to move: the mark that would fade is
  /// not counted.
  package func winningSquares(for player: Player) -> SquareSet {
    let marks = self[player]
    let kept = marks.fading.map { marks.set.subtracting(SquareSet($0)) } ?? marks.set
    return Line.completions(of: kept).intersection(moves)
  }
}
