import Foundation
import Records
import TestSupport
import Testing
import TicTacToe

/// Two windows at different nodes of one server, while its nodes and its database come and go.
@Suite(.serialized, .tidy, .long, .enabled(if: WindowProgram.hasDisplay, "needs an X display; ./test brings one"))
struct ClusterTests {
  /// PostgreSQL and three nodes, by `scripts/cluster`, which ends them when this goes.
  private final class Cluster {
    /// Where each listens, n1 first.
    private(set) var nodes: [String] = []
    private let script: Child

    /// With `namespaces` the way between a node and the database can be cut.
    init(namespaces: Bool) throws {
      let server = WindowProgram.program.deletingLastPathComponent().appendingPathComponent("alina-server").path
      script = try Child(
        [repository.appending(path: "scripts/cluster").path] + (namespaces ? ["--namespaces"] : []),
        environment: ["ALINA_SERVER": server], input: .pipe, output: .pipe, errors: .ours)
      while let line = script.line(), !line.hasPrefix("connect ") {
        let words = line.split(separator: " ")
        if words.first == "node" { nodes.append(String(words[2])) }
      }
      try #require(nodes.count == 3, "scripts/cluster did not start")
    }

    deinit {
      try? script.input.close()
      _ = try? script.wait()
    }

    func order(_ order: String) throws {
      try script.input.write(contentsOf: Data((order + "\n").utf8))
      while let line = script.line(), line != "done" {
        if line.hasPrefix("failed") { throw WindowProgram.ToolFailed(description: "\(order): \(line)") }
      }
    }
  }

  @Test("A match goes on while its nodes are killed, stopped and cut off, and while the database is restarted")
  func faults() throws {
    let canCut = (try? Child.run([repository.appending(path: "scripts/namespaces").path]))?.status == 0
    let cluster = try Cluster(namespaces: canCut)
    let desks = try (0..<2).map { place in
      let desk = try WindowProgram(["--connect", cluster.nodes[place], "--plain", "--piano", "modal"])
      try WindowProgram.shell("xdotool", "windowmove", desk.window, "\(place * 1_280)", "0")
      return desk
    }
    for desk in desks {
      try desk.wait(page: "network")
      try desk.click("Quick match")
    }
    let x = try waitFor(seconds: 60, "one to be told to move") {
      desks.firstIndex { $0.spoken.contains { $0.contains("make your first move") } }
    }
    // What happens before a move: whoever makes it may be at any node by then.
    let faults = [
      1: ["kill n1"], 2: ["start n1", "kill n2"], 3: ["start n2", "stop n3"], 4: ["cont n3", "stop n1"],
      5: ["cont n1", "kill db", "start db"], 6: canCut ? ["cut n2"] : [], 7: canCut ? ["heal n2", "reject n1"] : [],
      8: canCut ? ["heal n1"] : [],
    ]
    var game = Game()
    for (ply, cell) in [4, 0, 2, 6, 3, 5, 1, 7, 8].enumerated() {
      for fault in faults[ply, default: []] { try cluster.order(fault) }
      try desks[ply % 2 == 0 ? x : 1 - x].click(cell: cell)
      try game.play(Square(cell))
      for desk in desks { #expect(try desk.record(moves: ply + 1, seconds: 90).game.moves == game.moves) }
    }
    for desk in desks {
      #expect(try desk.record(moves: 9).game.end == GameEnd(outcome: .draw, termination: .normal))
      #expect(try desk.quit() == 0)
      #expect(desk.complaints == "")
    }
  }
}
