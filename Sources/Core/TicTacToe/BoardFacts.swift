/// The facts of a position of any game that drawing, speech and input need.
package struct BoardFacts: Sendable, Hashable {
  package let variant: Variant
  package let turn: Player
  package let x: MoveSet
  package let o: MoveSet
  package let allowed: MoveSet
  package let last: Cell?
  /// In Infinite, the mark that the next move removes; `nil` if that move removes none.
  package let oldestMark: Cell?
  /// The completed lines of a won 3×3 board.
  package let lines: [MoveSet]
  /// `nil` except in Ultimate.
  package let boards: Boards?

  package struct Boards: Sendable, Hashable {
    package let x: SquareSet
    package let o: SquareSet
    /// The boards that are won or full.
    package let closed: SquareSet
    /// The boards in which the side to move may play.
    package let lit: SquareSet

    package subscript(player: Player) -> SquareSet { player == .x ? x : o }

    package func winner(of board: Square) -> Player? { x.contains(board) ? .x : o.contains(board) ? .o : nil }

    /// The open boards with which a side would complete a line of three boards.
    package func threats(of player: Player) -> SquareSet {
      Line.completions(of: self[player]).subtracting(closed)
    }

    package var lines: [SquareSet] {
      Line.all.filter { $0.isSubset(of: x) || $0.isSubset(of: o) }
    }

    /// The only board in which the side to move may play; `nil` if there are several.
    package var target: Square? { lit.count == 1 ? lit.first : nil }
  }

  package init(_ state: VariantState, last: Cell? = nil, isOver: Bool = false) {
    (variant, turn, self.last) = (state.variant, state.turn, last)
    allowed = isOver ? MoveSet() : state.moves
    switch state {
    case .classic(let position), .misere(let position):
      (x, o, oldestMark, boards) = (MoveSet(position.x), MoveSet(position.o), nil, nil)
      lines = BoardFacts.lines(of: position)
    case .infinite(let state):
      let position = state.board.position
      (x, o, boards) = (MoveSet(position.x), MoveSet(position.o), nil)
      oldestMark = allowed.isEmpty ? nil : state.board[state.board.turn].oldestMark.map { Cell(rawValue: $0.rawValue) }
      lines = BoardFacts.lines(of: position)
    case .ultimate(let state):
      (x, o, oldestMark, lines) = (MoveSet(rawValue: state.x), MoveSet(rawValue: state.o), nil, [])
      boards = Boards(
        x: state.xBoards, o: state.oBoards, closed: state.closed,
        lit: allowed.isEmpty ? [] : state.openTargets.subtracting(state.closed))
    }
  }

  package init(of game: Game) { self.init(game.state, last: game.cells.last, isOver: game.isOver) }

  package var winning: MoveSet { lines.reduce(into: MoveSet()) { $0.rawValue |= $1.rawValue } }

  private static func lines(of position: Position) -> [MoveSet] {
    Player.allCases.flatMap { position.completedLines(of: $0) }.map { MoveSet($0) }
  }

  package subscript(cell: Cell) -> Player? { x.contains(cell) ? .x : o.contains(cell) ? .o : nil }
}

extension Variant {
  package var cells: [Cell] { (0..<cellCount).map { Cell($0) } }

  /// The small board of a cell of Ultimate; `nil` for the other games.
  package func board(of cell: Cell) -> Square? { isOneBoard ? nil : Square(cell.index / 9) }

  /// The cell's place on its small board.
  package func place(of cell: Cell) -> Square { Square(cell.index % 9) }
}
