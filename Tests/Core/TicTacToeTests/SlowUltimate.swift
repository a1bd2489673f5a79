@testable import TicTacToe

/// Nine rows of nine letters. Shares no code with the implementation under test.
struct SlowUltimate {
  static let (x, o, none) = (UInt8(ascii: "X"), UInt8(ascii: "O"), UInt8(ascii: "."))

  /// Row by row from the top of the whole board.
  private(set) var letters = [UInt8](repeating: none, count: 81)
  private(set) var mover = x
  private var last: (row: Int, column: Int)?

  private static let lines = [
    [0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6],
  ]

  /// `none` if no line of the board is full. `letter` returns the letter of a place, 0…8.
  private static func owner(_ letter: (Int) -> UInt8) -> UInt8 {
    for line in lines {
      let first = letter(line[0])
      if first != none, letter(line[1]) == first, letter(line[2]) == first { return first }
    }
    return none
  }

  private func letter(_ board: Int, _ place: Int) -> UInt8 {
    letters[(board / 3 * 3 + place / 3) * 9 + board % 3 * 3 + place % 3]
  }

  private func isOpen(_ board: Int) -> Bool {
    SlowUltimate.owner { letter(board, $0) } == SlowUltimate.none
      && (0..<9).contains { letter(board, $0) == SlowUltimate.none }
  }

  /// `X`, `O`, `=` for a draw; `nil` while the game is live.
  var result: UInt8? {
    let winner = SlowUltimate.owner { board in SlowUltimate.owner { letter(board, $0) } }
    if winner != SlowUltimate.none { return winner }
    return (0..<9).contains { isOpen($0) } ? nil : UInt8(ascii: "=")
  }

  /// Rows and columns of the whole board.
  var moves: [(row: Int, column: Int)] {
    guard result == nil else { return [] }
    var boards = Array(0..<9)
    if let last, isOpen(last.row % 3 * 3 + last.column % 3) { boards = [last.row % 3 * 3 + last.column % 3] }
    var moves: [(row: Int, column: Int)] = []
    for board in boards where isOpen(board) {
      for place in 0..<9 where letter(board, place) == SlowUltimate.none {
        moves.append((board / 3 * 3 + place / 3, board % 3 * 3 + place % 3))
      }
    }
    return moves
  }

  mutating func play(row: Int, column: Int) {
    letters[row * 9 + column] = mover
    last = (row, column)
    mover = mover == SlowUltimate.x ? SlowUltimate.o : SlowUltimate.x
  }

  func perft(_ depth: Int) -> Int {
    guard depth > 0 else { return 1 }
    return moves.reduce(0) {
      var next = self
      next.play(row: $1.row, column: $1.column)
      return $0 + next.perft(depth - 1)
    }
  }
}
