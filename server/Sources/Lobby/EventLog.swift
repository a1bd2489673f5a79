import MatchProtocol
import TicTacToe

/// The encoded events of a match in memory, and the answers to repeated commands.
struct EventLog: Sendable {
  private(set) var bodies: [[UInt8]] = []
  /// The number of events that the store is known to have. Later events came in notifications, which another database user can forge.
  private(set) var storedCount = 0
  /// Each command's action and the number (`seq`) of its event, by side and by the id that the client gave the command (`mid`).
  private var answers: [String: Answer] = [:]

  typealias Answer = (action: MatchAction, seq: Int)

  enum Comparison {
    case same
    /// The store lacks an event that came in a notification, or has a different event in its place.
    case forged
    /// The store lacks an event that it had before, or has a different event in its place.
    case broken
  }

  /// `isStored`: whether the store has the event.
  mutating func append(_ event: MatchEvent, body: [UInt8], isStored: Bool) {
    bodies.append(body)
    // The store checks only the length of a log. So a stored event does not prove that earlier events, brought by notifications, are
    // genuine: count an event as stored only if all earlier events are stored.
    if isStored, storedCount == bodies.count - 1 { storedCount += 1 }
    if let side = event.side, let mid = event.mid, let action = MatchAction(event) {
      answers[side.text + mid] = (action, bodies.count)
    }
  }

  /// A repeated command, recognised by its `mid`, gets the answer of the first time.
  func answer(to mid: String, of side: Player) -> Answer? { answers[side.text + mid] }

  /// Whether one of `events`, numbered from `seq` on, differs from the event of the same number in memory.
  func contradicts(_ events: [[UInt8]], from seq: Int) -> Bool {
    zip(bodies.dropFirst(seq - 1), events).contains { $0 != $1 }
  }

  /// `requested`: how many events memory had when `log` was requested, and how many of these events the store was known to have.
  mutating func compare(_ log: [[UInt8]], requested: (count: Int, storedCount: Int)) -> Comparison {
    let same = zip(bodies, log).prefix { $0 == $1 }.count
    if same < min(storedCount, log.count) || log.count < requested.storedCount { return .broken }
    if same < min(bodies.count, log.count) || log.count < requested.count { return .forged }
    storedCount = max(storedCount, same)
    return .same
  }
}
