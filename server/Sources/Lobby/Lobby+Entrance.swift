import MatchProtocol
import MatchStore
import TicTacToe

/// Coming in, and changing what all nodes know of a player.
extension Lobby {
  private var lifetimes: Lifetimes { Lifetimes(guest: configuration.guestLives, account: configuration.accountLives) }

  // MARK: hello

  mutating func enter(_ hello: ClientMessage.Hello, _ id: ConnectionID, _ re: String?) {
    guard mayLogIn(id, re) else { return }
    guard !isBusy else {
      refuseBusy(id, re)
      return emit(.close(id, .restart, "too much waits to be stored; come back", retry: 1000), after: 0)
    }
    let token = hello.resume ?? hello.token == nil ? makeToken() : nil
    let resume = makeToken()
    let session = hello.resume == nil ? crockford(bits: random.next(), count: 10, lowercase: true) : ""
    let entry: Entry
    if let presented = hello.resume {
      entry = .resume(presented: Lobby.digest(presented), fresh: Lobby.digest(resume), lives: lifetimes)
    } else if let known = hello.token {
      entry = .token(Lobby.digest(known), session: session, resume: Lobby.digest(resume), lives: lifetimes)
    } else {
      // The name a guest likes, if nobody has it, or one by chance; all are marked as a guest's.
      let liked = hello.guest.flatMap { isToken($0, 3...13) ? $0 : nil }
      let chance = (0...4).map { String(session.dropFirst($0).prefix(6)) }
      entry = .guest(
        names: ([liked].compactMap(\.self) + chance).map { "guest-" + $0 }, token: Lobby.digest(token ?? ""),
        session: session, resume: Lobby.digest(resume), lives: lifetimes)
    }
    ask(.enter(entry), for: id, .entered(id, re: re, hello, token: token, resume: resume))
  }

  mutating func entered(
    _ id: ConnectionID, _ re: String?, _ hello: ClientMessage.Hello, _ token: String?, _ resume: String,
    _ answer: ClusterAnswer?
  ) {
    guard case .entry(let result) = answer else {
      return emit(.close(id, .restart, "the database cannot be reached; come back", retry: 500))
    }
    switch result {
    case .banned: emit(.close(id, .banned, "this account is banned", retry: nil))
    case .full:
      refuse(id, re, .busy, "there are as many guests as may be; come back later, or with a name")
      emit(.close(id, .full, "too many guests", retry: 60_000), after: 0)
    case .unknown:
      if hello.resume != nil {
        refuse(id, re, .auth, "this session is not known any more; say hello with your token, or as a guest")
        emit(.close(id, .revoked, "unknown session", retry: nil), after: 0)
      } else {
        refuse(id, re, .auth, "this token is unknown, expired or revoked")
        emit(.close(id, .revoked, "unknown token", retry: nil), after: 0)
      }
    case .entered(let entered):
      for session in entered.forgotten { revoke(session, "the account has too many sessions") }
      guard connections[id] != nil else {
        return ask(.detach(session: entered.session.id, generation: entered.generation))
      }
      seat(entered, id, re, hello, token: token, resume: resume)
    }
  }

  private mutating func seat(
    _ entered: Entered, _ id: ConnectionID, _ re: String?, _ hello: ClientMessage.Hello, token: String?, resume: String
  ) {
    let record = entered.session
    let account = entered.profile.account
    if let known = sessions[record.id] {
      guard known.generation < entered.generation else {
        // It has been entered again since, here too: that connection is the one the player looks at.
        return emit(.close(id, .replaced, "this session connected again", retry: nil))
      }
      if let other = known.connection { leaveNodes(other, clean: false) }
      replace(known)
    }
    if let before = entered.before, before != cluster?.epoch {
      effects.append(.cluster(.evict(before, session: record.id, generation: entered.generation)))
    }
    accounts[account.id] = account
    for match in entered.profile.openings { restoreKeys(match.record, match.events.map(\.body)) }
    var session = Session(record: record)
    (session.connection, session.generation) = (id, entered.generation)
    session.isBot = hello.caps.contains("bot")
    session.confirms = hello.caps.contains("confirm")
    session.games = hello.games
    sessions[record.id] = session
    if !sessionsOf[account.id, default: []].contains(record.id) {
      sessionsOf[account.id, default: []].append(record.id)
    }
    connections[id]?.session = record.id
    // 0 knows no event at all; the session lets nobody in who has no version in common, but simulated clients.
    let version = hello.common(with: configuration.versions) ?? 0
    connections[id]?.version = version
    let mine = live(entered.profile, in: session.games)
    var welcome = ServerMessage.Welcome(
      session: record.id, resume: resume, you: info(account, bot: session.isBot),
      deviation: Int(account.rating.deviation.rounded()), token: token,
      rate: session.isBot ? configuration.botRate : configuration.rate, matches: mine, now: now.wall)
    welcome.version = version
    welcome.nodes = otherNodes.map(\.node.address)
    let live = mine.map { ($0, PlayerRequest.follow($0, re: nil, isNew: false)) }
    guard cluster != nil else {
      send(.welcome(welcome), to: id, re: re)
      for (m, work) in live { serve(work, m, id) }
      return
    }
    // All it tells is durable already; the states that follow may come by another way and must not overtake it.
    effects.append(.send(id, ServerMessage.welcome(welcome).bytes(re: re), .essential))
    // How each match stands comes before the answers to what the client has said meanwhile.
    cluster?.inputs[id, default: .init()].queue.insert(contentsOf: live.map(\.1), at: 0)
  }

  /// What a player plays, of the games that the client knows.
  func live(_ profile: Profile, in games: [Variant]) -> [MatchID] {
    profile.live.filter { m in
      if let match = matches[m] { return games.contains(match.state.terms.rules) }
      let first = profile.openings.first { $0.record.id == m }?.events.first
      switch first.flatMap({ try? MatchEvent(body: $0.body) })?.kind {
      case .open(_, let terms), .start(_, let terms, _, _, _, _): return games.contains(terms.rules)
      default: return true
      }
    }
  }

  // MARK: accounts

  mutating func change(_ line: ClientLine, _ account: AccountRecord, _ id: ConnectionID) {
    var token: String?
    let what: AccountChange
    switch line.message {
    case .register(let name):
      guard account.guest else { return refuse(id, line.id, .forbidden, "you are \(account.name) already") }
      if let fault = fault(in: name) { return refuse(id, line.id, .name, fault) }
      let fresh = makeToken()
      token = fresh
      what = .register(name: name, token: Lobby.digest(fresh), lives: configuration.accountLives)
    case .token(.rotate):
      let fresh = makeToken()
      token = fresh
      what = .token(Lobby.digest(fresh), lives: configuration.accountLives)
    case .token(.revoke): what = .revoke(keep: connections[id]?.session ?? "")
    case .mute(let on): what = .quiet(on)
    case .block(let name, let on): what = .block(name: name, on: on)
    default: return
    }
    guard !isBusy else { return refuseBusy(id, line.id) }
    ask(.change(.id(account.id), what), for: id, .changed(id, re: line.id, token: token))
  }

  mutating func changed(_ id: ConnectionID, _ re: String?, _ token: String?, _ answer: ClusterAnswer?) {
    guard case .change(let result) = answer else { return refuseBusy(id, re) }
    switch result {
    case .changed(let account, let forgotten):
      refresh(account)
      if cluster != nil { effects.append(.cluster(.refresh(account: account.id))) }
      for session in forgotten { revoke(session, "the account's tokens were revoked") }
      if let token {
        send(.token(token, name: account.name), to: id, re: re)
      } else {
        send(.ok(nil, seq: nil), to: id, re: re)
      }
    case .unknown: refuse(id, re, .auth, "this account is no more")
    case .nameTaken: refuse(id, re, .name, "the name is taken")
    case .forbidden: refuse(id, re, .forbidden, "a guest has no token to change; register a name")
    case .notFound: refuse(id, re, .notFound, "there is no other player of this name")
    case .full: refuse(id, re, .rate, "1,000 blocked players are enough")
    }
  }

  /// A session was forgotten; wherever it is connected, that ends.
  private mutating func revoke(_ session: String, _ why: String) {
    if let connection = sessions[session]?.connection, cluster?.virtual[connection] == nil {
      emit(.close(connection, .revoked, why, retry: nil))
    }
    for node in cluster?.nodes ?? [] where node.epoch != cluster?.epoch {
      effects.append(.cluster(.evict(node.epoch, session: session, generation: .max)))
    }
  }

  /// Knows an account as it is now, if it is in use here; ends its connections if it is shut out or forgotten.
  mutating func refresh(_ account: AccountRecord) {
    guard accounts[account.id] != nil else { return }
    accounts[account.id] = account
    guard account.banned || account.name == "deleted-\(account.id)" else { return }
    for session in sessionsOf[account.id, default: []] {
      guard let connection = sessions[session]?.connection, cluster?.virtual[connection] == nil else {
        continue
      }
      emit(.close(connection, account.banned ? .banned : .revoked, "by an administrator", retry: nil))
    }
  }

  // MARK: bare commands

  /// The match a command means that names none: the only live one, for a rematch the one that ended last.
  func bareMatch(_ profile: Profile, _ line: ClientLine) -> MatchID? {
    if case .act(_, .rematch, _) = line.message { return profile.last }
    if case .act = line.message { return profile.live.count == 1 ? profile.live[0] : nil }
    return profile.live.last ?? profile.last
  }

  mutating func refuseBare(_ id: ConnectionID, _ re: String?) {
    refuse(id, re, .noMatch, "a bare command needs exactly one match; name it with m")
  }
}
