import Dispatch
import MatchProtocol
import Synchronization
import Testing

@testable import Lobby
@testable import MatchStore
@testable import ServerTransport

/// A store in memory one of whose commits fails, and that can be opened again only at the fourth attempt; it counts what is
/// written in between.
private final class BreakingStore: MatchStore {
  private struct State {
    var breaks = false
    var attemptsLeft = 0
    var writes = 0
  }

  private let inner = MemoryStore()
  private let state = Mutex(State())

  func breakNext() { state.withLock { $0.breaks = true } }
  var isWhole: Bool { state.withLock { !$0.breaks && $0.attemptsLeft == 0 } }
  var writesWhileBroken: Int { state.withLock { $0.writes } }

  func commit(_ batch: [StoreTransaction]) throws(StoreError) {
    let fails = state.withLock { state in
      if state.attemptsLeft > 0 { state.writes += 1 }
      guard state.breaks else { return false }
      (state.breaks, state.attemptsLeft) = (false, 4)
      return true
    }
    if fails { throw .unknownOutcome("it broke") }
    try inner.commit(batch)
  }

  func reopen() throws(StoreError) {
    let left = state.withLock { state in
      state.attemptsLeft -= 1
      return state.attemptsLeft
    }
    if left > 0 { throw .unusable("it is broken") }
  }

  func recover() throws(StoreError) -> Recovery { try inner.recover() }
  func match(_ id: MatchID) throws(StoreError) -> StoredMatch? { try inner.match(id) }
  func history(of account: Int64, before: Int64, limit: Int) throws(StoreError) -> [StoredMatch] {
    try inner.history(of: account, before: before, limit: limit)
  }
  func matchIDs() throws(StoreError) -> [MatchID] { try inner.matchIDs() }
  func prune(before: Int64) throws(StoreError) -> Int { try inner.prune(before: before) }
  func close() { inner.close() }
}

/// A store in memory that does what a test wants before each commit, and counts how often it was opened anew.
private final class TroubledStore: MatchStore {
  private let inner = MemoryStore()
  private let before: @Sendable () throws(StoreError) -> Void
  private let opened = Mutex(0)

  init(_ before: @escaping @Sendable () throws(StoreError) -> Void) { self.before = before }

  var timesOpened: Int { opened.withLock { $0 } }
  func commit(_ batch: [StoreTransaction]) throws(StoreError) {
    try before()
    try inner.commit(batch)
  }
  func reopen() throws(StoreError) { opened.withLock { $0 += 1 } }
  func recover() throws(StoreError) -> Recovery { try inner.recover() }
  func match(_ id: MatchID) throws(StoreError) -> StoredMatch? { try inner.match(id) }
  func history(of account: Int64, before: Int64, limit: Int) throws(StoreError) -> [StoredMatch] { [] }
  func matchIDs() throws(StoreError) -> [MatchID] { try inner.matchIDs() }
  func prune(before: Int64) throws(StoreError) -> Int { 0 }
  func close() {}
}

/// What a server does after a commit whose outcome it does not know.
@Suite struct RestartEndToEndTests {
  @Test func `a store that can be opened but not written, as on a full disk, is opened less and less often`()
    async throws
  {
    let isFull = Mutex(true)
    let store = TroubledStore { () throws(StoreError) in
      if isFull.withLock({ $0 }) { throw .unknownOutcome("the disk is full") }
    }
    let server = try await TestServer(store: store)
    let began = Moment.current.steady
    while store.timesOpened < 4 {
      // Whoever says hello makes it write.
      if let peer = try? RawPeer(server.port) {
        peer.type("hello guest")
        while let line = peer.line(), !line.contains(#""t":"bye""#) {}
      }
    }
    #expect(Moment.current.steady - began >= 100 + 200 + 400 + 800, "each wait is twice the one before")
    isFull.withLock { $0 = false }
    for _ in 0..<1000 where !server.host.isReady { try await Task.sleep(for: .milliseconds(10)) }
    let peer = try RawPeer(server.port)
    peer.type("hello guest")
    try peer.wait(#""t":"welcome""#)
    try await server.stop()
  }

  @Test func `a disk that hangs does not keep a server that stops`() async throws {
    let (reached, released) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let store = TroubledStore { () throws(StoreError) in
      reached.signal()
      released.wait()
    }
    let server = try await TestServer(store: store) { $0.drainSeconds = 0 }
    let peer = try RawPeer(server.port)
    peer.type("hello guest")
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        reached.wait()
        continuation.resume()
      }
    }
    await server.listener.stop()
    #expect(peer.rest().last?.contains(#""t":"bye""#) == true)
    for _ in 0..<100 { released.signal() }
    try await server.stop()
  }

  @Test func `between a commit that failed and the start over, nothing is decided or written`() async throws {
    let store = BreakingStore()
    var lobby = LobbyConfiguration()
    lobby.confirmWithin = 300
    let server = try await TestServer(store: store, lobby: lobby)
    let peers = [try RawPeer(server.port), try RawPeer(server.port)]
    for (i, peer) in peers.enumerated() {
      peer.type(#"{"t":"hello","v":[1],"client":"t","caps":["confirm"],"guest":"p\#(i)"}"#)
      try peer.wait(#""t":"welcome""#)
      peer.type(#"{"t":"seek","clock":"60+2","rated":false,"key":"k\#(i)"}"#)
    }
    for peer in peers { try peer.wait(#""t":"paired""#) }
    store.breakNext()
    let third = try RawPeer(server.port)
    third.type("hello guest")
    try third.wait(#""t":"bye""#)
    // Nor is it told an administrator that what he wants is done.
    await #expect(throws: StoreError.self) { _ = try await server.host.administer("guest-p0", .ban) }
    // Nobody confirms: the lobby that failed would let the match fall apart in the meantime.
    for _ in 0..<500 where !store.isWhole { try await Task.sleep(for: .milliseconds(20)) }
    #expect(store.isWhole && store.writesWhileBroken == 0)
    for _ in 0..<100 where !server.host.isReady { try await Task.sleep(for: .milliseconds(20)) }
    let fourth = try RawPeer(server.port)
    fourth.type("hello guest")
    try fourth.wait(#""t":"welcome""#)
    try await server.stop()
  }
}
