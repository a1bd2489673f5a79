import MatchProtocol

/// A match of two players as lists show it, folded from its log.
package struct MatchSummary: Sendable, Hashable {
  package let record: MatchRecord
  package let state: MatchState
  package let players: Sides<PlayerInfo>

  package var terms: MatchTerms { state.terms }
  package var plies: Int { state.moves.count }
  package var isLive: Bool { state.phase == .live }
  package var end: MatchState.End? { state.end }

  /// `nil` if the log is inconsistent or a player is missing. O(events).
  package init?(_ stored: StoredMatch) {
    guard let state = try? stored.folded(), let players = state.players else { return nil }
    (record, self.state, self.players) = (stored.record, state, players)
  }
}

extension StoreAnswer {
  /// Turns matches with logs into summaries. Call it on the store's thread, not the lobby's: 50 matches of Ultimate take 11 ms.
  package var summarized: StoreAnswer {
    if case .matches(let found) = self {
      .summaries(found.compactMap(MatchSummary.init), of: found.count)
    } else {
      self
    }
  }
}
