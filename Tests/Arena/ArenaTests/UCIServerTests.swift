import Testing
import TicTacToe

@testable import Arena

/// Our engine at the other games, line by line.
@Suite("Our engine") struct UCIServerTests {
  private static func server(_ player: String, _ variant: Variant, _ position: String) throws -> UCIServer {
    var server = UCIServer(player: try #require(try PlayerSpec(player).stateless()), seed: 1)
    for line in ["setoption name UCI_Variant value \(variant.uciName)", "position startpos moves \(position)"] {
      guard case .reply([]) = server.handle(line) else {
        Issue.record("'\(line)' is refused")
        continue
      }
    }
    return server
  }

  /// What a search says that is stopped before it begins, or is not stopped.
  private static func searched(_ server: inout UCIServer, _ go: String, isStopped: Bool = false) -> [String] {
    guard case .search(let search) = server.handle(go) else {
      Issue.record("'\(go)' does not search")
      return []
    }
    #expect(search.isInfinite == (go.contains("infinite") || go.contains("ponder")))
    if isStopped { search.stop.set() }
    let lines = search.run()
    server.finish(search)
    return lines
  }

  @Test(arguments: ["go infinite", "go ponder", "go movetime 1000000000", "go wtime 1000000000 btime 1000000000", "go"])
  func `a search of Ultimate ends when it is stopped, with a legal move and its score`(go: String) throws {
    // Many minutes of thinking.
    var server = try UCIServerTests.server("mcts:100000000", .ultimate, "e5 d4")
    for _ in 0..<2 {
      let lines = UCIServerTests.searched(&server, go, isStopped: true)
      try #require(lines.count == 2, "\(lines)")
      // The second move leads to the board at the bottom left.
      #expect(lines[1].contains(#/^bestmove [abc][123]$/#), "\(lines)")
      #expect(lines[0].contains(#/^info depth 1 score cp -?[0-9]+ pv /#), "\(lines)")
      #expect(lines[0].suffix(2) == lines[1].suffix(2), "\(lines)")
    }
  }

  @Test(arguments: [1, 300]) func `a search of Ultimate makes no more simulations than it may`(nodes: Int) throws {
    func second(_ player: String, after first: String, _ go: String) throws -> [String] {
      var server = try UCIServerTests.server(player, .ultimate, "e5 d4")
      _ = UCIServerTests.searched(&server, first)
      return UCIServerTests.searched(&server, go)
    }
    let limited = try second("mcts:5000", after: "go", "go nodes \(nodes)")
    let small = try second("mcts:\(nodes)", after: "go", "go")
    #expect(limited == small && limited.count == 2)
    // What one search may does not bind the next.
    let free = try second("mcts:5000", after: "go nodes \(nodes)", "go")
    let whole = try second("mcts:5000", after: "go", "go")
    #expect(free == whole)
  }

  @Test func `a level of Ultimate that did not search tells no score`() throws {
    var server = try UCIServerTests.server("levels:1", .ultimate, "e5 d4")
    let lines = UCIServerTests.searched(&server, "go")
    #expect(lines.count == 1 && lines[0].hasPrefix("bestmove "), "\(lines)")
  }

  @Test(arguments: [(Variant.infinite, "levels:3"), (.ultimate, "random")])
  func `who answers at once holds the move of an infinite search back until it is stopped`(
    variant: Variant, player: String
  ) throws {
    var server = try UCIServerTests.server(player, variant, variant == .infinite ? "b2 a1" : "e5 d4")
    guard case .reply([]) = server.handle("go infinite"), case .reply(let lines) = server.handle("stop") else {
      Issue.record("the move is not held back")
      return
    }
    #expect(lines.count == 1 && lines[0].hasPrefix("bestmove "), "\(lines)")
    guard case .reply([]) = server.handle("stop") else {
      Issue.record("the move is told twice")
      return
    }
  }

  @Test func `a game that is over has no move`() throws {
    var server = try UCIServerTests.server("levels:3", .infinite, "a1 a3 b1 b3 c1")
    guard case .reply(["bestmove (none)"]) = server.handle("go infinite") else {
      Issue.record("a move is searched")
      return
    }
  }
}
