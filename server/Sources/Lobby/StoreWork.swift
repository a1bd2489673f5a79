import MatchProtocol
import MatchStore
import TicTacToe

/// A unit to be stored, with its events as values.
struct Draft: Sendable {
  var unit: StoreUnit
  /// The events of each log of the unit.
  var events: [[MatchEvent]]

  init(_ log: StoreUnit.Log, _ events: [MatchEvent]) { (unit, self.events) = (StoreUnit(logs: [log]), [events]) }

  /// Adds another log after the others.
  mutating func add(_ log: StoreUnit.Log, _ events: [MatchEvent]) {
    unit.logs.append(log)
    self.events.append(events)
  }
}

/// The origin of a unit, which decides who is answered after the verdict.
enum UnitOrigin: Sendable {
  /// A timer or a presence change; checked again in any case.
  case itself
  /// A command, answered with the `seq` of its event.
  case command(ConnectionID, ClientLine, at: Int64, seq: Int)
  case opened(ConnectionID, ClientLine, at: Int64)
  case paired(Pairing)
  case ordered(UInt64)

  /// When the client sent the command; `nil` without a client.
  var since: Int64? {
    switch self {
    case .command(_, _, let at, _), .opened(_, _, let at): at
    case .itself, .paired, .ordered: nil
    }
  }
}

/// Units and questions in flight at the store, by number.
struct StoreWork: Sendable {
  /// Called with the answer; `nil` if the store gave none.
  typealias Then = @Sendable (inout Lobby, StoreAnswer?) -> Void

  struct Unit: Sendable {
    let draft: Draft
    fileprivate(set) var then: UnitOrigin
  }

  private var units: [UInt64: Unit] = [:]
  /// The submission times, oldest first; some units may be done.
  private var order: [(number: UInt64, at: Int64)] = []
  private var first = 0
  private var questions: [UInt64: (then: Then, id: ConnectionID?)] = [:]
  private var next: UInt64 = 1
  /// The requests that wait for a match to be loaded, in order.
  var loading: [MatchID: [(id: ConnectionID?, work: Loading)]] = [:]
  /// The highest `seq` that hints announced for matches being loaded.
  var growing: [MatchID: Int] = [:]
  /// Finished matches that were loaded, oldest first.
  var finished: [MatchID] = []
  /// Shared pages: when each was last read, and its rows as JSON with their games. `readers` are the connections
  /// waiting for the next read.
  var pages: [StoreQuestion: (at: Int64, rows: [(rules: Variant, json: [UInt8])])] = [:]
  var readers: [StoreQuestion: [(ConnectionID, re: String?)]] = [:]
  /// Tickets whose match is in flight.
  var pairing: Set<String> = []
  /// The number of connections whose history is being read.
  var historyReaders = 0

  /// The action for a match after it is loaded.
  enum Loading: Sendable {
    case request(Request)
    /// Subscribe the players of this match, whose rematch it is.
    case rematch(of: MatchID)
    /// Subscribe the account whose ticket was matched.
    case paired(ticket: String, account: Int64)
    case annul(UInt64)
    /// Adopt the match, because it lists this node.
    case named
  }

  var isSettled: Bool { units.isEmpty }
  var unitCount: Int { units.count }
  var questionCount: Int { questions.count }

  subscript(unit number: UInt64) -> Unit? { units[number] }

  mutating func add(_ unit: Unit, _ now: Int64) -> UInt64 {
    defer { next += 1 }
    units[next] = unit
    order.append((next, now))
    return next
  }

  /// Notes that the client or administrator who caused a unit was refused, and is answered no more.
  mutating func forgetOrigin(_ number: UInt64) { units[number]?.then = .itself }

  mutating func finish(_ number: UInt64) {
    units[number] = nil
    while first < order.count, units[order[first].number] == nil { first += 1 }
    if first > 256, first * 2 > order.count {
      order.removeFirst(first)
      first = 0
    }
  }

  mutating func ask(_ then: @escaping Then, for id: ConnectionID?) -> UInt64 {
    defer { next += 1 }
    questions[next] = (then, id)
    return next
  }

  mutating func answered(_ number: UInt64) -> (then: Then, id: ConnectionID?)? {
    questions.removeValue(forKey: number)
  }

  /// Whether too many units are in flight or the oldest has waited too long.
  func isBusy(_ configuration: LobbyConfiguration, _ now: Int64) -> Bool {
    units.count > configuration.maxPending
      || first < order.count && now - order[first].at > Int64(configuration.maxWait)
  }

  var faults: [String] {
    units.keys.allSatisfy { number in order[first...].contains { $0.number == number } } ? [] : ["a unit has no age"]
  }
}
