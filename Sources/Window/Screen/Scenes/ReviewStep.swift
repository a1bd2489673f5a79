import Interface
import Oracle
import TicTacToe

/// A move of the game under review; in a solved game with its exact evaluation.
struct ReviewStep {
  let move: VariantMove
  /// The moves that keep the value of the position; empty if the game is not solved.
  let best: [Cell]
  /// In Infinite, the evaluation after the move from the opponent's view; else `nil`.
  let after: Evaluation?

  var name: String { move.before.variant.name(of: move.cell) }

  var isMistake: Bool { move.values.map { $0.after < $0.before } ?? false }

  /// Whether several moves were possible and only this move kept the value.
  var isOnlyMove: Bool { move.values?.isOnlyMove ?? false }

  init(_ move: VariantMove) {
    self.move = move
    best = move.before.valuePreservingMoves
    after = move.before.variant.isLong ? move.before.moveEvaluations.first { $0.cell == move.cell }?.after : nil
  }

  /// The least loss that is marked in Ultimate; smaller losses are within the search's error.
  static let leastLoss = 0.1
}

extension ViewContext {
  /// `isFirst`: whether the move is the first after which a threat cannot be blocked.
  func sentence(
    _ step: ReviewStep, evaluations: (before: ReplayModel.Evaluation, after: ReplayModel.Evaluation)?, isFirst: Bool
  ) -> String {
    let move = step.move
    var parts: [String] = []
    let isWon = move.outcome == .win(move.mover)
    if isWon { parts.append(text(.factWins)) }
    if move.outcome == .win(move.mover.opponent) { parts.append(text(.factLoses)) }
    if move.outcome == .draw { parts.append(text(.factDraws)) }
    if step.isMistake {
      let better = step.best.map { move.before.variant.name(of: $0) }.joined(separator: ", ")
      parts.append("\(text(.factMistake)); \(text(.factBetter)) \(better)")
    }
    if step.isOnlyMove { parts.append(text(.factOnly)) }
    if !move.before.variant.isSolved {
      if move.winsBoard { parts.append(text(.factBoard, Square(move.board).name)) }
      if let evaluations {
        parts.append(text(.factShare, percent(1 - evaluations.after.share)))
        if let best = evaluations.before.best, best != move.cell,
          evaluations.before.loss(to: evaluations.after) >= ReviewStep.leastLoss
        {
          let name = move.before.variant.name(of: best)
          parts.append("\(text(.factBetter)) \(name), \(percent(evaluations.before.share))")
        }
      }
    } else {
      if move.isBlock { parts.append(text(.factBlock)) }
      if !move.before.variant.isLong, move.isFork {
        parts.append(text(.factFork))
      } else if !isWon, !move.after.winningSquares(for: move.mover).isEmpty {
        parts.append(text(.factThreat))
      }
      if let gone = move.removed { parts.append(text(.factGone, gone.name)) }
      if let after = step.after, after.distance > 0, after.value != .draw {
        parts.append(words(for: after.value.negated, in: after.distance))
      }
    }
    if isFirst { parts.append(text(.factAwakening)) }
    let words = parts.isEmpty ? "" : ": " + parts.joined(separator: "; ")
    return "\(move.ply). \(move.mover.letter) \(step.name)\(words)."
  }
}
