import MatchProtocol
import Testing

@testable import Lobby

@Suite struct EventLogTests {
  private let events = [
    MatchEvent(at: 1, side: .x, mid: "a", .resign), MatchEvent(at: 2, side: .o, .gone),
    MatchEvent(at: 3, side: .o, .back),
  ]
  private let other = MatchEvent(at: 4, side: .o, .gone).body

  /// The first event is stored; the others came in notifications.
  private func log(_ count: Int) -> EventLog {
    var log = EventLog()
    for (number, event) in events.prefix(count).enumerated() {
      log.append(event, body: event.body, isStored: number == 0)
    }
    return log
  }

  private func bodies(_ count: Int) -> [[UInt8]] { events.prefix(count).map(\.body) }

  @Test func `an event counts as stored only after all events before it`() {
    var log = log(2)
    log.append(events[2], body: events[2].body, isStored: true)
    #expect(log.storedCount == 1)
    #expect(log.compare(bodies(3), requested: (3, 1)) == .same && log.storedCount == 3)
  }

  @Test func `the log in memory is right, forged or broken by comparison with the stored one`() {
    var log = log(2)
    #expect(log.compare(bodies(1), requested: (1, 1)) == .same, "the second event came after the request")
    #expect(log.compare(bodies(1), requested: (2, 1)) == .forged, "the store lacks an event of a notification")
    #expect(log.compare([bodies(1)[0], other], requested: (2, 1)) == .forged)
    #expect(log.compare([other, bodies(2)[1]], requested: (2, 1)) == .broken)
    #expect(log.compare([], requested: (1, 1)) == .broken, "the store lacks an event that it had")
    #expect(log.storedCount == 1)
  }

  @Test func `a notification contradicts the log if an event with the same number differs`() {
    let log = log(2)
    #expect(!log.contradicts(Array(bodies(3)[1...]), from: 2) && !log.contradicts([other], from: 3))
    #expect(log.contradicts([other], from: 2) && log.contradicts([bodies(1)[0], other], from: 1))
  }

  @Test func `a repeated command of the same side gets the answer of the first`() {
    let log = log(3)
    #expect(log.answer(to: "a", of: .x)?.seq == 1 && log.answer(to: "a", of: .x)?.action == .resign)
    #expect(log.answer(to: "a", of: .o) == nil && log.answer(to: "b", of: .x) == nil)
  }
}
