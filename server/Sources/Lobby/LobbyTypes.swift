import Base
import MatchProtocol
import MatchStore

/// A connection, numbered by the transport; never used again.
package typealias ConnectionID = UInt64

/// Where the lobby's random bits come from: the system's generator, or a seed in simulations.
package enum Entropy: RandomNumberGenerator, Sendable {
  /// The operating system's, fit for tokens.
  case system
  /// Reproducible, fit for nothing but tests.
  case seeded(SplitMix64)

  /// Draws 64 bits.
  package mutating func next() -> UInt64 {
    switch self {
    case .system:
      var system = SystemRandomNumberGenerator()
      return system.next()
    case .seeded(var generator):
      let value = generator.next()
      self = .seeded(generator)
      return value
    }
  }
}

/// Everything that can happen to the lobby.
package enum LobbyInput: Sendable {
  /// A connection was accepted; `address` is what limits are counted by, `nil` for this machine itself.
  case connected(ConnectionID, address: String?)
  /// A message, decoded at a steady time, from a connection with a measured round trip.
  case line(ConnectionID, ClientLine, at: Int64, roundTrip: Int)
  /// A connection ended, with or without `bye`.
  case disconnected(ConnectionID, clean: Bool)
  /// Every transaction up to this number is durable.
  case durable(UInt64)
  /// The store does not take these transactions, because the logs of these matches are not as expected there.
  case broken(Set<MatchID>, [StoreTransaction])
  /// The answer to `load`.
  case loaded(MatchID, StoredMatch?)
  /// The answer to `history`; `nil` if it could not be read.
  case history(ConnectionID, re: String?, [StoredMatch]?, more: Int64?)
  /// A spectator's connection can take lines again and missed some of these matches.
  case caughtUp(ConnectionID, [MatchID])
  /// Time passes.
  case tick
  /// The server is about to stop.
  case drain(retry: Int)
  /// An administrator's order about a player.
  case administer(name: String, Administration)
  case setAside(MatchID)
  /// Something that only a node of a cluster hears.
  case cluster(ClusterInput)
}

/// What an administrator can do to a player.
package enum Administration: String, Sendable, Hashable, CaseIterable {
  case mute, unmute, ban, unban, forget

  package var change: AccountChange {
    switch self {
    case .mute, .unmute: .muted(self == .mute)
    case .ban, .unban: .banned(self == .ban)
    case .forget: .forget
    }
  }
}

/// What kind of line is sent, which decides what becomes of it when the receiver is slow.
package enum LineKind: Sendable, Hashable {
  /// Must arrive, or the connection ends.
  case essential
  /// May be dropped: chat.
  case droppable
  /// May be dropped if the newest state follows later: what a spectator sees of a match.
  case spectator(MatchID)
}

/// Everything the lobby wants done.
package enum LobbyEffect: Sendable {
  case send(ConnectionID, [UInt8], LineKind)
  /// Say `bye` and end a connection; `node` is where the client should go.
  case close(ConnectionID, ByeCode, String, retry: Int?, node: String? = nil)
  /// Make a transaction durable and report its number; in order.
  case commit(StoreTransaction)
  /// Read a match from the store.
  case load(MatchID)
  /// Read finished matches from the store.
  case history(ConnectionID, re: String?, account: Int64, before: Int64)
  /// An event of a public match became durable, for pages.
  case publish(MatchID)
  /// Something for the log: a sentence and its fields.
  case note(String, [String: String])
  /// Something that only a node of a cluster does.
  case cluster(ClusterEffect)
}

extension LobbyEffect {
  var receiver: ConnectionID? {
    switch self {
    case .send(let id, _, _), .close(let id, _, _, _, _): id
    default: nil
    }
  }

  func tells(of m: MatchID) -> Bool {
    switch self {
    // No text that a player writes has quotes without a backslash in it.
    case .send(_, let line, _): String(decoding: line, as: UTF8.self).contains(#""m":"\#(m)""#)
    case .publish(let published): published == m
    default: false
    }
  }
}

/// What a server's flags may change of the lobby.
package struct LobbyConfiguration: Sendable, Hashable {
  /// The greeting's and log's name of this program.
  package var server = "alina-server"
  /// The newest version of the log's language that is read and written; less than the newest there is to be as an older
  /// build.
  package var language = MatchEvent.newest
  /// Messages a second and burst, told in `welcome`.
  package var rate = [20, 40]
  /// The same for bots.
  package var botRate = [200, 200]
  /// New guests and logins a minute from one address.
  package var loginsPerMinute = 30
  /// Tries of room codes a minute, from one address and by one account.
  package var codeTriesPerMinute = 5
  /// Writes waiting to become durable beyond which commands are refused as busy.
  package var maxPending = 4096
  /// Milliseconds a commit may take before commands are refused as busy.
  package var maxWait = 2000
  /// Milliseconds for both sides to confirm a pairing.
  package var confirmWithin = 5000
  /// Milliseconds for the first move of each side.
  package var firstMoveWithin = 30_000
  /// Milliseconds a move of an untimed match may take.
  package var untimedMove = 600_000
  /// Milliseconds a side may be away after `bye`, and after a lost connection.
  package var graceAfterBye = 10_000
  /// Milliseconds a side may be away after a lost connection or a restart.
  package var grace = 40_000
  /// Milliseconds a side may be away in all.
  package var graceInAll = 60_000
  /// Milliseconds after which the win that may be claimed is given.
  package var claimByItself = 60_000
  /// Milliseconds after the end in which a rematch can be asked.
  package var rematchWithin = 30_000
  /// Milliseconds a room code lives.
  package var codeLives = 600_000
  /// Milliseconds after which a bot is offered.
  package var botAfter = 20_000
  /// Milliseconds a `key` is remembered.
  package var keyLives: Int64 = 600_000
  /// Guests that a server on its own keeps: for one more the oldest who is away and plays nothing is forgotten.
  package var maxGuests = 20_000
  /// Milliseconds a guest's token lives: a day.
  package var guestLives: Int64 = 86_400_000
  /// Milliseconds an account's token lives: ninety days.
  package var accountLives: Int64 = 7_776_000_000
  /// Milliseconds a node's lease lasts.
  package var lease: Int64 = 3000
  /// Milliseconds before its end at which a node stops to believe in its lease.
  package var leaseMargin: Int64 = 500
  /// Milliseconds between two renewals.
  package var renewEvery: Int64 = 1000
  /// Milliseconds between two looks for matches whose owner is gone, a quarter more or less.
  package var takeOverEvery: Int64 = 500
  /// Matches taken over at once.
  package var takeOverAtOnce = 64
  /// Milliseconds a command waits for a match that is on its way between two nodes: a lease, a look and some more.
  package var moveWithin: Int64 = 8000
  /// Milliseconds for finding out whether a node whose link is lost is dead, before its players are told to go elsewhere.
  package var departWithin: Int64 = 300
  /// Milliseconds between two tries to find it.
  package var retryEvery: Int64 = 200

  /// The versions of the protocol spoken, best first.
  package var versions: [Int] { protocolVersions.filter { $0 <= language } }

  package init() {}
}
