import Base
import MatchProtocol
import MatchStore

/// Connections, sessions, accounts and their tokens.
extension Lobby {
  mutating func connected(_ id: ConnectionID, _ address: String?) {
    connections[id] = Connection(address: address)
    send(.greeting(server: configuration.server, versions: configuration.versions), to: id, after: 0)
    if isDraining { send(.drain(retry: 1000), to: id, after: 0) }
  }

  // MARK: hello

  /// Whether somebody may say hello now; refuses if not.
  mutating func mayLogIn(_ id: ConnectionID, _ re: String?) -> Bool {
    guard !isDraining else {
      refuse(id, re, .draining, "the server is stopping; connect again in a moment")
      return false
    }
    if let address = connections[id]?.address, !allow("login \(address)", perMinute: configuration.loginsPerMinute) {
      refuse(id, re, .rate, "too many logins from your address; wait a minute")
      emit(.close(id, .full, "too many logins from your address", retry: 60_000), after: 0)
      return false
    }
    return true
  }

  // MARK: the end of a connection

  mutating func disconnected(_ id: ConnectionID, clean: Bool) {
    guard let connection = connections[id] else { return }
    for m in connection.watching { matches[m]?.watchers.removeAll { $0 == id } }
    if let session = connection.session.flatMap({ sessions[$0] }), session.connection == id {
      detach(session, clean: clean)
    }
    connections[id] = nil
    (seeks[id], lastPairings[id]) = (nil, nil)
    guard cluster != nil else { return }
    cluster?.inputs[id] = nil
    leaveNodes(id, clean: clean)
    let isVirtual = cluster?.virtual.removeValue(forKey: id) != nil
    guard let session = connection.session.flatMap({ sessions[$0] }), session.connection == nil else { return }
    if !isVirtual { ask(.detach(session: session.record.id, generation: session.generation)) }
    release(session)
  }

  mutating func detach(_ session: Session, clean: Bool) {
    sessions[session.record.id]?.connection = nil
    tickets.remove(session: session.record.id)
    for m in matchesOf[session.record.account, default: []] { updatePresence(m, clean: clean) }
  }

  // MARK: accounts

  mutating func store(_ account: AccountRecord) {
    if let old = accounts[account.id] {
      names[old.name.lowercased()] = nil
      if let token = old.token { tokens[token] = nil }
    }
    accounts[account.id] = account
    names[account.name.lowercased()] = account.id
    if let token = account.token { tokens[token] = account.id }
  }

  private static let reserved: Set<String> = [
    "admin", "administrator", "alina", "bot", "guest", "me", "moderator", "null", "operator", "root", "server", "staff",
    "support", "system", "undefined", "you",
  ]

  /// Why nobody can have a name, or `nil` if somebody can.
  func fault(in name: String) -> String? {
    guard isToken(name, Limits.name) else {
      return "a name has \(Limits.name.lowerBound)–\(Limits.name.upperBound) characters A–Z, a–z, 0–9, _ or -"
    }
    let lower = name.lowercased()
    // What who is forgotten is called nobody else may be.
    if Lobby.reserved.contains(lower) || ["guest-", "deleted-"].contains(where: lower.hasPrefix) {
      return "the name \(name) is reserved"
    }
    return nil
  }

  /// 300 random bits as 60 base-32 digits.
  mutating func makeToken() -> String {
    (0..<5).map { _ in crockford(bits: random.next(), count: 12, lowercase: true) }.joined()
  }

  static func digest(_ token: String) -> SHA256.Digest { SHA256.hash(Array(token.utf8)) }
}
