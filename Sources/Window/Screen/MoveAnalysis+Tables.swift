import Interface
import Oracle
import TicTacToe

extension ViewContext {
  /// The evaluation of the moves on the board: in solved games exact, from tables; in Ultimate from a search, `nil` until the search was
  /// requested and has ended.
  var analysis: MoveAnalysis? {
    let game = model.game
    guard !game.isOver else { return nil }
    if !game.variant.isSolved { return model.analysis }
    return ViewContext.analysis(
      game.state.moveEvaluations.map { cell, after in
        (cell, Evaluation(value: after.value.negated, distance: after.distance + 1))
      })
  }

  /// Rates moves exactly. The best move is the quickest win; without a win a draw; else the slowest loss.
  private static func analysis(_ moves: [(cell: Cell, evaluation: Evaluation)]) -> MoveAnalysis? {
    func rank(_ evaluation: Evaluation) -> (Int, Int) {
      (Int(evaluation.value.rawValue), evaluation.value == .win ? -evaluation.distance : evaluation.distance)
    }
    guard let best = moves.max(by: { rank($0.evaluation) < rank($1.evaluation) }) else { return nil }
    return MoveAnalysis(
      moves: moves.map { .init(cell: $0.cell, evaluation: .exact($0.evaluation.value, plies: $0.evaluation.distance)) },
      best: best.cell)
  }

  /// The text that a hint shows beside the name of the best cell: the value of the move.
  func words(forHint evaluation: MoveAnalysis.Evaluation) -> String {
    switch evaluation {
    case .exact(let value, _): text(value == .win ? .hintWins : value == .draw ? .hintDraws : .hintLoses)
    case .estimated(let share): text(.hintBelieved, percent(share))
    }
  }
}
