import MatchProtocol
import MatchStore
import TicTacToe

/// The origin of a unit, which decides who is answered after the verdict.
enum UnitOrigin: Sendable {
  /// A timer or a presence change: no client waits for an answer.
  case itself
  /// A command, answered with the `seq` of its event.
  case command(ClientCommand, seq: Int)
  /// A command that opens a room.
  case opened(ClientCommand)
  case paired(Pairing)
  case ordered(UInt64)

  /// The command whose connection waits for the verdict; `nil` if no client caused the unit.
  var command: ClientCommand? {
    switch self {
    case .command(let command, _), .opened(let command): command
    case .itself, .paired, .ordered: nil
    }
  }
}

/// Units and questions in flight at the store, by number.
struct StoreWork: Sendable {
  /// Handles the store's answer, which is `nil` if the store did not answer.
  typealias Then = @Sendable (inout Lobby, StoreAnswer?) -> Void

  struct Unit: Sendable {
    let draft: Draft
    fileprivate(set) var origin: UnitOrigin
  }

  private var units: [UInt64: Unit] = [:]
  /// Units in the order of submission (`at`: monotonic ms). Finished units are removed later, many at once.
  private var order: [(number: UInt64, at: Int64)] = []
  private var first = 0
  private var questions: [UInt64: (then: Then, id: ConnectionID?)] = [:]
  private var next: UInt64 = 1

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

  /// Forgets the client or administrator who caused a unit, because that request was refused.
  mutating func forgetOrigin(_ number: UInt64) { units[number]?.origin = .itself }

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

  /// How many units may be submitted now: 0 if too many are in flight, or the oldest has waited too long.
  func capacity(_ configuration: LobbyConfiguration, _ now: Int64) -> Int {
    let isLate = first < order.count && now - order[first].at > Int64(configuration.maxWait)
    return isLate ? 0 : max(0, configuration.maxPending + 1 - units.count)
  }

  var faults: [String] {
    units.keys.allSatisfy { number in order[first...].contains { $0.number == number } } ? [] : ["a unit has no age"]
  }
}
