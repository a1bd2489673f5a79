import Testing
import TicTacToe

@testable import Arena

@Suite("Our UCI engine") struct UCIServerTests {
  private static func server(_ player: String, _ variant: Variant, _ position: String) throws -> UCIServer {
    var server = try UCIServer(PlayerSpec(player), seed: 1)
    for line in ["setoption name UCI_Variant value \(variant.uciName)", "position startpos moves \(position)"] {
      guard case .reply([]) = server.handle(line) else {
        Issue.record("'\(line)' is refused")
        continue
      }
    }
    return server
  }

  /// With `isStopped`, the stop comes before the search begins.
  private static func searched(_ server: inout UCIServer, _ go: String, isStopped: Bool = false) -> [String] {
    guard case .search(let search) = server.handle(go) else {
      Issue.record("'\(go)' does not search")
      return []
    }
    #expect((search.manner == .timed) == !(go.contains("infinite") || go.contains("ponder")))
    if isStopped { search.stop.set() }
    let lines = search.run()
    server.finish(search)
    return lines
  }

  @Test(arguments: ["go infinite", "go ponder", "go movetime 1000000000", "go wtime 1000000000 btime 1000000000", "go"])
  func `a search of Ultimate ends when stopped, with a legal move and its score`(go: String) throws {
    // Only the stop ends so long a search.
    var server = try UCIServerTests.server("mcts:100000000", .ultimate, "e5 d4")
    for _ in 0..<2 {
      let lines = UCIServerTests.searched(&server, go, isStopped: true)
      try #require(lines.count == 2, "\(lines)")
      // d4 selects the bottom left board, where the best move must be.
      #expect(lines[1].contains(#/^bestmove [abc][123]( ponder [a-i][1-9])?$/#), "\(lines)")
      #expect(lines[0].contains(#/^info depth 1 score cp -?[0-9]+ pv /#), "\(lines)")
      #expect(lines[1].hasPrefix("bestmove \(lines[0].suffix(2))"), "\(lines)")
    }
  }

  @Test(arguments: [1, 300]) func `a search of Ultimate keeps its limit of simulations`(nodes: Int) throws {
    func second(_ player: String, after first: String, _ go: String) throws -> [String] {
      var server = try UCIServerTests.server(player, .ultimate, "e5 d4")
      _ = UCIServerTests.searched(&server, first)
      return UCIServerTests.searched(&server, go)
    }
    let limited = try second("mcts:5000", after: "go", "go nodes \(nodes)")
    let small = try second("mcts:\(nodes)", after: "go", "go")
    #expect(limited == small && limited.count == 2)
    // The limit of the first search does not apply to the second.
    let free = try second("mcts:5000", after: "go nodes \(nodes)", "go")
    let whole = try second("mcts:5000", after: "go", "go")
    #expect(free == whole)
  }

  @Test func `a pondering search writes no move until ponderhit, and then ends with its time`() throws {
    for hit in [true, false] {
      var server = try UCIServerTests.server("search:1s", .ultimate, "e5 d4")
      guard case .search(let search) = server.handle("go ponder movetime 1") else {
        Issue.record("it does not ponder")
        return
      }
      #expect(search.manner == .pondering)
      // The move is written only after ponderhit or stop; either may come before the search begins.
      if hit { search.hit.set() } else { search.stop.set() }
      let lines = search.run()
      server.finish(search)
      #expect(lines.last?.hasPrefix("bestmove ") == true, "\(lines)")
    }
  }

  @Test func `a search's move comes with the expected reply, which is legal after it`() throws {
    var server = try UCIServerTests.server("search:2000", .ultimate, "e5 d4")
    let words = try #require(UCIServerTests.searched(&server, "go").last).split(separator: " ").map(String.init)
    try #require(words.count == 4 && words[0] == "bestmove" && words[2] == "ponder", "\(words)")
    guard case .reply([]) = server.handle("position startpos moves e5 d4 \(words[1]) \(words[3])") else {
      Issue.record("\(words) cannot be played")
      return
    }
  }

  @Test func `searches limited by simulations are reproducible, those limited by time reuse the tree`() throws {
    var server = try UCIServerTests.server("search:500", .ultimate, "e5 d4")
    let first = UCIServerTests.searched(&server, "go")
    guard case .reply([]) = server.handle("setoption name Seed value 1") else { return }
    #expect(UCIServerTests.searched(&server, "go") == first)
    var timed = try UCIServerTests.server("search:3600s", .ultimate, "e5 d4")
    _ = UCIServerTests.searched(&timed, "go nodes 600")
    _ = UCIServerTests.searched(&timed, "go nodes 600")
    #expect(try #require(timed.tree).rootMoves.map(\.visits).reduce(0, +) >= 1200)
  }

  @Test(arguments: ["0", "4097", "x", ""]) func `an invalid Hash is refused by name and ignored`(value: String) throws {
    var server = try UCIServerTests.server("search:10", .ultimate, "e5 d4")
    guard case .reply(let lines) = server.handle("setoption name Hash value \(value)") else { return }
    #expect(lines == ["info string Hash '\(value)': 1–4096 megabytes"] && server.hash == 160)
  }

  @Test func `the search player starts with Ultimate, its only game, and refuses the others by name`() throws {
    var server = try UCIServer(PlayerSpec("search:10"), seed: 1)
    #expect(server.variants == [.ultimate] && server.variantPosition?.variant == .ultimate)
    guard case .reply(let lines) = server.handle("setoption name UCI_Variant value tictactoe") else { return }
    #expect(lines == ["info string variant 'tictactoe' is not played, only \(Variant.ultimate.uciName)"])
  }

  @Test func `the option Player takes each player that can be an engine, with a game that this player plays`() throws {
    var server = try UCIServer(PlayerSpec("random"), seed: 1)
    for (player, isEngine) in [
      ("mcts:30", true), ("search:10", true), ("levels:1", true), ("menace", true), ("nobody", false),
      ("engine:cat", false),
    ] {
      guard case .reply(let told) = server.handle("setoption name Player value \(player)") else { return }
      #expect(isEngine ? told.isEmpty : told.count == 1 && told[0].hasPrefix("info string "), "\(told)")
      #expect(server.spec.plays(server.variantPosition?.variant ?? .classic), "\(player)")
      let lines =
        switch server.handle("go") {
        case .reply(let lines): lines
        case .search(let search): search.run()
        case .quit: [String]()
        }
      #expect(lines.last?.contains(#/^bestmove [a-i1-9]/#) == true, "\(player): \(lines)")
    }
  }

  @Test func `a level of Ultimate without search reports no score`() throws {
    var server = try UCIServerTests.server("levels:1", .ultimate, "e5 d4")
    let lines = UCIServerTests.searched(&server, "go")
    #expect(lines.count == 1 && lines[0].hasPrefix("bestmove "), "\(lines)")
  }

  @Test(arguments: [(Variant.infinite, "levels:3"), (.ultimate, "random")])
  func `a player without search holds back the move of an infinite search until stop`(
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

  @Test func `the engine has no move in a finished game`() throws {
    var server = try UCIServerTests.server("levels:3", .infinite, "a1 a3 b1 b3 c1")
    guard case .reply(["bestmove (none)"]) = server.handle("go infinite") else {
      Issue.record("a move is searched")
      return
    }
  }
}
