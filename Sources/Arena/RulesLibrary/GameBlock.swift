import TicTacToe

/// A state as bytes for programs that learn. First, by cell: the marks (0 none, 1 X, 2 O); the legal cells (0 or 1); in Infinite the age
/// rank of the marks of each side (1 the oldest, 0 no mark), in other games 0. Then the side to move (1 X, 2 O), the result (0 none, 1 X
/// won, 2 O won, 3 drawn) and the cell marked last (255 none). Cells are counted row by row from the top.
package struct GameBlock<R: Rules>: Sendable {
  /// The cells of the board, row by row.
  package let cells: [Cell]
  /// For each cell by its own index, the place in `cells`.
  package let places: [UInt8]

  package init() {
    let variant = R.variant
    let cells = (0..<variant.cellCount).map { variant.cell(row: $0 / variant.side, column: $0 % variant.side) }
    var places = [UInt8](repeating: 0, count: cells.count)
    for (place, cell) in cells.enumerated() { places[cell.index] = UInt8(place) }
    (self.cells, self.places) = (cells, places)
  }

  package var size: Int { 3 * cells.count + 3 }

  /// Writes `size` bytes.
  package func write(_ state: R.State, last: Cell?, to bytes: UnsafeMutablePointer<UInt8>) {
    let count = cells.count
    bytes.update(repeating: 0, count: size)
    for cell in R.cells(of: .x, in: state) { bytes[Int(places[cell.index])] = 1 }
    for cell in R.cells(of: .o, in: state) { bytes[Int(places[cell.index])] = 2 }
    for cell in R.moves(state) { bytes[count + Int(places[cell.index])] = 1 }
    for player in Player.allCases {
      for (age, cell) in R.marksByAge(of: player, in: state).enumerated() {
        bytes[2 * count + Int(places[cell.index])] = UInt8(age + 1)
      }
    }
    bytes[3 * count] = R.turn(in: state) == .x ? 1 : 2
    bytes[3 * count + 1] = GameBlock.code(of: R.outcome(of: state))
    bytes[3 * count + 2] = last.map { places[$0.index] } ?? 255
  }

  package static func code(of outcome: Outcome?) -> UInt8 {
    switch outcome {
    case nil: 0
    case .win(.x): 1
    case .win(.o): 2
    case .draw: 3
    }
  }
}
