import Base
import MatchProtocol
import MatchStore

/// The number of a connection, given by the transport and never reused.
package typealias ConnectionID = UInt64

package enum LobbyInput: Sendable {
  /// `address` is `nil` for a connection from this machine: the limits for each address do not apply to the connection.
  case connected(ConnectionID, address: String?)
  /// A client's line, the monotonic ms at which it was decoded, and the last measured round trip of its connection in ms.
  case line(ConnectionID, ClientLine, at: Int64, roundTrip: Int)
  /// `clean`: the client sent `bye`.
  case disconnected(ConnectionID, clean: Bool)
  /// A spectator's connection can take lines again; it has missed events of these matches.
  case caughtUp(ConnectionID, [MatchID])
  case verdict(UInt64, Verdict)
  /// The answer to the question of this number; `nil` if the store did not answer.
  case answer(UInt64, StoreAnswer?)
  /// The text of a notification from another node; `nil` if notifications may have been lost.
  case notification(String?)
  case tick
  /// The server is about to stop; clients are told to reconnect after `retry` milliseconds.
  case drain(retry: Int)
  /// This node leaves the store. Further inputs are ignored, so that no heartbeat adds the node again.
  case leave
  /// An administrator's order, answered with `LobbyEffect.orderCompleted` and the same number.
  case administer(UInt64, Order)
}

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

/// A replacement token that an administrator issues to a named player.
package struct IssuedToken {
  package let text: String
  private let name: String

  package init(for name: String) {
    var random = Entropy.system
    (text, self.name) = (Secret.make(from: &random), name)
  }

  package var question: StoreQuestion {
    .change(.name(name), .token(Secret.digest(text), lives: Lifetimes.usual.account))
  }

  /// Returns why the store refused to replace the token; `nil` if the store has replaced it.
  package func refusal(of result: ChangeResult) -> String? {
    switch result {
    case .changed: nil
    case .forbidden: "\(name) is a guest, who has no name to log in to"
    default: "there is no player \(name)"
    }
  }
}

package enum Order: Sendable, Hashable {
  case player(String, Administration)
  /// Annuls a live match: it ends without a result.
  case annul(MatchID)
}

/// How a line may be treated if the receiver is slow.
package enum LineKind: Sendable, Hashable {
  /// The line must arrive, or the connection ends.
  case essential
  /// The line may be dropped, because it is chat.
  case droppable
  /// The line is a match event for a spectator; it may be dropped if the newest state is sent later.
  case spectator(MatchID)
}

package enum LobbyEffect: Sendable {
  case send(ConnectionID, [UInt8], LineKind)
  /// Send `bye` and end the connection. `retry`: milliseconds after which the client is asked to connect again.
  case close(ConnectionID, ByeCode, String, retry: Int?)
  /// Store a unit and report its verdict under this number. Two units in flight never touch the same match.
  case store(UInt64, StoreUnit)
  /// Ask the store and report the answer under this number.
  case ask(UInt64, StoreQuestion)
  /// Send a text to other nodes, after executing all effects before this one.
  case publish([NodeID], String)
  /// `false`: there is no such player or live match. `nil`: not carried out now, for example because the store does not answer.
  case orderCompleted(UInt64, Bool?)
  /// An entry for the log: a sentence and its fields.
  case note(String, [String: String])
}

extension LobbyEffect {
  static func line(
    _ message: ServerMessage, to id: ConnectionID, re: String? = nil, kind: LineKind = .essential
  ) -> LobbyEffect { .send(id, message.bytes(re: re), kind) }

  /// Sends a notification to other nodes, if there are any.
  static func publish(_ notification: Notification, to others: [NodeID]) -> [LobbyEffect] {
    others.isEmpty ? [] : [.publish(others, notification.text)]
  }
}

/// The settings of the lobby, most of them flags of the server.
package struct LobbyConfiguration: Sendable, Hashable {
  package var server = "alina-server"
  /// The messages that a person may send each second, and the most in one burst; `welcome` tells the client both.
  package var rate = [20, 40]
  /// The messages that a bot may send each second, and the most in one burst.
  package var botRate = [200, 200]
  /// The most logins a minute from one address at this node, new guests included.
  package var loginsPerMinute = 30
  /// The most registrations a day from one address, at all nodes of a store.
  package var namesPerDay = 20
  /// The most wrong codes of rooms and tournaments a minute at this node, per address and per account.
  package var codeTriesPerMinute = 5
  /// The number of units in flight above which commands are refused as busy.
  package var maxPending = 4096
  /// The milliseconds that the oldest unit may wait for the store before commands are refused as busy.
  package var maxWait = 2000
  /// Milliseconds of absence after `bye`, until the opponent may claim the win.
  package var graceAfterBye = 10_000
  /// Milliseconds of absence after a lost connection or a restart, until the opponent may claim the win.
  package var grace = 40_000
  /// Milliseconds of all absences of a side in a match together, until the opponent may claim the win.
  package var graceInAll = 60_000
  /// Milliseconds from the moment when a player may claim the win until the player wins without a claim.
  package var claimByItself = 60_000
  /// Milliseconds after the end of a match in which a rematch may be requested.
  package var rematchWithin = 30_000
  package var codeLives = 600_000
  /// The most open tournaments at a time, and the most of them that were made from one address (`tournamentsPerAddress`).
  package var maxTournaments = 64
  package var tournamentsPerAddress = 2
  /// Milliseconds of waiting after which a player is offered bots.
  package var botAfter = 20_000
  /// Milliseconds for which the store keeps the `key` of a seek or a room, at least. A key whose match is live is kept longer.
  package var keyLives: Int64 = 600_000
  /// The most guest accounts. Beyond this number, the guests unused for longest are deleted, if neither connected nor in a live match.
  package var maxGuests = 20_000
  package var lives = Lifetimes.usual
  /// `HOST:PORT` by which clients reach this node, sent to clients of other nodes; empty if unknown.
  package var address = ""
  /// Milliseconds between two heartbeats of a node.
  package var heartbeatInterval: Int64 = 1000
  /// Milliseconds between two comparisons with the store.
  package var compareEvery: Int64 = 2000
  /// Milliseconds by which nodes without a side's connection delay the side's timers: longer than `compareEvery`, so that the side's events
  /// have arrived even if notifications were lost.
  package var otherNodesWait: Int64 = 2500
  /// The most matches that a node adopts with one request to the store.
  package var sweptAtOnce = 64
  /// Milliseconds after a lost answer during which memory is compared with the store, which may still execute the request.
  package var uncertainty: Int64 = 30_000
  /// Milliseconds after which an unanswered question is asked again.
  package var askAgain: Int64 = 200

  package init() {}
}
