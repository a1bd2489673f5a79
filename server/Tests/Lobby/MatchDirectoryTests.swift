import Base
import MatchProtocol
import MatchStore
import Testing
import TicTacToe

@testable import Lobby

@Suite struct MatchDirectoryTests {
  private var directory = MatchDirectory()
  private let now = Moment(monotonic: 1000, wall: 1_700_000_000_000)

  private func id(_ n: Int) throws -> MatchID { try #require(MatchID(rawValue: String(repeating: "\(n)", count: 12))) }

  private func session(_ account: Int64) -> Session {
    Session(id: "s\(account)", account: account, connection: ConnectionID(account), generation: 1)
  }

  private var context: MatchContext {
    MatchContext(
      configuration: LobbyConfiguration(), nodes: Membership("a", LobbyConfiguration(), now), people: SessionTable())
  }

  /// The log of a match of the accounts 1 and 2 that has begun, as the store has it.
  private func stored(_ m: MatchID, _ more: [MatchEvent] = []) -> FollowedMatch {
    let info = PlayerInfo(name: "p", rating: 1500, guest: true)
    let start = MatchEvent(
      at: more.first?.at ?? now.wall,
      .start(Sides(x: info, o: info), MatchTerms(), confirm: false, previous: nil, keys: []))
    return FollowedMatch(
      match: StoredMatch(record: MatchRecord(id: m, x: 1, o: 2, created: 0), bodies: ([start] + more).map(\.body)),
      accounts: [], nodes: ["a"], here: [:], now: now.wall)
  }

  private mutating func install(_ found: FollowedMatch) {
    let isSound = directory.install(found, context)
    #expect(isSound)
    _ = directory.takeOutputs()
  }

  @Test mutating func `a match is loaded once for all requests that wait for it, which are answered in order`() throws {
    let m = try id(1)
    for i in [7, 8] { directory.load(m, .request(.caughtUp(m), ConnectionID(i))) }
    let asked = directory.takeOutputs().count { if case .load = $0 { true } else { false } }
    #expect(asked == 1)
    _ = directory.announced([], of: m, from: 5, context)
    _ = directory.announced([], of: m, from: 3, context)
    let waiting = directory.endLoading(m).map { work -> ConnectionID in
      if case .request(_, let id) = work { id } else { 0 }
    }
    #expect(waiting == [7, 8])
    install(stored(m))
    directory.finishLoading(m, nil, context)
    let reread = directory.takeOutputs().contains { if case .reread(m) = $0 { true } else { false } }
    #expect(reread, "the store's answer lacks the announced events 2 to 5")
  }

  @Test mutating func `at most 64 requests wait for a match, and 256 matches are loaded at once`() throws {
    for _ in 0..<64 { directory.load(try id(1), .named) }
    #expect(try !directory.mayLoad(id(1)) && directory.mayLoad(id(2)))
  }

  @Test mutating func `a player who left is logged as gone, and one who may be at another node is not`() throws {
    let m = try id(1)
    install(stored(m))
    directory.seat(session(1), at: m)
    directory.seat(session(2), at: m)
    _ = directory.takeOutputs()
    directory.leave(session(2), clean: false, isElsewhere: true, context)
    let none = directory.takeOutputs()
    #expect(none.isEmpty && directory.checks[m] != nil)
    directory.leave(session(1), clean: false, isElsewhere: false, context)
    let changes = directory.takeOutputs().compactMap { output -> LiveMatch.Change? in
      if case .change(m, let change) = output { change } else { nil }
    }
    #expect(changes == [.append([MatchEvent(at: now.wall, side: .x, .gone)])])
    #expect(directory[m]?.isSettled == false, "until the store has the event")
  }

  @Test mutating func `an event is sent once it is folded, and a log that is inconsistent ends its match`() throws {
    let m = try id(1)
    install(stored(m))
    directory.seat(session(1), at: m)
    _ = directory.takeOutputs()
    let resigned = MatchEvent(at: now.wall, side: .x, .resign)
    directory.fold([(resigned, resigned.body)], of: m, after: 1, context)
    let sent = directory.takeOutputs().compactMap { output -> ConnectionID? in
      if case .effects(let lines) = output, case .send(let id, _, _) = lines.first { id } else { nil }
    }
    #expect(sent == [1] && directory[m]?.state.seq == 2)
    let impossible = MatchEvent(at: now.wall, .gone)
    directory.fold([(impossible, impossible.body)], of: m, after: 2, context)
    let outputs = directory.takeOutputs()
    #expect(directory[m] == nil && directory.abandonedCount == 1)
    guard case .effects(let lines) = outputs.first, case .close(1, .restart, _, _) = lines.first,
      case .submit(let draft)? = outputs.first(where: { if case .submit = $0 { true } else { false } })
    else {
      Issue.record("the match does not end")
      return
    }
    #expect(draft.unit.logs[0].after == 2 && draft.unit.logs[0].record?.ended != nil)
  }

  @Test mutating func `a match that is removed has no presence check and is not found by its accounts`() throws {
    let m = try id(1)
    install(stored(m))
    directory.schedulePresenceCheck(m, 0, byAll: true)
    directory.schedulePresenceCheck(m, 5)
    #expect(directory.checks[m]?.byAll == true)
    #expect(directory.of(1) == [m] && directory.of(2) == [m])
    directory.catchUp(m, nil, context)
    _ = directory.takeOutputs()
    #expect(directory.checks[m] == nil && directory.of(1) == [] && directory[m] == nil)
    #expect(directory.faults == [])
  }

  @Test mutating func `matches end at different times, unless the clock was set back`() {
    let times = [1000, 1000, 999, 5000, -60_000].map { directory.endMoment($0) }
    #expect(times == [1000, 1001, 1002, 5000, -60_000])
  }

  @Test
  mutating func `of more than 256 finished matches the one loaded longest ago is evicted, never the one just loaded`() {
    var random = Entropy(seed: 1)
    let long = now.wall - 100_000
    let end = [MatchEvent(at: long, side: .x, .resign), MatchEvent(at: long, .end(.win(.o), .resign, ratings: nil))]
    func finished(_ m: MatchID) -> FollowedMatch {
      var found = stored(m, end)
      found.match.record.ended = long
      return found
    }
    let ids = (0..<MatchDirectory.mostFinished).map { _ in MatchID(using: &random) }
    for m in ids { install(finished(m)) }
    install(finished(ids[0]))
    #expect(directory.count == ids.count)
    install(finished(MatchID(using: &random)))
    #expect(directory[ids[0]] != nil && directory[ids[1]] == nil && directory.count == ids.count)
  }
}
