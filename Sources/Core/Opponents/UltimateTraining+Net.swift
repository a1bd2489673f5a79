import Base
import TicTacToe

/// The second part of the training: the search plays games with itself, and tables and net learn the scores that the search found.
///
/// A position's aim is the value to learn: a mean of the search's score, the later scores and the result, in which each later ply weighs
/// less. The aim is the score alone if the score is proved, if a random move follows, or if the position is not of the game: beside about
/// half of a game's positions, the search also evaluates the position after a random move that is not played.
extension UltimateTraining {
  private struct Sample {
    let state: Ultimate.State
    /// The value to approach, for the side to move, −1…1.
    let aim: Float
  }

  /// The numbers of rounds, and of games of the first round, that produced the shipped weights.
  package static let (shippedRounds, shippedRoundGames): (Int, Int) = (2, 12_000)
  /// The simulations with which the search evaluates a position.
  private static let simulations = 200
  /// A position's aim is `later` times the next position's aim, plus 1 − `later` times the search's score of the position.
  private static let later: Float = 0.7
  /// On average, one of `randomMoves` moves is random.
  private static let randomMoves = 14
  /// How often a round goes through all its positions to fit the weights.
  private static let passes = 16
  /// The positions from which one change of the net's weights is computed.
  private static let batch = 1024
  /// The learning rates of tables and net at the start of a round; they decrease to 0 at its end.
  private static let (tableRate, netRate): (Float, Float) = (0.004, 0.003)

  /// The second round has twice as many games as the first, the third three times as many, because the weights are better by then.
  package mutating func trainNet(games: Int) {
    let search = UltimateSearch(value: UltimateValue(weights: rounded), capacity: 1 << 16)
    var samples: [Sample] = []
    for game in 0..<games * (rounds + 1) {
      var generator = SplitMix64(seed: seed &+ UInt64(rounds + 1), index: UInt64(game))
      UltimateTraining.play(with: search, using: &generator, into: &samples)
    }
    fit(samples)
    rounds += 1
  }

  private static func play(
    with search: UltimateSearch, using generator: inout SplitMix64, into samples: inout [Sample]
  ) {
    var state = Ultimate.start
    for _ in 0..<generator.below(14) {
      // No game ends within 13 plies, so the outcome is ignored.
      _ = state.mark(Ultimate.moves(state).randomCell(using: &generator))
    }
    var steps: [(state: Ultimate.State, score: Float, isExploring: Bool)] = []
    var outcome: Outcome?
    while outcome == nil {
      let moves = Ultimate.moves(state)
      var beside = state
      if generator.below(2) == 0, beside.mark(moves.randomCell(using: &generator)) == nil {
        search.forget()
        _ = search.bestMove(in: beside, simulations: simulations, using: &generator)
        samples.append(Sample(state: beside, aim: score(of: search.rootMoves)))
      }
      search.forget()
      let best = search.bestMove(in: state, simulations: simulations, using: &generator)
      let cell = generator.below(randomMoves) == 0 ? moves.randomCell(using: &generator) : best
      steps.append((state, score(of: search.rootMoves), cell != best))
      outcome = state.mark(cell)
    }
    // The result for the side that made the last move.
    var aim: Float = outcome == .draw ? 0 : 1
    for step in steps.reversed() {
      let isProved = abs(step.score) == 1
      aim = step.isExploring || isProved ? step.score : (1 - later) * step.score + later * aim
      samples.append(Sample(state: step.state, aim: aim))
      aim = -aim
    }
  }

  /// The proved result for the side to move, else the score of the most visited move.
  private static func score(of moves: [UltimateSearch.RootMove]) -> Float {
    if moves.contains(where: { $0.proof == .win }) { return 1 }
    let holding = moves.filter { $0.proof != .loss }
    guard let best = holding.max(by: { $0.visits < $1.visits }) else { return -1 }
    return holding.allSatisfy { $0.proof == .draw } ? 0 : best.score
  }

  private mutating func fit(_ samples: [Sample]) {
    var fitting = fitting.map { UltimateFitting(weights: $0.weights) } ?? UltimateFitting(seed: seed)
    var generator = SplitMix64(seed: seed, index: UInt64(rounds))
    let order = samples.indices.shuffled(using: &generator)
    let total = UltimateTraining.passes * order.count
    var done = 0
    for _ in 0..<UltimateTraining.passes {
      for start in stride(from: 0, to: order.count, by: UltimateTraining.batch) {
        let left = 1 - Float(done) / Float(total)
        let batch = order[start..<min(start + UltimateTraining.batch, order.count)]
        for index in batch {
          let (state, aim) = (samples[index].state, samples[index].aim)
          let (features, inputs) = (features(of: state), inputs(of: state))
          let error = aim - UltimateTraining.value(ofSum: sum(features) + fitting.output(inputs))
          learn(features, error: error, rate: UltimateTraining.tableRate * left)
          fitting.learn(inputs, error: error / 2)
        }
        fitting.step(count: batch.count, rate: UltimateTraining.netRate * left)
        done += batch.count
      }
    }
    self.fitting = fitting
  }

  /// The inputs of the net that are 1.
  func inputs(of state: Ultimate.State) -> [Int] {
    let statuses = statuses(of: state)
    var result: [Int] = []
    for board in 0..<9 {
      result.append(UltimateNet.input(board: board, status: statuses[board]))
      guard statuses[board] < UltimateValue.won else { continue }
      let position = state.position(on: board)
      for (side, player) in [state.turn, state.turn.opponent].enumerated() {
        result += position[player].map { UltimateNet.input(side: side, cell: 9 * board + $0.index) }
      }
    }
    let target = Int(state.target)
    result.append(
      target == Ultimate.anyBoard
        ? UltimateNet.free : UltimateNet.input(target: target, status: statuses[target]))
    return result
  }
}
