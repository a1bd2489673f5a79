import Foundation
import Oracle
import TestSupport
import Testing
import TicTacToe

@testable import Arena

@Suite("The C program of the arena's benchmark") struct BaselineTests {
  @Test(.needs("cc")) func `the C program of the arena's benchmark has the same results as the arena`() throws {
    try Support.withFolder { folder in
      let source = repository.appending(path: "Benchmarks/arena-bench/baseline.c").path
      let program = folder + "/baseline"
      let compiler = try Support.run(["cc", "-O1", "-o", program, source], program: "/usr/bin/env")
      try #require(compiler.code == 0, "\(compiler.err)")
      func computed(_ words: String...) throws -> String {
        let line = try Support.run(words, program: program).out.split(whereSeparator: \.isWhitespace)
        return line.count == 2 ? String(line[1]) : "\(line)"
      }
      let run = try Support.play(try Support.match("random", "random", games: 4000), to: folder + "/games")
      let seats = run.report.bySeat
      #expect(try computed("random", "4000") == "\(seats.wins)/\(seats.draws)/\(seats.losses)")
      #expect(try computed("perft", "1") == "549946")
      #expect(try computed("solve", "1") == Solver().signature)
    }
  }
}
