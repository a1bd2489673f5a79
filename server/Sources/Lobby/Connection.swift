import Base
import MatchProtocol
import MatchStore
import TicTacToe

/// Work for one connection, handled in order: a client's request, or an order of this node to send the client something.
enum Request: Sendable {
  /// A line from the client, decoded at the monotonic time `at`, in ms.
  case line(ClientLine, at: Int64)
  /// Subscribe the player and send the match's state; for a match new to the player, first answer the request `re` with `paired`.
  case follow(MatchID, re: String?, isNew: Bool)
  /// Answer the request `re` with a room's code.
  case room(MatchID, re: String?)
  /// Send a spectator the state of a match whose events the spectator's connection was too slow to take.
  case caughtUp(MatchID)
  /// A request that waited until its match was read again from the store, and is handled now.
  indirect case afterReading(Request)

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
  var version = 1
  var watching: [MatchID] = []
  var roundTrip = 0
  /// How many answers of the store, and matches with a unit or read in flight, the connection waits for. At 0 its next request begins.
  var outstanding = 0
  /// Requests received while the connection waits, in order.
  var queue: [Request] = []
  static let mostQueued = 64
}

/// Counts the attempts (logins, room codes, reports) of each client address and account within the present minute.
struct Tries: Sendable {
  private var minute: Int64 = 0
  private var counts: [String: Int] = [:]

  /// Counts an attempt of `what`, such as `login 203.0.113.7`; `false` if the attempt exceeds `limit` in the present minute.
  mutating func allow(_ what: String, atMost limit: Int, _ now: Int64) -> Bool {
    if minute != now / 60_000 { (minute, counts) = (now / 60_000, [:]) }
    counts[what, default: 0] += 1
    return counts[what, default: 0] <= limit
  }

  func count(_ what: String, _ now: Int64) -> Int { minute == now / 60_000 ? counts[what] ?? 0 : 0 }

  /// Takes an attempt off the count, because a failure of the server must not count against the client.
  mutating func takeBack(_ what: String) { counts[what]? -= 1 }
}
