import ScoreModel
import Screen
import Synchronization

/// Time as a number of frames that its owner moves: scripts and tests are as fast as the machine and always the same.
package final class VirtualClock: Sendable {
  private let frames = Atomic<Int64>(0)

  /// A clock that stands at the first frame.
  package init() {}

  package var tick: Tick { Tick(rawValue: frames.load(ordering: .acquiring)) }

  package var seconds: Double { tick.seconds }

  package func advance(frames count: Int) { frames.wrappingAdd(Int64(count), ordering: .acquiringAndReleasing) }
}

/// Runs a game without window, device or waiting: the twin of `SDLPlatform` for pictures, scripts and tests.
package final class HeadlessPlatform {
  /// The clock that `run` moves.
  package let clock = VirtualClock()
  /// The services of a window that is not there; background work is done at once, so that runs repeat exactly.
  package let services: PlatformServices
  private let buffer: PixelBuffer
  private let pull: (_ frames: Int) -> Void

  /// Frames between two calls of the game's update: one picture at 60 Hz.
  package static let step = 800

  /// A window of `width` × `height` pixels whose sound is pulled by `pull`.
  package init(width: Int, height: Int, pull: @escaping (_ frames: Int) -> Void) {
    buffer = PixelBuffer(width: width, height: height)
    let clock = clock
    var services = PlatformServices.headless { clock.seconds }
    services.inBackground = { $0() }
    self.services = services
    self.pull = pull
  }

  /// Runs until the game wants to quit; `wantsPicture` says when it is worth drawing one.
  package func run(_ game: some PlatformGame, wantsPicture: () -> Bool) {
    var isNew = true
    while true {
      game.update(input: [], at: clock.seconds)
      if wantsPicture() {
        _ = game.draw(into: buffer.bitmap, isNew: isNew, at: clock.seconds)
        isNew = false
      }
      if game.wantsToQuit { return }
      pull(HeadlessPlatform.step)
      clock.advance(frames: HeadlessPlatform.step)
    }
  }
}
