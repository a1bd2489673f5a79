import Base
import MatchProtocol
import TicTacToe

/// What is kept of a player.
package struct AccountRecord: Sendable, Hashable {
  /// The number that never changes.
  package var id: Int64
  /// The name, unique without regard to case.
  package var name: String
  /// Whether the account is a guest's, which is forgotten when its token expires.
  package var guest: Bool
  /// SHA-256 of the token, `nil` once revoked.
  package var token: SHA256.Digest?
  /// When the token expires, milliseconds since 1970.
  package var tokenExpires: Int64
  /// Strength.
  package var rating = Glicko2.Rating()
  /// When the last rated match ended, milliseconds since 1970, 0 before the first.
  package var ratedAt: Int64 = 0
  /// Matches won, drawn and lost.
  package var won = 0
  /// Matches drawn.
  package var drawn = 0
  /// Matches lost.
  package var lost = 0
  /// Matches as X less matches as O, by which sides are drawn fairly.
  package var xBalance = 0
  /// Whether the player wants no chat.
  package var quiet = false
  /// Whether an administrator has taken the player's chat away.
  package var muted = false
  /// Whether an administrator has shut the player out.
  package var banned = false
  /// Accounts this player will not meet or hear.
  package var blocked: [Int64] = []

  /// Makes an account.
  package init(id: Int64, name: String, guest: Bool, token: SHA256.Digest?, tokenExpires: Int64) {
    (self.id, self.name, self.guest, self.token, self.tokenExpires) = (id, name, guest, token, tokenExpires)
  }
}

/// A change of an account's results, as increments, so that writers do not overwrite one another.
package struct AccountScore: Sendable, Hashable {
  /// Whose.
  package var account: Int64
  /// Matches won more.
  package var won = 0
  /// Matches drawn more.
  package var drawn = 0
  /// Matches lost more.
  package var lost = 0
  /// Matches as X more, less matches as O more.
  package var xBalance = 0
  /// The new rating, if it changes.
  package var rating: Glicko2.Rating?
  /// When it changed, milliseconds since 1970; with `rating` only.
  package var ratedAt: Int64?
  /// The rating this one replaces, and its time; not stored.
  var replacedRating: Glicko2.Rating?
  var replacedAt: Int64 = 0

  /// Makes a change of nothing.
  package init(account: Int64) { self.account = account }
}

extension AccountRecord {
  /// Adds results.
  mutating func add(_ score: AccountScore) {
    won += score.won
    drawn += score.drawn
    lost += score.lost
    xBalance += score.xBalance
    if let rating = score.rating { self.rating = rating }
    if let ratedAt = score.ratedAt { self.ratedAt = ratedAt }
  }

  /// Takes back what was added; a rating only if it has not gone on since.
  mutating func subtract(_ score: AccountScore) {
    won -= score.won
    drawn -= score.drawn
    lost -= score.lost
    xBalance -= score.xBalance
    if let before = score.replacedRating, rating == score.rating { (rating, ratedAt) = (before, score.replacedAt) }
  }
}

/// What is kept of a session, so that it survives a restart.
package struct SessionRecord: Sendable, Hashable {
  /// The public number.
  package var id: String
  /// Whose it is.
  package var account: Int64
  /// SHA-256 of the resume token.
  package var resume: SHA256.Digest
  /// SHA-256 of the one before, valid until the first message on the new connection.
  package var previous: SHA256.Digest?
  /// When it is forgotten, milliseconds since 1970.
  package var expires: Int64
}

/// What is kept of a match beside its log: whose it is and whether it is over, for finding it.
package struct MatchRecord: Sendable, Hashable {
  /// The match.
  package var id: MatchID
  /// The account at X, once two sit.
  package var x: Int64?
  /// The account at O.
  package var o: Int64?
  /// The account that opened the room, if it is one.
  package var opener: Int64?
  /// The code of a room: to join it until it starts, to watch it afterwards.
  package var code: String?
  /// When it was made, milliseconds since 1970.
  package var created: Int64
  /// When it ended, milliseconds since 1970.
  package var ended: Int64?
}

/// One entry of a log as stored.
package struct StoredEvent: Sendable, Hashable {
  /// Its number, from 1 without gaps.
  package var seq: Int
  /// The side, if one did it.
  package var side: Player?
  /// The command it answers, if that had an id: unique for match and side, which is the lobby's business.
  package var mid: String?
  /// The bytes that were hashed and sent.
  package var body: [UInt8]
}

/// A match with its whole log.
package struct StoredMatch: Sendable, Hashable {
  /// What is kept beside the log.
  package var record: MatchRecord
  /// The log, by `seq`.
  package var events: [StoredEvent]
  /// How many events the log has by the store's own count, which says whether it is whole.
  package var length: Int

  /// Makes a match.
  package init(record: MatchRecord, events: [StoredEvent], length: Int? = nil) {
    (self.record, self.events, self.length) = (record, events, length ?? events.count)
  }
}
