import Foundation
import MatchClient
import MatchProtocol
import TestSupport
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore
@testable import SQLiteStore

@Suite(.serialized) struct EndToEndTests {
  @Test func `two clients play a whole game, and a rematch with sides swapped`() async throws {
    let folder = TemporaryFolder()
    let server = try await TestServer(store: try SQLiteStore(path: folder.path + "/m.sqlite"))
    let (x, o, m) = try await server.pair()
    for (ply, cell) in [4, 0, 2, 6, 3, 5, 1, 7, 8].enumerated() {
      (ply % 2 == 0 ? x : o).client.perform(.move(m, Cell(cell)))
      try await x.move(ply: ply)
      try await o.move(ply: ply)
    }
    let end = try await x.event("the end") { if case .end = $0 { true } else { false } }
    _ = try await o.event("the end") { if case .end = $0 { true } else { false } }
    #expect(end.kind == .end(.draw, .normal, ratings: nil))
    #expect(x.client.match(m)?.state == o.client.match(m)?.state || x.client.match(m)?.state.seq ?? 0 >= 12)
    o.client.perform(.rematch(m))
    _ = try await x.event("the wish") { if case .rematch(nil) = $0 { true } else { false } }
    x.client.perform(.rematch(m))
    let (second, side) = try await x.paired()
    #expect(side == .o)
    _ = try await o.paired()
    o.client.perform(.move(second, Cell(4)))
    _ = try await x.wait("a move in the second match") {
      if case .event(second, _, let event) = $0, case .move = event.kind { true } else { nil }
    }
    try await server.stop()
  }

  @Test func `a client that reconnects gets the position back, and a move made meanwhile counts once`() async throws {
    let server = try await TestServer()
    let (x, o, m) = try await server.pair()
    x.client.perform(.move(m, Cell(4)))
    try await o.move(ply: 0)
    o.client.drop()
    _ = try await x.event("gone") { $0 == .gone }
    // O makes this move while disconnected: O's client shows it at once, and sends it after the reconnect.
    o.client.perform(.move(m, Cell(0)))
    _ = try await x.event("back") { $0 == .back }
    try await x.move(ply: 1)
    #expect(x.client.match(m)?.state.board == "o...x....")
    x.client.perform(.resign(m))
    _ = try await o.wait("the end") {
      if case .event(m, _, let event) = $0, case .end(.win(.o), .resign, _) = event.kind { true } else { nil }
    }
    try await server.stop()
  }

  @Test func `a guest whose login has expired becomes a new guest after each reconnect`() async throws {
    var lobby = LobbyConfiguration()
    // Every guest login expires as soon as it is made.
    lobby.lives.guest = -1
    let server = try await TestServer(lobby: lobby)
    let watcher = Watcher(server.client("ann"))
    var names: Set<String> = [try await watcher.online().you.name]
    #expect(names == ["guest-ann"])
    for _ in 0..<2 {
      watcher.client.drop()
      names.insert(try await watcher.online().you.name)
      _ = try await watcher.wait("the news") { if case .becameGuest(nil) = $0 { true } else { nil } }
    }
    // The server keeps the names of expired accounts reserved.
    #expect(names.count == 3, "\(names)")
    try await server.stop()
  }

  @Test func `an illegal move shown at once is corrected`() async throws {
    let server = try await TestServer()
    let (x, o, m) = try await server.pair()
    x.client.perform(.move(m, Cell(4)))
    try await o.move(ply: 0)
    o.client.perform(.move(m, Cell(4)))
    // The client checks only whose turn it is, not whether the cell is free.
    let cell = try await o.wait("the refusal") { if case .moveRejected(m, let cell, _, _) = $0 { cell } else { nil } }
    #expect(cell.text == "b2")
    #expect(o.client.match(m)?.position == x.client.match(m)?.position)
    #expect(o.client.match(m)?.canMove == true)
    try await server.stop()
  }

  @Test func `a room can be joined and watched only with its code`() async throws {
    let server = try await TestServer()
    let host = Watcher(server.client("host"))
    let friend = Watcher(server.client("friend"))
    let stranger = Watcher(server.client("stranger"))
    for watcher in [host, friend, stranger] { _ = try await watcher.online() }
    host.client.perform(.create(MatchTerms(clock: nil)))
    let (m, code) = try await host.wait("a room") { if case .room(let m, let code, _) = $0 { (m, code) } else { nil } }
    friend.client.perform(.join(code.lowercased()))
    let (joined, side) = try await friend.paired()
    #expect(joined == m)
    stranger.client.perform(.watch(m, code: nil))
    _ = try await stranger.wait("a refusal") { if case .refused(.notFound, _, _) = $0 { true } else { nil } }
    stranger.client.perform(.watch(m, code: code))
    _ = try await stranger.wait("the state") { if case .state(m) = $0 { true } else { nil } }
    (side == .x ? friend : host).client.perform(.move(m, Cell(4)))
    try await stranger.move(ply: 0)
    host.client.perform(.say(m, "hello \u{202E}you"))
    _ = try await friend.wait("chat") { if case .chat(m, _, "hello you", nil) = $0 { true } else { nil } }
    try await server.stop()
  }
}
