import MatchProtocol
import MatchStore
import TicTacToe

/// Why a request is not carried out: the error that its client is sent.
struct Refusal: Error, Hashable {
  let code: ErrorCode
  let text: String
  /// The match whose present state is sent with the error.
  let m: MatchID?

  init(_ code: ErrorCode, _ text: String, showing m: MatchID? = nil) {
    (self.code, self.text, self.m) = (code, text, m)
  }

  static let busy = Refusal(.busy, "the server cannot store this now; try again in a moment")
  static let draining = Refusal(.draining, "the server is stopping")
  static let tooManyMatches = Refusal(.occupied, "at most \(MatchDirectory.mostPerAccount) matches at a time")
  static let mayNotPlayRated = Refusal(
    .forbidden, "rated matches are for people with a name; register one, or play unrated")
  static let roomCode = Refusal(.code, "no room has this code now")
  static let tournamentCode = Refusal(.code, "no tournament has this code")
  static let removedFromTournament = Refusal(.forbidden, "the organiser has removed you from the tournament")
  static let accountGone = Refusal(.auth, "this account no longer exists")
  static let seekKey = Refusal(.midReused, "this key was used for another seek")

  /// The same refusal, sent with the present state of a match.
  func showing(_ m: MatchID) -> Refusal { Refusal(code, text, showing: m) }

  /// The line that a client is sent. `match`: the match of `m`. `session`: the client's, if it has logged in.
  func line(_ match: LiveMatch?, to session: Session?, re: String?, at now: Int64) -> [UInt8] {
    guard let match else { return ServerMessage.err(code, text).bytes(re: re) }
    let you = session.flatMap { match.side(of: $0.account) }
    return ServerMessage.refusal(code, text, state: match.state, left: match.left(at: now), you: you, re: re)
  }

  static func tooManyCodeTries(_ most: Int) -> Refusal { Refusal(.rate, "at most \(most) tries of codes a minute") }
}

/// A line from a logged-in client, with the client's session and account.
struct ClientCommand: Sendable {
  let id: ConnectionID
  /// The client's address; `nil` for a client of this machine.
  let address: String?
  let line: ClientLine
  /// When the line was decoded, in monotonic ms.
  let at: Int64
  let session: Session
  let account: AccountRecord

  var re: String? { line.id }
  var request: Request { .line(line, at: at) }

  /// Throws if the client's `hello` did not say that the client knows the game.
  func requireGame(_ rules: Variant) throws(Refusal) {
    guard session.games.contains(rules) else {
      throw Refusal(
        .rules, "this is a game of \(rules.rawValue); a client that knows it says so in the caps of its hello")
    }
  }

  func requireTournaments() throws(Refusal) {
    guard session.knowsTournaments else {
      throw Refusal(.rules, "a client that knows tournaments says so in the caps of its hello")
    }
  }

  /// Throws if the terms are rated and the player is a guest or a bot.
  func requireMayPlay(_ terms: MatchTerms) throws(Refusal) {
    guard !terms.rated || !account.guest && !session.isBot else { throw .mayNotPlayRated }
  }
}

extension ChangeResult {
  /// The changed account and the ids of its deleted sessions; throws if the store refused the change.
  var changed: (AccountRecord, forgotten: [String]) {
    get throws(Refusal) {
      switch self {
      case .changed(let account, let forgotten): return (account, forgotten)
      case .unknown: throw .accountGone
      case .nameTaken: throw Refusal(.name, "the name is taken")
      case .forbidden: throw Refusal(.forbidden, "a guest has no token to change; register a name")
      case .notFound: throw Refusal(.notFound, "there is no other player of this name")
      case .full: throw Refusal(.rate, "you can block at most 1,000 players")
      case .tooMany: throw Refusal(.rate, "too many names from your address today; try again tomorrow")
      }
    }
  }
}

extension TournamentResult {
  /// The tournament after a change; throws if the store refused the change.
  var changed: Tournament {
    get throws(Refusal) {
      switch self {
      case .found(let changed): return changed
      case .full: throw Refusal(.occupied, "at most \(Tournament.mostEntrants) players in a tournament")
      case .removed: throw .removedFromTournament
      case .noEntrant: throw Refusal(.notFound, "the tournament has no such player")
      case .hasStarted: throw Refusal(.over, "the tournament has started")
      case .isOver: throw Refusal(.over, "the tournament is over")
      case .unknown, .taken: throw .tournamentCode
      }
    }
  }
}
