import Base
import Opponents
import Oracle
import TicTacToe

/// At intervals, computes the exact results of `menace` against random and perfect play; `menace` does not learn from this.
package struct MenaceTraining: Sendable {
  package struct Point: Sendable, Hashable {
    package let games: Int
    /// The exact mean score of a game, 0–1, with X and O equally often.
    package let againstRandom: Double
    /// The exact mean score of a game, at most ½, with X and O equally often.
    package let againstPerfect: Double
  }

  package private(set) var menace: Menace
  package private(set) var curve: [Point] = []

  package init(_ menace: Menace) {
    self.menace = menace
    measure()
  }

  /// Plays two games against each teacher in turn, one with X and one with O.
  package mutating func train(
    against teachers: [any MemorylessOpponent], games: Int, seed: UInt64, measuringEvery interval: Int
  ) {
    let tables = teachers.map { BoardPlayer<Classic>.table(DistributionTable($0)) }
    let first = menace.gamesLearned
    let (learner, stop) = (Learner(menace), StopSignal())
    let pupil = BoardPlayer<Classic>.learner(learner)
    for game in 0..<games {
      var generator = SplitMix64(seed: seed, index: UInt64(first + game))
      let teacher = tables[game / 2 % tables.count]
      let (x, o) = game % 2 == 0 ? (pupil, teacher) : (teacher, pupil)
      // `playGame` throws only if the process of an engine cannot be started; these players have no engine.
      _ = try? Classic.playGame(
        x: x, o: o, opening: .none, adjudication: Adjudication(), stop: stop, using: &generator)
      if (game + 1) % interval == 0 || game + 1 == games, let taught = learner.player as? Menace {
        menace = taught
        measure()
      }
    }
  }

  private mutating func measure() {
    let frozen = menace.frozen
    curve.append(
      Point(
        games: menace.gamesLearned,
        againstRandom: Odds.of(frozen.distribution, against: SimpleOpponent.random.distribution).score,
        againstPerfect: Odds.of(frozen.distribution, against: SimpleOpponent.perfect.distribution).score))
  }
}
