import MatchProtocol
import MatchStore
import Testing

@testable import Lobby

@Suite struct MembershipTests {
  private var membership = Membership("b", .init(), Moment(monotonic: 0, wall: 1_000_000))

  private mutating func advance(to now: Int64) { membership.advance(to: Moment(monotonic: now, wall: now + 1_000_000)) }

  /// Answers a heartbeat at once. Without `store` the store's clock equals the wall clock.
  private mutating func heartbeat(_ nodes: String, at now: Int64, store: Int64? = nil) throws -> Membership.Change {
    advance(to: now)
    let begun = [membership.beginHeartbeat(), membership.beginHeartbeat()]
    #expect(begun == [true, false], "one heartbeat at a time")
    let records = nodes.map { NodeRecord(id: String($0), address: "\($0):1") }
    let heartbeat = Heartbeat(now: store ?? now + 1_000_000, nodes: records)
    let change = membership.endHeartbeat(heartbeat, sentAt: now)
    return try #require(change)
  }

  @Test mutating func `the oldest living node leads, and adopts matches when a node dies and every 5 s`() throws {
    #expect(try heartbeat("ab", at: 0) == .init(hasNewAddress: true))
    #expect(!membership.isLeader && membership.hasStarted && membership.otherAddresses == ["a:1"])
    #expect(try heartbeat("b", at: 1000) == .init(hasLostNode: true, becameLeader: true, mustAdopt: true))
    let begun = [membership.beginAdopting(), membership.beginAdopting()]
    #expect(begun == [true, false], "one adoption at a time")
    membership.endAdopting(isDone: true)
    let later = [try heartbeat("b", at: 3900), try heartbeat("b", at: 5900), try heartbeat("b", at: 6000)].map(
      \.mustAdopt)
    #expect(later == [false, false, true])
  }

  @Test mutating func `after an outage of the store heartbeats are not trusted until other nodes could send theirs`()
    throws
  {
    _ = try heartbeat("ab", at: 0)
    advance(to: 3000)
    #expect(!membership.isOutOfTouch)
    advance(to: 3001)
    #expect(membership.isOutOfTouch && membership.isGivenUp)
    let change = try heartbeat("b", at: 9000)
    #expect(change.outage == 9000 && change.hasLostNode && !change.mustAdopt)
    advance(to: 12_999)
    #expect(!membership.trustsHeartbeats)
    advance(to: 13_000)
    #expect(membership.trustsHeartbeats)
  }

  @Test mutating func `the wall clock is set to the store's if they differ by more than the measuring error`() throws {
    _ = try heartbeat("b", at: 0, store: 1_000_040)
    #expect(membership.clockAhead == 0 && membership.clockOffset == 1_000_040)
    _ = try heartbeat("b", at: 100, store: 1_005_100)
    #expect(membership.clockAhead == 5000)
    #expect(!membership.trustsHeartbeats, "a set clock makes nodes look dead")
  }

  @Test
  mutating func `a lone node compares its memory with the store only after a lost answer or on demand`()
    throws
  {
    _ = try heartbeat("b", at: 0)
    #expect(!membership.mayDiffer)
    membership.beUncertain(for: 30)
    #expect(membership.mayDiffer)
    advance(to: 30)
    #expect(!membership.mayDiffer)
    var alsoOthers: [Bool] = []
    for _ in 0..<6 { alsoOthers.append(membership.beginComparing()) }
    #expect(alsoOthers == [false, false, true, false, false, true])
    membership.requireComparison()
    #expect(membership.mayDiffer)
    alsoOthers = [membership.beginComparing(), membership.beginComparing()]
    #expect(alsoOthers == [true, false])
  }
}
