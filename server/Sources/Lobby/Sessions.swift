import MatchProtocol
import MatchStore
import TicTacToe

/// A session that is connected to this node.
struct Session: Sendable {
  let id: String
  let account: Int64
  let connection: ConnectionID
  /// The number of logins to the session: of two connections, the one with the higher number is valid.
  let generation: Int64
  var isBot = false
  /// The games that the client knows; matches of other games are not sent to it.
  var games = [Variant.classic]
  var knowsTournaments = false
  /// When the new resume token was sent, in monotonic ms; `nil` once a later line has shown that it arrived.
  var unsettledSince: Int64?
}

struct Sessions: Sendable {
  private var byID: [String: Session] = [:]
  private var byAccount: [Int64: [String]] = [:]

  var count: Int { byID.count }
  var all: Dictionary<String, Session>.Values { byID.values }

  subscript(id: String) -> Session? { byID[id] }

  func of(_ account: Int64) -> [Session] { (byAccount[account] ?? []).compactMap { byID[$0] } }

  // MARK: players of a match

  func connections(of side: Player, in match: LiveMatch) -> [ConnectionID] {
    match.followers[side].compactMap { byID[$0]?.connection }
  }

  /// The connections of both players at this node, each once.
  func connections(following match: LiveMatch) -> [ConnectionID] {
    var result: [ConnectionID] = []
    for side in Player.allCases {
      for id in connections(of: side, in: match) where !result.contains(id) { result.append(id) }
    }
    return result
  }

  /// The sides of a match in progress that are neither recorded as absent nor connected here.
  func unaccountedSides(in match: LiveMatch) -> [Player] {
    guard [.confirming, .live].contains(match.state.phase) else { return [] }
    return Player.allCases.filter { !match.presence[$0].isAway && connections(of: $0, in: match).isEmpty }
  }

  // MARK: coming and going

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
