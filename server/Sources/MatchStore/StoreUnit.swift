import MatchProtocol
import TicTacToe

/// The name of a running server process among those that use one store: 1–32 characters a–z and 0–9, drawn anew at each start.
package typealias NodeID = String

/// Changes that become durable together or not at all, and what they need to be true.
///
/// A store stores a unit only if all of this holds at one moment:
/// - each log that grows has exactly `after` events;
/// - each account that would get a new rating has the one that it replaces;
/// - no account of `slots` plays another rated match, and its rating is the one given;
/// - no open room has the code of a room that the unit opens;
/// - no key of `keys` has led to another match that goes on;
/// - every ticket of `tickets` still waits.
package struct StoreUnit: Sendable, Hashable {
  /// The logs that grow, each match once. The first one is the match that slots, keys and tickets lead to.
  package var logs: [Log]
  /// Results to add. A result of an account that is gone is dropped.
  package var scores: [AccountScore] = []
  /// Whose rated slots the first match takes. A match frees the slots that it holds when its record says that it has ended.
  package var slots: [Slot] = []
  /// Keys that lead to the first match from now on.
  package var keys: [Key] = []
  /// Tickets that wait no longer, since they have led to the first match.
  package var tickets: [String] = []

  package init(logs: [Log]) { self.logs = logs }

  /// A log and the events that are added to it.
  package struct Log: Sendable, Hashable {
    package var m: MatchID
    /// How many events the log must have; 0 for a match that must not be there.
    package var after: Int
    /// The bodies of the events `after` + 1…; none if only the record changes.
    package var bodies: [[UInt8]]
    /// What is kept beside the log from now on; `nil` leaves that as it is. A new match has one.
    package var record: MatchRecord?
    /// For a new match: the nodes that follow it.
    package var nodes: [NodeID] = []

    package init(_ m: MatchID, after: Int, _ bodies: [[UInt8]], record: MatchRecord? = nil, nodes: [NodeID] = []) {
      (self.m, self.after, self.bodies, self.record, self.nodes) = (m, after, bodies, record, nodes)
    }
  }

  /// A rated slot: an account plays one rated match at a time.
  package struct Slot: Sendable, Hashable {
    package var account: Int64
    package var rules: Variant
    /// The rating that was assumed.
    package var rating: Glicko2.Rating

    package init(account: Int64, _ rules: Variant, _ rating: Glicko2.Rating) {
      (self.account, self.rules, self.rating) = (account, rules, rating)
    }
  }

  /// A key of an account and what it was used for.
  package struct Key: Sendable, Hashable {
    package var account: Int64
    package var key: String
    /// What was wished, as a text. The same key with another purpose is a mistake.
    package var purpose: String

    package init(account: Int64, _ key: String, purpose: String) {
      (self.account, self.key, self.purpose) = (account, key, purpose)
    }
  }
}

/// What became of a unit.
package enum Verdict: Sendable, Hashable {
  /// It is durable. With each match that was there before: the nodes that follow it.
  case applied([MatchID: [NodeID]])
  /// Something did not hold. Nothing of it was stored.
  case conflict(Conflict)
  /// The answer was lost: it is stored, or not, or will be later. Read, and decide again.
  case unknown(String)
  /// The store could not do it for another reason. Nothing of it was stored, nor will be.
  case failed(String)
}

/// What did not hold; of several things the first in this order.
package enum Conflict: Sendable, Hashable {
  /// This log does not have the expected length.
  case log(MatchID)
  /// A ticket does not wait any more.
  case ticket(String)
  /// This key has led to this match, which goes on. (Of an open room: to the room.)
  case key(account: Int64, key: String, MatchID)
  /// A key was used for something else.
  case purpose(account: Int64, key: String)
  /// This account is in another rated match.
  case playing(Int64)
  /// The rating of this account is another one by now.
  case rating(Int64)
  /// An open room has this code.
  case code(String)
}
