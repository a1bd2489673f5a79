import CSDL2
import ScoreModel
import Synth
import TestSupport
import Testing

@testable import SDLPlatform

/// Serial, because SDL has one audio subsystem per process.
@Suite(.serialized) struct AudioDeviceTests {
  /// Selects SDL's driver without changing the environment, which other suites read at the same time.
  private func driver(_ name: String) { SDL_SetHintWithPriority("SDL_AUDIODRIVER", name, SDL_HINT_OVERRIDE) }

  private func waitForFrames(_ engine: Engine, _ count: Int64) -> Bool {
    // The audio thread may have to wait for other suites.
    eventually(within: 40) { engine.framesBegun.rawValue >= count }
  }

  @Test("A device pulls sound from the engine and measures the time of its callback")
  func dummy() {
    driver("dummy")
    let engine = Engine(patch: Patch())
    let device = AudioDevice(engine: engine, options: .init())
    device.start()
    #expect(device.state == .playing(driver: "dummy"))
    #expect(waitForFrames(engine, 4_096))
    device.stop()
    #expect(device.cost.calls >= 4 && device.cost.worstNanoseconds > 0)
    #expect(SDL_WasInit(SDL_INIT_AUDIO) == 0, "closed, and its thread with it")
  }

  @Test("Without a device a clock pulls in real time, and the state has the reason")
  func noDevice() {
    driver("no-such-driver")
    let engine = Engine(patch: Patch())
    let device = AudioDevice(engine: engine, options: .init())
    let begun = MonotonicClock.seconds
    device.start()
    guard case .none(let reason) = device.state else {
      Issue.record("state \(device.state)")
      return
    }
    #expect(!reason.isEmpty)
    #expect(waitForFrames(engine, 24_000))
    // Half a second of sound takes half a second, minus the first block, which the device takes at once.
    #expect(MonotonicClock.seconds - begun > 0.4)
    device.stop()
  }

  @Test("Muted sound is not computed after it has decayed; time advances, and later notes sound")
  func unheard() {
    let engine = Engine(patch: Patch())
    let control = AudioControl(isLogging: false)
    var block = [Float](repeating: 1, count: 2 * 1_024)
    var hook = HookState(
      engine: .passUnretained(engine), control: .passUnretained(control), format: .float32,
      scratch: .allocate(capacity: 1))
    defer { hook.scratch.deallocate() }
    /// Returns the loudest sample of a block in which a note starts.
    func pull() -> Float {
      let note = ScoreEvent(
        frame: engine.framesBegun, generation: 1, kind: .note, pitch: Pitch(83), velocity: 90, duration: 9_600)
      engine.post([note])
      block.withUnsafeMutableBytes {
        alinaAudioHook(
          user: &hook, stream: $0.baseAddress?.assumingMemoryBound(to: UInt8.self), length: Int32($0.count))
      }
      return block.map(abs).max() ?? 0
    }
    #expect(pull() > 0.001)
    control.isUnheard.store(true, ordering: .relaxed)
    #expect(pull() > 0.001, "what sounds dies away first")
    hook.unheard = HookState.restAfter
    for _ in 0..<3 { #expect(pull() == 0) }
    #expect(engine.framesBegun.rawValue == 5 * 1_024)
    control.isUnheard.store(false, ordering: .relaxed)
    #expect(pull() > 0.001 && hook.unheard == 0)
  }

  @Test("A device that appears later is used, and the sound continues")
  func reconnection() {
    driver("no-such-driver")
    let engine = Engine(patch: Patch())
    let device = AudioDevice(engine: engine, options: .init())
    device.start()
    #expect(waitForFrames(engine, 2_048))
    #expect(!device.poll(now: MonotonicClock.seconds))
    driver("dummy")
    let before = engine.framesBegun
    #expect(device.poll(now: MonotonicClock.seconds + 10))
    #expect(device.state == .playing(driver: "dummy"))
    #expect(waitForFrames(engine, before.rawValue + 4_096))
    device.deviceRemoved()
    #expect(device.poll(now: MonotonicClock.seconds))
    device.stop()
  }

  @Test("A device that waits for permission renders only up to the allowed frame")
  func gate() {
    driver("dummy")
    var options = AudioDevice.Options()
    options.isGated = true
    let engine = Engine(patch: Patch())
    let device = AudioDevice(engine: engine, options: options)
    device.start()
    device.allow(upTo: .zero)
    #expect(engine.framesBegun == .zero)
    device.allow(upTo: Tick(rawValue: 5_000))
    #expect(engine.framesBegun == Tick(rawValue: 4_096))
    device.stop()
  }

  @Test("Without a device, as sound is switched off, the engine's time continues")
  func off() {
    var options = AudioDevice.Options()
    options.isOff = true
    let engine = Engine(patch: Patch())
    let device = AudioDevice(engine: engine, options: options)
    device.start()
    #expect(device.state == .off)
    #expect(waitForFrames(engine, 2_048))
    device.stop()
  }
}
