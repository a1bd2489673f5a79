import Base
import MatchProtocol
import TicTacToe

/// What is kept of a player.
public struct AccountRecord: Sendable, Hashable {
  /// The number that never changes.
  public var id: Int64
  /// The name, unique without regard to case.
  public var name: String
  /// Whether the account is a guest's, which is forgotten when its token expires.
  public var guest: Bool
  /// SHA-256 of the token, `nil` once revoked.
  package var token: SHA256.Digest?
  /// When the token expires, milliseconds since 1970.
  public var tokenExpires: Int64
  /// Strength.
  public var rating = Glicko2.Rating()
  /// When the last rated match ended, milliseconds since 1970, 0 before the first.
  public var ratedAt: Int64 = 0
  /// Matches won, drawn and lost.
  public var won = 0
  /// Matches drawn.
  public var drawn = 0
  /// Matches lost.
  public var lost = 0
  /// Matches as X less matches as O, by which sides are drawn fairly.
  public var xBalance = 0
  /// Whether the player wants no chat.
  public var quiet = false
  /// Whether an administrator has taken the player's chat away.
  public var muted = false
  /// Whether an administrator has shut the player out.
  public var banned = false
  /// Accounts this player will not meet or hear.
  public var blocked: [Int64] = []

  /// Makes an account.
  package init(id: Int64, name: String, guest: Bool, token: SHA256.Digest?, tokenExpires: Int64) {
    (self.id, self.name, self.guest, self.token, self.tokenExpires) = (id, name, guest, token, tokenExpires)
  }
}

/// A change of an account's results, as increments, so that writers do not overwrite one another.
public struct AccountScore: Sendable, Hashable {
  /// Whose.
  public var account: Int64
  /// Matches won more.
  public var won = 0
  /// Matches drawn more.
  public var drawn = 0
  /// Matches lost more.
  public var lost = 0
  /// Matches as X more, less matches as O more.
  public var xBalance = 0
  /// The new rating, if it changes.
  public var rating: Glicko2.Rating?
  /// When it changed, milliseconds since 1970; with `rating` only.
  public var ratedAt: Int64?
  /// The rating this one replaces, and its time; not stored.
  var replacedRating: Glicko2.Rating?
  var replacedAt: Int64 = 0

  /// Makes a change of nothing.
  public init(account: Int64) { self.account = account }
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
public struct SessionRecord: Sendable, Hashable {
  /// The public number.
  public var id: String
  /// Whose it is.
  public var account: Int64
  /// SHA-256 of the resume token.
  package var resume: SHA256.Digest
  /// SHA-256 of the one before, valid until the first message on the new connection.
  package var previous: SHA256.Digest?
  /// When it is forgotten, milliseconds since 1970.
  public var expires: Int64
}

/// What is kept of a match beside its log: whose it is and whether it is over, for finding it.
public struct MatchRecord: Sendable, Hashable {
  /// The match.
  public var id: MatchID
  /// The account at X, once two sit.
  public var x: Int64?
  /// The account at O.
  public var o: Int64?
  /// The account that opened the room, if it is one.
  public var opener: Int64?
  /// The code of a room: to join it until it starts, to watch it afterwards.
  public var code: String?
  /// When it was made, milliseconds since 1970.
  public var created: Int64
  /// When it ended, milliseconds since 1970.
  public var ended: Int64?
}

/// One entry of a log as stored.
public struct StoredEvent: Sendable, Hashable {
  /// Its number, from 1 without gaps.
  public var seq: Int
  /// The side, if one did it.
  public var side: Player?
  /// The command it answers, if that had an id: unique for match and side, which is the lobby's business.
  public var mid: String?
  /// The bytes that were hashed and sent.
  public var body: [UInt8]
}

/// A match with its whole log.
public struct StoredMatch: Sendable, Hashable {
  /// What is kept beside the log.
  public var record: MatchRecord
  /// The log, by `seq`.
  public var events: [StoredEvent]
  /// How many events the log has by the store's own count, which says whether it is whole.
  public var length: Int

  /// Makes a match.
  public init(record: MatchRecord, events: [StoredEvent], length: Int? = nil) {
    (self.record, self.events, self.length) = (record, events, length ?? events.count)
  }
}
