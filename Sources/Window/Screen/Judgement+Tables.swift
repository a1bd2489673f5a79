import Interface
import Oracle
import TicTacToe

extension ViewContext {
  /// The evaluation of the moves on the board: exact from tables where the game is solved, else estimated by a search once
  /// requested.
  var judgement: Judgement? {
    let game = model.game
    guard !game.isOver else { return nil }
    if !game.variant.isSolved { return model.judgement }
    return ViewContext.judgement(
      game.state.moveEvaluations.map { cell, after in
        (cell, Evaluation(value: after.value.negated, distance: after.distance + 1))
      })
  }

  /// Rates moves exactly; the best is the quickest win, or the slowest loss.
  private static func judgement(_ moves: [(cell: Cell, worth: Evaluation)]) -> Judgement? {
    func rank(_ worth: Evaluation) -> (Int, Int) {
      (Int(worth.value.rawValue), worth.value == .win ? -worth.distance : worth.distance)
    }
    guard let best = moves.max(by: { rank($0.worth) < rank($1.worth) }) else { return nil }
    return Judgement(
      moves: moves.map { .init(cell: $0.cell, worth: .known($0.worth.value, plies: $0.worth.distance)) },
      best: best.cell)
  }

  /// The text of a hint beside the name of its cell.
  func words(forHint worth: Judgement.Worth) -> String {
    switch worth {
    case .known(let value, _): text(value == .win ? .hintWins : value == .draw ? .hintDraws : .hintLoses)
    case .believed(let share): text(.hintBelieved, percent(share))
    }
  }
}
