import Glibc

/// The names SDL gives to sound devices. SDL is looked up at run time: this command is built without its headers.
enum SoundDevices {
  private typealias Init = @convention(c) (UInt32) -> Int32
  private typealias Count = @convention(c) (Int32) -> Int32
  private typealias Name = @convention(c) (Int32, Int32) -> UnsafePointer<CChar>?
  private static let audio: UInt32 = 0x10

  /// The output devices, `nil` without SDL, none without a sound server.
  static func names() -> [String]? {
    guard let library = dlopen("libSDL2-2.0.so.0", RTLD_NOW) else { return nil }
    guard let start = symbol(library, "SDL_InitSubSystem", Init.self),
      let count = symbol(library, "SDL_GetNumAudioDevices", Count.self),
      let name = symbol(library, "SDL_GetAudioDeviceName", Name.self)
    else { return nil }
    // ALSA tells its troubles on standard error; ours is one line on standard output.
    let keep = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
    let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
    dup2(null, STDERR_FILENO)
    defer {
      dup2(keep, STDERR_FILENO)
      close(keep)
      close(null)
    }
    guard start(audio) == 0 else { return [] }
    return (0..<max(count(0), 0)).compactMap { name($0, 0).map { String(cString: $0) } }
  }

  private static func symbol<Function>(_ library: UnsafeMutableRawPointer, _ name: String, _ type: Function.Type)
    -> Function?
  {
    dlsym(library, name).map { unsafeBitCast($0, to: type) }
  }
}
