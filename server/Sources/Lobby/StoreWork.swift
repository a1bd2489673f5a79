import MatchProtocol
import MatchStore
import TicTacToe

/// A unit in the making: what is to be stored, and the events in it as values.
struct Draft: Sendable {
  var unit: StoreUnit
  /// For each log of the unit.
  var events: [[MatchEvent]]

  init(_ log: StoreUnit.Log, _ events: [MatchEvent]) { (unit, self.events) = (StoreUnit(logs: [log]), [events]) }

  /// Adds another log, behind what is there.
  mutating func add(_ log: StoreUnit.Log, _ events: [MatchEvent]) {
    unit.logs.append(log)
    self.events.append(events)
  }
}

/// Who wanted a unit, and what follows from its verdict.
enum Decided: Sendable {
  /// Time or presence; they are looked at again anyway.
  case itself
  /// A command, answered with the `seq` of its event.
  case command(ConnectionID, ClientLine, at: Int64, seq: Int)
  case opened(ConnectionID, ClientLine, at: Int64)
  case paired(Pairing)
  case ordered(UInt64)

  /// When somebody who waits for an answer asked.
  var since: Int64? {
    switch self {
    case .command(_, _, let at, _), .opened(_, _, let at): at
    case .itself, .paired, .ordered: nil
    }
  }
}

/// What is out at the store: units and questions, by the numbers they were handed out with.
struct StoreWork: Sendable {
  /// What to do with an answer; `nil` if there is none.
  typealias Then = @Sendable (inout Lobby, StoreAnswer?) -> Void

  struct Unit: Sendable {
    let draft: Draft
    let then: Decided
  }

  private var units: [UInt64: Unit] = [:]
  /// When each was handed out, oldest first; some may be done.
  private var order: [(number: UInt64, at: Int64)] = []
  private var first = 0
  private var questions: [UInt64: (then: Then, id: ConnectionID?)] = [:]
  private var next: UInt64 = 1
  /// Who waits for a match that is being loaded, in order.
  var loading: [MatchID: [(id: ConnectionID?, work: Loading)]] = [:]
  /// How far matches have grown, as was heard, that are being loaded.
  var growing: [MatchID: Int] = [:]
  /// Finished matches that were loaded, in order.
  var finished: [MatchID] = []
  /// Pages for everybody: when they were asked for last, their rows as JSON, each with its game, and who waits for the next.
  var pages: [StoreQuestion: (at: Int64, rows: [(rules: Variant, json: [UInt8])])] = [:]
  var readers: [StoreQuestion: [(ConnectionID, re: String?)]] = [:]
  /// Tickets whose match is being begun.
  var pairing: Set<String> = []
  /// How many connections finished matches are being read for.
  var historyReaders = 0

  /// What to do with a match once it is loaded.
  enum Loading: Sendable {
    case request(Request)
    /// It is the rematch of this one.
    case rematch(of: MatchID)
    /// A ticket of this account has led to it.
    case paired(ticket: String, account: Int64)
    case setAside(UInt64)
    /// It names this node.
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

  /// Whether too much waits, or something has waited for too long.
  func isBusy(_ configuration: LobbyConfiguration, _ now: Int64) -> Bool {
    units.count > configuration.maxPending
      || first < order.count && now - order[first].at > Int64(configuration.maxWait)
  }

  var faults: [String] {
    units.keys.allSatisfy { number in order[first...].contains { $0.number == number } } ? [] : ["a unit has no age"]
  }
}
