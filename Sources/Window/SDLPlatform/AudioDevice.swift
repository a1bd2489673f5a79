import CSDL2
import CSDL2Mixer
import Glibc
import ScoreModel
import Synth
import Synchronization

/// The sound device, opened by SDL2_mixer, which pulls samples from the engine. Without a device `NullClock` pulls the samples.
/// Confined to the thread that created it. From `start` to `stop` exactly one thread at a time renders with the engine.
package final class AudioDevice {
  package struct Options: Sendable {
    /// Frames per block, 64–8192; 1,024 by default, since a loaded machine with two cores has glitches at 512.
    package var bufferFrames = 1_024
    /// The device's name; `nil` for the system's default, which also replaces a missing device.
    package var name: String?
    /// Whether to open no device and let `NullClock` pull the samples.
    package var isOff = false
    /// Whether to fill `callbackLog`.
    package var isLogging = false
    /// Whether `allow` limits how far the device renders; for scripts on SDL's disk driver, which writes a file and has no clock.
    package var isGated = false

    package init() {}
  }

  package enum State: Sendable, Hashable {
    case playing(driver: String)
    /// Sound is off on purpose.
    case off
    /// No device could be opened.
    case none(reason: String)
    /// The playing device was removed, and no other device could be opened.
    case lost
  }

  package private(set) var state = State.off

  private let engine: Engine
  private var options: Options
  private let control: AudioControl
  private let hook: UnsafeMutablePointer<HookState>
  private let scratch: UnsafeMutablePointer<Float>
  private var clock: NullClock?
  private var isOpen = false
  private var wantsDevice = false
  private var nextTry = 0.0
  private var isRemoved = false
  /// Whether the system's default device is open because the chosen device is missing.
  private var isStandIn = false

  /// Seconds between attempts to reopen a device.
  private static let retryInterval = 4.0

  package init(engine: Engine, options: Options) {
    self.engine = engine
    self.options = options
    control = AudioControl(isLogging: options.isLogging)
    scratch = .allocate(capacity: HookState.scratchFrames * 2)
    scratch.initialize(repeating: 0, count: HookState.scratchFrames * 2)
    hook = .allocate(capacity: 1)
    if options.isGated { control.allowedFrames.store(0, ordering: .relaxed) }
  }

  deinit {
    stop()
    hook.deallocate()
    scratch.deallocate()
  }

  /// Opens the device, or starts the clock that replaces it.
  package func start() {
    wantsDevice = !options.isOff
    if wantsDevice { open() }
    if !isOpen { startClock() }
    nextTry = MonotonicClock.seconds + AudioDevice.retryInterval
  }

  /// Posted events that have not sounded stay in the engine.
  package func stop() {
    control.allowedFrames.store(.max, ordering: .releasing)
    close()
    stopClock()
  }

  /// Reopens a removed or missing device; call it about once a second. Returns whether the player must be told of the new state.
  package func poll(now: Double) -> Bool {
    guard wantsDevice else { return false }
    if isRemoved && isOpen {
      isRemoved = false
      reopen()
      if !isOpen { state = .lost }
      nextTry = now + AudioDevice.retryInterval
      return true
    }
    guard !isOpen, now >= nextTry else { return false }
    nextTry = now + AudioDevice.retryInterval
    let before = state
    reopen()
    if !isOpen { state = before }
    return isOpen
  }

  /// `nil` is the system's default device.
  package func use(device name: String?) {
    guard name != options.name else { return }
    options.name = name
    if wantsDevice { reopen() }
  }

  private func reopen() {
    close()
    stopClock()
    open()
    if !isOpen { startClock() }
  }

  /// Whether a device was removed or is missing, so that `poll` has work.
  package var needsPolling: Bool { wantsDevice && (!isOpen || isRemoved) }

  /// The names of the output devices; empty before `start`.
  package static var names: [String] {
    (0..<max(0, SDL_GetNumAudioDevices(0))).compactMap { SDL_GetAudioDeviceName($0, 0).map { String(cString: $0) } }
  }

  /// The names of the output devices before `start`, when SDL's sound is not running yet.
  package static var allNames: [String] {
    let quiet = SilencedErrors()
    defer { quiet.end() }
    guard SDL_InitSubSystem(SDL_INIT_AUDIO) == 0 else { return [] }
    defer { SDL_QuitSubSystem(SDL_INIT_AUDIO) }
    return names
  }

  func deviceRemoved() { isRemoved = isOpen }

  func deviceAdded() {
    if !isOpen { nextTry = 0 }
    if isStandIn, let name = options.name, AudioDevice.names.contains(name) { reopen() }
  }

  /// Lets a gated device (`Options.isGated`) render up to a frame, and waits until the device requests frames beyond this frame.
  package func allow(upTo frame: Tick) {
    guard options.isGated else { return }
    control.allowedFrames.store(frame.rawValue, ordering: .releasing)
    while control.framesAsked.load(ordering: .acquiring) <= frame.rawValue && (isOpen || clock != nil) { usleep(50) }
  }

  /// After `HookState.restAfter` unheard frames the engine only counts frames and computes no samples.
  package func setUnheard(_ isUnheard: Bool) { control.isUnheard.store(isUnheard, ordering: .relaxed) }

  /// The number of callbacks so far, and the nanoseconds spent in all of them and in the slowest.
  package var cost: (calls: UInt64, nanoseconds: UInt64, worstNanoseconds: UInt64) {
    (
      control.calls.load(ordering: .relaxed), control.nanoseconds.load(ordering: .relaxed),
      control.worstNanoseconds.load(ordering: .relaxed)
    )
  }

  /// The last callbacks, oldest first; `nanoseconds` is the monotonic start time. Call it after `stop`.
  package var callbackLog: [(nanoseconds: Int64, frame: Int64)] {
    guard let log = control.log else { return [] }
    let calls = Int(control.calls.load(ordering: .acquiring))
    let first = max(0, calls - AudioControl.logCapacity)
    return (first..<calls).map { call in
      let entry = call % AudioControl.logCapacity
      return (log[entry * 2], log[entry * 2 + 1])
    }
  }

  // MARK: - The device

  private func open() {
    let quiet = SilencedErrors()
    defer { quiet.end() }
    SDL_QuitSubSystem(SDL_INIT_AUDIO)
    guard SDL_InitSubSystem(SDL_INIT_AUDIO) == 0 else {
      state = .none(reason: sdlError)
      return
    }
    isStandIn = false
    if open(name: options.name) { return }
    if options.name != nil, open(name: nil) {
      isStandIn = true
      return
    }
    state = .none(reason: sdlError)
    SDL_QuitSubSystem(SDL_INIT_AUDIO)
  }

  private func open(name: String?) -> Bool {
    // Request 32-bit floats, or the device's own format if `SampleFormat` has it; else 16-bit integers, which SDL converts for the device.
    for (format, changes) in [(AUDIO_F32LSB, SDL_AUDIO_ALLOW_FORMAT_CHANGE), (AUDIO_S16LSB, 0)] {
      let opened = Mix_OpenAudioDevice(48_000, UInt16(format), 2, Int32(options.bufferFrames), name, Int32(changes))
      guard opened == 0 else { continue }
      var frequency: Int32 = 0
      var granted: UInt16 = 0
      var channels: Int32 = 0
      Mix_QuerySpec(&frequency, &granted, &channels)
      if frequency == 48_000 && channels == 2, let format = SampleFormat(sdl: Int32(granted)) {
        hook.initialize(to: makeHook(format, isDeaf: false))
        isOpen = true
        Mix_HookMusic(alinaAudioHook, hook)
        state = .playing(driver: SDL_GetCurrentAudioDriver().map { String(cString: $0) } ?? "unknown")
        return true
      }
      Mix_CloseAudio()
    }
    return false
  }

  private func close() {
    guard isOpen else { return }
    isOpen = false
    // Close the device before removing the hook: a block without the hook would be silent and cut the sound.
    Mix_CloseAudio()
    Mix_HookMusic(nil, nil)
    SDL_QuitSubSystem(SDL_INIT_AUDIO)
  }

  private func makeHook(_ format: SampleFormat, isDeaf: Bool) -> HookState {
    HookState(
      engine: .passUnretained(engine), control: .passUnretained(control), format: format, scratch: scratch,
      isDeaf: isDeaf)
  }

  private func startClock() {
    guard clock == nil else { return }
    hook.initialize(to: makeHook(.float32, isDeaf: true))
    clock = NullClock(hook, frames: options.bufferFrames)
  }

  private func stopClock() {
    clock?.stop()
    clock = nil
  }
}

extension SampleFormat {
  init?(sdl format: Int32) {
    switch format {
    case AUDIO_F32LSB: self = .float32
    case AUDIO_S16LSB: self = .signed16
    default: return nil
    }
  }
}

var sdlError: String { String(cString: SDL_GetError()) }
