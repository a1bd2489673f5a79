import Base
import MatchProtocol
import TicTacToe

/// How a player stands in one game.
package struct Standing: Sendable, Hashable {
  package var rating = Glicko2.Rating()
  /// When the last rated match ended, milliseconds since 1970, 0 before the first.
  package var ratedAt: Int64 = 0
  package var won = 0
  package var drawn = 0
  package var lost = 0

  package init() {}
}

/// What is kept of a player.
@dynamicMemberLookup package struct AccountRecord: Sendable, Hashable {
  /// The number that never changes.
  package var id: Int64
  /// The name, unique without regard to case.
  package var name: String
  /// Whether the account is a guest's.
  package var guest: Bool
  /// SHA-256 of the token, `nil` once revoked.
  package var token: SHA256.Digest?
  /// When the account and its token expire if it is not used before, milliseconds since 1970. Nodes do not read it, so that
  /// `version` does not count its renewals.
  package var tokenExpires: Int64
  /// How the player stands in each game that he has played.
  private var standings: [Variant: Standing] = [:]
  /// Matches of all games as X less matches as O, by which sides are drawn fairly.
  package var xBalance = 0
  /// Whether the player wants no chat.
  package var quiet = false
  /// Whether an administrator has taken the player's chat away.
  package var muted = false
  /// Whether an administrator has shut the player out.
  package var banned = false
  /// Accounts this player will not meet or hear.
  package var blocked: [Int64] = []
  /// How often its row was changed: once for each result that is added, not for rated slots. Each store counts by itself.
  package var version: Int64 = 0

  package init(id: Int64, name: String, guest: Bool, token: SHA256.Digest?, tokenExpires: Int64) {
    (self.id, self.name, self.guest, self.token, self.tokenExpires) = (id, name, guest, token, tokenExpires)
  }
}

extension AccountRecord {
  /// How the player stands in a game.
  package subscript(rules: Variant) -> Standing {
    get { standings[rules] ?? Standing() }
    set { standings[rules] = newValue == Standing() ? nil : newValue }
  }

  /// How the player stands in the classic game, whose results the row of the account has.
  package subscript<Value>(dynamicMember part: WritableKeyPath<Standing, Value>) -> Value {
    get { self[.classic][keyPath: part] }
    set { self[.classic][keyPath: part] = newValue }
  }

  /// Beyond this, and not a number, a rating is a mistake of whoever wrote it.
  static let mostRating = 1e6

  /// The results in the other games, each as a text: the game, rating, deviation, volatility, the time of the last rated
  /// match, won, drawn and lost. Archives, nodes and queries hand them on so.
  package var otherGames: [String] {
    get {
      Variant.allCases.filter { $0 != .classic }.compactMap { rules in
        standings[rules].map { s in
          "\(rules.rawValue) \(s.rating.value) \(s.rating.deviation) \(s.rating.volatility) \(s.ratedAt) "
            + "\(s.won) \(s.drawn) \(s.lost)"
        }
      }
    }
    set {
      for text in newValue {
        let parts = text.split(separator: " ")
        guard parts.count == 8, let rules = Variant(rawValue: String(parts[0])) else { continue }
        let numbers = parts[1...3].compactMap { Double($0) }
        let counts = parts[4...].compactMap { Int64($0) }
        let isSound = numbers.allSatisfy { abs($0) <= AccountRecord.mostRating }
        guard numbers.count == 3, counts.count == 4, isSound else { continue }
        var standing = Standing()
        standing.rating = Glicko2.Rating(value: numbers[0], deviation: numbers[1], volatility: numbers[2])
        (standing.ratedAt, standing.won) = (counts[0], Int(counts[1]))
        (standing.drawn, standing.lost) = (Int(counts[2]), Int(counts[3]))
        self[rules] = standing
      }
    }
  }
}

/// A change of an account's results, as increments, so that writers do not overwrite one another.
package struct AccountScore: Sendable, Hashable {
  package var account: Int64
  /// Of which game the results and the rating are.
  package var rules = Variant.classic
  package var won = 0
  package var drawn = 0
  package var lost = 0
  /// Matches as X more, less matches as O more.
  package var xBalance = 0
  package var rating: Glicko2.Rating?
  /// When it changed, milliseconds since 1970; with `rating` only.
  package var ratedAt: Int64?
  /// The rating that this one replaces; with `rating` only, and not stored.
  package var replacedRating: Glicko2.Rating?

  package init(account: Int64, _ rules: Variant = .classic) { (self.account, self.rules) = (account, rules) }

  /// What of it belongs to the row of the account: all that is not of another game.
  package var onAccount: AccountScore {
    guard rules != .classic else { return self }
    var score = AccountScore(account: account)
    score.xBalance = xBalance
    return score
  }
}

extension AccountRecord {
  package mutating func add(_ score: AccountScore) {
    self[score.rules].won += score.won
    self[score.rules].drawn += score.drawn
    self[score.rules].lost += score.lost
    xBalance += score.xBalance
    if let rating = score.rating { self[score.rules].rating = rating }
    if let ratedAt = score.ratedAt { self[score.rules].ratedAt = ratedAt }
  }
}

/// What is kept of a session, so that it survives a restart.
package struct SessionRecord: Sendable, Hashable {
  /// Sessions of one account; for one more the oldest is forgotten.
  package static let mostPerAccount = 16

  /// The public number.
  package var id: String
  package var account: Int64
  /// SHA-256 of the resume token.
  package var resume: SHA256.Digest
  /// SHA-256 of the one before, valid until the first message on the new connection.
  package var previous: SHA256.Digest?
  /// When it is forgotten, milliseconds since 1970.
  package var expires: Int64

  package init(id: String, account: Int64, resume: SHA256.Digest, previous: SHA256.Digest? = nil, expires: Int64) {
    (self.id, self.account, self.resume, self.previous, self.expires) = (id, account, resume, previous, expires)
  }
}

/// What is kept of a match beside its log: whose it is and whether it is over, for finding it.
package struct MatchRecord: Sendable, Hashable {
  package var id: MatchID
  /// The account at X, once two sit.
  package var x: Int64?
  package var o: Int64?
  /// The account that opened the room, if it is one.
  package var opener: Int64?
  /// The code of a room: to join it until it starts, to watch it afterwards.
  package var code: String?
  /// When it was made, milliseconds since 1970.
  package var created: Int64
  /// When it ended, milliseconds since 1970.
  package var ended: Int64?

  package init(
    id: MatchID, x: Int64? = nil, o: Int64? = nil, opener: Int64? = nil, code: String? = nil, created: Int64,
    ended: Int64? = nil
  ) {
    (self.id, self.x, self.o, self.opener, self.code, self.created, self.ended) = (
      id, x, o, opener, code, created, ended
    )
  }
}

extension MatchRecord {
  /// Whoever sits at it or has opened it.
  package var accounts: [Int64] { [x, o, opener].compactMap(\.self) }
}

/// A match with its whole log.
package struct StoredMatch: Sendable, Hashable {
  package var record: MatchRecord
  /// The bodies of the events, which are the bytes that were hashed and sent: the first has the `seq` 1.
  package var bodies: [[UInt8]]
  /// How many events the log has by the store's own count, which says whether it is whole.
  package var length: Int

  package init(record: MatchRecord, bodies: [[UInt8]], length: Int? = nil) {
    (self.record, self.bodies, self.length) = (record, bodies, length ?? bodies.count)
  }

  /// Reads the log event by event; throws if it is not whole or an event cannot be read.
  package func read(_ each: (MatchEvent, [UInt8]) throws(ProtocolError) -> Void) throws(ProtocolError) {
    guard length == bodies.count else {
      throw .inconsistent("match \(record.id) has \(bodies.count) events and should have \(length)")
    }
    for body in bodies { try each(try MatchEvent(body: body), body) }
  }

  /// What the log folds to; throws if it does not. O(events).
  package func folded() throws(ProtocolError) -> MatchState {
    var state = MatchState(id: record.id)
    try read { event, body throws(ProtocolError) in try state.append(event, body: body) }
    return state
  }
}
