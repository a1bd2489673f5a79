import Interface
import Oracle
import TicTacToe

extension ViewContext {
  /// Exact in solved games; in Ultimate from a requested search, `nil` until the search has ended.
  var analysis: MoveAnalysis? {
    let game = model.game
    guard !game.isOver else { return nil }
    if !game.variant.isSolved { return model.analysis }
    return ViewContext.analysis(
      game.state.moveEvaluations.map { cell, after in
        (cell, Evaluation(value: after.value.negated, distance: after.distance + 1))
      })
  }

  /// The best move is the quickest win; without a win a draw; else the slowest loss.
  private static func analysis(_ moves: [(cell: Cell, evaluation: Evaluation)]) -> MoveAnalysis? {
    func rank(_ evaluation: Evaluation) -> (Int, Int) {
      (Int(evaluation.value.rawValue), evaluation.value == .win ? -evaluation.distance : evaluation.distance)
    }
    guard let best = moves.max(by: { rank($0.evaluation) < rank($1.evaluation) }) else { return nil }
    return MoveAnalysis(
      moves: moves.map { .init(cell: $0.cell, evaluation: .exact($0.evaluation.value, plies: $0.evaluation.distance)) },
      best: best.cell)
  }

  /// The hint's text beside the best cell: the value of the move.
  func words(forHint evaluation: MoveAnalysis.Evaluation) -> String {
    switch evaluation {
    case .exact(let value, _): text(value == .win ? .hintWins : value == .draw ? .hintDraws : .hintLoses)
    case .estimated(let share): text(.hintBelieved, percent(share))
    }
  }
}
