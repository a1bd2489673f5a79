import TestSupport
import Testing
import TicTacToe

@testable import Arena

@Suite("Bench") struct BenchTests {
  @Test func `what is computed is golden`() {
    #expect(Solver().signature == "317358605706845116")
    #expect("\(Perft().totalNodes)" == "549946")
  }

  @Test(.needs("cc")) func `C computes the same, and the table has every row with its goal`() {
    let bench = Bench(guardExecutable: Support.arena, scale: 0.01)
    #expect(
      bench.rows.map(\.name) == [
        "run, random games", "… into a file", "… two threads", "… two, into a file", "run, levels:3 – levels:2",
        "run, perfect – mcts:1000", "mcts", "perft 9", "solve", "C engines",
      ])
    for row in bench.rows {
      #expect(row.ours > 0 && row.ours.isFinite && row.goal > 0)
      #expect(row.agrees != false, "\(row.name)")
    }
    #expect(bench.rows.filter { $0.agrees == true }.count == 5, "\(bench.text)")
    for row in bench.rows { #expect(bench.text.contains(row.name) && bench.json.contains(row.name)) }
  }
}
