import Base
import Oracle
import TicTacToe

/// Learns the numbers of `UltimateValue` from games that they play with themselves.
///
/// Each game begins with some random moves and goes on with the move after which the other side's value is least, or now and
/// then with another. The value of each position is then moved towards what followed: a mean of the values on the way and of
/// the result, which weighs less with each ply between. Source: R. Sutton, "Learning to predict by the methods of temporal
/// differences", Machine Learning 3, 1988. A seed and a number of games give the same numbers on every machine.
package struct UltimateTraining {
  /// What the shipped numbers were learnt from.
  package static let (shippedSeed, shippedGames): (UInt64, Int) = (1, 2_000_000)

  private var weights = [Float](repeating: 0, count: UltimateValue.weightCount)
  /// By board and key, the place of the number of a board in which the side to move may not play.
  private let places = UltimateValue.boardPlaces()
  private let standings: [UInt8]
  private let keys: [Int32]
  private let seed: UInt64
  private let total: Int
  package private(set) var gamesPlayed = 0
  /// The mean square of the steps' errors since it was last asked for.
  private var errors = (sum: 0.0, count: 0)

  /// The places of a position's numbers: nine boards at most and eight lines.
  struct Features {
    var places = InlineArray<17, Int32>(repeating: 0)
    var count = 0
  }

  private struct Step {
    var features: Features
    /// For the side to move, −1…1.
    var value: Float
    /// Of the best move; what the position is worth where another one was made.
    var best: Float
    var isExploring: Bool
  }

  /// How much of a position's aim comes from further ahead than its next position.
  private static let lambda: Float = 0.8
  /// One move of so many is any move.
  private static let exploration = 12
  /// A game begins with fewer random moves than this.
  private static let opening = 12
  /// How far one game moves a number, at first and in the end.
  private static let rates: (first: Float, last: Float) = (0.02, 0.001)

  /// - Parameter games: How many games there will be, over which the steps become smaller.
  package init(seed: UInt64, games: Int) {
    (self.seed, total) = (seed, games)
    standings = (0..<Position.keyCount).map { UltimateValue.standing(of: Position(ternaryKey: $0)) }
    keys = (0..<512).map { Int32(Position(x: SquareSet(rawValue: $0), o: []).ternaryKey) }
  }

  /// The numbers as they are now, rounded.
  package var rounded: [Int16] {
    weights.map { Int16(max(-32_767, min(32_767, ($0 * Float(UltimateValue.scale)).rounded()))) }
  }

  /// The root of the mean square by which positions missed their aims since this was asked last.
  package mutating func takeError() -> Double {
    defer { errors = (0, 0) }
    return errors.count == 0 ? 0 : (errors.sum / Double(errors.count)).squareRoot()
  }

  /// Plays and learns from games.
  package mutating func train(games: Int) {
    for _ in 0..<games { playGame() }
  }

  private mutating func playGame() {
    var generator = SplitMix64(seed: seed, index: UInt64(gamesPlayed))
    var state = Ultimate.start
    for _ in 0..<generator.below(UltimateTraining.opening) {
      // A game is not over after eleven plies.
      _ = state.mark(Ultimate.moves(state).randomCell(using: &generator))
    }
    var steps: [Step] = []
    var outcome: Outcome?
    while outcome == nil {
      let features = features(of: state)
      var step = Step(features: features, value: value(features), best: -2, isExploring: false)
      let moves = Ultimate.moves(state)
      var chosen = Cell(0)
      for cell in moves {
        let worth = worth(of: cell, in: state)
        if worth > step.best { (step.best, chosen) = (worth, cell) }
      }
      if generator.below(UltimateTraining.exploration) == 0 {
        let cell = moves.randomCell(using: &generator)
        step.isExploring = cell != chosen
        chosen = cell
      }
      steps.append(step)
      outcome = state.mark(chosen)
    }
    // For the side that made the last move.
    learn(from: steps, result: outcome == .draw ? 0 : 1)
    gamesPlayed += 1
  }

  /// What a move is worth for the side that makes it.
  private func worth(of cell: Cell, in state: Ultimate.State) -> Float {
    var after = state
    switch after.mark(cell) {
    case .win: return 1
    case .draw: return 0
    case nil: return -value(features(of: after))
    }
  }

  private mutating func learn(from steps: [Step], result: Float) {
    let progress = Float(gamesPlayed) / Float(max(1, total))
    let rate = UltimateTraining.rates.first + (UltimateTraining.rates.last - UltimateTraining.rates.first) * progress
    var aim = result
    for step in steps.reversed() {
      if step.isExploring { aim = step.best }
      let error = aim - step.value
      errors = (errors.sum + Double(error * error), errors.count + 1)
      // The gradient of the likelihood by a number is the error of the chance of winning.
      for index in 0..<step.features.count { weights[Int(step.features.places[index])] += rate * error / 2 }
      aim = -((1 - UltimateTraining.lambda) * step.value + UltimateTraining.lambda * aim)
    }
  }

  /// The value of a position for the side to move, by the numbers as they are now.
  func value(_ features: Features) -> Float {
    var sum: Float = 0
    for index in 0..<features.count { sum += weights[Int(features.places[index])] }
    return UltimateValue.squash(max(-8, min(8, sum)))
  }

  func features(of state: Ultimate.State) -> Features {
    var result = Features()
    var standing = InlineArray<9, Int>(repeating: 0)
    let isX = state.turn == .x
    for board in Square.all {
      let position = state.position(on: board.index)
      let (mine, theirs) = isX ? (position.x, position.o) : (position.o, position.x)
      let key = Int(keys[Int(mine.rawValue)] + 2 * keys[Int(theirs.rawValue)])
      standing[board.index] = Int(standings[key])
      guard !state.closed.contains(board) else { continue }
      let extra = state.openTargets.contains(board) ? Int32(UltimateValue.boardWeightCount / 2) : 0
      result.places[result.count] = places[board.index * Position.keyCount + key] + extra
      result.count += 1
    }
    for line in 0..<8 {
      let boards = UltimateValue.boardsOfLines[line]
      result.places[result.count] = Int32(
        UltimateValue.linePlace(line, standing[boards[0]], standing[boards[1]], standing[boards[2]]))
      result.count += 1
    }
    return result
  }
}
