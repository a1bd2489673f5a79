import Base
import Foundation
import Opponents
import Oracle
import Records
import Testing
import TicTacToe

@testable import Arena

@Suite("The best games of a run") struct HighlightTests {
  @Test func `the same best games are chosen for any number of threads and after a resume`() throws {
    try Support.withFolder { folder in
      for (number, configuration) in try RunTests.varied().enumerated() {
        let path = "\(folder)/\(number)"
        func highlights(threads: Int) throws -> [Highlight] {
          var run =
            try FileManager.default.fileExists(atPath: path)
            ? Run(resuming: path, threads: threads, guardExecutable: Support.arena)
            : Run(configuration, threads: threads, guardExecutable: Support.arena)
          run.output = path
          run.picksHighlights = true
          return try run.play().highlights
        }
        let fresh = try highlights(threads: 1)
        #expect(try highlights(threads: 2).map(\.record) == fresh.map(\.record))
        let whole = try #require(FileManager.default.contents(atPath: path))
        try whole.prefix(whole.count * 3 / 5).write(to: URL(filePath: path))
        let resumed = try highlights(threads: 3)
        #expect(resumed.map(\.record) == fresh.map(\.record) && resumed.map(\.choices) == fresh.map(\.choices))

        try PGNExport.write(path, to: path + ".pgn")
        let records = try Record.all(in: try String(contentsOfFile: path + ".pgn", encoding: .utf8))
        #expect(fresh.flatMap(\.choices).sorted() == ["dramatic", "first", "longest", "shortest"])
        let drama = records.map { $0.game.variantMoves.reduce(0) { $0 + Drama.points(of: $1) } }
        let lengths = records.map { $0.game.moves.count }
        let best = [
          "first": 0, "shortest": lengths.firstIndex(of: lengths.min() ?? 0),
          "longest": lengths.firstIndex(of: lengths.max() ?? 0), "dramatic": drama.firstIndex(of: drama.max() ?? 0),
        ]
        for highlight in fresh {
          for choice in highlight.choices { #expect(best[choice] == highlight.game, "\(configuration.headerLine)") }
          #expect(highlight.record == records[highlight.game] && highlight.drama == drama[highlight.game])
        }
      }
    }
  }

  @Test func `games after the verdict of a sequential test are not chosen`() throws {
    var configuration = try Support.match("levels:4", "levels:3", games: 20_000, seed: 7)
    configuration.sprt = SPRT(elo0: 0, elo1: 30)
    var run = try Run(configuration, threads: 1, guardExecutable: Support.arena)
    run.picksHighlights = true
    let report = try run.play()
    #expect(report.games < 1000 && report.highlights.allSatisfy { $0.game < report.games })
  }

  @Test func `the best games are the same in any order of the games`() {
    var generator = SplitMix64(seed: 4)
    let games = (0..<500).map { _ -> PackedGame in
      var (position, moves) = (Position.start, [Square]())
      while position.outcome == nil {
        let legal = Array(position.legalMoves)
        moves.append(legal[generator.below(legal.count)])
        position = position.playing(moves[moves.count - 1])
      }
      return PackedGame(
        moves: moves, outcome: position.outcome ?? .draw, ending: generator.below(9) == 0 ? .forfeit : .normal)
    }
    let stage = Stage(firstGame: 0, firstRound: 0, pairings: [Pairing(a: 0, b: 1)], rounds: 250)
    func chosen(_ order: [Int]) -> [Int] {
      var highlights = Highlights()
      for index in order {
        let batch = GameBatch(index..<index + 1, parts: 0)
        batch.set(index, games[index])
        highlights.merge(Highlights(batch, stage, RunConfiguration()))
      }
      return highlights.chosen.flatMap { chosen in chosen.choices.map { _ in chosen.line.index } }
    }
    let forward = chosen(Array(games.indices))
    #expect(forward.count == 4 && forward[0] == 0)
    #expect(forward.dropFirst().allSatisfy { games[$0].ending == .normal })
    for _ in 0..<50 {
      #expect(chosen(games.indices.map { (generator.next(), $0) }.sorted { $0.0 < $1.0 }.map(\.1)) == forward)
    }
  }
}
