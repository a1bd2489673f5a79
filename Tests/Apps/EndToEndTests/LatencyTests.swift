import Foundation
import Records
import TestSupport
import Testing
import TicTacToe

/// Measures the latency from a click to its downbeat: for 9 clicks, or for 108 if `LATENCY` is set in the environment.
@Suite(.serialized, .long, .tidy, .enabled(if: WindowProgram.hasDisplay, "needs an X display; ./test brings one"))
struct LatencyTests {
  /// A drawn game, so that all nine moves are played.
  private static let clicks = [0, 1, 2, 4, 3, 5, 7, 6, 8]

  @Test("The downbeat of each click has the frame in the record and lies in the block that the latency log gives")
  func clicks() throws {
    let games = ProcessInfo.processInfo.environment["LATENCY"] == nil ? 1 : 12
    var delays: [Double] = []
    for game in 0..<games {
      let folder = try WindowProgram.newFolder()
      let log = folder.appendingPathComponent("log")
      let raw = folder.appendingPathComponent("sound.raw")
      let desk = try WindowProgram(
        ["--seed", "\(game + 1)", "--level", "person", "--piano", "modal", "--latency-log", log.path],
        environment: ["SDL_AUDIODRIVER": "disk", "SDL_DISKAUDIOFILE": raw.path], folder: folder)
      for cell in Self.clicks {
        try desk.click(cell: cell)
        usleep(750_000 + UInt32(cell) * 3_137)
      }
      #expect(try desk.quit() == 0)
      let record = try Record(text: String(contentsOf: #require(desk.games.last), encoding: .utf8))
      let moves = try String(contentsOf: log, encoding: .utf8).split(separator: "\n").filter { $0.hasPrefix("move ") }
        .map { $0.split(separator: " ").dropFirst().compactMap { Double($0) } }
      #expect(moves.count == 9 && record.times.count == 9)
      for (line, times) in zip(moves, record.times) {
        // Times in ns of the click (`input`) and of the start of the downbeat's block (`callback`); the frames of the downbeat and of the
        // block's start.
        let (input, frame, callback, block) = (line[0], line[1], line[2], line[3])
        #expect(frame == Double(try #require(times.frame)))
        #expect(frame >= block && frame < block + 1_024, "the downbeat lies in the block that was begun for it")
        delays.append((callback - input) / 1e6 + (frame - block) / 48)
      }
    }
    delays.sort()
    func share(_ p: Double) -> String {
      String(format: "%.1f", delays[min(Int(p * Double(delays.count)), delays.count - 1)])
    }
    // The delays depend on the machine, so the test sets no limit.
    print("click to downbeat, \(delays.count) clicks: p50 \(share(0.5)) ms, p99 \(share(0.99)) ms")
    print("(one block is 21.3 ms, one frame of the screen 16.7 ms)")
  }
}
