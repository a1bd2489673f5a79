import Base
import MatchProtocol
import TicTacToe

/// Connections, sessions, accounts and their tokens.
extension Lobby {
  mutating func connected(_ id: ConnectionID, _ address: String?) {
    connections[id] = Connection(address: address)
    send(.greeting(server: configuration.server, versions: configuration.versions), to: id, after: 0)
    if isDraining { send(.drain(retry: 1000), to: id, after: 0) }
  }

  /// Takes a message apart by who may say it when.
  mutating func take(_ line: ClientLine, from id: ConnectionID, at: Int64) {
    if cluster != nil { return take(.line(line, at: at), for: id) }
    guard let connection = connections[id] else { return }
    guard let sessionID = connection.session else {
      if case .hello(let hello) = line.message { greet(hello, id, line.id) }
      return
    }
    guard var session = sessions[sessionID], session.connection == id, let account = accounts[session.record.account]
    else { return }
    if let previous = session.record.previous {
      // The new resume token has arrived, or nothing would: the old one is spent.
      resumes[previous] = nil
      session.record.previous = nil
      sessions[sessionID] = session
      commit([.session(session.record)])
    }
    switch line.message {
    case .register(let name): register(name, account, id, line.id)
    case .token(let action): token(action, account, id, line.id)
    case .seek(let seek): self.seek(seek, session, account, id, line.id)
    case .unseek: unseek(session, id, line.id)
    case .confirm(let m): confirm(m, account, id, line.id)
    case .create(let terms, let key): create(terms, key, session, account, id, line.id)
    case .join(let code): join(code, session, account, id, line.id)
    case .sync, .watch, .unwatch, .export: look(line, account, id, at)
    case .act: act(line, account, id, at)
    case .say, .emote, .mute, .block, .report: talk(line, account, id)
    case .top: sendTop(to: id, line.id)
    case .me: sendMe(account, to: id, line.id)
    case .history(let before): askHistory(account.id, before: before, id, line.id)
    case .list: sendList(to: id, line.id)
    case .hello, .ping, .pong, .bye, .help: break  // the session answers these
    }
  }

  // MARK: hello

  /// Sessions of one account; for one more the oldest is forgotten.
  static let sessionsPerAccount = 16

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

  private mutating func greet(_ hello: ClientMessage.Hello, _ id: ConnectionID, _ re: String?) {
    guard mayLogIn(id, re) else { return }
    guard !isBusy else {
      refuseBusy(id, re)
      return emit(.close(id, .restart, "too much waits to be stored; come back", retry: 1000), after: 0)
    }
    if let resume = hello.resume {
      guard let sessionID = resumes[Lobby.digest(resume)], let session = sessions[sessionID] else {
        refuse(id, re, .auth, "this session is not known any more; say hello with your token, or as a guest")
        return emit(.close(id, .revoked, "unknown session", retry: nil), after: 0)
      }
      return resumeSession(session, presented: Lobby.digest(resume), hello, id, re)
    }
    var token: String?
    let account: AccountRecord
    if let given = hello.token {
      guard let known = tokens[Lobby.digest(given)].flatMap({ accounts[$0] }), known.tokenExpires > now.wall else {
        refuse(id, re, .auth, "this token is unknown, expired or revoked")
        return emit(.close(id, .revoked, "unknown token", retry: nil), after: 0)
      }
      account = known
    } else {
      let fresh = makeToken()
      token = fresh
      account = AccountRecord(
        id: nextAccount, name: guestName(hello.guest), guest: true, token: Lobby.digest(fresh),
        tokenExpires: now.wall + configuration.guestLives)
      nextAccount += 1
    }
    guard !account.banned else { return emit(.close(id, .banned, "this account is banned", retry: nil)) }
    let resume = makeToken()
    let record = SessionRecord(
      id: crockford(bits: random.next(), count: 10, lowercase: true), account: account.id, resume: Lobby.digest(resume),
      previous: nil, expires: now.wall + (account.guest ? configuration.guestLives : configuration.accountLives))
    var writes: [StoreWrite] = []
    if token != nil {
      store(account)
      writes.append(.account(account))
      perishables.set(.guest(account.id), at: account.tokenExpires)
    }
    let others = sessionsOf[account.id, default: []]
    if others.count >= Lobby.sessionsPerAccount,
      let oldest = others.first(where: { sessions[$0]?.connection == nil }) ?? others.first
    {
      writes += end([oldest], of: account.id, "the account has too many sessions")
    }
    sessionsOf[account.id, default: []].append(record.id)
    perishables.set(.session(record.id), at: record.expires)
    commit(writes + [.session(record)])
    enter(Session(record: record), account, token: token, resume: resume, hello, id, re)
  }

  private mutating func resumeSession(
    _ old: Session, presented: SHA256.Digest, _ hello: ClientMessage.Hello, _ id: ConnectionID, _ re: String?
  ) {
    var session = old
    guard let account = accounts[session.record.account], !account.banned else {
      return emit(.close(id, .banned, "this account is banned", retry: nil))
    }
    if let other = session.connection {
      // One live connection a session: the newer one is the one the player looks at.
      connections[other]?.session = nil
      emit(.close(other, .replaced, "this session connected again", retry: nil))
      detach(other, session, clean: false, replaced: true)
      session = sessions[session.record.id] ?? session
    }
    // Whichever token was shown stays good until the client has proved to hold the new one.
    for spent in [session.record.resume, session.record.previous].compactMap({ $0 }) where spent != presented {
      resumes[spent] = nil
    }
    let resume = makeToken()
    session.record.previous = presented
    session.record.resume = Lobby.digest(resume)
    session.record.expires = now.wall + (account.guest ? configuration.guestLives : configuration.accountLives)
    commit([.session(session.record)])
    enter(session, account, token: nil, resume: resume, hello, id, re)
  }

  private mutating func enter(
    _ old: Session, _ account: AccountRecord, token: String?, resume: String, _ hello: ClientMessage.Hello,
    _ id: ConnectionID, _ re: String?
  ) {
    var session = old
    session.connection = id
    session.isBot = hello.caps.contains("bot")
    session.confirms = hello.caps.contains("confirm")
    session.isPerson = hello.client == "person"
    sessions[session.record.id] = session
    resumes[session.record.resume] = session.record.id
    connections[id]?.session = session.record.id
    connections[id]?.caps = Set(hello.caps)
    // 0 knows no event at all; the session lets nobody in who has no version in common, but simulated clients.
    let version = hello.common(with: configuration.versions) ?? 0
    connections[id]?.version = version
    let live = matchesOf[account.id, default: []].filter { matches[$0].map { !$0.isOver } ?? false }
    var welcome = ServerMessage.Welcome(
      session: session.record.id, resume: resume, you: info(account, bot: session.isBot),
      deviation: Int(account.rating.deviation.rounded()), token: token,
      rate: session.isBot ? configuration.botRate : configuration.rate, matches: live, now: now.wall)
    welcome.version = version
    send(.welcome(welcome), to: id, re: re)
    for m in live {
      guard let match = matches[m] else { continue }
      if match.state.phase == .confirming, let side = match.side(of: account.id) {
        send(.paired(m, side, confirmIn: match.confirmBy.map { Int(max(0, $0 - now.steady)) }), to: id)
      }
      sendState(of: match, to: id, re: nil, kind: .essential)
      follow(m, account, session.record.id)
    }
  }

  // MARK: the end of a connection

  mutating func disconnected(_ id: ConnectionID, clean: Bool) {
    guard let connection = connections[id] else { return }
    for m in connection.watching { matches[m]?.watchers.removeAll { $0 == id } }
    if let session = connection.session.flatMap({ sessions[$0] }), session.connection == id {
      detach(id, session, clean: clean, replaced: false)
    }
    connections[id] = nil
    guard cluster != nil else { return }
    cluster?.desks[id] = nil
    leaveNodes(id, clean: clean)
    let isVirtual = cluster?.virtual.remove(id) != nil
    guard let session = connection.session.flatMap({ sessions[$0] }), session.connection == nil else { return }
    if !isVirtual { ask(.detach(session: session.record.id, generation: session.generation)) }
    release(session)
  }

  private mutating func detach(_ id: ConnectionID, _ session: Session, clean: Bool, replaced: Bool) {
    sessions[session.record.id]?.connection = nil
    guard !replaced else { return }
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

  /// Why a name cannot be had, or `nil` if it can.
  private func fault(in name: String, for account: Int64?) -> String? {
    if let fault = fault(in: name) { return fault }
    if let holder = names[name.lowercased()], holder != account { return "the name \(name) is taken" }
    return nil
  }

  /// Why nobody can have a name, or `nil` if somebody can.
  func fault(in name: String) -> String? {
    guard isToken(name, Limits.name) else {
      return "a name has \(Limits.name.lowerBound)–\(Limits.name.upperBound) characters A–Z, a–z, 0–9, _ or -"
    }
    let lower = name.lowercased()
    if Lobby.reserved.contains(lower) || lower.hasPrefix("guest-") { return "the name \(name) is reserved" }
    return nil
  }

  /// The name a guest gets: the one he likes if nobody has it, marked as a guest's otherwise.
  private mutating func guestName(_ wish: String?) -> String {
    if let wish, isToken(wish, 3...13) {
      let name = "guest-" + wish
      if names[name.lowercased()] == nil { return name }
    }
    while true {
      let name = "guest-" + crockford(bits: random.next(), count: 6, lowercase: true)
      if names[name] == nil { return name }
    }
  }

  private mutating func register(_ name: String, _ account: AccountRecord, _ id: ConnectionID, _ re: String?) {
    guard account.guest else { return refuse(id, re, .forbidden, "you are \(account.name) already") }
    if let fault = fault(in: name, for: account.id) { return refuse(id, re, .name, fault) }
    guard !isBusy else { return refuseBusy(id, re) }
    var account = account
    account.name = name
    account.guest = false
    giveToken(&account, id, re)
  }

  private mutating func token(
    _ action: ClientMessage.TokenAction, _ account: AccountRecord, _ id: ConnectionID, _ re: String?
  ) {
    guard !account.guest else { return refuse(id, re, .forbidden, "a guest has no token to change; register a name") }
    guard !isBusy else { return refuseBusy(id, re) }
    var account = account
    switch action {
    case .rotate: giveToken(&account, id, re)
    case .revoke:
      account.token = nil
      store(account)
      // Nobody but this session stays in: that is what revoking is for.
      let others = sessionsOf[account.id, default: []].filter { $0 != connections[id]?.session }
      commit([.account(account)] + end(others, of: account.id, "the account's tokens were revoked"))
      send(.ok(nil, seq: nil), to: id, re: re)
    }
  }

  /// Forgets sessions of an account and ends their connections; returns what is to be stored.
  private mutating func end(_ ended: [String], of account: Int64, _ why: String) -> [StoreWrite] {
    ended.compactMap { id in
      guard let session = sessions[id] else { return nil }
      if let connection = session.connection {
        connections[connection]?.session = nil
        emit(.close(connection, .revoked, why, retry: nil))
      }
      detach(session.connection ?? 0, session, clean: false, replaced: false)
      forget(session)
      return .deleteSession(id)
    }
  }

  private mutating func giveToken(_ account: inout AccountRecord, _ id: ConnectionID, _ re: String?) {
    let token = makeToken()
    account.token = Lobby.digest(token)
    account.tokenExpires = now.wall + configuration.accountLives
    store(account)
    commit([.account(account)])
    send(.token(token, name: account.name), to: id, re: re)
  }

  mutating func administer(_ name: String, _ order: Administration) {
    guard let id = names[name.lowercased()], var account = accounts[id] else {
      return note("no such player", ["name": name])
    }
    switch order {
    case .mute: account.muted = true
    case .unmute: account.muted = false
    case .ban: account.banned = true
    case .unban: account.banned = false
    case .forget:
      account.name = "deleted-\(account.id)"
      account.guest = true
      account.token = nil
      account.tokenExpires = now.wall
    }
    store(account)
    var writes: [StoreWrite] = [.account(account)]
    if order == .forget {
      writes += end(sessionsOf[id, default: []], of: id, "by an administrator")
      perishables.set(.guest(id), at: account.tokenExpires)
    }
    commit(writes)
    note("administered", ["name": name, "order": order.rawValue])
    guard order == .ban else { return }
    for sessionID in sessionsOf[id, default: []] {
      guard let connection = sessions[sessionID]?.connection else { continue }
      emit(.close(connection, .banned, "by an administrator", retry: nil))
    }
  }

  /// 300 random bits as 60 base-32 digits.
  mutating func makeToken() -> String {
    (0..<5).map { _ in crockford(bits: random.next(), count: 12, lowercase: true) }.joined()
  }

  static func digest(_ token: String) -> SHA256.Digest { SHA256.hash(Array(token.utf8)) }
}
