import Oracle
import TicTacToe
import Tintinnabuli

/// The standing of a side, which decides the contours of melodies, and the progress of a long game, which decides the length of bars.
extension GameConductor {
  /// The mover's standing before or after a move: −1 lost, 0 even, 1 won.
  func standing(of move: VariantMove, before: Bool) -> Double {
    let state = before ? move.before : move.after
    switch state {
    // A position whose exact value was not computed counts as even.
    case .classic, .misere: return Double((before ? move.values?.before : move.values?.after)?.rawValue ?? 0)
    case .infinite(let state):
      guard move.values != nil else { return 0 }
      let evaluation = InfiniteTable.shared.evaluation(of: state)
      let side = Double(evaluation.value.rawValue) * (state.board.turn == move.mover ? 1 : -1)
      // Nearly all positions of Infinite are won or lost, so the standing also says how soon the game ends: ±(1 − plies to the end / 14).
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
      let whole = min(Double(4 * state.closed.count + threatened) / Self.decided, 1)
      let marks = 9 - state.position(on: move.board).empty.count
      let board = state.closed.contains(Square(move.board)) ? 1 : min(Double(marks - 1) / Self.full, 1)
      return (whole + board) / 2
    }
  }

  /// The number of plies after the opening of Infinite over which the game's progress grows.
  private static let long = 24
  /// Ultimate's boards together have the progress 1 at these points: 4 for a closed board, 1 for a board that a side can win at once.
  private static let decided = 24.0
  /// With this number of marks, not counting the first, a board of Ultimate has the progress 1, like a closed board.
  private static let full = 3.0
  /// At this number of plies or more before the end of a game of Infinite the standing is ±0.1, almost even.
  private static let far = 14.0
  /// In Ultimate, a lead of this many points would be the standing 1; until a side has won, the standing stays within ±0.9. A side has 2
  /// points for each board that it has won, and 3 for each board that it can still win and that would complete its line of boards.
  private static let lead = 9.0
}
