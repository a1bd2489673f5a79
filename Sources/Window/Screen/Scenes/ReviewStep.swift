import Interface
import Oracle
import TicTacToe

/// A move of a game under review, and what tables know of it.
struct ReviewStep {
  let ply: Int
  let mover: Player
  let cell: Cell
  let before: VariantState
  let after: VariantState
  /// The facts of a classic move.
  var facts: MoveFacts?
  /// What the position was worth before and after the move, for who made it; `nil` of Ultimate.
  var worth: (before: Evaluation, after: Evaluation)?
  /// The moves that keep the value.
  var best: [Cell] = []

  var name: String { before.variant.name(of: cell) }

  var isMistake: Bool { facts?.isMistake ?? worth.map { $0.after.value < $0.before.value } ?? false }

  /// Whether it was the only one of two or more moves that kept the value.
  var isOnlyMove: Bool { facts?.isOnlyMove ?? (best == [cell] && before.moves.count > 1) }

  static func steps(of game: Game) -> [ReviewStep] {
    var state = game.startState
    return game.cells.map { cell in
      let before = state
      state.play(cell)
      var step = ReviewStep(
        ply: before.plies + 1, mover: before.turn, cell: cell, before: before, after: state)
      step.judge()
      return step
    }
  }

  private mutating func judge() {
    switch before {
    case .classic(let position):
      facts = Solver.shared.facts(of: Square(cell.index), in: position)
      best = Solver.shared.valuePreservingMoves(in: position).map { Cell($0.index) }
    case .infinite(let state):
      let moves = InfiniteTable.shared.moveEvaluations(in: state)
      let value = InfiniteTable.shared.evaluation(of: state)
      best = moves.filter { $0.after.value.negated == value.value }.map { $0.cell }
      if let after = moves.first(where: { $0.cell == cell })?.after {
        worth = (value, Evaluation(value: after.value.negated, distance: after.distance))
      }
    case .ultimate: break
    }
  }

  /// What a position is worth for who is to move, where a table knows.
  static func worth(of state: VariantState) -> Evaluation? {
    switch state {
    case .classic(let position): Solver.shared.evaluation(of: position)
    case .infinite(let state): InfiniteTable.shared.evaluation(of: state)
    case .ultimate: nil
    }
  }
}

extension ViewContext {
  /// What a move did, in words; `isFirst` of the first after which a threat cannot be parried.
  func sentence(
    _ step: ReviewStep, outlook: (before: ReplayModel.Outlook, after: ReplayModel.Outlook)?, isFirst: Bool
  ) -> String {
    var parts: [String] = []
    if case .win = step.after.outcome { parts.append(text(.factWins)) }
    if step.after.outcome == .draw { parts.append(text(.factDraws)) }
    if step.isMistake {
      let better = step.best.map { step.before.variant.name(of: $0) }.joined(separator: ", ")
      parts.append("\(text(.factMistake)); \(text(.factBetter)) \(better)")
    }
    if step.isOnlyMove { parts.append(text(.factOnly)) }
    switch (step.before, step.after) {
    case (.infinite(let before), .infinite(let after)):
      parts += words(before, after, step)
    case (.ultimate(let before), .ultimate(let after)):
      let won = after.boards(of: step.mover).subtracting(before.boards(of: step.mover))
      if let board = won.first { parts.append(text(.factBoard, board.name)) }
      if let outlook {
        parts.append(text(.factShare, percent(1 - outlook.after.share)))
        if let best = outlook.before.best, best != step.cell, outlook.before.share + outlook.after.share - 1 >= 0.1 {
          let name = step.before.variant.name(of: best)
          parts.append("\(text(.factBetter)) \(name), \(percent(outlook.before.share))")
        }
      }
    default:
      guard let facts = step.facts else { break }
      if facts.isBlock { parts.append(text(.factBlock)) }
      if facts.isFork {
        parts.append(text(.factFork))
      } else if !facts.threats.isEmpty {
        parts.append(text(.factThreat))
      }
    }
    if isFirst { parts.append(text(.factAwakening)) }
    let words = parts.isEmpty ? "" : ": " + parts.joined(separator: "; ")
    return "\(step.ply). \(step.mover.letter) \(step.name)\(words)."
  }

  private func words(_ before: Infinite.State, _ after: Infinite.State, _ step: ReviewStep) -> [String] {
    var parts: [String] = []
    let square = Square(step.cell.index)
    if before.board.winningSquares(for: step.mover.opponent).contains(square) { parts.append(text(.factBlock)) }
    if after.board.winner == nil, !after.board.winningSquares(for: step.mover).isEmpty {
      parts.append(text(.factThreat))
    }
    if let gone = before.board[step.mover].fading { parts.append(text(.factGone, gone.name)) }
    if let worth = step.worth?.after, worth.distance > 0, worth.value != .draw {
      parts.append(words(for: worth.value, in: worth.distance))
    }
    return parts
  }
}
