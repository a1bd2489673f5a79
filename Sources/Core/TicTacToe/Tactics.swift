extension Position {
  /// The empty cells that would complete a line for a side at once.
  package func winningSquares(for player: Player) -> SquareSet {
    Line.completions(of: self[player]).intersection(empty)
  }

  /// The empty cells that would give a side two or more winning threats.
  package func forkSquares(for player: Player) -> SquareSet {
    var result: SquareSet = []
    for square in empty {
      var after = self
      if player == .x { after.x.insert(square) } else { after.o.insert(square) }
      if after.winningSquares(for: player).count >= 2 { result.insert(square) }
    }
    return result
  }

  package func completedLines(of player: Player) -> [SquareSet] {
    Line.all.filter { $0.isSubset(of: self[player]) }
  }
}
