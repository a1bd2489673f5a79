import Oracle
import TicTacToe

/// One of the six levels that users choose from, from a beginner to a player that never loses.
///
/// Search depth is a poor measure of strength in a solved game. A level instead overlooks each kind of move at a rate typical of
/// people, who overlook fewer moves beside the other side's last mark.
package struct Level: MemorylessOpponent, NumberedLevel {
  /// The level, 1 (weakest) to 6.
  package let number: Int
  /// The name of a character, under which users see the level.
  package let character: String
  /// For each kind of move, how often the level overlooks such moves.
  let rates: MistakeRates

  /// The six levels, weakest first.
  package static let all: [Level] = [
    Level(
      number: 1, character: "Pip",
      rates: MistakeRates(win: 9...14, block: 14...18, fork: 20...20, enemyFork: 20...20, opening: 20)),
    Level(
      number: 2, character: "Wren",
      rates: MistakeRates(win: 4...9, block: 7...13, fork: 18...20, enemyFork: 18...20, opening: 15)),
    Level(
      number: 3, character: "Bram",
      rates: MistakeRates(win: 2...5, block: 4...8, fork: 13...17, enemyFork: 13...17, opening: 10)),
    Level(
      number: 4, character: "Odile",
      rates: MistakeRates(win: 1...2, block: 2...4, fork: 7...11, enemyFork: 7...11, opening: 6)),
    Level(
      number: 5, character: "Sorrel",
      rates: MistakeRates(win: 0...0, block: 0...1, fork: 2...4, enemyFork: 2...4, opening: 2)),
    Level(
      number: 6, character: "Alina",
      rates: MistakeRates(win: 0...0, block: 0...0, fork: 0...0, enemyFork: 0...0, opening: 0)),
  ]

  /// The exact chances of every legal move.
  package func distribution(in position: Position, lastMove: Square?) -> MoveDistribution {
    guard number < 6 else { return SimpleOpponent.trap.distribution(in: position, lastMove: lastMove) }
    return rates.distribution(in: position, lastMove: lastMove)
  }
}

/// One of the six levels that users choose from. Each game has its own type of levels: `Level` (classic), `InfiniteLevel`, …
package protocol NumberedLevel: Sendable, Hashable {
  /// The six levels, weakest first.
  static var all: [Self] { get }
  /// The level, 1 (weakest) to 6.
  var number: Int { get }
}

extension NumberedLevel {
  /// The level's name as a player, such as `levels:3`.
  package var name: String { "levels:\(number)" }

  /// Makes the level with the given number; `nil` outside 1–6.
  package init?(number: Int) {
    guard Self.all.indices.contains(number - 1) else { return nil }
    self = Self.all[number - 1]
  }
}

/// How many of twenty moves of each kind a level overlooks. The lower bound is for cells that touch the cell of the other side's last move
/// (also at a corner), the upper bound for all others.
struct MistakeRates: Sendable, Hashable {
  /// How many of twenty chances to complete its line the level overlooks: the lower bound for cells that touch the
  /// cell of the other side's last move (also at a corner), the upper bound for all others.
  var win: ClosedRange<Int>
  /// How many of twenty chances to block the other side's line the level overlooks: the lower bound for cells that touch the
  /// cell of the other side's last move (also at a corner), the upper bound for all others.
  var block: ClosedRange<Int>
  /// How many of twenty chances to make two threats at once the level overlooks: the lower bound for cells that touch the
  /// cell of the other side's last move (also at a corner), the upper bound for all others.
  var fork: ClosedRange<Int>
  /// How many of twenty chances to keep a draw, where some other move would lose, the level overlooks: the lower bound for cells that touch
  /// the cell of the other side's last move (also at a corner), the upper bound for all others.
  var enemyFork: ClosedRange<Int>
  /// In how many of twenty games the level overlooks the good cells (`goodOpenings`) at its first move, wherever they are.
  var opening: Int

  func distribution(in position: Position, lastMove: Square?) -> MoveDistribution {
    let me = position.turn
    // Begin with equal chances for all moves. Then add one kind of moves after another, the most important kind last. If the player
    // overlooks the added kind, it chooses by the chances before this kind was added.
    var result = MoveDistribution(uniformOver: position.legalMoves)
    let near = MistakeRates.near(lastMove)
    if position.ply < 2 {
      result.see(MistakeRates.goodOpenings(in: position), near: near, overlooking: opening...opening)
      return result
    }
    result.see(MistakeRates.quietDefences(in: position), near: near, overlooking: enemyFork)
    result.see(position.forkSquares(for: me), near: near, overlooking: fork)
    result.see(position.winningSquares(for: me.opponent), near: near, overlooking: block)
    result.see(position.winningSquares(for: me), near: near, overlooking: win)
    return result
  }

  /// For the game's first move, the centre and the corners; for the second, the value-preserving moves.
  private static func goodOpenings(in position: Position) -> SquareSet {
    position.ply == 0 ? SquareSet.center.union(.corners) : Solver.shared.valuePreservingMoves(in: position)
  }

  /// The moves that keep a draw, if some other move would lose; otherwise none.
  private static func quietDefences(in position: Position) -> SquareSet {
    let solver = Solver.shared
    guard solver.evaluation(of: position).value == .draw else { return [] }
    let holding = solver.valuePreservingMoves(in: position)
    return holding == position.legalMoves ? [] : holding
  }

  /// The cells that a player overlooks less often: the cell of the last move and all cells that touch it; before the first move, all cells.
  static func near(_ square: Square?) -> SquareSet {
    guard let square else { return .full }
    return Square.all.reduce(into: []) {
      if abs($1.row - square.row) <= 1, abs($1.column - square.column) <= 1 { $0.insert($1) }
    }
  }
}

extension MoveDistribution {
  /// Adds a kind of moves, the set `squares`. The player first looks for a move among the squares in `near`, and overlooks all of them in
  /// `rate.lowerBound` of 20 cases. Then it looks among the other squares, and overlooks these in `rate.upperBound` of 20 cases. If it
  /// overlooks both, it chooses by the chances before the call.
  mutating func see(_ squares: SquareSet, near: SquareSet, overlooking rate: ClosedRange<Int>) {
    let (seen, far) = (squares.intersection(near), squares.subtracting(near))
    for (set, misses) in [(far, rate.upperBound), (seen, rate.lowerBound)] where !set.isEmpty && misses < 20 {
      self = MoveDistribution(set, taken: UInt64(20 - misses), of: 20, otherwise: self)
    }
  }
}
