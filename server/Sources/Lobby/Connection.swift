import Base
import MatchProtocol
import MatchStore
import TicTacToe

/// Work for one connection, handled in order: a client's request, or an order of this node to send the client something.
enum Request: Sendable {
  /// A line from the client, and the monotonic time, in ms, at which it was decoded.
  case line(ClientLine, at: Int64)
  /// Subscribe the player's session to a match and send the state of the match. If the match is new to the player, send `paired` first, as
  /// the answer to the request `re`.
  case follow(MatchID, re: String?, isNew: Bool)
  /// Send the code of a room, in answer to the request `re`.
  case room(MatchID, re: String?)
  /// Send a spectator the state of a match, because the spectator's connection was too slow to take the events of the match.
  case caughtUp(MatchID)
  /// A request that waited until its match was read again from the store, and is handled now.
  indirect case afterReading(Request)

  /// Whether the request asks for the state of a match.
  var asksForState: Bool {
    switch self {
    case .line(let line, _): if case .sync = line.message { true } else { false }
    case .follow: true
    case .room, .caughtUp: false
    case .afterReading(let request): request.asksForState
    }
  }

  var re: String? {
    switch self {
    case .line(let line, _): line.id
    case .follow(_, let re, _), .room(_, let re): re
    case .caughtUp: nil
    case .afterReading(let request): request.re
    }
  }
}

struct Connection: Sendable {
  let address: String?
  var session: String?
  /// The protocol version of the connection.
  var version = 1
  var watching: [MatchID] = []
  var roundTrip = 0
  /// How many things the connection waits for: answers of the store, and matches with a unit or a read in flight. At 0 it begins the next
  /// request.
  var outstanding = 0
  /// Requests received while the connection waits, in order.
  var queue: [Request] = []
  static let mostQueued = 64
}

/// Counts the attempts (logins, room codes, reports) of each client address and account within the present minute.
struct Tries: Sendable {
  private var minute: Int64 = 0
  private var counts: [String: Int] = [:]

  /// Counts an attempt of `what`, such as `login 203.0.113.7`. Returns `false` if the present minute has more than `limit` of these
  /// attempts.
  mutating func allow(_ what: String, atMost limit: Int, _ now: Int64) -> Bool {
    if minute != now / 60_000 { (minute, counts) = (now / 60_000, [:]) }
    counts[what, default: 0] += 1
    return counts[what, default: 0] <= limit
  }

  /// The attempts of `what` within the present minute.
  func count(_ what: String, _ now: Int64) -> Int { minute == now / 60_000 ? counts[what] ?? 0 : 0 }

  /// Takes an attempt off the count, because a failure of the server must not count against the client.
  mutating func takeBack(_ what: String) { counts[what]? -= 1 }
}
