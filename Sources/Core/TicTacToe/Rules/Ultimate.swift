import Base

/// Nine small boards in a square: a move's place on its board selects the board of the next move. If this board is won or full, the next
/// move may use any open board. Three won boards in a line win the game.
///
/// A cell's number is `9 · board + place`, with boards and places numbered in reading order.
package enum Ultimate: Rules {
  package static var variant: Variant { .ultimate }
  package static var start: State { State() }

  /// The value of `target` if any open board may be played in.
  package static let anyBoard = 9

  package struct State: Sendable, Hashable {
    /// Bit `i` is cell `i`.
    package fileprivate(set) var x: UInt128 = 0
    package fileprivate(set) var o: UInt128 = 0
    /// The boards each side has won.
    package fileprivate(set) var xBoards: SquareSet = []
    package fileprivate(set) var oBoards: SquareSet = []
    /// The boards that are won or full, and so closed to moves.
    package fileprivate(set) var closed: SquareSet = []
    /// The board to play in, 0–8, or `anyBoard`.
    package fileprivate(set) var target = UInt8(Ultimate.anyBoard)
    package fileprivate(set) var turn = Player.x

    @inline(__always)
    package func position(on board: Int) -> Position {
      Position(x: Ultimate.board(board, of: x), o: Ultimate.board(board, of: o))
    }

    package func boards(of player: Player) -> SquareSet { player == .x ? xBoards : oBoards }

    /// The boards in which the side to move may play.
    package var openTargets: SquareSet {
      SquareSet(rawValue: target == Ultimate.anyBoard ? ~closed.rawValue & 0x1FF : 1 &<< UInt16(target))
    }

    /// The cells that may be marked. Requires a live game, which is not checked.
    @inline(__always)
    package var liveMoves: MoveSet {
      var boards: UInt128 = 0
      if target == Ultimate.anyBoard {
        for board in openTargets { boards |= 0x1FF &<< UInt128(9 &* board.rawValue) }
      } else {
        boards = 0x1FF &<< UInt128(9 &* target)
      }
      return MoveSet(rawValue: ~(x | o) & boards)
    }

    package var plies: Int { (x | o).nonzeroBitCount }
  }

  package static func state(of position: VariantState) -> State? {
    if case .ultimate(let state) = position { state } else { nil }
  }

  package static func turn(in state: State) -> Player { state.turn }

  package static func cells(of player: Player, in state: State) -> MoveSet {
    MoveSet(rawValue: player == .x ? state.x : state.o)
  }

  package static func moves(_ state: State) -> MoveSet {
    Line.hasLine(state.xBoards) || Line.hasLine(state.oBoards) ? MoveSet() : state.liveMoves
  }

  package static func play(_ cell: Cell, _ state: inout State) -> Outcome? {
    precondition(moves(state).contains(cell), "\(variant.name(of: cell)) is not legal in \(notation(of: state))")
    return state.mark(cell)
  }

  package static func outcome(of state: State) -> Outcome? {
    if Line.hasLine(state.xBoards) { return .win(.x) }
    if Line.hasLine(state.oBoards) { return .win(.o) }
    return state.closed == .full ? .draw : nil
  }

  /// The cells of one board, from the mask `cells` of all 81 cells.
  @inline(__always)
  package static func board(_ board: Int, of cells: UInt128) -> SquareSet {
    SquareSet(rawValue: UInt16(truncatingIfNeeded: cells &>> UInt128(truncatingIfNeeded: 9 &* board)) & 0x1FF)
  }
}

extension Ultimate.State {
  /// `Ultimate.play` without the legality check.
  @inline(__always)
  package mutating func mark(_ cell: Cell) -> Outcome? {
    let (board, place) = Int(cell.rawValue).quotientAndRemainder(dividingBy: 9)
    let bit: UInt128 = 1 &<< UInt128(cell.rawValue)
    let boardBit = SquareSet(rawValue: 1 &<< UInt16(truncatingIfNeeded: board))
    let mover = turn
    if mover == .x { x |= bit } else { o |= bit }
    turn = mover.opponent
    if Line.hasLine(Ultimate.board(board, of: mover == .x ? x : o)) {
      closed.formUnion(boardBit)
      if mover == .x { xBoards.formUnion(boardBit) } else { oBoards.formUnion(boardBit) }
      if Line.hasLine(mover == .x ? xBoards : oBoards) {
        target = UInt8(Ultimate.anyBoard)
        return .win(mover)
      }
    } else if Ultimate.board(board, of: x | o).rawValue == 0x1FF {
      closed.formUnion(boardBit)
    }
    let isClosed = closed.rawValue &>> UInt16(truncatingIfNeeded: place) & 1 == 1
    target = isClosed ? UInt8(Ultimate.anyBoard) : UInt8(truncatingIfNeeded: place)
    // Not `.full`: a constant of another file would be loaded through an accessor at each use.
    return closed.rawValue == 0x1FF ? .draw : nil
  }
}

extension Ultimate {
  /// The rows from the top with digits for runs of empty cells, the side to move, and the name of the board to play in, or `-` for any:
  /// `9/9/9/9/4X4/9/9/9/9 o b2`.
  package static func notation(of state: State) -> String {
    let target = state.target == anyBoard ? "-" : Square(Int(state.target)).name
    let rows = variant.rows(x: cells(of: .x, in: state), o: cells(of: .o, in: state))
    return "\(rows) \(state.turn.text) \(target)"
  }

  package static func state(notation: String) throws(NotationError) -> State {
    var cursor = try ByteCursor(notation, of: variant)
    let rows = try variant.readRows(from: &cursor)
    var state = State()
    (state.x, state.o) = (rows.x.rawValue, rows.o.rawValue)
    try state.closeBoards(cursor)
    cursor.skipSpace()
    try cursor.readSide(state.turn)
    try state.readTarget(from: &cursor)
    return state
  }
}

extension Ultimate.State {
  /// Sets the won and full boards and the side to move. Throws if the boards or the numbers of marks contradict the rules.
  fileprivate mutating func closeBoards(_ cursor: ByteCursor) throws(NotationError) {
    for board in Square.all {
      let position = position(on: board.index)
      let (xWon, oWon) = (Line.hasLine(position.x), Line.hasLine(position.o))
      guard !(xWon && oWon) else { throw cursor.error(at: 0, "both sides have a line on board \(board.name)") }
      if xWon { xBoards.insert(board) }
      if oWon { oBoards.insert(board) }
      if xWon || oWon || position.empty.isEmpty { closed.insert(board) }
    }
    guard !(Line.hasLine(xBoards) && Line.hasLine(oBoards)) else {
      throw cursor.error(at: 0, "both sides have three boards in a line")
    }
    turn = try cursor.turn(afterX: x.nonzeroBitCount, o: o.nonzeroBitCount)
    guard !Line.hasLine(boards(of: turn)) else {
      throw cursor.error(at: 0, "no legal play reaches this position: the game would have ended before")
    }
  }

  fileprivate mutating func readTarget(from cursor: inout ByteCursor) throws(NotationError) {
    cursor.skipSpace()
    let place = cursor.offset
    cursor.skip { $0 > 0x20 }
    let name = cursor.text(from: place)
    let isOver = Ultimate.outcome(of: self) != nil
    if name == "-" {
      guard isOver || plies == 0 || !closed.isEmpty else {
        throw cursor.error(at: place, "no board is won or full, so that the board to play in must be named")
      }
    } else {
      guard name.utf8.count == 2, let board = Square(name: name) else {
        throw cursor.error(at: place, "\(quoted(name)): the board to play in is a1–c3, or - for any")
      }
      guard !isOver, plies > 0 else {
        throw cursor.error(at: place, "the board to play in is - before the first move and after the last")
      }
      guard !closed.contains(board) else { throw cursor.error(at: place, "board \(board.name) is won or full") }
      // The last move selects the board to play in, so the last mover must have a mark at this board's place on some board.
      let last = turn == .x ? o : x
      guard Square.all.contains(where: { Ultimate.board($0.index, of: last).contains(board) }) else {
        throw cursor.error(at: place, "no move of \(turn.opponent.letter) sends to board \(board.name)")
      }
      target = board.rawValue
    }
    cursor.skipSpace()
    guard cursor.peek == nil else { throw cursor.error("nothing may follow the board to play in") }
  }
}
