import MatchProtocol
import TicTacToe

/// The events of a match in memory: encoded, with how many of them the store is known to have, and the answers to repeated commands.
struct EventLog: Sendable {
  /// The encoded events, to be sent to clients that lack them.
  private(set) var bodies: [[UInt8]] = []
  /// The number of events that the store is known to have. Later events came in notifications, which another user of the database
  /// can forge.
  private(set) var storedCount = 0
  /// For each command, by its side and the id that its client gave it (`mid`): the action, and the number (`seq`) of the event it caused.
  private var answers: [String: Answer] = [:]

  typealias Answer = (action: MatchAction, seq: Int)

  enum Comparison {
    case same
    /// The store lacks an event that came in a notification, or has a different event in its place.
    case forged
    /// The store lacks an event that it had before, or has a different event in its place.
    case broken
  }

  /// Appends an event; `isStored`: whether the store has it.
  mutating func append(_ event: MatchEvent, body: [UInt8], isStored: Bool) {
    bodies.append(body)
    // The store accepts an event if the log has the expected length; it does not compare the earlier events. So a stored event does not
    // prove that an earlier event, which a notification brought, is genuine. Count an event as stored only if all events before it are.
    if isStored, storedCount == bodies.count - 1 { storedCount += 1 }
    if let side = event.side, let mid = event.mid, let action = MatchAction(event) {
      answers[side.text + mid] = (action, bodies.count)
    }
  }

  /// The answer to an earlier command of a side with the same id: a command that is repeated gets the same answer.
  func answer(to mid: String, of side: Player) -> Answer? { answers[side.text + mid] }

  /// Whether one of `events`, the first of which has the number `seq`, differs from the event in memory that has the same number.
  func contradicts(_ events: [[UInt8]], from seq: Int) -> Bool {
    zip(bodies.dropFirst(seq - 1), events).contains { $0 != $1 }
  }

  /// Compares the events in memory with a log from the store. `requested` tells how many events memory had when the log was
  /// requested, and how many of them were known to be stored.
  mutating func compare(_ log: [[UInt8]], requested: (count: Int, storedCount: Int)) -> Comparison {
    let same = zip(bodies, log).prefix { $0 == $1 }.count
    if same < min(storedCount, log.count) || log.count < requested.storedCount { return .broken }
    if same < min(bodies.count, log.count) || log.count < requested.count { return .forged }
    storedCount = max(storedCount, same)
    return .same
  }
}
