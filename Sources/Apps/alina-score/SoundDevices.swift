import Glibc
import Synth

/// SDL is loaded at run time, as alina-score is built without SDL's headers.
enum SoundDevices {
  private typealias Init = @convention(c) (UInt32) -> Int32
  private typealias Count = @convention(c) (Int32) -> Int32
  private typealias Name = @convention(c) (Int32, Int32) -> UnsafePointer<CChar>?
  /// SDL_INIT_AUDIO of SDL.h.
  private static let audio: UInt32 = 0x10

  /// `nil` if SDL is not installed; empty if SDL finds no sound system.
  static func names() -> [String]? {
    guard let library = dlopen("libSDL2-2.0.so.0", RTLD_NOW) else { return nil }
    guard let start = symbol(library, "SDL_InitSubSystem", Init.self),
      let count = symbol(library, "SDL_GetNumAudioDevices", Count.self),
      let name = symbol(library, "SDL_GetAudioDeviceName", Name.self)
    else { return nil }
    return quietly {
      guard start(audio) == 0 else { return [] }
      return (0..<max(count(0), 0)).compactMap { name($0, 0).map { String(cString: $0) } }
    }
  }

  /// Redirects standard error to /dev/null, as ALSA prints messages there.
  private static func quietly<Result>(_ body: () -> Result) -> Result {
    let keep = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
    let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
    dup2(null, STDERR_FILENO)
    defer {
      dup2(keep, STDERR_FILENO)
      close(keep)
      close(null)
    }
    return body()
  }

  struct Output {
    private typealias Open =
      @convention(c) (UnsafePointer<CChar>?, Int32, UnsafeRawPointer, UnsafeMutableRawPointer?, Int32) -> UInt32
    private typealias Queue = @convention(c) (UInt32, UnsafeRawPointer, UInt32) -> Int32
    private typealias Queued = @convention(c) (UInt32) -> UInt32
    private typealias Pause = @convention(c) (UInt32, Int32) -> Void
    /// `play` waits while the device's queue has more bytes than this: 6,000 stereo frames of 8 bytes, an eighth of a second.
    private static let most = 6_000 * 8
    private let device: UInt32
    private let queue: Queue
    private let queued: Queued

    /// Opens the default device; `nil` without SDL or without a device.
    init?() {
      // Keep SDL from turning SIGINT and SIGTERM into quit events, which this program does not read.
      setenv("SDL_NO_SIGNAL_HANDLERS", "1", 1)
      guard let library = dlopen("libSDL2-2.0.so.0", RTLD_NOW),
        let start = symbol(library, "SDL_InitSubSystem", Init.self),
        let open = symbol(library, "SDL_OpenAudioDevice", Open.self),
        let queue = symbol(library, "SDL_QueueAudio", Queue.self),
        let queued = symbol(library, "SDL_GetQueuedAudioSize", Queued.self),
        let pause = symbol(library, "SDL_PauseAudioDevice", Pause.self), quietly({ start(audio) }) == 0
      else { return nil }
      // SDL_AudioSpec: frames per second, format (32-bit floats), channels, frames per block. The callback stays null.
      var spec = [UInt8](repeating: 0, count: 32)
      device = spec.withUnsafeMutableBytes { spec in
        spec.storeBytes(of: Int32(48_000), toByteOffset: 0, as: Int32.self)
        spec.storeBytes(of: UInt16(0x8120), toByteOffset: 4, as: UInt16.self)
        spec.storeBytes(of: UInt8(2), toByteOffset: 6, as: UInt8.self)
        spec.storeBytes(of: UInt16(1_024), toByteOffset: 8, as: UInt16.self)
        return spec.baseAddress.map { spec in quietly { open(nil, 0, spec, nil, 0) } } ?? 0
      }
      guard device > 0 else { return nil }
      (self.queue, self.queued) = (queue, queued)
      pause(device, 0)
    }

    /// The number of frames in the device's queue; a frame has 8 bytes.
    var waiting: Int64 { Int64(queued(device)) / 8 }

    /// Waits while the device's queue is full.
    func play(_ engine: Engine) {
      var block = [Float](repeating: 0, count: 2 * 512)
      engine.render(into: &block, frames: 512)
      while queued(device) > UInt32(Self.most) { usleep(2_000) }
      block.withUnsafeBytes { bytes in
        if let base = bytes.baseAddress { _ = queue(device, base, UInt32(bytes.count)) }
      }
    }
  }

  private static func symbol<Function>(_ library: UnsafeMutableRawPointer, _ name: String, _ type: Function.Type)
    -> Function?
  {
    dlsym(library, name).map { unsafeBitCast($0, to: type) }
  }
}
