import Base

/// The 3×3 board with three marks per side: a side's fourth mark removes this side's oldest mark in the same move.
///
/// A move cannot use the oldest mark's cell, which is still occupied. A game is drawn after 100 plies, or when a position (marks, their
/// order and the side to move) occurs for the third time.
package enum Infinite: Rules {
  package static var variant: Variant { .infinite }
  package static var start: State { State() }

  package static let markLimit = 3
  package static let plyLimit = 100
  package static let repetitionLimit = 3

  /// A side's marks from the oldest to the newest.
  package struct Marks: Sendable, Hashable {
    /// Four bits for each mark, the oldest in the lowest bits: the cell's index plus one, 0 for none.
    package fileprivate(set) var rawValue: UInt16 = 0

    package var count: Int { (19 - rawValue.leadingZeroBitCount) / 4 }

    /// From the oldest to the newest.
    package var squares: [Square] { (0..<count).map { Square(Int(rawValue >> (4 * UInt16($0)) & 15) - 1) } }

    package var set: SquareSet {
      let bits: UInt16 = 1 << (rawValue & 15) | 1 << (rawValue >> 4 & 15) | 1 << (rawValue >> 8)
      return SquareSet(rawValue: bits >> 1)
    }

    /// The mark that the side's next mark removes; `nil` with fewer than three marks.
    package var oldestMark: Square? { rawValue >> 8 == 0 ? nil : Square(Int(rawValue & 15) - 1) }

    /// Appends the newest mark. With three marks, removes the oldest.
    package mutating func append(_ square: Square) {
      if rawValue >> 8 != 0 { rawValue >>= 4 }
      rawValue |= (UInt16(square.rawValue) + 1) << (4 * UInt16(count))
    }
  }

  /// The marks in their order, and the side to move.
  package struct Board: Sendable, Hashable {
    package var x = Marks()
    package var o = Marks()
    package var turn = Player.x

    package init() {}

    package subscript(player: Player) -> Marks { player == .x ? x : o }

    package var position: Position { Position(x: x.set, o: o.set) }

    package var winner: Player? { position.winner }

    package var moves: SquareSet { position.legalMoves }

    package mutating func play(_ square: Square) {
      if turn == .x { x.append(square) } else { o.append(square) }
      turn = turn.opponent
    }

    package var key: UInt32 { UInt32(x.rawValue) | UInt32(o.rawValue) << 12 | UInt32(turn.rawValue) << 24 }
  }

  /// A board with the history that the rules for draws need.
  package struct State: Sendable, Hashable {
    package fileprivate(set) var board = Board()
    package fileprivate(set) var plies = 0
    /// The keys of the earlier boards; empty for a state read from text.
    fileprivate var earlier: [UInt32] = []

    /// The earlier occurrences of this board.
    package var repetitions: Int {
      let key = board.key
      return earlier.reduce(0) { $0 + ($1 == key ? 1 : 0) }
    }
  }

  package static func state(of position: VariantState) -> State? {
    if case .infinite(let state) = position { state } else { nil }
  }

  package static func turn(in state: State) -> Player { state.board.turn }

  package static func cells(of player: Player, in state: State) -> MoveSet { MoveSet(state.board[player].set) }

  package static func marksByAge(of player: Player, in state: State) -> [Cell] {
    state.board[player].squares.map { Cell(rawValue: $0.rawValue) }
  }

  package static func moves(_ state: State) -> MoveSet {
    outcome(of: state) == nil ? MoveSet(state.board.moves) : MoveSet()
  }

  package static func play(_ cell: Cell, _ state: inout State) -> Outcome? {
    let square = Square(cell.index)
    precondition(state.board.moves.contains(square), "\(square.name) is not legal in \(notation(of: state))")
    state.earlier.append(state.board.key)
    state.board.play(square)
    state.plies += 1
    return outcome(of: state)
  }

  package static func outcome(of state: State) -> Outcome? {
    if let winner = state.board.winner { return .win(winner) }
    return state.plies >= plyLimit || state.repetitions >= repetitionLimit - 1 ? .draw : nil
  }
}

extension Infinite {
  /// X's marks from the oldest to the newest, O's marks, the side to move and the number of plies: `a3b2/c3 o 3`; `-` for no marks.
  package static func notation(of state: State) -> String {
    func list(_ marks: Marks) -> String { marks.count == 0 ? "-" : marks.squares.map { $0.name }.joined() }
    return "\(list(state.board.x))/\(list(state.board.o)) \(state.board.turn.text) \(state.plies)"
  }

  package static func state(notation: String) throws(NotationError) -> State {
    var cursor = try ByteCursor(notation, of: variant)
    var state = State()
    state.board.x = try marks(from: &cursor, besides: [])
    guard cursor.peek == UInt8(ascii: "/") else { throw cursor.error("'/' must follow X's marks") }
    cursor.offset += 1
    state.board.o = try marks(from: &cursor, besides: state.board.x.set)
    cursor.skipSpace()
    let side = cursor.offset
    state.board.turn = try cursor.readSide()
    cursor.skipSpace()
    let number = cursor.offset
    cursor.skip { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard let plies = Int(cursor.text(from: number)), plies <= plyLimit else {
      throw cursor.error(at: number, "the plies played are a number, 0–\(plyLimit)")
    }
    state.plies = plies
    cursor.skipSpace()
    guard cursor.peek == nil else { throw cursor.error("nothing may follow the plies played") }
    guard (plies % 2 == 0) == (state.board.turn == .x) else {
      throw cursor.error(at: side, "after \(plies) plies \(plies % 2 == 0 ? "X" : "O") is to move")
    }
    let expected = (x: min(markLimit, (plies + 1) / 2), o: min(markLimit, plies / 2))
    guard state.board.x.count == expected.x, state.board.o.count == expected.o else {
      throw cursor.error(
        at: 0,
        "after \(plies) plies X has \(expected.x) marks and O \(expected.o), "
          + "not \(state.board.x.count) and \(state.board.o.count)")
    }
    guard !Line.hasLine(state.board[state.board.turn].set) else {
      throw cursor.error(at: 0, "no legal play reaches this position: the game would have ended before")
    }
    return state
  }

  private static func marks(from cursor: inout ByteCursor, besides taken: SquareSet) throws(NotationError) -> Marks {
    var marks = Marks()
    if cursor.peek == UInt8(ascii: "-") {
      cursor.offset += 1
      return marks
    }
    repeat {
      let place = cursor.offset
      cursor.offset = min(cursor.offset + 2, cursor.bytes.count)
      let name = cursor.text(from: place)
      guard name.utf8.count == 2, let square = Square(name: name) else {
        throw cursor.error(at: place, "\(quoted(name)) is not a cell; a side's marks are cells, a1–c3, or -")
      }
      guard marks.count < markLimit else { throw cursor.error(at: place, "a side has at most \(markLimit) marks") }
      guard !marks.set.contains(square), !taken.contains(square) else {
        throw cursor.error(at: place, "\(square.name) is marked twice")
      }
      marks.append(square)
    } while cursor.peek != UInt8(ascii: "/") && cursor.peek != UInt8(ascii: " ") && cursor.peek != nil
    return marks
  }
}
