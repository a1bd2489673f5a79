extension Lobby {
  /// The present values of the metrics, with their help texts; O(n) in matches and tickets.
  package var gauges: [(name: String, help: String, value: Int)] {
    [
      ("connections", "Connections of clients.", connections.count),
      ("sessions", "Sessions that are connected here.", sessions.count),
      ("accounts", "Accounts in memory.", accounts.count),
      ("matches", "Matches in memory.", matches.count),
      (
        "live_matches", "Matches that are being played and followed here.",
        matches.values.count { $0.state.phase == .live }
      ),
      ("broken_matches", "Matches whose stored log was inconsistent.", replies.counts.abandoned),
      ("queue", "Players who wait for an opponent, counted by the leader.", matchmaker.queue.count),
      (
        "queue_oldest_seconds", "Seconds for which the longest waiting player has waited.",
        matchmaker.queue.oldest.map { Int(now.monotonic - $0) / 1000 } ?? 0
      ),
      ("tournaments", "Tournaments that are followed here.", tournaments.entries.count),
      (
        "tournament_entrants", "Players of the tournaments that are followed here.",
        tournaments.entries.values.reduce(0) { $0 + $1.entrants.count }
      ),
      (
        "tournament_wait_seconds", "Seconds for which a tournament's longest waiting player has waited.",
        matchmaker.queue.oldestInTournaments.map { Int(now.monotonic - $0) / 1000 } ?? 0
      ),
      ("nodes", "Living nodes, this one included.", membership.living.count),
      ("pending_units", "Units that wait for their verdict.", store.unitCount),
      ("pending_questions", "Questions that the store has not answered.", store.questionCount),
    ]
  }
}
