import Base
import MatchProtocol
import MatchStore
import Testing

@testable import Lobby

@Suite struct MatchDirectoryTests {
  private var directory = MatchDirectory()

  private func id(_ n: Int) throws -> MatchID { try #require(MatchID(rawValue: String(repeating: "\(n)", count: 12))) }

  @Test mutating func `a match is loaded once for all requests that wait for it, which are answered in order`() throws {
    let m = try id(1)
    let isFirst = [7, 8].map { directory.awaitLoading(of: m, .request(.caughtUp(m)), for: $0) }
    #expect(isFirst == [true, false])
    directory.announce(5, of: m)
    directory.announce(3, of: m)
    let waiting = directory.endLoading(of: m).map(\.id)
    #expect(waiting == [7, 8])
    let announced = [directory.takeAnnounced(m), directory.takeAnnounced(m)]
    #expect(announced == [5, nil])
    directory.announce(9, of: m)
    let late = directory.takeAnnounced(m)
    #expect(late == nil, "announcements of matches that are not being loaded are ignored")
  }

  @Test mutating func `at most 64 requests wait for a match, and 256 matches are loaded at once`() throws {
    for i in 0..<64 { _ = directory.awaitLoading(of: try id(1), .named, for: ConnectionID(i)) }
    #expect(try !directory.mayWait(for: id(1)) && directory.mayWait(for: id(2)))
  }

  @Test mutating func `a match that is removed has no presence check and is not found by its accounts`() throws {
    let m = try id(1)
    directory.put(LiveMatch(MatchRecord(id: m, x: 1, o: 2, created: 0)))
    directory.schedulePresenceCheck(m, 0, byAll: true)
    directory.schedulePresenceCheck(m, 5)
    #expect(directory.presenceCheck(of: m)?.byAll == true && Array(directory.toCheck) == [m])
    #expect(directory.of(1) == [m] && directory.of(2) == [m] && directory.faults == [])
    directory.remove(m)
    #expect(directory.toCheck.isEmpty && directory.of(1) == [] && directory[m] == nil && directory.faults == [])
  }

  @Test mutating func `matches end at different times, unless the clock was set back`() {
    let times = [1000, 1000, 999, 5000, -60_000].map { directory.endMoment($0) }
    #expect(times == [1000, 1001, 1002, 5000, -60_000])
  }

  @Test
  mutating func `of more than 256 finished matches the one loaded longest ago is evicted, never the one just loaded`() {
    var random = Entropy(seed: 1)
    let ids = (0..<MatchDirectory.mostFinished).map { _ in MatchID(using: &random) }
    let early = ids.map { directory.keepFinished($0) }
    #expect(early.allSatisfy { $0 == nil })
    let again = directory.keepFinished(ids[0])
    let next = directory.keepFinished(MatchID(using: &random))
    #expect(again == nil && next == ids[1])
  }
}
