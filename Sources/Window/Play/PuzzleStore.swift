import Base
import Interface
import Oracle
import Screen
import TicTacToe
import WindowLogic

/// The store of the player's results on puzzles: one file, which all windows and tabs of a player share.
final class PuzzleStore {
  private let services: PlatformServices
  private let screen: RootScreen
  private var random: SplitMix64
  /// The results as last read or changed; they stay valid in this window if the file cannot be written.
  private var progress = PuzzleProgress()

  init(_ services: PlatformServices, _ screen: RootScreen, seed: UInt64) {
    (self.services, self.screen) = (services, screen)
    // The time makes the choice of puzzles different in windows that were started with the same seed.
    let time = SHA256.hash(Array(services.timeStamp().utf8)).bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    random = SplitMix64(seed: seed ^ time)
  }

  var rating: Int { Int(progress.rating.value.rounded()) }

  private var path: String { services.dataFolder() + "/puzzles" }

  func answer(_ request: PuzzleRequest) -> Puzzle? {
    switch request {
    case .next(let games): return change { $0.next(of: games, using: &random) }
    case .rate(let puzzle, let isSolved): change { $0.rate(puzzle, isSolved: isSolved) }
    case .finish(let solved):
      change { $0.best = max($0.best, solved) }
      screen.say("\(.sprintOver, "\(solved)", "\(progress.best)")")
    }
    return nil
  }

  /// Reads the results again before `body` changes them, since another window may have changed the file. While another window holds the
  /// lock, changes only the results in memory.
  @discardableResult
  private func change<Result>(_ body: (inout PuzzleProgress) -> Result) -> Result {
    guard services.files.locks.take(path) else { return body(&progress) }
    defer { services.files.locks.release(path) }
    if let text = services.files.read(path) { progress = PuzzleProgress(text: String(decoding: text, as: UTF8.self)) }
    let result = body(&progress)
    do throws(WriteFault) { try services.files.write(path, Array(progress.text.utf8)) } catch {
      screen.say("\(.saveFailed)\(error.reason)")
    }
    return result
  }
}
