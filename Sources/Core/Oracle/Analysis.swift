import TicTacToe

extension Game {
  /// Marks a cell for the side to move and returns what the move did, with its values where the game is solved.
  package mutating func playValued(_ cell: Cell) throws(RuleViolation) -> VariantMove {
    let before = state
    try play(cell)
    return VariantMove(valued: cell, in: before)
  }

  /// Every move of any of the three games, with its values where the game is solved, in order.
  package var variantMoves: [VariantMove] {
    var state = startState
    return cells.map { cell in
      let move = VariantMove(valued: cell, in: state)
      state = move.after
      return move
    }
  }
}

extension VariantMove {
  /// A legal move with its values, if the game is solved.
  package init(valued cell: Cell, in before: VariantState) {
    switch before {
    case .classic(let position):
      self.init(cell, in: before, values: Solver.shared.values(of: Square(cell.index), in: position))
    case .infinite(let state):
      let moves = InfiniteTable.shared.moveEvaluations(in: state).map { ($0.cell, $0.after.value.negated) }
      let best = moves.map { $0.1 }.max() ?? .loss
      let value = moves.first { $0.0 == cell }?.1 ?? .loss
      let isOnly = moves.count >= 2 && value == best && moves.count { $0.1 == best } == 1
      self.init(cell, in: before, values: MoveValues(before: best, after: value, isOnlyMove: isOnly))
    case .ultimate: self.init(cell, in: before)
    }
  }
}

/// What a game looks like to someone who sees everything: values, only-moves, the first mistake, accuracy.
package struct Analysis: Sendable, Hashable {
  /// One move.
  package struct Entry: Sendable, Hashable {
    package let move: VariantMove
    /// The evaluation before it, for the mover.
    package let before: Evaluation
    /// The evaluation after it, for the mover.
    package let after: Evaluation
    /// The moves that keep the value.
    package let best: SquareSet
    /// How good the choice was: 1 where the value was kept, ½ where half a point of it went, 0 where a win became a loss.
    package let accuracy: Double
  }

  /// The moves in order.
  package let entries: [Entry]

  /// The index of the first move that lost value, or `nil`.
  package var firstMistake: Int? { entries.firstIndex { $0.move.isMistake } }

  /// A side's mean accuracy over the moves at which value could be lost; 1 where it never could.
  package func accuracy(of player: Player) -> Double {
    let choices = entries.filter { $0.move.mover == player && $0.best.count < $0.move.before.moves.count }
    guard !choices.isEmpty else { return 1 }
    return choices.reduce(0) { $0 + $1.accuracy } / Double(choices.count)
  }

  /// Analyses the moves of a classic game.
  package init(of game: Game) {
    let solver = Solver.shared
    entries = game.variantMoves.map { move in
      let position = move.before.position(on: 0)
      let before = solver.evaluation(of: position)
      let after = solver.evaluation(of: move.after.position(on: 0))
      return Entry(
        move: move, before: before, after: Evaluation(value: after.value.negated, distance: after.distance),
        best: solver.valuePreservingMoves(in: position),
        // Win to draw and draw to loss cost half, win to loss all.
        accuracy: 1 - Double(before.value.rawValue + after.value.rawValue) / 2)
    }
  }
}

extension Evaluation {
  /// `win in 3`, `draw`, `loss in 2`, `won`, `lost`.
  package var text: String {
    switch value {
    case .draw: "draw"
    case .win: distance == 0 ? "won" : "win in \(distance)"
    case .loss: distance == 0 ? "lost" : "loss in \(distance)"
    }
  }
}
