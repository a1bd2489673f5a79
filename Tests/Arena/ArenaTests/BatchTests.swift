import Base
import Foundation
import TestSupport
import Testing
import TicTacToe

@testable import Arena

@Suite("Batches of games over a pipe") struct BatchTests {
  private func answer(_ rules: Variant, _ player: String, _ input: [UInt8]) throws -> [UInt8] {
    let (toEngine, fromEngine) = (Pipe(), Pipe())
    let server = try BatchServer(variant: rules, player: PlayerSpec(player))
    toEngine.fileHandleForWriting.write(Data(input))
    try toEngine.fileHandleForWriting.close()
    // The pipe's buffer holds all input and output of these tests, so writing never blocks.
    defer { try? fromEngine.fileHandleForReading.close() }
    do throws(ArenaError) {
      try server.serve(
        input: toEngine.fileHandleForReading.fileDescriptor, output: fromEngine.fileHandleForWriting.fileDescriptor)
    } catch {
      try fromEngine.fileHandleForWriting.close()
      throw error
    }
    try fromEngine.fileHandleForWriting.close()
    return Array(fromEngine.fileHandleForReading.readDataToEndOfFile())
  }

  @Test func `a step's byte is the number of a cell, row by row; the answer has the turn and the legal cells`() throws {
    let bytes = try answer(.ultimate, "random", Array("games 2 1\n".utf8) + [4 * 9 + 3, 253])
    let size = 3 * 81 + 4
    try #require(bytes.count == 4 * size)
    let first = Array(bytes[2 * size..<3 * size])
    // Cell 39 is the left cell of the middle row of the centre board, so O must play on the left board of the middle row.
    #expect((0..<81).filter { first[$0] != 0 } == [39] && first[39] == 1)
    #expect((0..<81).filter { first[81 + $0] == 1 } == [27, 28, 29, 36, 37, 38, 45, 46, 47])
    #expect(Array(first.suffix(4)) == [2, 0, 39, 0])
    // The second game's step, 253, means "wait".
    #expect(Array(bytes[(3 * size)...]) == Array(bytes[size..<2 * size]))
  }

  @Test func `a batch reports the ages of marks, the results of games and illegal moves`() throws {
    let size = 3 * 9 + 4
    let steps: [UInt8] = [0, 3, 1, 1, 4, 2]
    let bytes = try answer(.infinite, "perfect", Array("games 1 1\n".utf8) + steps)
    let blocks = (0...steps.count).map { Array(bytes[$0 * size..<($0 + 1) * size]) }
    #expect(blocks[4].last == 1 && blocks[4].dropLast() == blocks[3].dropLast())
    #expect(Array(blocks[5][18..<27]) == [1, 2, 0, 1, 2, 0, 0, 0, 0])
    // X has completed the top row.
    #expect(blocks[6][28] == 1 && blocks[6][9..<18].allSatisfy { $0 == 0 })
  }

  @Test func `a player makes its moves in a batch as in the arena`() throws {
    let size = 3 * 9 + 4
    let bytes = try answer(
      .infinite, "perfect_distance", Array("games 1 1\n".utf8) + [UInt8](repeating: 255, count: 13))
    // The perfect player wins as X in thirteen plies.
    #expect(bytes.count == 14 * size && bytes[13 * size + 28] == 1)
    #expect((0..<13).allSatisfy { bytes[$0 * size + 28] == 0 })
  }

  @Test(arguments: [
    ("", "the first line is not 'games N SEED' with 1–1000000 games", "games 0 1\n"),
    ("", "the first line is not 'games N SEED' with 1–1000000 games", "play 1 1\n"),
    ("", "the input ends in its first line", "games 1 1"),
    ("", "the input ends after 1 of the 2 bytes of a step", "games 2 1\n0"),
    ("mcts:10", "this player cannot answer in a batch of infinite; allowed: random, perfect", ""),
  ])
  func `a batch's invalid input is reported`(player: String, message: String, input: String) throws {
    let error = #expect(throws: ArenaError.self) {
      _ = try answer(.infinite, player.isEmpty ? "random" : player, Array(input.utf8))
    }
    #expect(error?.description.hasPrefix(message) == true, "\(String(describing: error))")
  }
}
