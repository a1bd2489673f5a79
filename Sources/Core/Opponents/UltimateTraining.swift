import Base
import Oracle
import TicTacToe

/// Trains the weights of `UltimateValue` by self-play: first only the tables, in games without a search; then tables and net, in rounds of
/// games that the search plays (`trainNet`). The same seed and numbers of games give the same weights on every machine.
///
/// In the first part, each position's value moves towards a mean of the later values and the result, in which each later ply weighs less.
/// Source: R. Sutton, "Learning to predict by the methods of temporal differences", Machine Learning 3, 1988.
package struct UltimateTraining {
  /// The seed and the number of games of the first part that produced the shipped weights.
  package static let (shippedSeed, shippedGames): (UInt64, Int) = (1, 2_000_000)

  /// The weights of the tables.
  var weights = [Float](repeating: 0, count: UltimateValue.tableWeightCount)
  /// The weights of the net; `nil` before the first round, when the net's output is 0.
  var fitting: UltimateFitting?
  /// The rounds that `trainNet` has played.
  var rounds = 0
  /// At [board][base-3 key], the index in `weights` of the board's weight if the side to move may not play there.
  private let places = UltimateValue.boardPlaces()
  private let boardClasses: [UInt8]
  private let keys: [Int32]
  let seed: UInt64
  private let total: Int
  package private(set) var gamesPlayed = 0
  /// For `takeError`: the sum of the squared differences between targets and values since its last call, and their number.
  private var errors = (sum: 0.0, count: 0)

  /// The indices in `weights` of a position's weights: one for each open board, and one for each of the eight lines of boards.
  struct Features {
    var places = InlineArray<17, Int32>(repeating: 0)
    var count = 0
  }

  private struct Step {
    var features: Features
    /// For the side to move, −1…1.
    var value: Float
    /// The value of the best move, for the side to move. If a random move was played instead, this value is the position's target.
    var best: Float
    var isExploring: Bool
  }

  /// λ of TD(λ). A position's target is λ times the next position's target, plus 1 − λ times the next position's value.
  private static let lambda: Float = 0.8
  /// On average, one of `exploration` moves is random.
  private static let exploration = 12
  /// A game begins with 0 to `opening` − 1 random moves.
  private static let opening = 12
  /// Between the first and the last game the learning rate decreases evenly.
  private static let rates: (first: Float, last: Float) = (0.02, 0.001)

  /// The learning rate decreases over `games`, the number of games of the first part.
  package init(seed: UInt64, games: Int) {
    (self.seed, total) = (seed, games)
    boardClasses = (0..<Position.keyCount).map { UltimateValue.boardClass(of: Position(ternaryKey: $0)) }
    keys = (0..<512).map { Int32(Position(x: SquareSet(rawValue: $0), o: []).ternaryKey) }
  }

  /// The weights as in a weights file: in its order, and each multiplied by its scale and rounded (`UltimateValue.rounded`).
  package var rounded: [Int16] {
    weights.map { UltimateValue.rounded($0, scale: UltimateValue.scale) }
      + (fitting?.rounded ?? [Int16](repeating: 0, count: UltimateNet.weightCount))
  }

  /// The root mean square of the differences between positions' values and targets since the last call.
  package mutating func takeError() -> Double {
    defer { errors = (0, 0) }
    return errors.count == 0 ? 0 : (errors.sum / Double(errors.count)).squareRoot()
  }

  package mutating func train(games: Int) {
    for _ in 0..<games { playGame() }
  }

  private mutating func playGame() {
    var generator = SplitMix64(seed: seed, index: UInt64(gamesPlayed))
    var state = Ultimate.start
    for _ in 0..<generator.below(UltimateTraining.opening) {
      // No game ends within eleven plies, so the outcome is ignored.
      _ = state.mark(Ultimate.moves(state).randomCell(using: &generator))
    }
    var steps: [Step] = []
    var outcome: Outcome?
    while outcome == nil {
      let features = features(of: state)
      var step = Step(
        features: features, value: UltimateTraining.value(ofSum: sum(features)), best: -2, isExploring: false)
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
    // The result for the side that made the last move, which has won or drawn.
    learn(from: steps, result: outcome == .draw ? 0 : 1)
    gamesPlayed += 1
  }

  /// The value of a move for the side that makes it.
  private func worth(of cell: Cell, in state: Ultimate.State) -> Float {
    var after = state
    switch after.mark(cell) {
    case .win: return 1
    case .draw: return 0
    case nil: return -UltimateTraining.value(ofSum: sum(features(of: after)))
    }
  }

  private mutating func learn(from steps: [Step], result: Float) {
    let progress = Float(gamesPlayed) / Float(max(1, total))
    let rate = UltimateTraining.rates.first + (UltimateTraining.rates.last - UltimateTraining.rates.first) * progress
    var aim = result
    for step in steps.reversed() {
      if step.isExploring { aim = step.best }
      let error = aim - step.value
      learn(step.features, error: error, rate: rate)
      aim = -((1 - UltimateTraining.lambda) * step.value + UltimateTraining.lambda * aim)
    }
  }

  /// Brings a position's value closer to its target. `error` is the target minus the value.
  mutating func learn(_ features: Features, error: Float, rate: Float) {
    errors = (errors.sum + Double(error * error), errors.count + 1)
    // The gradient for each weight is the error of the win probability p. The value is 2p − 1, so this error is half of `error`.
    for index in 0..<features.count { weights[Int(features.places[index])] += rate * error / 2 }
  }

  /// The log-odds of a win for the side to move, from the tables without the net.
  func sum(_ features: Features) -> Float {
    var sum: Float = 0
    for index in 0..<features.count { sum += weights[Int(features.places[index])] }
    return sum
  }

  static func value(ofSum sum: Float) -> Float { UltimateValue.tanhHalf(max(-8, min(8, sum))) }

  /// By board, the board's status as the side to move sees it.
  func statuses(of state: Ultimate.State) -> InlineArray<9, Int> {
    InlineArray { Int(boardClasses[key(of: $0, in: state)]) }
  }

  /// The board's base-3 key with the marks of the side to move as X's.
  private func key(of board: Int, in state: Ultimate.State) -> Int {
    let position = state.position(on: board)
    return Int(keys[Int(position[state.turn].rawValue)] + 2 * keys[Int(position[state.turn.opponent].rawValue)])
  }

  func features(of state: Ultimate.State) -> Features {
    var result = Features()
    let classes = statuses(of: state)
    for board in Square.all where !state.closed.contains(board) {
      let extra = state.openTargets.contains(board) ? Int32(UltimateValue.boardWeightCount / 2) : 0
      result.places[result.count] = places[board.index * Position.keyCount + key(of: board.index, in: state)] + extra
      result.count += 1
    }
    for line in 0..<8 {
      let boards = UltimateValue.boardsOfLines[line]
      result.places[result.count] = Int32(
        UltimateValue.linePlace(line, classes[boards[0]], classes[boards[1]], classes[boards[2]]))
      result.count += 1
    }
    return result
  }
}
