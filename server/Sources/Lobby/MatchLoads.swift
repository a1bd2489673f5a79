import MatchProtocol

/// The matches that are being read from the store, each with the work that waits for it.
struct MatchLoads: Sendable {
  enum Work: Sendable {
    case request(Request, ConnectionID)
    /// Subscribe the players of the match `of` to the loaded match, its rematch.
    case rematch(of: MatchID)
    /// Subscribe the account whose ticket was matched to the loaded match.
    case paired(ticket: String, account: Int64)
    case annul(UInt64)
    /// Subscribe this node's players (`adopt`), because the store lists this node as a follower of the match.
    case named
  }

  /// In the order in which the work came.
  private var waiting: [MatchID: [Work]] = [:]
  /// The highest event number (`seq`) that a notification announced for each of these matches.
  private var announced: [MatchID: Int] = [:]

  /// Whether one more request may wait for a match.
  func mayWait(for m: MatchID) -> Bool { waiting.count < 256 && waiting[m, default: []].count < 64 }

  /// Adds work to do once a match is loaded; `true` if the store must be asked for the match, because no earlier work waits for it.
  mutating func wait(for m: MatchID, _ work: Work) -> Bool {
    defer { waiting[m, default: []].append(work) }
    return waiting[m] == nil
  }

  mutating func end(_ m: MatchID) -> [Work] { waiting.removeValue(forKey: m) ?? [] }

  /// Notes an event number that another node announced for a match being loaded: the store's answer may lack the event.
  mutating func announce(_ seq: Int, of m: MatchID) {
    if waiting[m] != nil { announced[m] = max(announced[m] ?? 0, seq) }
  }

  mutating func takeAnnounced(_ m: MatchID) -> Int? { announced.removeValue(forKey: m) }
}
