import TicTacToe

extension Game {
  /// Returns the facts of the move, with exact values if the variant is solved.
  package mutating func playValued(_ cell: Cell) throws(RuleViolation) -> VariantMove {
    let before = state
    try play(cell)
    return VariantMove(valued: cell, in: before)
  }

  /// The facts of every move in order, with exact values if the variant is solved.
  package var variantMoves: [VariantMove] {
    var state = startState
    return cells.map { cell in
      let move = VariantMove(valued: cell, in: state)
      state = move.after
      return move
    }
  }
}

extension VariantState {
  /// `nil` if the variant is not solved.
  package var evaluation: Evaluation? {
    switch self {
    case .classic(let position): Solver.shared.evaluation(of: position)
    case .infinite(let state): InfiniteTable.shared.evaluation(of: state)
    case .misere(let position): Solver.misere.evaluation(of: position)
    case .ultimate: nil
    }
  }

  /// Every legal move, with the evaluation after it as the other side sees it; empty if the variant is not solved.
  package var moveEvaluations: [(cell: Cell, after: Evaluation)] {
    switch self {
    case .classic(let position): Solver.shared.moveEvaluations(in: position)
    case .infinite(let state): InfiniteTable.shared.moveEvaluations(in: state)
    case .misere(let position): Solver.misere.moveEvaluations(in: position)
    case .ultimate: []
    }
  }

  /// Empty if the variant is not solved.
  package var valuePreservingMoves: [Cell] {
    let moves = moveEvaluations
    let best = moves.map { $0.after.value }.min()
    return moves.filter { $0.after.value == best }.map { $0.cell }
  }
}

extension VariantMove {
  /// The facts of a legal move, with the exact values before and after it if the variant is solved.
  package init(valued cell: Cell, in before: VariantState) {
    let moves = before.moveEvaluations
    let values = moves.map { $0.after.value.negated }
    guard let best = values.max(), let index = moves.firstIndex(where: { $0.cell == cell }) else {
      self.init(cell, in: before)
      return
    }
    let isOnly = values.count >= 2 && values[index] == best && values.count { $0 == best } == 1
    self.init(cell, in: before, values: MoveValues(before: best, after: values[index], isOnlyMove: isOnly))
  }
}

/// A game of a solved variant, analysed move by move.
package struct Analysis: Sendable, Hashable {
  package struct Entry: Sendable, Hashable {
    package let move: VariantMove
    /// The evaluation of the position before the move, as the mover sees it.
    package let before: Evaluation
    /// The evaluation of the position after the move, as the mover sees it.
    package let after: Evaluation
    /// The value-preserving moves.
    package let best: [Cell]
    /// 1 if the move kept the value; ½ if it turned a win into a draw or a draw into a loss; 0 if it turned a win into a loss.
    package let accuracy: Double
  }

  package let entries: [Entry]

  /// `nil` if no move lost value.
  package var firstMistake: Int? { entries.firstIndex { $0.move.isMistake } }

  /// A side's mean accuracy, 0–1, over the moves at which it could have lost value; 1 if there were none.
  package func accuracy(of player: Player) -> Double {
    let choices = entries.filter { $0.move.mover == player && $0.best.count < $0.move.before.moves.count }
    guard !choices.isEmpty else { return 1 }
    return choices.reduce(0) { $0 + $1.accuracy } / Double(choices.count)
  }

  package init(of game: Game) {
    entries = game.variantMoves.map { move in
      guard let before = move.before.evaluation else { preconditionFailure("\(game.variant) is not solved") }
      let after = move.before.moveEvaluations.first { $0.cell == move.cell }?.after ?? before
      return Entry(
        move: move, before: before, after: Evaluation(value: after.value.negated, distance: after.distance),
        best: move.before.valuePreservingMoves,
        accuracy: 1 - Double(before.value.rawValue + after.value.rawValue) / 2)
    }
  }
}

extension Evaluation {
  /// `win in 3`, `draw`, `loss in 2`, `won`, `lost`; the number is the plies to the end.
  package var text: String {
    switch value {
    case .draw: "draw"
    case .win: distance == 0 ? "won" : "win in \(distance)"
    case .loss: distance == 0 ? "lost" : "loss in \(distance)"
    }
  }
}
