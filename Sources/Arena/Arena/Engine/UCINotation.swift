import TicTacToe

/// Two notations of positions and moves: Alina's (`X1O/1X1/3 o`, `b2`), and that of cutechess-cli with `-variant tictactoe`
/// (`3/3/3[PPPPPpppp] w - - 0 1`, `P@b2`).
package enum UCINotation: Sendable, Hashable {
  case native
  /// Moves are drops of pawns from the hand, and X is White.
  case cutechess

  package func text(of square: Square) -> String { self == .native ? square.name : "P@\(square.name)" }

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

  /// Reads a position in either notation. Ignores the pawns in hand (`[PPPPPpppp]`) and the words after the side to move, which only
  /// cutechess-cli writes.
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
