import Oracle
import TicTacToe

/// Rates how much happens in a game, as the sum of points for its moves. A move scores 4 for each half point that it costs its player (a
/// win turned into a draw costs one half), 3 for a fork, 2 if all other moves cost something, 1 for a threat to win and 1 for a block.
struct Drama: Sendable {
  /// The first use fills the table of points, which takes some milliseconds.
  static let shared = Drama()

  /// The points of each move of Classic, at the index 9 · `ternaryKey` of the board before the move + the cell of the move.
  private let points: [UInt8]

  private init() {
    var points = [UInt8](repeating: 0, count: Position.keyCount * 9)
    for position in Solver.positions where position.outcome == nil {
      for square in position.legalMoves {
        let move = VariantMove(valued: Cell(square.index), in: .classic(position))
        points[position.ternaryKey * 9 + square.index] = UInt8(Drama.points(of: move))
      }
    }
    self.points = points
  }

  static func points(of move: VariantMove) -> Int {
    4 * (move.values.map { Int($0.before.rawValue - min($0.before, $0.after).rawValue) } ?? 0)
      + (move.isFork ? 3 : 0) + (move.isOnlyMove ? 2 : 0) + (move.threats.isEmpty ? 0 : 1) + (move.isBlock ? 1 : 0)
  }

  /// `moves` is `nil` in Classic, where `game` contains the moves.
  static func points(of game: PackedGame, start: VariantState?, _ moves: GameMoves?, _ variant: Variant) -> Int {
    guard let moves else { return shared.points(of: game, start: GameMoves(start: start).state(Classic.self)) }
    switch variant {
    case .ultimate: return ultimatePoints(of: moves)
    case .classic, .infinite, .misere:
      var game = Game(from: start ?? VariantState(startOf: variant))
      for cell in moves.cells { try? game.play(cell) }
      return game.variantMoves.reduce(0) { $0 + points(of: $1) }
    }
  }

  private func points(of game: PackedGame, start: Position) -> Int {
    var (key, isX, sum) = (start.ternaryKey, start.turn == .x, 0)
    for ply in 0..<game.count {
      let cell = game.cell(ply)
      sum += Int(points[key * 9 + cell])
      key += isX ? TernaryKey.power(cell) : 2 * TernaryKey.power(cell)
      isX.toggle()
    }
    return sum
  }
}
