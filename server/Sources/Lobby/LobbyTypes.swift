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
  /// A spectator's connection can take lines again and missed some of these matches.
  case caughtUp(ConnectionID, [MatchID])
  /// What became of a unit that was handed out.
  case verdict(UInt64, Verdict)
  /// The answer to a question; `nil` if there is none.
  case answer(UInt64, StoreAnswer?)
  /// What another node told this one; `nil` says that something may have been missed.
  case hint(String?)
  case tick
  /// The server is about to stop. Everybody is told when to come back.
  case drain(retry: Int)
  /// Everything is given away: nothing is said or done any more.
  case leave
  /// An administrator's order, answered with `LobbyEffect.obeyed` and the same number.
  case administer(UInt64, Order)
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

/// A new token that an administrator gives a named player who has lost the old one.
package struct IssuedToken {
  package let text: String
  private let name: String

  package init(for name: String) {
    var random = Entropy.system
    (text, self.name) = (Lobby.makeToken(from: &random), name)
  }

  /// Replaces the player's token.
  package var question: StoreQuestion {
    .change(.name(name), .token(Lobby.digest(text), lives: Lifetimes.usual.account))
  }

  /// Why the store did not replace it, if it did not.
  package func refusal(of result: ChangeResult) -> String? {
    switch result {
    case .changed: nil
    case .forbidden: "\(name) is a guest, who has no name to log in to"
    default: "there is no player \(name)"
    }
  }
}

package enum Order: Sendable, Hashable {
  /// Something about a player, by name.
  case player(String, Administration)
  /// Sets a live match aside: it ends without a result.
  case setAside(MatchID)
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
  /// Say `bye` and end a connection.
  case close(ConnectionID, ByeCode, String, retry: Int?)
  /// Store a unit and report its verdict under this number. No two units that are out at once touch the same match.
  case store(UInt64, StoreUnit)
  /// Ask the store and report the answer under this number.
  case ask(UInt64, StoreQuestion)
  /// Tell other nodes something, after the effects before this one.
  case tell([NodeID], String)
  /// An event of a public match became durable, for pages.
  case publish(MatchID)
  /// An order was carried out and holds, `false` if there is no such player or live match, `nil` if the store cannot be reached.
  case obeyed(UInt64, Bool?)
  /// Something for the log: a sentence and its fields.
  case note(String, [String: String])
}

/// What a server's flags may change of the lobby.
package struct LobbyConfiguration: Sendable, Hashable {
  /// The greeting's and log's name of this program.
  package var server = "alina-server"
  /// Messages a second and burst, told in `welcome`.
  package var rate = [20, 40]
  /// The same for bots.
  package var botRate = [200, 200]
  /// New guests and logins a minute from one address.
  package var loginsPerMinute = 30
  /// Names registered within a day from one address.
  package var namesPerDay = 20
  /// Tries of room codes a minute, from one address and by one account.
  package var codeTriesPerMinute = 5
  /// Writes waiting to become durable beyond which commands are refused as busy.
  package var maxPending = 4096
  /// Milliseconds a commit may take before commands are refused as busy.
  package var maxWait = 2000
  /// Milliseconds for both sides to confirm a pairing.
  package var confirmWithin = 5000
  /// Milliseconds a side may be away after `bye`.
  package var graceAfterBye = 10_000
  /// Milliseconds a side may be away after a lost connection or a restart.
  package var grace = 40_000
  /// Milliseconds a side may be away in all.
  package var graceInAll = 60_000
  /// Milliseconds after which the win that may be claimed is given.
  package var claimByItself = 60_000
  /// Milliseconds after the end in which a rematch can be asked.
  package var rematchWithin = 30_000
  package var codeLives = 600_000
  /// Milliseconds after which a bot is offered.
  package var botAfter = 20_000
  /// Milliseconds a `key` is remembered at least; it is kept while its match goes on.
  package var keyLives: Int64 = 600_000
  /// Guests that are kept: beyond that, those who were here longest ago and play nothing are forgotten.
  package var maxGuests = 20_000
  package var lives = Lifetimes.usual
  /// `HOST:PORT` by which clients reach this node, told to those of other nodes; empty if none is to be told.
  package var address = ""
  /// Milliseconds between two beats of a node.
  package var beatEvery: Int64 = 1000
  /// Milliseconds between two looks at what differs from the store.
  package var compareEvery: Int64 = 2000
  /// Milliseconds that the timers of a match ring later at a node where the side concerned is not: by then its own node has heard of what
  /// it waits for, be it by comparison.
  package var otherNodesWait: Int64 = 2500
  /// Matches that nobody follows taken at once.
  package var sweptAtOnce = 64
  /// Milliseconds after a lost answer in which the lobby compares: the store may still do what was asked.
  package var doubts: Int64 = 30_000
  /// Milliseconds after which the store is asked again what it has not answered.
  package var askAgain: Int64 = 200

  package init() {}
}
