import Base
import Foundation
import MatchClient
import MatchProtocol
import TestSupport
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore
@testable import SQLiteStore
@testable import ServerTransport

@Suite(.serialized) struct RulesEndToEndTests {
  @Test(arguments: Variant.allCases.filter { !$0.isImplied })
  func `a whole match is played, each side loses its connection on the way, and a third watches`(
    rules: Variant
  ) async throws {
    let folder = TemporaryFolder()
    let server = try await TestServer(store: try SQLiteStore(path: folder.path + "/m.sqlite"))
    let (x, o, m) = try await server.pair(MatchTerms(rules: rules))
    let viewer = Watcher(server.client("viewer"))
    _ = try await viewer.online()
    viewer.client.perform(.watch(m, code: nil))
    _ = try await viewer.wait("the state") { if case .state(m) = $0 { true } else { nil } }
    var (state, ply) = (VariantState(startOf: rules), 0)
    var random = SplitMix64(seed: 3)
    while state.outcome == nil {
      let (mover, other) = state.turn == .x ? (x, o) : (o, x)
      if ply == 2 || ply == 3 {
        mover.client.drop()
        _ = try await other.event("gone") { $0 == .gone }
      }
      let cell = state.moves.randomCell(using: &random)
      mover.client.perform(.move(m, cell))
      state.play(cell)
      try await other.move(ply: ply)
      try await viewer.move(ply: ply)
      ply += 1
    }
    _ = try await x.event("the end") { if case .end = $0 { true } else { false } }
    _ = try await o.event("the end") { if case .end = $0 { true } else { false } }
    for watcher in [x, o] {
      let told = try #require(watcher.client.match(m)?.state)
      #expect(told.position == state && told.end?.outcome == state.outcome && told.terms.rules == rules)
    }
    #expect(ply > 4, "\(ply) plies of \(rules)")
    try await server.stop()
  }
}
