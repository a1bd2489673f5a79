import ScoreModel
import Screen
import Synchronization

/// A clock that counts audio frames and that only its owner advances, so that scripts and tests run at full speed and reproducibly.
package final class VirtualClock: Sendable {
  private let frames = Atomic<Int64>(0)

  package init() {}

  package var tick: Tick { Tick(rawValue: frames.load(ordering: .acquiring)) }

  package var seconds: Double { tick.seconds }

  package func advance(frames count: Int) { frames.wrappingAdd(Int64(count), ordering: .acquiringAndReleasing) }
}

/// Runs a game without a window, a sound device or waiting, for pictures, scripts and tests.
package final class HeadlessPlatform {
  package let clock = VirtualClock()
  /// Background work runs synchronously, so that runs are reproducible.
  package let services: PlatformServices
  private let buffer: PixelBuffer
  private let pull: (_ frames: Int) -> Void

  /// Audio frames between two updates: 1/60 s at 48 kHz.
  package static let step = 800

  /// At each step `run` calls `pull` to render audio frames.
  package init(width: Int, height: Int, pull: @escaping (_ frames: Int) -> Void) {
    buffer = PixelBuffer(width: width, height: height)
    let clock = clock
    var services = PlatformServices.headless { clock.seconds }
    services.inBackground = { $0() }
    self.services = services
    self.pull = pull
  }

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
