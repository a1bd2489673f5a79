import CSDL2
import CSDL2Mixer
import Glibc
import ScoreModel
import Synth
import Synchronization

/// The sound device: SDL2_mixer opens it and pulls from the engine; where there is none a clock pulls in its place.
///
/// Belongs to the thread that made it. The engine is always being pulled from `start` to `stop`, by one thread at a time.
package final class AudioDevice {
  /// What the player asked for.
  package struct Options: Sendable {
    /// Frames of one block, 64–8192; 1,024 by default, since a loaded machine of two cores already glitches at 512.
    package var bufferFrames = 1_024
    /// The device by name; `nil` for the system's default, which also stands in for one that is not there.
    package var name: String?
    /// Plays to nobody: no device is looked for.
    package var isOff = false
    /// Notes the time of every callback, for `latencyLog`.
    package var isLogging = false
    /// Renders only as far as `allow` says; for scripts, on the disk driver, which has no clock.
    package var isGated = false

    package init() {}
  }

  /// What became of the device.
  package enum State: Sendable, Hashable {
    case playing(driver: String)
    /// Nothing is heard, on purpose.
    case off
    /// No device can be opened; SDL's reason.
    case none(reason: String)
    /// The device that played is gone.
    case lost
  }

  /// What became of the device; see `poll`.
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
  /// Whether the system's device stands in for the one that was named.
  private var isStandIn = false

  /// Seconds between attempts to find a device again.
  private static let retryInterval = 4.0

  /// Prepares to play an engine; nothing sounds before `start`.
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

  /// Opens the device, or starts the clock that stands in for it.
  package func start() {
    wantsDevice = !options.isOff
    if wantsDevice { open() }
    if !isOpen { startClock() }
    nextTry = MonotonicClock.seconds + AudioDevice.retryInterval
  }

  /// Closes the device; what has been posted and not heard stays in the engine.
  package func stop() {
    control.allowedFrames.store(.max, ordering: .releasing)
    close()
    stopClock()
  }

  /// Looks after loss and return; call it every second or so. Returns whether the state changed.
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

  /// Plays on another device from here on; the system's own for `nil`.
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

  /// Whether `poll` has something to look after.
  package var needsPolling: Bool { wantsDevice && (!isOpen || isRemoved) }

  /// The names of the devices that can play, as SDL gives them; empty before `start` and where there is none.
  package static var names: [String] {
    (0..<max(0, SDL_GetNumAudioDevices(0))).compactMap { SDL_GetAudioDeviceName($0, 0).map { String(cString: $0) } }
  }

  /// The names of all devices that can play, before any has been opened.
  package static var allNames: [String] {
    let quiet = SilencedErrors()
    defer { quiet.end() }
    guard SDL_InitSubSystem(SDL_INIT_AUDIO) == 0 else { return [] }
    defer { SDL_QuitSubSystem(SDL_INIT_AUDIO) }
    return names
  }

  /// Takes note of SDL's word that an output device is gone; `poll` acts on it.
  func deviceRemoved() { isRemoved = isOpen }

  /// A device appeared: try at once, where there was none or not the one that was named.
  func deviceAdded() {
    if !isOpen { nextTry = 0 }
    if isStandIn, let name = options.name, AudioDevice.names.contains(name) { reopen() }
  }

  /// Lets a gated device render up to a frame and waits until it has asked for more.
  package func allow(upTo frame: Tick) {
    guard options.isGated else { return }
    control.allowedFrames.store(frame.rawValue, ordering: .releasing)
    while control.framesAsked.load(ordering: .acquiring) <= frame.rawValue && (isOpen || clock != nil) { usleep(50) }
  }

  /// Whether nobody hears what is played for now: once it has died away it costs nothing, and time goes on.
  package func setUnheard(_ isUnheard: Bool) { control.isUnheard.store(isUnheard, ordering: .relaxed) }

  /// What the callback has cost so far: calls, nanoseconds in all of them and in the worst one.
  package var cost: (calls: UInt64, nanoseconds: UInt64, worstNanoseconds: UInt64) {
    (
      control.calls.load(ordering: .relaxed), control.nanoseconds.load(ordering: .relaxed),
      control.worstNanoseconds.load(ordering: .relaxed)
    )
  }

  /// The last callbacks, oldest first: when each began (monotonic nanoseconds) and its first frame. Call after `stop`.
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
    // Ask for Float, accept another format only to see whether it is one we fill ourselves; never another rate.
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
    // The device first: what it asks for without its hook is empty, and ends the sound before its last block.
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
  /// The format of a device, `nil` for one that SDL must convert to.
  init?(sdl format: Int32) {
    switch format {
    case AUDIO_F32LSB: self = .float32
    case AUDIO_S16LSB: self = .signed16
    default: return nil
    }
  }
}

/// SDL's words for what went wrong last.
var sdlError: String { String(cString: SDL_GetError()) }
