import Glibc
import SDLPlatform
import ScoreModel
import Screen

/// Times for latency measurements, written as lines. NS are nanoseconds of the monotonic clock:
/// - `first-frame NS`: from the start of the process to the first picture.
/// - `move INPUT-NS FRAME CALLBACK-NS BLOCK-FRAME MS`: the time of the input; the audio frame at which the move sounds; the time and first
///   frame of the audio callback that rendered this frame; the milliseconds from the input to the callback.
/// - `callback CALLS NS WORST-NS`: the number, total and longest duration of the audio callbacks. `rss KIB`: the most memory used.
final class LatencyLog {
  private let path: String
  private var turnBegan: UInt64 = 0
  private var firstFrameAt: UInt64?
  private var moves: [(input: UInt64, frame: Int64)] = []

  init(path: String) { self.path = path }

  /// Records the time. This time counts as the time of the input for all moves until the next call.
  func turn() { turnBegan = MonotonicClock.nanoseconds }

  func firstFrame() { firstFrameAt = MonotonicClock.nanoseconds }

  /// `frame` is the audio frame at which the move sounds.
  func note(moveAt frame: Int64) { moves.append((turnBegan, frame)) }

  /// Stop the sound device first: until then its thread still adds to the log of callbacks.
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

  /// In nanoseconds of the monotonic clock, with the kernel's resolution of 10 ms.
  private static var processStart: UInt64 {
    guard let file = fopen("/proc/self/stat", "re") else { return 0 }
    defer { fclose(file) }
    var buffer = [CChar](repeating: 0, count: 2_048)
    let count = fread(&buffer, 1, buffer.count - 1, file)
    let text = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // The start time is field 22. The command name (field 2) may contain spaces, so count from the parenthesis that ends it.
    guard let close = text.lastIndex(of: ")") else { return 0 }
    let fields = text[close...].split(separator: " ").dropFirst()
    guard fields.count > 19, let ticks = UInt64(fields[fields.startIndex + 19]) else { return 0 }
    return ticks * (1_000_000_000 / UInt64(sysconf(Int32(_SC_CLK_TCK))))
  }
}

/// For tests: a file with the open page's name and a line `X Y WIDTH HEIGHT WORDS` per control.
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
    try? services.files.write(path, Array(text.utf8))
  }
}
