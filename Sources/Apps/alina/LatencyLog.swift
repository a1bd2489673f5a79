import Glibc
import SDLPlatform
import ScoreModel
import Screen

/// When things happened, for measurements: first picture, inputs that made a move, and the callback that sounded them.
///
/// Written as lines of `name value …`: `first-frame NS` since the process started, `move INPUT-NS FRAME CALLBACK-NS
/// BLOCK-FRAME MS`, `callback CALLS NS WORST-NS`, `rss KIB`.
final class LatencyLog {
  private let path: String
  private var turnBegan: UInt64 = 0
  private var firstFrameAt: UInt64?
  private var moves: [(input: UInt64, frame: Int64)] = []

  init(path: String) { self.path = path }

  /// A turn of the loop has taken its events.
  func turn() { turnBegan = MonotonicClock.nanoseconds }

  /// The first picture is on the screen.
  func firstFrame() { firstFrameAt = MonotonicClock.nanoseconds }

  /// A move was made by an input of this turn, and sounds at a frame.
  func note(moveAt frame: Int64) { moves.append((turnBegan, frame)) }

  /// Writes the log; call when the device is closed.
  func write(_ audio: AudioDevice) {
    var lines: [String] = []
    if let firstFrameAt { lines.append("first-frame \(firstFrameAt &- LatencyLog.processStart)") }
    let callbacks = audio.callbackLog
    for move in moves {
      guard let index = callbacks.lastIndex(where: { $0.frame <= move.frame }) else { continue }
      let callback = callbacks[index]
      let milliseconds = Double(callback.nanoseconds - Int64(move.input)) / 1e6
      lines.append("move \(move.input) \(move.frame) \(callback.nanoseconds) \(callback.frame) \(milliseconds)")
    }
    let cost = audio.cost
    lines.append("callback \(cost.calls) \(cost.nanoseconds) \(cost.worstNanoseconds)")
    var usage = rusage()
    getrusage(Int32(RUSAGE_SELF.rawValue), &usage)
    lines.append("rss \(usage.ru_maxrss)")
    guard let file = fopen(path, "we") else { return }
    fputs(lines.joined(separator: "\n") + "\n", file)
    fclose(file)
  }

  /// Monotonic nanoseconds at which the process started, to the kernel's 10 ms.
  private static var processStart: UInt64 {
    guard let file = fopen("/proc/self/stat", "re") else { return 0 }
    defer { fclose(file) }
    var buffer = [CChar](repeating: 0, count: 2_048)
    let count = fread(&buffer, 1, buffer.count - 1, file)
    let text = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // Field 22, counted from after the command's closing parenthesis (field 2).
    guard let close = text.lastIndex(of: ")") else { return 0 }
    let fields = text[close...].split(separator: " ").dropFirst()
    guard fields.count > 19, let ticks = UInt64(fields[fields.startIndex + 19]) else { return 0 }
    return ticks * (1_000_000_000 / UInt64(sysconf(Int32(_SC_CLK_TCK))))
  }
}

/// The open page's name, and a line `X Y WIDTH HEIGHT WORDS` for each control, written whenever that changes; for tests.
struct ControlLog {
  let path: String
  private var written = ""

  init(path: String) { self.path = path }

  mutating func write(_ screen: RootScreen, with services: PlatformServices) {
    let lines = screen.accessible().map {
      "\($0.place.x) \($0.place.y) \($0.place.width) \($0.place.height) \($0.words)"
    }
    let text = ([screen.currentScene.rawValue] + lines).joined(separator: "\n")
    guard text != written else { return }
    written = text
    try? services.writeFile(path, Array(text.utf8))
  }
}
