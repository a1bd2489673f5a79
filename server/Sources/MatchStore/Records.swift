import Base
import MatchProtocol
import TicTacToe

/// A player's rating and results in one game.
package struct Standing: Sendable, Hashable {
  package var rating = Glicko2.Rating()
  /// The end of the last rated match in milliseconds since 1970; 0 before the first.
  package var ratedAt: Int64 = 0
  package var won = 0
  package var drawn = 0
  package var lost = 0

  package init() {}
}

@dynamicMemberLookup package struct AccountRecord: Sendable, Hashable {
  package var id: Int64
  /// Unique regardless of case.
  package var name: String
  package var guest: Bool
  /// SHA-256 of the token; `nil` once revoked.
  package var token: SHA256.Digest?
  /// When the account and its token expire, in milliseconds since 1970. A renewal leaves `version` unchanged, because nodes do not read
  /// this field.
  package var tokenExpires: Int64
  private var standings: [Variant: Standing] = [:]
  /// Matches as X minus matches as O in all games; the player with the lower balance gets X.
  package var xBalance = 0
  /// Whether the player receives no chat.
  package var quiet = false
  package var muted = false
  package var banned = false
  /// Accounts that the player has blocked: their chat is suppressed, and the player is not paired with them.
  package var blocked: [Int64] = []
  /// The number of changes of the row, not counting changes of the expiry and of the rated slot.
  package var version: Int64 = 0

  package init(id: Int64, name: String, guest: Bool, token: SHA256.Digest?, tokenExpires: Int64) {
    (self.id, self.name, self.guest, self.token, self.tokenExpires) = (id, name, guest, token, tokenExpires)
  }
}

extension AccountRecord {
  package subscript(rules: Variant) -> Standing {
    get { standings[rules] ?? Standing() }
    set { standings[rules] = newValue == Standing() ? nil : newValue }
  }

  /// Forwards to the standing in the classic game: `account.rating` is the rating in that game.
  package subscript<Value>(dynamicMember part: WritableKeyPath<Standing, Value>) -> Value {
    get { self[.classic][keyPath: part] }
    set { self[.classic][keyPath: part] = newValue }
  }

  /// The greatest plausible rating; a value beyond it, or NaN, is refused as damaged.
  static let mostRating = 1e6

  /// The standings in all games but the classic one, each as a text in the form that archives and SQL queries have.
  package var otherGames: [String] {
    get {
      Variant.allCases.filter { !$0.isImplied }.compactMap { rules in
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

/// The results to add to an account. They are increments, so that concurrent writers do not overwrite each other's results.
package struct AccountScore: Sendable, Hashable {
  package var account: Int64
  package var rules = Variant.classic
  package var won = 0
  package var drawn = 0
  package var lost = 0
  /// The change of the account's `xBalance`: 1 for a match as X, -1 for a match as O, or a sum of such changes.
  package var xBalance = 0
  package var rating: Glicko2.Rating?
  /// Milliseconds since 1970; set only together with `rating`.
  package var ratedAt: Int64?
  /// The rating that the account must have before the change; set only together with `rating`, and not stored.
  package var replacedRating: Glicko2.Rating?

  package init(account: Int64, _ rules: Variant = .classic) { (self.account, self.rules) = (account, rules) }

  /// The part of the score that the account's row stores: everything in the classic game, only `xBalance` in another game.
  package var onAccount: AccountScore {
    if rules.isImplied { return self }
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

package struct SessionRecord: Sendable, Hashable {
  /// The most sessions of one account; a further session deletes the oldest.
  package static let mostPerAccount = 16

  package var id: String
  package var account: Int64
  /// SHA-256 of the resume token.
  package var resume: SHA256.Digest
  /// SHA-256 of the previous resume token, valid until the first message on the new connection.
  package var previous: SHA256.Digest?
  /// Milliseconds since 1970.
  package var expires: Int64

  package init(id: String, account: Int64, resume: SHA256.Digest, previous: SHA256.Digest? = nil, expires: Int64) {
    (self.id, self.account, self.resume, self.previous, self.expires) = (id, account, resume, previous, expires)
  }
}

/// The stored data of a match other than its log.
package struct MatchRecord: Sendable, Hashable {
  package var id: MatchID
  /// The account that plays X; `nil` in an open room.
  package var x: Int64?
  package var o: Int64?
  /// The account that opened the room; `nil` for other matches.
  package var opener: Int64?
  /// The room code: for joining until the start, afterwards for watching.
  package var code: String?
  /// Milliseconds since 1970, like `ended`.
  package var created: Int64
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
  package var accounts: [Int64] { [x, o, opener].compactMap(\.self) }
}

package struct StoredMatch: Sendable, Hashable {
  package var record: MatchRecord
  /// The encoded events, exactly the bytes that were hashed and sent; the first has `seq` 1.
  package var bodies: [[UInt8]]
  /// The number of events by the store's own count; differs from `bodies.count` if the log is incomplete.
  package var length: Int

  package init(record: MatchRecord, bodies: [[UInt8]], length: Int? = nil) {
    (self.record, self.bodies, self.length) = (record, bodies, length ?? bodies.count)
  }

  /// Throws if the log is incomplete or an event is invalid.
  package func read(_ each: (MatchEvent, [UInt8]) throws(ProtocolError) -> Void) throws(ProtocolError) {
    guard length == bodies.count else {
      throw .inconsistent("match \(record.id) has \(bodies.count) events and should have \(length)")
    }
    for body in bodies { try each(try MatchEvent(body: body), body) }
  }

  /// Throws if the log is inconsistent. O(events).
  package func folded() throws(ProtocolError) -> MatchState {
    var state = MatchState(id: record.id)
    try read { event, body throws(ProtocolError) in try state.append(event, body: body) }
    return state
  }
}
