import MatchProtocol
import MatchStore
import TicTacToe

/// Limits of players, and the requests and units of each match.
extension MatchDirectory {
  /// The live matches and open rooms of an account.
  private func live(of account: Int64) -> [MatchID] { of(account).filter { self[$0]?.isOver == false } }

  /// The most live matches and open rooms of an account at one node, and the most open rooms among them.
  static let mostPerAccount = 64
  private static let mostRooms = 4

  func isFull(_ account: Int64) -> Bool {
    let most = MatchDirectory.mostPerAccount
    return of(account).count >= most && live(of: account).count >= most
  }

  /// Throws if an account may not have one more match.
  func requireFreeMatch(for account: Int64) throws(Refusal) { if isFull(account) { throw .tooManyMatches } }

  /// Throws if an account may not open one more room.
  func requireFreeRoom(for account: Int64) throws(Refusal) {
    guard of(account).count(where: { self[$0]?.state.phase == .open }) < MatchDirectory.mostRooms else {
      throw Refusal(.occupied, "you can have at most four open rooms")
    }
    try requireFreeMatch(for: account)
  }

  /// A player's live matches and open rooms whose games the client knows.
  func live(_ profile: Profile, in games: [Variant]) -> [MatchID] {
    profile.live(in: games) { self[$0]?.state.terms.rules }
  }

  /// The numbers of events of the matches that another node may still change.
  func lengths(_ now: Int64) -> [MatchID: Int] {
    var lengths: [MatchID: Int] = [:]
    for match in values where !match.isOver || match.mayHaveRematch(now) { lengths[match.id] = match.state.seq }
    return lengths
  }

  // MARK: units and requests

  /// A unit that changes these matches is in flight: no other event of theirs is decided.
  mutating func lock(_ draft: Draft) { for log in draft.unit.logs { self[log.m]?.work.hasUnit = true } }

  /// The unit has ended. `retryAt`: monotonic ms until which the server has no event of its own stored, because the store has failed.
  mutating func unlock(_ draft: Draft, retryAt: Int64? = nil) {
    for log in draft.unit.logs {
      self[log.m]?.work.hasUnit = false
      if let retryAt { self[log.m]?.work.retryAt = retryAt }
    }
  }

  /// Takes the request that has waited longest, if the match can decide an event now.
  mutating func takeWaiting(_ m: MatchID) -> LiveMatch.Waiting? {
    guard self[m]?.isSettled == true, self[m]?.work.isBehind == false, self[m]?.work.waiting.isEmpty == false else {
      return nil
    }
    return self[m]?.work.waiting.removeFirst()
  }

  mutating func takeAllWaiting(_ m: MatchID) -> [LiveMatch.Waiting] {
    defer { self[m]?.work.waiting = [] }
    return self[m]?.work.waiting ?? []
  }
}
