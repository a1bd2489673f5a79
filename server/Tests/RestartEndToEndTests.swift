import MatchProtocol
import Synchronization
import Testing

@testable import MatchServer

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

/// What a server does after a commit whose outcome it does not know.
@Suite struct RestartEndToEndTests {
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
