import Base
import MatchProtocol
import MatchStore
import TicTacToe

/// Connecting and logging in; accounts and their tokens.
extension Lobby {
  mutating func connected(_ id: ConnectionID, _ address: String?) {
    connections.open(id, from: address)
    send(.greeting(server: configuration.server, versions: protocolVersions), to: id)
    if isDraining { send(.drain(retry: 1000), to: id) }
  }

  // MARK: hello

  mutating func logIn(_ hello: ClientMessage.Hello, _ id: ConnectionID, _ re: String?) {
    guard !isDraining else {
      return refuse(id, re, Refusal(.draining, "the server is stopping; connect again in a moment"))
    }
    let most = configuration.loginsPerMinute
    if let address = connections[id]?.address, !tries.allow("login \(address)", atMost: most, now.monotonic) {
      refuse(id, re, Refusal(.rate, "too many logins from your address; wait a minute"))
      return close(id, .full, "too many logins from your address", retry: 60_000)
    }
    guard !isBusy else {
      refuse(id, re, .busy)
      return close(id, .restart, "the server cannot store this now; come back", retry: 1000)
    }
    guard hello.resume != nil || hello.token != nil || sessions.count < configuration.maxGuests else {
      let text = "the server accepts no more guests now; come back later, or with a registered name"
      refuse(id, re, Refusal(.busy, text))
      return close(id, .full, "too many guests", retry: 60_000)
    }
    let attempt = LoginAttempt(hello, configuration.lives, &random)
    ask(.login(attempt.login, node), for: id) { $0.loggedIn(id, re, attempt, $1) }
  }

  private mutating func loggedIn(_ id: ConnectionID, _ re: String?, _ attempt: LoginAttempt, _ answer: StoreAnswer?) {
    guard case .login(let result) = answer else {
      return close(id, .restart, "the database cannot be reached; come back", retry: 500)
    }
    switch result {
    case .banned: close(id, .banned, "this account is banned", retry: nil)
    case .unknown:
      refuse(id, re, attempt.refusalIfUnknown.refusal)
      close(id, .revoked, attempt.refusalIfUnknown.byeText, retry: nil)
    case .entered(let entered):
      for session in entered.forgotten { revoke(session, .tooMany) }
      guard connections[id] != nil else {
        return retryUntilDone(.detach(session: entered.session.id, generation: entered.generation))
      }
      openSession(entered, id, re, attempt)
    }
  }

  private mutating func openSession(_ entered: Entered, _ id: ConnectionID, _ re: String?, _ attempt: LoginAttempt) {
    let (record, account, hello) = (entered.session, entered.profile.account, attempt.hello)
    if let known = sessions[record.id] {
      // If a later login has resumed the same session meanwhile, its generation is higher, and its connection stays.
      guard known.generation < entered.generation else {
        return close(id, .replaced, Disconnection.resumed.text, retry: nil)
      }
      disconnect(known, .resumed)
    }
    if let before = entered.before, before != node {
      publish([before], .session(record.id, generation: entered.generation))
    }
    accounts.cache(account)
    var session = Session(id: record.id, account: account.id, connection: id, generation: entered.generation)
    session.isBot = hello.caps.contains("bot")
    session.games = hello.games
    session.knowsTournaments = hello.caps.contains(ClientMessage.Hello.tournaments)
    session.unsettledSince = record.previous == nil ? nil : now.monotonic
    sessions.put(session)
    // 0 if client and server have no version in common. The transport refuses such clients, so only the clients of simulations get a 0.
    let version = hello.common(with: protocolVersions) ?? 0
    let mine = live(entered.profile, in: session.games)
    var welcome = ServerMessage.Welcome(
      session: record.id, resume: attempt.resume, you: PlayerInfo(account, isBot: session.isBot, .classic),
      deviation: Int(account.rating.deviation.rounded()), token: attempt.token,
      rate: session.isBot ? configuration.botRate : configuration.rate, matches: mine, now: now.wall)
    welcome.version = version
    welcome.nodes = membership.otherAddresses
    send(.welcome(welcome), to: id, re: re)
    // Send the states of live matches before the answers to requests that arrived during login.
    connections.beginSession(
      record.id, on: id, version: version, first: mine.map { .follow($0, re: nil, isNew: false) })
  }

  func live(_ profile: Profile, in games: [Variant]) -> [MatchID] {
    profile.live.filter { m in
      if let match = matches[m] { return games.contains(match.state.terms.rules) }
      let first = profile.openings.first { $0.record.id == m }?.bodies.first
      switch first.flatMap({ try? MatchEvent(body: $0) })?.kind {
      case .open(_, let terms), .start(_, let terms, _, _, _, _): return games.contains(terms.rules)
      default: return true
      }
    }
  }

  // MARK: accounts

  /// Caches the accounts that this node needs; `known`: players of a match that was just read. Disconnects banned and deleted players.
  mutating func cacheAndEnforce(_ found: [AccountRecord], known: [Int64] = []) {
    for account in found
    where accounts[account.id] != nil || known.contains(account.id) || !matches.of(account.id).isEmpty {
      accounts.cache(account)
      guard account.isClosed else { continue }
      for session in sessions.of(account.id) { disconnect(session, account.banned ? .banned : .deleted) }
    }
  }

  mutating func read(accounts ids: [Int64]) {
    ask(.accounts(ids)) { lobby, answer in
      if case .accounts(let found) = answer { lobby.cacheAndEnforce(found) }
    }
  }

  /// Reads the players' accounts that were evicted while the unit of the match was in flight.
  mutating func readPlayers(of m: MatchID) {
    let missing = (matches[m]?.accounts ?? []).filter { accounts[$0] == nil }
    if !missing.isEmpty { read(accounts: missing) }
  }

  mutating func change(_ command: ClientCommand) throws(Refusal) {
    guard !isBusy else { throw .busy }
    let wanted = try AccountCommand(command, address: connections[command.id]?.address, configuration, &random)
    ask(.change(.id(command.account.id), wanted.change), for: command) { lobby, answer throws(Refusal) in
      guard case .change(let result) = answer else { throw .busy }
      let (account, forgotten) = try result.changed
      lobby.cacheAndEnforce([account])
      lobby.publish(lobby.otherNodes.map(\.id), .account(account.id))
      for session in forgotten { lobby.revoke(session, .tokensRevoked) }
      let reply = wanted.token.map { ServerMessage.token($0, name: account.name) } ?? .ok(nil, seq: nil)
      lobby.send(reply, to: command.id, re: command.re)
    }
  }
}

extension Lobby {
  /// 300 random bits as 60 base-32 digits.
  package static func makeToken(from random: inout Entropy) -> String {
    (0..<5).map { _ in crockford(bits: random.next(), count: 12, lowercase: true) }.joined()
  }

  package static func digest(_ token: String) -> SHA256.Digest { SHA256.hash(Array(token.utf8)) }
}
