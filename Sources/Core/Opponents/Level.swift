import Oracle
import TicTacToe

/// A level overlooks each kind of move at a rate typical of people, who overlook fewer moves beside the other side's last mark. Search
/// depth would be a poor measure of strength in a solved game.
package struct Level: MemorylessOpponent, NumberedLevel {
  package let number: Int
  /// The character's name, under which users see the level.
  package let character: String
  let rates: MistakeRates

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

  package func distribution(in position: Position, lastMove: Square?) -> MoveDistribution {
    guard number < 6 else { return SimpleOpponent.trap.distribution(in: position, lastMove: lastMove) }
    return rates.distribution(in: position, lastMove: lastMove)
  }
}

/// One of the six levels that users choose from. Each game has its own type: `Level` (classic), `InfiniteLevel`, …
package protocol NumberedLevel: Sendable, Hashable {
  /// Weakest first.
  static var all: [Self] { get }
  /// 1 (weakest) to 6.
  var number: Int { get }
}

extension NumberedLevel {
  package var name: String { "levels:\(number)" }

  package init?(number: Int) {
    guard Self.all.indices.contains(number - 1) else { return nil }
    self = Self.all[number - 1]
  }
}

/// How many of 20 moves of each kind a level overlooks. Cells "near" the last move touch its cell, also at a corner.
struct MistakeRates: Sendable, Hashable {
  /// How many of 20 chances to complete its line the level overlooks: lower bound near the last move, upper bound elsewhere.
  var win: ClosedRange<Int>
  /// How many of 20 chances to block a line the level overlooks: lower bound near the last move, upper bound elsewhere.
  var block: ClosedRange<Int>
  /// How many of 20 chances to make two threats at once the level overlooks: lower bound near the last move, upper bound elsewhere.
  var fork: ClosedRange<Int>
  /// How many of 20 chances to keep a draw, where other moves would lose, the level overlooks: lower bound near the last move, upper bound
  /// elsewhere.
  var enemyFork: ClosedRange<Int>
  /// In how many of 20 games the level overlooks the good cells (`goodOpenings`) at its first move.
  var opening: Int

  func distribution(in position: Position, lastMove: Square?) -> MoveDistribution {
    let me = position.turn
    // The most important kind of moves comes last. A player that overlooks a kind chooses by the chances before this kind was added.
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

  /// The cells that touch the last move `square`: in these cells a player overlooks fewer moves.
  static func near(_ square: Square?) -> SquareSet {
    guard let square else { return .full }
    return Square.all.reduce(into: []) {
      if abs($1.row - square.row) <= 1, abs($1.column - square.column) <= 1 { $0.insert($1) }
    }
  }
}

extension MoveDistribution {
  /// Adds the moves `squares`. The player overlooks those in `near` in `rate.lowerBound` of 20 cases, and the others in `rate.upperBound`
  /// of 20. If it overlooks both, it chooses by the chances before the call.
  mutating func see(_ squares: SquareSet, near: SquareSet, overlooking rate: ClosedRange<Int>) {
    let (seen, far) = (squares.intersection(near), squares.subtracting(near))
    for (set, misses) in [(far, rate.upperBound), (seen, rate.lowerBound)] where !set.isEmpty && misses < 20 {
      self = MoveDistribution(set, taken: UInt64(20 - misses), of: 20, otherwise: self)
    }
  }
}
