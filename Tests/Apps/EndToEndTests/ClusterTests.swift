import Foundation
import Records
import TestSupport
import Testing
import TicTacToe

@Suite(.serialized, .tidy, .long, .enabled(if: WindowProgram.hasDisplay, "needs an X display; ./test brings one"))
struct ClusterTests {
  @Test("A match continues although its nodes are killed, paused and cut off, and the database is restarted")
  func faults() throws {
    let canCut = ClusterScript.hasNamespaces
    let server = WindowProgram.program.deletingLastPathComponent().appendingPathComponent("alina-server").path
    let cluster = try ClusterScript(server: server, namespaces: canCut)
    let desks = try (0..<2).map { place in
      let desk = try WindowProgram(["--connect", cluster.nodes[place], "--plain", "--piano", "modal"])
      try desk.stand(at: place)
      return desk
    }
    let x = try WindowProgram.quickMatch(desks)
    // Only then has the server sent the windows the addresses of all nodes.
    try waitFor(seconds: 20, "nodes that know one another") { try cluster.isWhole(cluster.states()) ? () : nil }
    // The faults before each move, by the move's ply. Windows reconnect to other nodes, so a fault may miss the moving player's node.
    let faults = [
      1: ["kill n1"], 2: ["start n1", "kill n2"], 3: ["start n2", "stop n3"], 4: ["cont n3", "stop n1"],
      5: ["cont n1", "kill db", "start db"], 6: canCut ? ["cut n2"] : [], 7: canCut ? ["heal n2", "reject n1"] : [],
      8: canCut ? ["heal n1"] : [],
    ]
    var game = Game()
    for (ply, cell) in [4, 0, 2, 6, 3, 5, 1, 7, 8].enumerated() {
      for fault in faults[ply, default: []] { try cluster.order(fault) }
      let mover = desks[ply % 2 == 0 ? x : 1 - x]
      var refusals = mover.refusals
      try mover.click(cell: cell)
      try game.play(Square(cell))
      for desk in desks {
        let record = try desk.record(moves: ply + 1, seconds: 90) {
          // A node that cannot reach the database refuses the move and disconnects the player 3 s later, so the test repeats the click.
          guard mover.refusals > refusals else { return }
          refusals = mover.refusals
          try mover.click(cell: cell)
        }
        #expect(record.game.moves == game.moves)
      }
    }
    for desk in desks {
      #expect(try desk.record(moves: 9).game.end == GameEnd(outcome: .draw, termination: .normal))
      #expect(try desk.quit() == 0)
      #expect(desk.complaints == "")
    }
  }
}
