import Foundation
import MatchProtocol
import ServerTestSupport
import TestSupport
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore
@testable import SQLiteStore

/// Tests of programs that know only the server's outside: a bot written from docs/protocol.md, the arena's bots, and typed commands.
@Suite(.serialized) struct ExamplesEndToEndTests {

  private func start(_ program: String, _ arguments: [String]) throws -> Child {
    try Child([program] + arguments, output: .pipe, errors: .ours)
  }

  private func finish(_ child: Child) throws -> (code: Int32, lines: [String]) {
    let lines = child.rest(seconds: 300).split(separator: "\n").map(String.init)
    return (try child.wait(), lines)
  }

  private func arena() throws -> String {
    URL(filePath: try #require(ServerChild.binary)).deletingLastPathComponent().appending(path: "alina-arena").path
  }

  @Test func `the Python bot, written from the protocol page alone, plays whole games`() throws {
    let folder = TemporaryFolder()
    let server = ServerChild(folder)
    try server.start()
    let script = repository.appending(path: "examples/bot.py").path
    let bots = try (1...2).map { i in
      try start("python3", [script, "127.0.0.1:\(server.port)", "--games", "3", "--name", "bot\(i)"])
    }
    for result in try bots.map(finish) {
      #expect(result.code == 0)
      // Both bots play perfectly, so every game is drawn.
      #expect(
        result.lines.count == 3 && result.lines.allSatisfy { $0.hasSuffix("result draw normal") }, "\(result.lines)")
    }
    server.stop()
    var checker = HistoryChecker()
    let store = try SQLiteStore(path: folder.path + "/matches.sqlite")
    #expect(try store.matchIDs().count == 3)
    try checker.check(store)
    #expect(checker.faults == [])
  }

  @Test func `the arena's players play several games at once on a server`() throws {
    let folder = TemporaryFolder()
    let server = ServerChild(folder)
    try server.start()
    let bots = try [("perfect", "1"), ("random", "2")].map { player, seed in
      try start(
        arena(),
        [
          "bot", "--connect", "127.0.0.1:\(server.port)", "--player", player, "--seed", seed, "--games", "8",
          "--concurrency", "4", "--name", player,
        ])
    }
    let results = try bots.map(finish)
    for result in results { #expect(result.code == 0 && result.lines.count == 8, "\(result)") }
    #expect(!results[0].lines.contains { $0.contains(" lost ") }, "a perfect player does not lose: \(results[0].lines)")
    server.kill9()
  }

  @Test func `bots of the arena whose messages are refused as too frequent slow down, and play all their games`() throws
  {
    let server = ServerChild(TemporaryFolder())
    try server.start(["--bot-rate", "10", "--burst", "10"])
    let bots = try ["1", "2"].map { seed in
      try start(
        arena(),
        [
          "bot", "--connect", "127.0.0.1:\(server.port)", "--player", "random", "--seed", seed, "--games", "30",
          "--concurrency", "6", "--name", "bot\(seed)",
        ])
    }
    // The server aborts a game whose first moves come too late, so a bot may print more than 30 lines.
    for result in try bots.map(finish) {
      #expect(result.code == 0 && result.lines.count { $0.hasSuffix(" normal") } >= 30, "\(result)")
    }
    server.kill9()
  }

  @Test(arguments: [("infinite", "perfect"), ("ultimate", "mcts:50")])
  func `the arena's players play the other games on a server`(rules: String, strong: String) throws {
    let folder = TemporaryFolder()
    let server = ServerChild(folder)
    try server.start()
    let bots = try [(strong, "1", "one"), ("random", "2", "two")].map { player, seed, name in
      try start(
        arena(),
        [
          "bot", "--connect", "127.0.0.1:\(server.port)", "--player", player, "--seed", seed, "--games", "2",
          "--rules", rules, "--name", name,
        ])
    }
    let results = try bots.map(finish)
    for result in results { #expect(result.code == 0 && result.lines.count == 2, "\(result)") }
    #expect(!results[0].lines.contains { $0.contains(" lost ") }, "\(results[0].lines)")
    server.kill9()
  }

  @Test func `simultaneous games of the arena's bot do not wait for each other's computation`() throws {
    let folder = TemporaryFolder()
    let server = ServerChild(folder)
    try server.start()
    // The engine `together` answers its first move only while a second instance of it computes, too.
    let engine = repository.appending(path: "Tests/Arena/ArenaTests/Fixtures/misbehave.py").path
    let bot = try start(
      arena(),
      [
        "bot", "--connect", "127.0.0.1:\(server.port)", "--player", "cmd:\(engine) together \(folder.path)/thinking",
        "--games", "4", "--concurrency", "4", "--clock", "60+0",
      ])
    let result = try finish(bot)
    #expect(result.code == 0 && result.lines.count == 4, "\(result)")
    #expect(result.lines.allSatisfy { $0.hasSuffix(" normal") }, "\(result.lines)")
    server.kill9()
  }

  @Test func `two people play a game by typing bare commands`() throws {
    let folder = TemporaryFolder()
    let server = ServerChild(folder)
    try server.start(["--rate", "20", "--burst", "40"])
    let (ann, bob) = (try RawPeer(server.port), try RawPeer(server.port))
    for (peer, name) in [(ann, "Ann"), (bob, "Bob")] {
      try peer.wait("type hello, then help")
      peer.type("hello \(name)\r")
      #expect(try peer.wait("welcome").contains("guest-\(name)"))
      peer.type("seek 60+2")
    }
    let side = RawPeer.field("side", try ann.wait(#""t":"paired""#))
    let (x, o) = side == "x" ? (ann, bob) : (bob, ann)
    for (ply, cell) in ["b2", "a1", "b3", "a3", "b1"].enumerated() {
      (ply % 2 == 0 ? x : o).type("move \(cell)")
      for peer in [x, o] { try peer.wait(#""cell":"\#(cell)""#) }
    }
    for peer in [x, o] { try peer.wait(#""result":"x","reason":"normal""#) }
    o.type("rematch")
    x.type("rematch")
    for peer in [x, o] { try peer.wait(#""prev":"#) }
    x.type("abort")
    try o.wait(#""reason":"aborted""#)
    x.type("bye")
    try x.wait(#""t":"bye","code":"bye""#)
    server.kill9()
  }
}
