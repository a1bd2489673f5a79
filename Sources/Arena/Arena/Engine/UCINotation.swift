import TicTacToe

/// The two notations of positions and moves for engines: Alina's (`b2`, `X1O/1X1/3 o`), and that of cutechess-cli with `-variant
/// tictactoe` (`P@b2`, `3/3/3[PPPPPpppp] w - - 0 1`).
package enum UCINotation: Sendable, Hashable {
  /// Alina's notation: moves are the names of cells.
  case native
  /// The notation of cutechess-cli: moves are drops of pawns from the hand, and X is White.
  case cutechess

  /// A move in this notation.
  package func text(of square: Square) -> String { self == .native ? square.name : "P@\(square.name)" }

  /// A position in this notation.
  package func text(of position: Position) -> String {
    guard self == .cutechess else { return position.notation }
    let board = position.notation.split(separator: " ")[0]
      .map { $0 == "X" ? "P" : $0 == "O" ? "p" : String($0) }.joined()
    let hand =
      String(repeating: "P", count: 5 - position.x.count) + String(repeating: "p", count: 4 - position.o.count)
    return "\(board)[\(hand)] \(position.turn == .x ? "w" : "b") - - 0 \(position.ply / 2 + 1)"
  }

  /// Reads a move in either notation: `b2`, `P@b2` or `p@b2`.
  package static func square(_ text: some StringProtocol) -> Square? {
    let isDrop = text.utf8.starts(with: "P@".utf8) || text.utf8.starts(with: "p@".utf8)
    return isDrop ? Square(name: text.dropFirst(2)) : Square(name: text)
  }

  /// Reads the words of a position in either notation. Ignores what only cutechess's notation has: the pawns in hand (`[PPPPPpppp]`), and
  /// the words after the side to move.
  package static func position(_ words: some Collection<String>) -> Position? {
    guard var board = words.first, words.count <= 6 else { return nil }
    var side = words.dropFirst().first
    if let hand = board.firstIndex(of: "[") {
      guard board.last == "]" else { return nil }
      board = String(board[..<hand])
    }
    if board.contains(where: { $0 == "P" || $0 == "p" }) || side == "w" || side == "b" {
      board = board.map { $0 == "P" ? "X" : $0 == "p" ? "O" : String($0) }.joined()
      side = side == "w" ? "x" : side == "b" ? "o" : side
    }
    return try? Position(notation: side.map { "\(board) \($0)" } ?? board)
  }
}
