import Base
import MatchProtocol
import TicTacToe

/// The name of a running server process, unlike the names of all other processes at its store: 1–32 characters a–z and 0–9, random at each
/// start.
package typealias NodeID = String

/// Changes that become durable together or not at all, with their conditions.
///
/// A store applies a unit only if all of these hold at one moment:
/// - each existing log has exactly `after` events;
/// - each account that gets a new rating still has the rating to be replaced;
/// - each account of `slots` has the given rating and is in no other live rated match;
/// - no open room has the code of a room that the unit opens;
/// - no key of `keys` has another live match or open room;
/// - every ticket of `tickets` is waiting;
/// - each game of `games` that begins belongs to a running tournament.
package struct StoreUnit: Sendable, Hashable {
  /// The logs to append to, at most one for a match. The unit's slots, keys and tickets belong to the match of the first log.
  package var logs: [Log]
  /// Results to add. The result of a deleted account is dropped.
  package var scores: [AccountScore] = []
  /// The rated slots that the match of the first log occupies. They become free when the match's record gets an end.
  package var slots: [Slot] = []
  /// The keys of the requests that the match of the first log fulfils. From now on the store recognises such a request by its key if it is
  /// repeated.
  package var keys: [Key] = []
  /// Tickets that are paired in the match of the first log. They leave the queue.
  package var tickets: [String] = []
  /// The tournament games that begin or end with this unit. For each game the unit also changes the entries of its two players in the
  /// tournament.
  package var games: [TournamentGame] = []

  package init(logs: [Log]) { self.logs = logs }

  /// A log and the events to append.
  package struct Log: Sendable, Hashable {
    package var m: MatchID
    /// The number of events that the log must have; 0 if the match must not exist.
    package var after: Int
    /// The encoded events from `after` + 1 on; empty if only the record changes.
    package var bodies: [[UInt8]]
    /// The new record; `nil` keeps the old one. Required for a new match.
    package var record: MatchRecord?
    /// For a new match: the nodes that follow it.
    package var nodes: [NodeID] = []

    package init(_ m: MatchID, after: Int, _ bodies: [[UInt8]], record: MatchRecord? = nil, nodes: [NodeID] = []) {
      (self.m, self.after, self.bodies, self.record, self.nodes) = (m, after, bodies, record, nodes)
    }
  }

  /// An account's claim on its rated slot: the account plays at most one rated match at a time.
  package struct Slot: Sendable, Hashable {
    package var account: Int64
    package var rules: Variant
    /// The account's rating when the unit was drafted. If the rating has changed, the store refuses the unit.
    package var rating: Glicko2.Rating

    package init(account: Int64, _ rules: Variant, _ rating: Glicko2.Rating) {
      (self.account, self.rules, self.rating) = (account, rules, rating)
    }
  }

  /// A key that a client sends with a seek or a request for a room. By the account and the key the store recognises a repeated request.
  package struct Key: Sendable, Hashable {
    package var account: Int64
    package var key: String
    /// The request as a text. If the key has a live match or open room of a different request, the store refuses the unit.
    package var purpose: String

    package init(account: Int64, _ key: String, purpose: String) {
      (self.account, self.key, self.purpose) = (account, key, purpose)
    }
  }
}

/// The outcome of a unit.
package enum Verdict: Sendable, Hashable {
  /// The unit is durable. The value lists the nodes that follow each of the unit's matches, except matches that the unit began.
  case applied([MatchID: [NodeID]])
  /// A condition does not hold. Nothing was stored.
  case conflict(Conflict)
  /// The answer was lost: the unit is stored, or not, or will be later. The lobby must read the logs, then decide again.
  case unknown(String)
  /// The store failed. Nothing was stored, nor will be.
  case failed(String)
}

/// The unmet condition of a unit; if several are unmet, the first in the order of these cases.
package enum Conflict: Sendable, Hashable {
  /// This log does not have the expected length.
  case log(MatchID)
  /// A ticket does not wait any more.
  case ticket(String)
  /// The request with this key has got this live match or open room already.
  case key(account: Int64, key: String, MatchID)
  /// This key has a live match or open room of a different request.
  case purpose(account: Int64, key: String)
  /// This account is in another rated match.
  case playing(Int64)
  /// The rating of this account has changed.
  case rating(Int64)
  /// An open room has this code.
  case code(String)
  /// The tournament with this code has not begun or has ended.
  case tournament(String)
}
