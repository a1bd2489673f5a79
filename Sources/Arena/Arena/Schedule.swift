/// Player `a` has X in the first game of each pair of games.
package struct Pairing: Sendable, Hashable {
  package var a: Int
  package var b: Int
}

/// Games that can be played in any order, because none depends on another's result.
struct Stage: Sendable {
  var firstGame: Int
  /// In a round each pairing plays one pair of games. The round's number selects the opening.
  var firstRound: Int
  /// The pairings take turns: the first pair of games belongs to the first pairing, the next pair to the next pairing, and so on.
  var pairings: [Pairing]
  /// The number of pairs of games in each pairing.
  var rounds: Int

  var games: Int { pairings.count * rounds * 2 }
  var indices: Range<Int> { firstGame..<firstGame + games }
}

struct ScheduledGame: Sendable {
  /// The index in `Stage.pairings`.
  var pairing: Int
  var opening: Int
  /// Whether the pairing's second player has X.
  var isSwapped: Bool
  var x: Int
  var o: Int
}

extension Stage {
  @inline(__always)
  func game(_ index: Int) -> ScheduledGame {
    let (round, number) = ((index - firstGame) / 2).quotientAndRemainder(dividingBy: pairings.count)
    let isSwapped = index % 2 == 1
    let pairing = pairings[number]
    return ScheduledGame(
      pairing: number, opening: firstRound + round, isSwapped: isSwapped, x: isSwapped ? pairing.b : pairing.a,
      o: isSwapped ? pairing.a : pairing.b)
  }
}

/// The stages of a tournament, each determined by the results so far.
package struct Schedule: Sendable {
  /// A match of a knockout tournament.
  package struct Match: Sendable, Hashable {
    package internal(set) var round: Int
    package internal(set) var pairing: Pairing
    package internal(set) var pairs = 0
    var difference = 0
    package internal(set) var winner: Int?
    /// Whether the match was still tied after the extra pairs, so that the order of entry decided.
    package internal(set) var bySeed = false
  }

  private let configuration: RunConfiguration
  private var nextGame = 0
  private var nextRound = 0
  private var stagesMade = 0
  /// `points`: twice each player's points. `met`: each player's opponents so far. `byes`: the players that had a bye, which counts as a
  /// win.
  private(set) var points: [Int]
  private(set) var met: [[Int]]
  private(set) var byes: Set<Int> = []
  private var unmet: MeetingGraph
  /// In a Swiss tournament: one way to play all remaining rounds, so that the tournament can always be completed.
  private var reserve: [MeetingGraph.Round] = []
  private(set) var matches: [Match] = []
  /// In the order of entry.
  private var survivors: [Int]
  private var current: [Int] = []

  /// The most extra pairs of games that decide a tied knockout match.
  static let extraPairs = 4

  init(_ configuration: RunConfiguration) {
    self.configuration = configuration
    let count = configuration.entrants.count
    points = .init(repeating: 0, count: count)
    met = .init(repeating: [], count: count)
    survivors = Array(0..<count)
    unmet = MeetingGraph(complete: count + count % 2)
  }

  /// `nil` if the number depends on results.
  static func totalGames(_ configuration: RunConfiguration) -> Int? {
    let count = configuration.entrants.count
    switch configuration.format {
    case .match: return configuration.games
    case .gauntlet: return (count - 1) * configuration.games
    case .roundRobin: return count * (count - 1) / 2 * configuration.games
    case .swiss: return count / 2 * configuration.rounds * configuration.games
    case .knockout: return nil
    }
  }

  /// `nil` when the tournament is over.
  mutating func next() -> Stage? {
    let count = configuration.entrants.count
    var pairings: [Pairing] = []
    var rounds = configuration.games / 2
    switch configuration.format {
    case .match: pairings = stagesMade == 0 ? [Pairing(a: 0, b: 1)] : []
    case .gauntlet: pairings = stagesMade == 0 ? (1..<count).map { Pairing(a: 0, b: $0) } : []
    case .roundRobin:
      if stagesMade == 0 {
        for a in 0..<count { for b in a + 1..<count { pairings.append(Pairing(a: a, b: b)) } }
      }
    case .swiss: pairings = stagesMade < configuration.rounds ? swissRound() : []
    case .knockout:
      pairings = knockoutRound()
      if matches.contains(where: { $0.winner == nil && $0.pairs > 0 }) { rounds = 1 }
    }
    guard !pairings.isEmpty else { return nil }
    let stage = Stage(firstGame: nextGame, firstRound: nextRound, pairings: pairings, rounds: rounds)
    nextGame += stage.games
    nextRound += rounds
    stagesMade += 1
    return stage
  }

  /// `doubledPoints` contains twice the first player's points for each pairing.
  mutating func finish(_ stage: Stage, doubledPoints: [Int]) {
    for (number, pairing) in stage.pairings.enumerated() {
      let (doubled, games) = (doubledPoints[number], stage.rounds * 2)
      points[pairing.a] += doubled
      points[pairing.b] += 2 * games - doubled
      met[pairing.a].append(pairing.b)
      met[pairing.b].append(pairing.a)
      guard configuration.format == .knockout else { continue }
      let index = current[number]
      matches[index].pairs += stage.rounds
      matches[index].difference += 2 * doubled - 2 * games
      let difference = matches[index].difference
      if difference != 0 {
        matches[index].winner = difference > 0 ? pairing.a : pairing.b
      } else if matches[index].pairs == configuration.games / 2 + Schedule.extraPairs {
        matches[index].winner = min(pairing.a, pairing.b)
        matches[index].bySeed = true
      }
    }
  }

  /// Twice the sum of the points of a player's opponents.
  func buchholz(_ player: Int) -> Int { met[player].reduce(0) { $0 + points[$1] } }

  /// In a knockout by the round of elimination, otherwise by points, then by `buchholz`. Of equal players, the one entered first ranks
  /// first.
  var standings: [Int] {
    var merit = points.indices.map { (points[$0], buchholz($0)) }
    if configuration.format == .knockout {
      merit = .init(repeating: (.max, 0), count: points.count)
      for match in matches {
        if let winner = match.winner { merit[match.pairing.a + match.pairing.b - winner].0 = match.round }
      }
    }
    return points.indices.sorted { merit[$0] != merit[$1] ? merit[$0] > merit[$1] : $0 < $1 }
  }

  /// In order of rank, each player meets the next possible opponent; no pairing and no bye is repeated. A round is played only if all
  /// rounds after it are known to be possible.
  private mutating func swissRound() -> [Pairing] {
    let absent = points.count % 2 == 1 ? [points.count] : []
    let order = standings + absent
    let left = configuration.rounds - stagesMade
    if stagesMade == 0 { reserve = Array(MeetingGraph.allRounds(order.count).prefix(left)) }
    // If the search in order of rank reaches its limit, try other orders of the players.
    var round = unmet.firstRound(in: order) ?? unmet.rounds(1)?.first
    // A next round exists if each player has still to meet at least half of the players (Dirac 1952), which is always so with at most half
    // as many rounds as players. In a longer tournament, play `round` only if the rounds after it can be found, else a round of `reserve`.
    if configuration.rounds > order.count / 2 {
      if let wish = round, let rest = unmet.without(wish).rounds(left - 1) {
        reserve = rest
      } else {
        round = reserve.min { distance($0, order) < distance($1, order) }
        reserve.removeAll { $0 == round }
      }
    }
    guard let round else { preconditionFailure("no round \(stagesMade) of \(configuration.rounds)") }
    unmet.remove(round)
    if let absent = absent.first {
      byes.insert(round[absent])
      points[round[absent]] += 2 * configuration.games
    }
    var pairings: [Pairing] = []
    for (place, player) in order.enumerated() where player < points.count && round[player] < points.count {
      if order[place...].contains(round[player]) { pairings.append(Pairing(a: player, b: round[player])) }
    }
    return pairings
  }

  /// The sum of the squared distances in rank; small if players of similar rank meet.
  private func distance(_ round: MeetingGraph.Round, _ order: [Int]) -> Int {
    var place = order
    for (index, player) in order.enumerated() { place[player] = index }
    return round.indices.reduce(0) { $0 + (place[$1] - place[round[$1]]) * (place[$1] - place[round[$1]]) }
  }

  private mutating func knockoutRound() -> [Pairing] {
    // Undecided matches continue. A new round begins when all matches are decided.
    current = matches.indices.filter { matches[$0].winner == nil }
    if current.isEmpty {
      if let last = matches.last {
        let losers = matches.filter { $0.round == last.round }.map {
          $0.winner == $0.pairing.a ? $0.pairing.b : $0.pairing.a
        }
        survivors.removeAll { losers.contains($0) }
      }
      guard survivors.count > 1 else { return [] }
      // The first round reduces the number of players to a power of two, with byes for those entered first. In each round the first plays
      // against the last, so that those entered first meet as late as possible.
      var size = 1
      while size * 2 < survivors.count { size *= 2 }
      let playing = Array(survivors.suffix(2 * (survivors.count - size)))
      let round = (matches.last?.round ?? 0) + 1
      for number in 0..<playing.count / 2 {
        let pairing = Pairing(a: playing[number], b: playing[playing.count - 1 - number])
        matches.append(Match(round: round, pairing: pairing))
      }
      current = matches.indices.suffix(playing.count / 2).map { $0 }
    }
    return current.map { matches[$0].pairing }
  }
}
