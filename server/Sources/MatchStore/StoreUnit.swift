import Base
import MatchProtocol
import TicTacToe

/// The name of a server process, random at each start: 1–32 characters a–z and 0–9.
package typealias NodeID = String

/// Changes that become durable together or not at all. A store refuses a unit unless all conditions (see `Conflict`) hold at one moment.
package struct StoreUnit: Sendable, Hashable {
  /// At most one log for a match. The unit's slots, keys and tickets belong to the match of the first log.
  package var logs: [Log]
  /// Results to add; the result of a deleted account is dropped.
  package var scores: [AccountScore] = []
  /// The rated slots that the match of the first log occupies, until the match's record gets an end.
  package var slots: [Slot] = []
  /// The keys of the requests that the match of the first log fulfils, by which the store recognises a repeated request.
  package var keys: [Key] = []
  /// Tickets that are paired in the match of the first log and leave the queue.
  package var tickets: [String] = []
  /// Tournament games that begin or end with this unit. Each changes the entries of its two players.
  package var games: [TournamentGame] = []

  package init(logs: [Log]) { self.logs = logs }

  package struct Log: Sendable, Hashable {
    package var m: MatchID
    /// The number of events that the log must have; 0 if the match must not exist.
    package var after: Int
    /// The encoded events from `after` + 1 on; empty if only the record changes.
    package var bodies: [[UInt8]]
    /// `nil` keeps the old record. Required for a new match.
    package var record: MatchRecord?
    /// For a new match: the nodes that follow it.
    package var nodes: [NodeID] = []

    package init(_ m: MatchID, after: Int, _ bodies: [[UInt8]], record: MatchRecord? = nil, nodes: [NodeID] = []) {
      (self.m, self.after, self.bodies, self.record, self.nodes) = (m, after, bodies, record, nodes)
    }
  }

  /// A match's claim on an account's rated slot.
  package struct Slot: Sendable, Hashable {
    package var account: Int64
    package var rules: Variant
    /// The rating when the unit was drafted. The store refuses the unit if the rating has changed.
    package var rating: Glicko2.Rating

    package init(account: Int64, _ rules: Variant, _ rating: Glicko2.Rating) {
      (self.account, self.rules, self.rating) = (account, rules, rating)
    }
  }

  /// A key that a client sends with a seek or a request for a room, so that the store recognises a repeated request.
  package struct Key: Sendable, Hashable {
    package var account: Int64
    package var key: String
    /// The request as text. The store refuses the unit if the key has a live match or open room of a different request.
    package var purpose: String

    package init(account: Int64, _ key: String, purpose: String) {
      (self.account, self.key, self.purpose) = (account, key, purpose)
    }
  }
}

package enum Verdict: Sendable, Hashable {
  /// The unit is durable. The value lists the nodes that follow each of its matches, except matches that the unit began.
  case applied([MatchID: [NodeID]])
  /// A condition does not hold. Nothing was stored.
  case conflict(Conflict)
  /// The answer was lost: the unit is stored, or not, or will be later. The lobby must read a log of the unit before it decides.
  case unknown(String)
  /// The store failed. Nothing was stored, nor will be.
  case failed(String)
}

/// The unmet condition of a unit; of several, the first in the order of these cases.
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
