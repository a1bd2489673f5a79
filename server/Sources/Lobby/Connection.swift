import Base
import MatchProtocol
import MatchStore
import TicTacToe

/// A client's request, or an order to send a client a line, which waits in the same queue as the client's requests.
enum Request: Sendable {
  /// A line of the client, decoded at a monotonic time.
  case line(ClientLine, at: Int64)
  /// Subscribe to a match and send its state; before it `paired`, in answer to the request `re`, if the match is new to the player.
  case follow(MatchID, re: String?, isNew: Bool)
  /// Send the code of a room, in answer to the request `re`.
  case room(MatchID, re: String?)
  /// Send the state of a match to a spectator whose connection was too slow for its events.
  case caughtUp(MatchID)
  /// A request that is handled now because its match has been read again from the store.
  indirect case afterReading(Request)

  /// Whether the request asks for the state of a match.
  var isLook: Bool {
    switch self {
    case .line(let line, _): if case .sync = line.message { true } else { false }
    case .follow: true
    case .room, .caughtUp: false
    case .afterReading(let request): request.isLook
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
  /// The number of answers for which the connection waits. No further request begins before they have arrived.
  var outstanding = 0
  /// Requests received while the connection waits, in order.
  var queue: [Request] = []
  static let mostQueued = 64
}

/// Counts the attempts of addresses and accounts (logins, room codes, reports) within the present minute.
struct Tries: Sendable {
  private var minute: Int64 = 0
  private var counts: [String: Int] = [:]

  /// Counts an attempt; `false` if there were more than `limit` within the minute.
  mutating func allow(_ what: String, atMost limit: Int, _ now: Int64) -> Bool {
    if minute != now / 60_000 { (minute, counts) = (now / 60_000, [:]) }
    counts[what, default: 0] += 1
    return counts[what, default: 0] <= limit
  }

  /// The attempts within the present minute.
  func count(_ what: String, _ now: Int64) -> Int { minute == now / 60_000 ? counts[what] ?? 0 : 0 }

  /// Takes an attempt off the count, because a failure of the server must not count against the client.
  mutating func takeBack(_ what: String) { counts[what]? -= 1 }
}
