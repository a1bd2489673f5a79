import MatchProtocol
import TicTacToe

/// A session that is connected to this node.
struct Session: Sendable {
  let id: String
  let account: Int64
  let connection: ConnectionID
  /// The number of logins to the session: of two connections, the one with the higher number is valid.
  let generation: Int64
  /// The version of the protocol that client and server use.
  var version = 1
  var isBot = false
  /// The games that the client knows; matches of other games are not sent to it.
  var games = [Variant.classic]
  var knowsTournaments = false
  /// When the new resume token was sent, in monotonic ms; `nil` once a later line has shown that it arrived.
  var unsettledSince: Int64?

  /// Whether the client's protocol version has this kind of event; if not, the client is sent the match's state instead. `open` and `start`
  /// pass with any version, because a match is sent only to clients that know its game.
  func knows(_ event: MatchEvent) -> Bool {
    switch event.kind {
    case .open, .start: version >= 1
    default: event.kind.since <= version
    }
  }
}

/// The sessions that are connected to this node, by id and by account.
struct Sessions: Sendable {
  private var byID: [String: Session] = [:]
  private var byAccount: [Int64: [String]] = [:]

  var count: Int { byID.count }
  var all: Dictionary<String, Session>.Values { byID.values }

  subscript(id: String) -> Session? { byID[id] }

  func of(_ account: Int64) -> [Session] { (byAccount[account] ?? []).compactMap { byID[$0] } }

  mutating func put(_ session: Session) {
    if byID.updateValue(session, forKey: session.id) == nil {
      byAccount[session.account, default: []].append(session.id)
    }
  }

  mutating func settle(_ id: String) { byID[id]?.unsettledSince = nil }

  mutating func remove(_ id: String) {
    guard let session = byID.removeValue(forKey: id) else { return }
    byAccount[session.account]?.removeAll { $0 == id }
    if byAccount[session.account]?.isEmpty == true { byAccount[session.account] = nil }
  }

  var faults: [String] {
    let listed = byAccount.flatMap { account, ids in ids.map { (account, $0) } }
    return listed.count == byID.count && listed.allSatisfy { byID[$0.1]?.account == $0.0 }
      ? [] : ["sessions and accounts do not agree"]
  }
}
