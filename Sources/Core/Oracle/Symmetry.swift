import TicTacToe

/// One of the eight rotations and reflections of the board.
package struct Symmetry: Sendable, Hashable {
  /// 0–7; 0 is the identity.
  package let index: Int

  /// Cell `i` moves to cell `images[i]`.
  package let images: [Square]

  /// Four rotations clockwise by 0°–270°, then the same rotations after a left–right reflection.
  package static let all: [Symmetry] = (0..<8).map { index in
    Symmetry(
      index: index,
      images: Square.all.map { square in
        var (row, column) = (square.row, index >= 4 ? 2 - square.column : square.column)
        for _ in 0..<index % 4 { (row, column) = (column, 2 - row) }
        return Square(row * 3 + column)
      })
  }

  /// By a position's base-3 key, the key of its image.
  package var keys: [Int] {
    var keys = [0]
    for image in images {
      // Adds one more cell to the image keys: all of them with the cell empty, then with an X in it, then with an O.
      keys = (0..<3).flatMap { mark in keys.map { $0 + mark * TernaryKey.power(image.index) } }
    }
    return keys
  }

  package var inverse: Symmetry { index < 4 ? Symmetry.all[(4 - index) % 4] : self }

  package func callAsFunction(_ square: Square) -> Square { images[square.index] }

  package func callAsFunction(_ squares: SquareSet) -> SquareSet {
    squares.reduce(into: []) { $0.insert(images[$1.index]) }
  }

  package func callAsFunction(_ position: Position) -> Position {
    Position(x: self(position.x), o: self(position.o))
  }

  func callAsFunction(_ board: Infinite.Board) -> Infinite.Board {
    var image = Infinite.Board()
    for square in board.x.squares { image.x.append(self(square)) }
    for square in board.o.squares { image.o.append(self(square)) }
    image.turn = board.turn
    return image
  }
}

extension Position {
  /// The image with the least base-3 key, and the first symmetry that maps to it.
  package var canonical: (position: Position, by: Symmetry) {
    var best = (position: self, by: Symmetry.all[0])
    for symmetry in Symmetry.all.dropFirst() {
      let image = symmetry(self)
      if image.ternaryKey < best.position.ternaryKey { best = (image, symmetry) }
    }
    return best
  }

  /// The symmetries that map the board to itself, the identity included.
  package var symmetries: [Symmetry] { Symmetry.all.filter { $0(self) == self } }

  /// The lowest cell of each group of empty cells that `symmetries` map to each other.
  package var distinctMoves: SquareSet {
    let own = symmetries
    return legalMoves.reduce(into: []) { result, square in
      if own.allSatisfy({ $0(square) >= square }) { result.insert(square) }
    }
  }
}
