import Base
import Opponents
import Oracle
import TicTacToe

/// Trains `menace` game by game and measures it exactly at intervals, with frozen boxes, against random and perfect play.
package struct MenaceTraining: Sendable {
  /// A point of the learning curve.
  package struct Point: Sendable, Hashable {
    /// Games played so far.
    package let games: Int
    /// The exact mean score over both seats against `random`.
    package let againstRandom: Double
    /// The exact mean score over both seats against `perfect`; ½ is the maximum.
    package let againstPerfect: Double
  }

  /// The current boxes.
  package private(set) var menace: Menace
  /// The learning curve so far.
  package private(set) var curve: [Point] = []

  /// Starts with boxes, and measures them.
  package init(_ menace: Menace) {
    self.menace = menace
    measure()
  }

  /// Plays games against the teachers in turn, with seats swapped after each game. Measures after every `interval`
  /// games.
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
      // Cannot throw: no system resources are needed.
      _ = try? Classic.playGame(
        x: x, o: o, opening: VariantOpening(), adjudication: Adjudication(), stop: stop, using: &generator)
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

  /// The curve as a picture.
  package var svg: String { LearningCurve(points: curve).svg }
}

/// Draws a learning curve as SVG: 720 × 400, ink on paper.
struct LearningCurve {
  let points: [MenaceTraining.Point]

  private func x(_ games: Int) -> Double {
    let (low, high) = (points.first?.games ?? 0, points.last?.games ?? 1)
    return 60 + 520 * Double(games - low) / Double(max(1, high - low))
  }

  private func y(_ score: Double) -> Double { 350 - 310 * score }

  private func number(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(abs(tenths % 10))"
  }

  private func line(_ score: (MenaceTraining.Point) -> Double, _ color: String) -> String {
    let path = points.map { "\(number(x($0.games))),\(number(y(score($0))))" }.joined(separator: " ")
    return "<polyline fill=\"none\" stroke=\"\(color)\" stroke-width=\"2\" points=\"\(path)\"/>\n"
  }

  var svg: String {
    var out = """
      <svg xmlns="http://www.w3.org/2000/svg" width="720" height="400" viewBox="0 0 720 400" font-family="serif" \
      font-size="14" fill="#222">
      <rect width="720" height="400" fill="#f7f2e7"/>
      <text x="60" y="26">menace: exact mean score over both seats</text>\n
      """
    for percent in stride(from: 0, through: 100, by: 25) {
      let height = number(y(Double(percent) / 100))
      out += "<line x1=\"60\" x2=\"580\" y1=\"\(height)\" y2=\"\(height)\" stroke=\"#bbb\" stroke-width=\"0.7\"/>\n"
      out += "<text x=\"52\" y=\"\(height)\" text-anchor=\"end\" dominant-baseline=\"middle\">\(percent) %</text>\n"
    }
    out += line(\.againstRandom, "#1f5f8b") + line(\.againstPerfect, "#a03c2a")
    if let first = points.first, let last = points.last {
      for games in [first.games, (first.games + last.games) / 2, last.games] {
        out += "<text x=\"\(number(x(games)))\" y=\"374\" text-anchor=\"middle\">\(games)</text>\n"
      }
      out += "<text x=\"588\" y=\"\(number(y(last.againstRandom)))\" fill=\"#1f5f8b\">against random</text>\n"
      out += "<text x=\"588\" y=\"\(number(y(last.againstPerfect)))\" fill=\"#a03c2a\">against perfect</text>\n"
    }
    return out + "<text x=\"320\" y=\"393\" text-anchor=\"middle\">games</text>\n</svg>\n"
  }
}
