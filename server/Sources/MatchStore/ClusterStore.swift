import MatchProtocol
import TicTacToe

/// A store that several nodes use at once: the log, who owns which match, and what players share across nodes.
///
/// One object is one node's view. `join` begins an *incarnation*: an epoch that no other incarnation of any node ever
/// had. A match belongs to the incarnation whose epoch it carries, and **every write to a match that exists is fenced**:
/// `commit` stores a batch only if each match it appends to or changes carries the epoch of this view's incarnation and has
/// exactly the events expected; otherwise nothing of the batch is stored, and `.conflict` or `.broken` is thrown. A match that `commit` adds
/// carries this incarnation's epoch. A `.match` write with `ended` set frees the rated slot of both its accounts in the
/// same transaction, if it is this match that holds it.
///
/// An incarnation holds a lease on the database's clock. While it is good nobody takes its matches; once it has run out
/// it is never good again, so that an incarnation never regains a match it lost. All times in calls are milliseconds; wherever
/// a time is compared with now, now is the database's clock.
///
/// Calls block. `commit` comes from one thread at a time, `renew` from another, all others from any. Each call is one
/// transaction (`takeOver` is two) that is durable when it returns. Before `join`, and after it failed, only `join` and
/// the reading calls of `MatchStore` work. `recover` returns accounts and sessions for export; the lobby of a node uses `takeOver`.
/// Whoever locks several rows takes accounts first, in the order of their ids, then matches.
package protocol ClusterStore: MatchStore {
  /// Begins an incarnation with a fresh lease. `replacing` is the caller's own earlier epoch, whose lease ends with this
  /// call. Throws `.unusable` if another incarnation of this name has a good lease: two nodes must not have one name.
  /// Throws `.tooNew` if a version of the log's language is in force that this build does not read.
  func join(_ node: NodeDescription, lease: Int64, replacing: Int64?) throws(StoreError) -> Int64

  /// Extends the lease to now + `lease` if it is still good, and returns how the cluster stands; `nil` if this incarnation's
  /// lease has run out. A lease that ends later than that, because the clock was set back, ends then: nobody can have renewed
  /// it later than now.
  func renew(lease: Int64) throws(StoreError) -> Renewal?

  /// Puts the newest version of the log's language in force that every incarnation reads that may still own a match or
  /// come back: those with a good lease, and those whose lease ran out less than `comesBack` ms ago, unless they left, or
  /// another incarnation of their name has begun since. What is in force is never lowered, and no incarnation that reads
  /// less begins once it is raised.
  func raiseLanguage() throws(StoreError)

  /// Ends this incarnation's lease: others may take its matches from now on.
  func leave() throws(StoreError)

  /// Takes up to `limit` live matches (`ended` not set) of incarnations whose lease has run out, if this one's is good: sets their
  /// epoch to this incarnation's, commits, and only then reads their logs, so that what the old owner may have appended
  /// until then is in them. Throws `.unknownOutcome` if some may have been taken that it cannot return. Matches that somebody else is taking are passed over. In any order; empty if there are none.
  func takeOver(limit: Int) throws(StoreError) -> [Adoption]

  /// Lets somebody in: see `Entry`. The session is marked as connected to this incarnation; of the account's others, the
  /// oldest beyond `SessionRecord.mostPerAccount` are forgotten.
  func enter(_ entry: Entry) throws(StoreError) -> EntryResult

  /// The first message of a connection has come: the resume token before the current one is spent. Does nothing if the
  /// session has another generation by now.
  func settle(session: String, generation: Int64) throws(StoreError)

  /// The connection of a session ended, as far as this node knows. Does nothing if it has another generation by now.
  func detach(session: String, generation: Int64) throws(StoreError)

  /// Changes an account; see `AccountChange`.
  func change(_ who: AccountReference, _ change: AccountChange) throws(StoreError) -> ChangeResult

  /// An account and what it plays; `nil` if there is none.
  func profile(_ account: Int64) throws(StoreError) -> Profile?

  /// Where a match is; `nil` if there is none.
  func place(_ m: MatchID) throws(StoreError) -> MatchPlace?

  /// Where the match is that has a room code: the open room, else the live match that began with it, else `nil`.
  func place(code: String) throws(StoreError) -> MatchPlace?

  /// Begins a rated match, or opens a room; see `MatchBegin`.
  func begin(_ begin: MatchBegin) throws(StoreError) -> BeginResult

  /// The strongest named players who have played a rated match of a game and are not banned, by rating, then id.
  func top(_ rules: Variant, limit: Int) throws(StoreError) -> [AccountRecord]

  /// The latest live public matches (no opener), with their logs; latest first.
  func live(limit: Int) throws(StoreError) -> [StoredMatch]

  /// Forgets what nobody needs: sessions that have expired and are not connected to an incarnation with a good lease;
  /// guests whose token has expired and who have neither a session nor a match, nor had one ten minutes ago; incarnations whose lease ran out over a minute
  /// ago and who have no live match.
  func clean() throws(StoreError)
}

extension ClusterStore {
  /// Milliseconds for which a node that ended without leaving is expected back as the program it was: what the log says
  /// must not shut it out before whoever restarts programs has had his time.
  package static var comesBack: Int64 { 60_000 }

  /// Why a build cannot join: what is in force and what it reads.
  package static func refusal(inForce: Int, reads: Int, at place: String) -> StoreError {
    .tooNew(
      "\(place): events of version \(inForce) are in force in its matches, this build reads them up to version \(reads); "
        + "run a build that reads version \(inForce)")
  }
}

/// How the cluster stands after a renewal.
package struct Renewal: Sendable, Hashable {
  /// Every incarnation whose lease is good, the caller's included, by epoch.
  package var nodes: [NodeRecord]
  /// The version of the log's language in force.
  package var inForce: Int
  /// The version that could be: see `raiseLanguage`.
  package var common: Int

  package init(nodes: [NodeRecord], inForce: Int, common: Int) {
    (self.nodes, self.inForce, self.common) = (nodes, inForce, common)
  }
}

/// What a node says of itself.
package struct NodeDescription: Sendable, Hashable {
  /// Its name, which stays the same over restarts.
  package var name: String
  /// `HOST:PORT` for clients.
  package var address: String
  /// `HOST:PORT` for other nodes.
  package var peer: String

  package init(name: String, address: String, peer: String) {
    (self.name, self.address, self.peer) = (name, address, peer)
  }
}

package struct NodeRecord: Sendable, Hashable {
  /// Which one: unique in the cluster, for ever.
  package var epoch: Int64
  /// Whose.
  package var node: NodeDescription
  /// Milliseconds its lease has left.
  package var left: Int64

  package init(epoch: Int64, node: NodeDescription, left: Int64) {
    (self.epoch, self.node, self.left) = (epoch, node, left)
  }
}

/// A match taken over, and the accounts of its seats and opener, by id, as far as they still exist.
package struct Adoption: Sendable, Hashable {
  /// The match and its whole log.
  package var match: StoredMatch
  package var accounts: [AccountRecord]

  package init(match: StoredMatch, accounts: [AccountRecord]) {
    (self.match, self.accounts) = (match, accounts)
  }
}

package struct MatchPlace: Sendable, Hashable {
  package var m: MatchID
  /// The incarnation it belongs to, if its lease is good.
  package var owner: Int64?
  /// Milliseconds since it ended, `nil` while it is live.
  package var endedAgo: Int64?

  package init(m: MatchID, owner: Int64? = nil, endedAgo: Int64? = nil) {
    (self.m, self.owner, self.endedAgo) = (m, owner, endedAgo)
  }
}
