/// The present value of a metric, with its help text.
package typealias Gauge = (name: String, help: String, value: Int)

extension Lobby {
  /// O(n) in matches and tickets.
  package var gauges: [Gauge] {
    people.gauges + matches.gauges + matchmaker.gauges(at: now.monotonic) + tournaments.gauges + [
      ("nodes", "Living nodes, this one included.", membership.living.count),
      ("pending_units", "Units that wait for their verdict.", units.count),
      ("pending_questions", "Questions that the store has not answered.", questions.count),
    ]
  }
}

extension SessionTable {
  fileprivate var gauges: [Gauge] {
    [
      ("connections", "Connections of clients.", connections.count),
      ("sessions", "Sessions that are connected here.", sessions.count),
      ("accounts", "Accounts in memory.", accounts.count),
    ]
  }
}

extension MatchDirectory {
  fileprivate var gauges: [Gauge] {
    let live = values.count { $0.state.phase == .live }
    return [
      ("matches", "Matches in memory.", count),
      ("live_matches", "Matches that are being played and followed here.", live),
      ("broken_matches", "Matches whose stored log was inconsistent.", abandonedCount),
    ]
  }
}

extension Matchmaker {
  fileprivate func gauges(at now: Int64) -> [Gauge] {
    func seconds(_ since: Int64?) -> Int { since.map { Int(now - $0) / 1000 } ?? 0 }
    let help = "Seconds for which a tournament's longest waiting player has waited."
    return [
      ("queue", "Players who wait for an opponent, counted by the leader.", queue.count),
      ("queue_oldest_seconds", "Seconds for which the longest waiting player has waited.", seconds(queue.oldest)),
      ("tournament_wait_seconds", help, seconds(queue.oldestInTournaments)),
    ]
  }
}

extension TournamentDesk {
  fileprivate var gauges: [Gauge] {
    let entrants = entries.values.reduce(0) { $0 + $1.entrants.count }
    return [
      ("tournaments", "Tournaments that are followed here.", entries.count),
      ("tournament_entrants", "Players of the tournaments that are followed here.", entrants),
    ]
  }
}
