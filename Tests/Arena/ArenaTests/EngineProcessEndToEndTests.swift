import Base
import Foundation
import TestSupport
import Testing
import TicTacToe

@testable import Arena
@testable import ArenaFiles

@Suite("Processes of engines", .serialized) struct EngineProcessEndToEndTests {
  @Test func `an engine that cannot be started is refused with the file that is at fault`() {
    Support.withFolder { folder in
      var launch = EngineProcess.Launch([Support.bot], guardExecutable: folder + "/arena")
      launch.log = folder + "/log"
      func refusal() -> String? {
        do throws(ArenaError) { _ = try EngineProcess(launch, StopSignal()) } catch { return error.description }
        return nil
      }
      #expect(refusal() == "\(folder)/arena: No such file or directory")
      launch = EngineProcess.Launch([Support.bot], guardExecutable: Support.arena)
      launch.log = folder + "/none/log"
      #expect(refusal() == "\(folder)/none/log: No such file or directory")
    }
  }

  @Test(.needs("python3"), .enabled(if: ProcessInfo.processInfo.activeProcessorCount > 1))
  func `an engine that a thread has bound to one processor may use all of them in another thread`() throws {
    try Support.withFolder { folder in
      let log = folder + "/log"
      var configuration = try Support.match("random", "random", games: 2)
      configuration.entrants[0] = Support.misbehaving("processors \(log)")
      configuration.time.moveTime = 60_000
      let players = try Players(configuration, threads: 1, guardExecutable: Support.arena, stop: StopSignal())
      defer { players.stopEngines() }
      /// Plays a game in a new thread, which is first bound to one processor if `binding` is true. Returns the number of processors that
      /// the engine may use at its last move.
      func play(binding: Bool) throws -> String? {
        let end = DispatchSemaphore(value: 0)
        let isStarted = startThread {
          defer { end.signal() }
          let worker = Players.Worker(players)
          defer { worker.end() }
          var random = SplitMix64(seed: 1)
          guard let seats = try? worker.players(of: Pairing(a: 0, b: 1), Classic.self) else { return }
          // After forty games of less than 2 ms each the worker binds its engine and its thread to one processor.
          if binding { for _ in 0..<40 { worker.noteGame() } }
          let opening = players.configuration.openings.opening(pair: 0, seed: 1, Classic.self)
          _ = try? Classic.playGame(
            x: seats.a, o: seats.b, opening: opening, adjudication: players.configuration.adjudication,
            stop: players.stop, using: &random)
        }
        guard isStarted else { return nil }
        end.wait()
        return try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").last.map(String.init)
      }
      // The engine's guard process binds the engine during the game. A game may end before, so the test plays up to fifty games.
      let all = try #require(try play(binding: false))
      #expect(try (0..<50).contains { _ in try play(binding: true) == "1" })
      #expect(try (0..<50).contains { _ in try play(binding: false) == all })
    }
  }
}
