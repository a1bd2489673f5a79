import Base
import MatchProtocol
import MatchStore

/// A `hello` that is being handled: new secrets for the client, and the login for the store.
struct LoginAttempt: Sendable {
  let hello: ClientMessage.Hello
  /// The token of a new guest; `nil` for a client that has an account.
  let token: String?
  /// The secret with which the session can be resumed the next time.
  let resume: String
  let login: Login

  init(_ hello: ClientMessage.Hello, _ lives: Lifetimes, _ random: inout Entropy) {
    self.hello = hello
    token = hello.resume ?? hello.token == nil ? Secret.make(from: &random) : nil
    resume = Secret.make(from: &random)
    let fresh = Secret.digest(resume)
    if let presented = hello.resume {
      login = .resume(presented: Secret.digest(presented), fresh: fresh, lives: lives)
      return
    }
    let session = crockford(bits: random.next(), count: 10, lowercase: true)
    if let token {
      // The store takes the first free name of these: the client's wish, the wish with a number from 2 to 5, five random names.
      let liked = hello.guest.map(PlayerName.guest) ?? ""
      let numbered = liked.isEmpty ? [] : [liked] + (2...5).map { "\(liked.prefix(11))-\($0)" }
      let chance = (0...4).map { String(session.dropFirst($0).prefix(6)) }
      login = .guest(
        names: (numbered + chance).map { "guest-" + $0 }, token: Secret.digest(token), session: session, resume: fresh,
        lives: lives)
    } else {
      login = .token(Secret.digest(hello.token ?? ""), session: session, resume: fresh, lives: lives)
    }
  }

  /// The answer to the client. `matches`: the player's live matches and open rooms whose games the client knows.
  func welcome(
    _ session: Session, _ account: AccountRecord, _ matches: [MatchID], _ configuration: LobbyConfiguration,
    _ nodes: Membership
  ) -> ServerMessage.Welcome {
    var welcome = ServerMessage.Welcome(
      session: session.id, resume: resume, you: PlayerInfo(account, isBot: session.isBot, .classic),
      deviation: Int(account.rating.deviation.rounded()), token: token,
      rate: session.isBot ? configuration.botRate : configuration.rate, matches: matches, now: nodes.now.wall)
    (welcome.version, welcome.nodes) = (session.version, nodes.otherAddresses)
    return welcome
  }

  /// The login that the store has carried out. Throws if it could not, or knows neither the token nor the session.
  func entered(_ answer: StoreAnswer?) throws(LoginFailure) -> Entered {
    guard case .login(let result) = answer else {
      throw LoginFailure(nil, .restart, "the database cannot be reached; come back", retry: 500)
    }
    switch result {
    case .entered(let entered): return entered
    case .banned: throw LoginFailure(nil, .banned, "this account is banned")
    case .unknown where hello.resume != nil:
      let text = "this session is not known any more; say hello with your token, or as a guest"
      throw LoginFailure(Refusal(.auth, text), .revoked, "unknown session")
    case .unknown:
      throw LoginFailure(Refusal(.auth, "this token is unknown, expired or revoked"), .revoked, "unknown token")
    }
  }
}

/// Why a client cannot log in: the error that it is sent, and the end of its connection.
struct LoginFailure: Error, Hashable {
  let refusal: Refusal?
  let code: ByeCode
  let text: String
  /// Milliseconds after which the client is asked to connect again; `nil` if it need not try.
  let retry: Int?

  init(_ refusal: Refusal?, _ code: ByeCode, _ text: String, retry: Int? = nil) {
    (self.refusal, self.code, self.text, self.retry) = (refusal, code, text, retry)
  }

  static let tooManyLogins = LoginFailure(
    Refusal(.rate, "too many logins from your address; wait a minute"), .full, "too many logins from your address",
    retry: 60_000)
  static let busy = LoginFailure(.busy, .restart, "the server cannot store this now; come back", retry: 1000)
  static let tooManyGuests = LoginFailure(
    Refusal(.busy, "the server accepts no more guests now; come back later, or with a registered name"), .full,
    "too many guests", retry: 60_000)
}

extension Session {
  init(_ entered: Entered, on connection: ConnectionID, _ hello: ClientMessage.Hello, at now: Int64) {
    let record = entered.session
    self.init(
      id: record.id, account: entered.profile.account.id, connection: connection, generation: entered.generation)
    // 0 if client and server have no version in common. The transport refuses such clients, so only the clients of simulations get a 0.
    version = hello.common(with: protocolVersions) ?? 0
    isBot = hello.caps.contains("bot")
    games = hello.games
    knowsTournaments = hello.caps.contains(ClientMessage.Hello.tournaments)
    unsettledSince = record.previous == nil ? nil : now
  }
}
