import Interface
import TicTacToe

/// A question about the board that the player asks with a key.
enum BoardQuestion {
  case lastMove, turn, row, clocks

  init?(_ key: Key) {
    switch key {
    case .character("p"): self = .lastMove
    case .character("t"): self = .turn
    case .character("i"): self = .row
    case .character("c"): self = .clocks
    default: return nil
    }
  }
}

extension ViewContext {
  /// `cell` is the cell with the focus.
  func answer(to question: BoardQuestion, at cell: Cell) -> String {
    let game = model.game
    switch question {
    case .lastMove: return game.cells.isEmpty ? text(.atStart) : spokenMove(game.cells.count - 1)
    case .turn:
      let status = statusText()
      return [status.main, status.detail, spokenTarget].filter { !$0.isEmpty }.joined(separator: ", ")
    case .row: return spokenRow(of: cell)
    case .clocks:
      guard let clocks = model.clocks else { return "\(text(.clock)): \(text(.noClock))" }
      return "X \(PlayersView.format(clocks.x)), O \(PlayersView.format(clocks.o))"
    }
  }

  /// The announcement of a move, of the board that the move has won (Ultimate) and of the mark that it has removed (Infinite).
  func spokenMove(_ index: Int) -> String {
    let game = model.game
    var before = game.startState
    for cell in game.cells.prefix(index) { _ = before.play(cell) }
    let move = VariantMove(game.cells[index], in: before)
    var parts = ["\(move.mover.letter) \(text(.speakPlays)) \(name(move.cell, of: game.variant))"]
    if move.winsBoard { parts.append(text(.factBoard, Square(move.board).name)) }
    if let removed = move.removed { parts.append(text(.factGone, removed.name)) }
    return parts.joined(separator: ", ")
  }

  /// The board of Ultimate in which the side to move must play; empty in other games and after the end.
  private var spokenTarget: String {
    guard !model.game.isOver, let boards = BoardFacts(of: model.game).boards else { return "" }
    return boards.target.map { text(.speakInBoard, $0.name) } ?? text(.speakInAnyBoard)
  }

  /// The three cells of the row with their marks; in Ultimate the row lies within the cell's board.
  private func spokenRow(of cell: Cell) -> String {
    let facts = BoardFacts(of: model.game)
    let (variant, board) = (facts.variant, facts.variant.board(of: cell))
    let row = variant.place(of: cell).index / 3
    let cells = (0..<3).map { column in
      let square = Square(row * 3 + column)
      let cell = board.map { Cell($0.index * 9 + square.index) } ?? Cell(square.index)
      let mark = facts[cell].map { String($0.letter) } ?? text(.speakEmpty)
      return "\(square.name) \(mark)" + (facts.oldestMark == cell ? ", \(text(.speakGoes))" : "")
    }
    let words = cells.joined(separator: "; ")
    guard let board else { return words }
    let won = facts.boards?.winner(of: board).map { text(.speakWon, String($0.letter)) + ": " } ?? ""
    return "\(text(.speakBoard, board.name)): \(won)\(words)"
  }
}
