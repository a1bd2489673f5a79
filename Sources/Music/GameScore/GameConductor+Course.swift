import Oracle
import TicTacToe
import Tintinnabuli

/// The standing of a side, for melodic contours, and the progress of a long game, for the length of bars.
extension GameConductor {
  /// The mover's standing before or after a move: −1 lost, 0 even, 1 won.
  func standing(of move: VariantMove, before: Bool) -> Double {
    let state = before ? move.before : move.after
    switch state {
    // A position without a known value counts as even.
    case .classic, .misere: return Double((before ? move.values?.before : move.values?.after)?.rawValue ?? 0)
    case .infinite(let state):
      guard move.values != nil else { return 0 }
      let evaluation = InfiniteTable.shared.evaluation(of: state)
      let side = Double(evaluation.value.rawValue) * (state.board.turn == move.mover ? 1 : -1)
      // Few positions are exactly even, so a distant win counts as almost even.
      return side * max(1 - Double(evaluation.distance) / Self.far, 0.1)
    case .ultimate(let state):
      switch Ultimate.outcome(of: state) {
      case .win(let winner): return winner == move.mover ? 1 : -1
      case .draw: return 0
      case nil: break
      }
      func weight(_ side: Player) -> Int { 2 * state.boards(of: side).count + 3 * state.prospects(of: side).count }
      let lead = Double(weight(move.mover) - weight(move.mover.opponent)) / Self.lead
      return min(max(lead, -0.9), 0.9)
    }
  }

  /// The progress of a game of Infinite or Ultimate, 0…1; `nil` for the other games, which are short.
  static func phase(of move: VariantMove) -> Double? {
    guard move.after.variant.isLong else { return nil }
    if move.outcome != nil { return 1 }
    switch move.after {
    case .classic, .misere: return nil
    case .infinite(let state):
      // The progress is a sum of three shares: for the marks of the opening, for the duration, and for threats or a decided position.
      let opening = 2 * Infinite.markLimit
      let begun = Double(min(state.plies, opening)) / Double(opening)
      let lasted = Double(min(max(state.plies - opening, 0), Self.long)) / Double(Self.long)
      let isThreatened = !move.threats.isEmpty || !move.opposingThreats.isEmpty
      return 0.3 * begun + 0.35 * lasted + (move.isDecisive ? 0.35 : isThreatened ? 0.15 : 0)
    case .ultimate(let state):
      let threatened = Square.all.count { board in
        let position = state.position(on: board.index)
        return !state.closed.contains(board)
          && !position.winningSquares(for: .x).union(position.winningSquares(for: .o)).isEmpty
      }
      // The progress is the mean of the whole game's progress and the current board's progress.
      let whole = min(Double(4 * state.closed.count + threatened) / Self.decided, 1)
      let marks = 9 - state.position(on: move.board).empty.count
      let board = state.closed.contains(Square(move.board)) ? 1 : min(Double(marks - 1) / Self.full, 1)
      return (whole + board) / 2
    }
  }

  /// Plies after the opening until a game of Infinite counts as long.
  private static let long = 24
  /// The sum at which Ultimate counts as decided: a closed board counts 4, a board that one move can win counts 1.
  private static let decided = 24.0
  /// The number of marks, not counting the first, at which a board of Ultimate counts as fully progressed.
  private static let full = 3.0
  /// A won or lost game of Infinite counts as almost even if the end is this number of plies away or more.
  private static let far = 14.0
  /// The lead at which a side has almost won Ultimate. A lead is the difference of the sides' sums of 2 for each won board and 3 for each
  /// board that would complete a line.
  private static let lead = 9.0
}
