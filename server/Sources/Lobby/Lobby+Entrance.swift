import Base
import MatchProtocol
import MatchStore
import TicTacToe

/// Connecting and logging in; accounts and their tokens.
extension Lobby {
  mutating func connected(_ id: ConnectionID, _ address: String?) {
    connections[id] = Connection(address: address)
    send(.greeting(server: configuration.server, versions: protocolVersions), to: id)
    if isDraining { send(.drain(retry: 1000), to: id) }
  }

  // MARK: hello

  /// Whether a client may log in now; if not, refuses the login.
  private mutating func mayLogIn(_ id: ConnectionID, _ re: String?) -> Bool {
    guard !isDraining else {
      refuse(id, re, .draining, "the server is stopping; connect again in a moment")
      return false
    }
    let most = configuration.loginsPerMinute
    if let address = connections[id]?.address, !tries.allow("login \(address)", atMost: most, now.monotonic) {
      refuse(id, re, .rate, "too many logins from your address; wait a minute")
      close(id, .full, "too many logins from your address", retry: 60_000)
      return false
    }
    return true
  }

  mutating func logIn(_ hello: ClientMessage.Hello, _ id: ConnectionID, _ re: String?) {
    guard mayLogIn(id, re) else { return }
    guard !isBusy else {
      refuseBusy(id, re)
      return close(id, .restart, "the server cannot store this now; come back", retry: 1000)
    }
    guard hello.resume != nil || hello.token != nil || sessions.count < configuration.maxGuests else {
      refuse(id, re, .busy, "the server accepts no more guests now; come back later, or with a registered name")
      return close(id, .full, "too many guests", retry: 60_000)
    }
    let token = hello.resume ?? hello.token == nil ? makeToken() : nil
    let resume = makeToken()
    let session = hello.resume == nil ? crockford(bits: random.next(), count: 10, lowercase: true) : ""
    let entry: Login
    if let presented = hello.resume {
      entry = .resume(presented: Lobby.digest(presented), fresh: Lobby.digest(resume), lives: configuration.lives)
    } else if let known = hello.token {
      entry = .token(Lobby.digest(known), session: session, resume: Lobby.digest(resume), lives: configuration.lives)
    } else {
      // The store takes the first free name of these: the client's wish, the wish with a number from 2 to 5, five random names.
      let liked = hello.guest.map(Lobby.guestName) ?? ""
      let numbered = liked.isEmpty ? [] : [liked] + (2...5).map { "\(liked.prefix(11))-\($0)" }
      let chance = (0...4).map { String(session.dropFirst($0).prefix(6)) }
      entry = .guest(
        names: (numbered + chance).map { "guest-" + $0 }, token: Lobby.digest(token ?? ""),
        session: session, resume: Lobby.digest(resume), lives: configuration.lives)
    }
    ask(.login(entry, node), for: id) { $0.entered(id, re, hello, token, resume, $1) }
  }

  /// A guest's name made from a wish, at most 13 characters: spaces become hyphens, letters lose accents, other characters are dropped.
  private static func guestName(_ wish: String) -> String {
    let words = wish.split(separator: " ").map { word in
      word.unicodeScalars.map { scalar in
        if isToken(String(scalar), 1...1) { return String(scalar) }
        // An accented letter has a name such as LATIN SMALL LETTER E WITH ACUTE.
        let parts = scalar.properties.name?.split(separator: " ") ?? []
        guard parts.count > 4, parts[0] == "LATIN", parts[2] == "LETTER", parts[3].utf8.count == 1 else { return "" }
        return parts[1] == "SMALL" ? parts[3].lowercased() : String(parts[3])
      }.joined()
    }
    return String(words.joined(separator: "-").prefix(13))
  }

  private mutating func entered(
    _ id: ConnectionID, _ re: String?, _ hello: ClientMessage.Hello, _ token: String?, _ resume: String,
    _ answer: StoreAnswer?
  ) {
    guard case .login(let result) = answer else {
      return close(id, .restart, "the database cannot be reached; come back", retry: 500)
    }
    switch result {
    case .banned: close(id, .banned, "this account is banned", retry: nil)
    case .unknown:
      let isResumed = hello.resume != nil
      refuse(
        id, re, .auth,
        isResumed
          ? "this session is not known any more; say hello with your token, or as a guest"
          : "this token is unknown, expired or revoked")
      close(id, .revoked, isResumed ? "unknown session" : "unknown token", retry: nil)
    case .entered(let entered):
      for session in entered.forgotten { revoke(session, .tooMany) }
      guard connections[id] != nil else {
        return retryUntilDone(.detach(session: entered.session.id, generation: entered.generation))
      }
      openSession(entered, id, re, hello, token: token, resume: resume)
    }
  }

  private mutating func openSession(
    _ entered: Entered, _ id: ConnectionID, _ re: String?, _ hello: ClientMessage.Hello, token: String?, resume: String
  ) {
    let record = entered.session
    let account = entered.profile.account
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
    connections[id]?.session = record.id
    // 0 if client and server have no version in common. The transport refuses such clients, so only the clients of simulations get a 0.
    let version = hello.common(with: protocolVersions) ?? 0
    connections[id]?.version = version
    let mine = live(entered.profile, in: session.games)
    var welcome = ServerMessage.Welcome(
      session: record.id, resume: resume, you: info(account, bot: session.isBot),
      deviation: Int(account.rating.deviation.rounded()), token: token,
      rate: session.isBot ? configuration.botRate : configuration.rate, matches: mine, now: now.wall)
    welcome.version = version
    welcome.nodes = membership.otherAddresses
    send(.welcome(welcome), to: id, re: re)
    // Send the states of live matches before the answers to requests that arrived during login.
    let follows = mine.map { Request.follow($0, re: nil, isNew: false) }
    connections[id]?.queue.insert(contentsOf: follows, at: 0)
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

  mutating func change(_ line: ClientLine, _ account: AccountRecord, _ id: ConnectionID) {
    var token: String?
    let what: AccountChange
    guard !isBusy else { return refuseBusy(id, line.id) }
    switch line.message {
    case .register(let name):
      // A player who registers the present name again has missed the answer with the token, and gets a new token.
      guard account.guest || account.name.lowercased() == name.lowercased() else {
        return refuse(id, line.id, .forbidden, "you are \(account.name) already")
      }
      if let fault = fault(in: name) { return refuse(id, line.id, .name, fault) }
      let quota = (account.guest ? connections[id]?.address : nil).map {
        NameQuota(address: Lobby.digest($0), most: configuration.namesPerDay)
      }
      let fresh = makeToken()
      token = fresh
      what = .register(name: name, token: Lobby.digest(fresh), lives: configuration.lives.account, quota: quota)
    case .token(.rotate):
      let fresh = makeToken()
      token = fresh
      what = .token(Lobby.digest(fresh), lives: configuration.lives.account)
    case .token(.revoke): what = .revoke(keep: connections[id]?.session ?? "")
    case .mute(let on): what = .quiet(on)
    case .block(let name, let on): what = .block(name: name, on: on)
    default: return
    }
    ask(.change(.id(account.id), what), for: id) { [token] lobby, answer in
      lobby.changed(id, line.id, token, answer)
    }
  }

  private mutating func changed(_ id: ConnectionID, _ re: String?, _ token: String?, _ answer: StoreAnswer?) {
    guard case .change(let result) = answer else { return refuseBusy(id, re) }
    switch result {
    case .changed(let account, let forgotten):
      cacheAndEnforce([account])
      publish(otherNodes.map(\.id), .account(account.id))
      for session in forgotten { revoke(session, .tokensRevoked) }
      if let token {
        send(.token(token, name: account.name), to: id, re: re)
      } else {
        send(.ok(nil, seq: nil), to: id, re: re)
      }
    case .unknown: refuse(id, re, .auth, "this account no longer exists")
    case .nameTaken: refuse(id, re, .name, "the name is taken")
    case .forbidden: refuse(id, re, .forbidden, "a guest has no token to change; register a name")
    case .notFound: refuse(id, re, .notFound, "there is no other player of this name")
    case .full: refuse(id, re, .rate, "you can block at most 1,000 players")
    case .tooMany: refuse(id, re, .rate, "too many names from your address today; try again tomorrow")
    }
  }

  // MARK: names and tokens

  private static let reserved: Set<String> = [
    "admin", "administrator", "alina", "bot", "guest", "me", "moderator", "null", "operator", "root", "server", "staff",
    "support", "system", "undefined", "you",
  ]

  /// Returns why a name cannot be registered; `nil` if nothing prevents it.
  func fault(in name: String) -> String? {
    guard isToken(name, Limits.name) else {
      return "a name has \(Limits.name.lowerBound)–\(Limits.name.upperBound) characters A–Z, a–z, 0–9, _ or -"
    }
    let lower = name.lowercased()
    // Names of deleted accounts begin with `deleted-`.
    if Lobby.reserved.contains(lower) || ["guest-", "deleted-"].contains(where: lower.hasPrefix) {
      return "the name \(name) is reserved"
    }
    return nil
  }

  mutating func makeToken() -> String { Lobby.makeToken(from: &random) }

  /// 300 random bits as 60 base-32 digits.
  package static func makeToken(from random: inout Entropy) -> String {
    (0..<5).map { _ in crockford(bits: random.next(), count: 12, lowercase: true) }.joined()
  }

  package static func digest(_ token: String) -> SHA256.Digest { SHA256.hash(Array(token.utf8)) }
}
