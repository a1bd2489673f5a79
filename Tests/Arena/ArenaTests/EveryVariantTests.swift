import Base
import Foundation
import Records
import TestSupport
import Testing
import TicTacToe

@testable import Arena

/// A command must refuse a variant that it does not support, and not play another variant instead.
@Suite("Every game, in every command of the arena", .serialized) struct EveryVariantTests {
  private static func rules(_ variant: Variant) -> JSON? { variant.isImplied ? nil : .string(variant.rawValue) }

  @Test(arguments: Variant.allCases)
  func `a command follows the rules of the given game, or refuses the game by name`(variant: Variant) throws {
    for words in [["exact", "--x", "random", "--o", "random"], ["solve"], ["perft", "3"]] {
      let answer = try Support.run(words + ["--rules", variant.rawValue, "--json"])
      if answer.code == 0 {
        let json = try JSON(String(answer.out.dropLast()))
        #expect(json["rules"] == EveryVariantTests.rules(variant), "\(words): \(answer.out)")
      } else {
        #expect(answer.out.isEmpty && answer.err.contains("--rules \(variant.rawValue)"), "\(words): \(answer.err)")
        #expect(!variant.isSolved, "\(words)")
      }
    }
    let table = try Support.run(["solve", "--all", "--rules", variant.rawValue])
    #expect((table.code == 0) == variant.isSolved, "\(table.err)")
    #expect((try Support.run(["engine", "--rules", variant.rawValue]).code == 0) == variant.isImplied)
  }

  @Test(arguments: Variant.allCases)
  func `perft counts the sequences that the rules allow`(variant: Variant) throws {
    func count(_ state: VariantState, _ depth: Int) -> Int {
      depth == 0
        ? 1
        : state.moves.reduce(0) {
          var next = state
          next.play($1)
          return $0 + count(next, depth - 1)
        }
    }
    let answer = try Support.run(["perft", "3", "--rules", variant.rawValue, "--json"])
    let nodes = try JSON(String(answer.out.dropLast()))["nodes"]?.array?.compactMap { $0.int } ?? []
    #expect(nodes.last == count(VariantState(startOf: variant), 3))
  }

  @Test(arguments: Variant.allCases)
  func `a match is played, kept, reviewed and written as PGN by the rules of its game`(variant: Variant) throws {
    try Support.withFolder { folder in
      let path = folder + "/games"
      var configuration = try Support.tournament(["levels:1", "random"], .match, games: 6)
      configuration.variant = variant
      _ = try Support.play(configuration, to: path)
      var records: [Record] = []
      try RecordFile.forEach(of: path) { records.append($0) }
      #expect(records.count == 6 && records.allSatisfy { $0.game.variant == variant && $0.game.isOver })
      let reviews = try Support.run(["analyse", path, "--json", "--simulations", "10"])
      for line in reviews.out.split(separator: "\n") {
        #expect(try JSON(String(line))["rules"] == EveryVariantTests.rules(variant))
      }
    }
  }

  @Test(arguments: Variant.allCases)
  func `a level plays every game over UCI and in a batch`(variant: Variant) throws {
    var server = try UCIServer(PlayerSpec("levels:2"), seed: 1)
    _ = server.handle("setoption name UCI_Variant value \(variant.uciName)")
    _ = server.handle("position startpos")
    guard case .reply(let lines) = server.handle("go nodes 10") else { return }
    let name = try #require(lines.last { $0.hasPrefix("bestmove ") }?.dropFirst(9))
    let cell = variant.isImplied ? UCINotation.square(name).map { Cell($0.index) } : variant.cell(named: name)
    #expect(cell.map { VariantState(startOf: variant).moves.contains($0) } == true, "\(lines)")
    _ = try BatchServer(variant: variant, player: PlayerSpec("levels:2"))
  }
}
