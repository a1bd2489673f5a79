import MatchProtocol
import MatchStore

/// The origin of a unit, which decides who is answered after the verdict.
enum UnitOrigin: Sendable {
  /// No client waits for an answer, or none any more.
  case itself
  /// A command, answered with the `seq` of its event.
  case command(ClientCommand, seq: Int)
  /// A command that opens a room.
  case opened(ClientCommand)
  case paired(Pairing)
  case ordered(UInt64)

  /// The command whose connection waits for the verdict; `nil` if no connection waits.
  var command: ClientCommand? {
    switch self {
    case .command(let command, _), .opened(let command): command
    case .itself, .paired, .ordered: nil
    }
  }
}

/// The units in flight at the store, by number: which were stored, which were refused, and which must be decided again.
struct UnitPipeline: Sendable {
  struct Unit: Sendable {
    let draft: Draft
    fileprivate(set) var origin: UnitOrigin
  }

  /// The meaning of a verdict, or of an answer of the store, for a unit.
  enum Output {
    /// The unit has left the pipeline.
    case ended(Unit, End)
    /// Read a log, which shows whether the unit was stored, and pass the answer to `resolve`.
    case readLog(MatchID)
    /// Read an account, whose rating has changed, and then call `decideAgain`.
    case readAccount(Int64)
  }

  enum End {
    /// `nodes`: those that follow the unit's matches, as far as they are known.
    case stored(nodes: [MatchID: [NodeID]])
    /// The store cannot store the unit, and will not be able to.
    case refused(Conflict)
    case failed
    /// The unit was not stored.
    case decideAgain
  }

  private var units: [UInt64: Unit] = [:]
  /// Units in the order of submission (`at`: monotonic ms). Finished units are removed later, many at once.
  private var order: [(number: UInt64, at: Int64)] = []
  private var first = 0
  private var next: UInt64 = 1

  var isSettled: Bool { units.isEmpty }
  var count: Int { units.count }

  subscript(number: UInt64) -> Unit? { units[number] }

  mutating func add(_ draft: Draft, _ origin: UnitOrigin, _ now: Int64) -> UInt64 {
    defer { next += 1 }
    units[next] = Unit(draft: draft, origin: origin)
    order.append((next, now))
    return next
  }

  /// How many units may be submitted now: 0 if too many are in flight, or the oldest has waited too long.
  func capacity(_ configuration: LobbyConfiguration, _ now: Int64) -> Int {
    let isLate = first < order.count && now - order[first].at > Int64(configuration.maxWait)
    return isLate ? 0 : max(0, configuration.maxPending + 1 - units.count)
  }

  // MARK: verdicts

  /// After `unknown` (a lost answer) only the log tells whether the unit was stored. After a conflict about a log's length this node lacks
  /// events: reading the log catches up.
  mutating func judge(_ number: UInt64, _ verdict: Verdict) -> Output? {
    switch verdict {
    case .applied(let nodes): end(number, .stored(nodes: nodes))
    case .failed: end(number, .failed)
    case .unknown, .conflict(.log): units[number].map { .readLog($0.draft.decisiveLog.m) }
    case .conflict(.rating(let account)): units[number].map { _ in .readAccount(account) }
    case .conflict(let conflict): end(number, .refused(conflict))
    }
  }

  /// The answer to `readLog`; `found`: the match as the store has it. A unit that the log lacks may be stored later nevertheless. That does
  /// no harm: of two units that continue a log from the same length, the store takes one, and a repeated command is known by its `mid`.
  mutating func resolve(_ number: UInt64, _ found: FollowedMatch?) -> Output? {
    guard let found, units[number]?.draft.isStored(in: found) == true else { return end(number, .decideAgain) }
    // Only this log's followers are known. Nodes that follow another log of the unit find the change by comparing memory with the store.
    return end(number, .stored(nodes: [found.match.record.id: found.nodes]))
  }

  /// The account of `readAccount` was read.
  mutating func decideAgain(_ number: UInt64) -> Output? { end(number, .decideAgain) }

  /// Forgets the client or administrator who waits for a unit of unknown outcome, and returns the unit as it was; `nil` if it has ended.
  mutating func detachOrigin(_ number: UInt64) -> Unit? {
    guard let unit = units[number] else { return nil }
    switch unit.origin {
    case .itself, .paired: break
    case .command, .opened, .ordered: units[number]?.origin = .itself
    }
    return unit
  }

  /// Takes a unit out; `nil` if it has ended before.
  private mutating func end(_ number: UInt64, _ end: End) -> Output? {
    guard let unit = units.removeValue(forKey: number) else { return nil }
    while first < order.count, units[order[first].number] == nil { first += 1 }
    if first > 256, first * 2 > order.count {
      order.removeFirst(first)
      first = 0
    }
    return .ended(unit, end)
  }

  var faults: [String] {
    units.keys.allSatisfy { number in order[first...].contains { $0.number == number } } ? [] : ["a unit has no age"]
  }

  /// Whether a unit in flight changes a match; O(units).
  func changes(_ m: MatchID) -> Bool { units.values.contains { $0.draft.unit.logs.contains { $0.m == m } } }
}
