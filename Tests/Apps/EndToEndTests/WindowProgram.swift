import Foundation
import Records
import Synchronization
import TestSupport
import Testing
import TicTacToe

/// The window as a person has it: an X display, the real `alina` with folders of its own, a mouse and a keyboard (xdotool).
final class WindowProgram {
  /// Where the program finds settings, games and sound.
  let folder: URL
  private let process: Child
  private let errors: URL
  private let output: URL
  private let controls: URL
  private(set) var window = ""

  /// Whether there is a display to work on; `./test` brings one.
  static var hasDisplay: Bool { ProcessInfo.processInfo.environment["DISPLAY"]?.isEmpty == false }

  static var program: URL {
    if let bin = ProcessInfo.processInfo.environment["ALINA_BIN"] { return URL(fileURLWithPath: bin + "/alina") }
    // Beside the test bundle when `swift test` runs alone.
    return URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent("alina")
  }

  /// Starts the program and waits for its window, unless it is to run by itself.
  init(
    _ arguments: [String], environment: [String: String] = [:], folder: URL? = nil, isAlone: Bool = false
  ) throws {
    self.folder = try folder ?? WindowProgram.newFolder()
    errors = self.folder.appendingPathComponent("stderr-\(UUID().uuidString)")
    output = self.folder.appendingPathComponent("stdout-\(UUID().uuidString)")
    controls = self.folder.appendingPathComponent("controls-\(UUID().uuidString)")
    var variables = [
      "XDG_DATA_HOME": self.folder.appendingPathComponent("data").path,
      "XDG_CONFIG_HOME": self.folder.appendingPathComponent("config").path,
      "SDL_VIDEODRIVER": "x11", "SDL_AUDIODRIVER": "dummy",
    ]
    variables.merge(environment) { $1 }
    // Whatever the last test left the mouse on: no cell of the new window, or it would sound.
    try WindowProgram.shell("xdotool", "mousemove", "0", "0")
    process = try Child(
      [WindowProgram.program.path, "--control-log", controls.path, "--speak-lines"] + arguments,
      environment: variables, output: .file(output.path), errors: .file(errors.path))
    if isAlone { return }
    window = try waitFor(seconds: 20, "a window") {
      let found = try? WindowProgram.shell("xdotool", "search", "--onlyvisible", "--pid", "\(process.pid)")
      return found?.split(separator: "\n").last.map(String.init)
    }
    try takeFocus()
  }

  /// Writes the player's settings before the program starts, in a folder of `newFolder`.
  static func set(_ settings: String, in folder: URL) throws {
    let config = folder.appendingPathComponent("config/alina")
    try FileManager.default.createDirectory(at: config, withIntermediateDirectories: true)
    try Data(settings.utf8).write(to: config.appendingPathComponent("settings"))
  }

  /// Without a window manager nobody else gives the window the keyboard.
  private func takeFocus() throws {
    try waitFor(seconds: 10, "the window to take the focus") {
      try WindowProgram.shell("xdotool", "windowfocus", window)
      return (try? WindowProgram.shell("xdotool", "getwindowfocus")) == window ? () : nil
    }
  }

  /// A folder that is removed when the test ends: raw sound is 23 MB a minute.
  static func newFolder() throws -> URL {
    guard let tidy = Tidy.now else { throw ToolFailed(description: "the suite is not .tidy") }
    let folder = TemporaryFolder()
    tidy.folders.withLock { $0.append(folder) }
    return URL(fileURLWithPath: folder.path)
  }

  // MARK: - Hands

  /// Clicks in the middle of a cell of the window at 1280×720.
  func click(cell: Int) throws {
    let (x, y) = WindowProgram.center(of: cell)
    try WindowProgram.shell("xdotool", "mousemove", "--window", window, "\(x)", "\(y)", "click", "1")
  }

  /// Takes the mouse where it touches nothing.
  func park() throws { try WindowProgram.shell("xdotool", "mousemove", "--window", window, "1275", "300") }

  /// Presses keys one after the other.
  func press(_ keys: String...) throws {
    for key in keys { try WindowProgram.shell("xdotool", "key", key) }
  }

  /// The middle of a cell in reading order, in pixels of the window at 1280×720.
  static func center(of cell: Int) -> (x: Int, y: Int) { (495 + 145 * (cell % 3), 104 + 145 * (cell / 3)) }

  /// Clicks on a cell of any of the three games.
  func click(_ cell: Cell, of variant: Variant) throws {
    let (edge, side) = (3 * 145.0, Double(variant.side))
    let x = 422.5 + edge * (Double(variant.column(of: cell)) + 0.5) / side
    let y = 31.5 + edge * (Double(variant.row(of: cell)) + 0.5) / side
    try WindowProgram.shell("xdotool", "mousemove", "--window", window, "\(Int(x))", "\(Int(y))", "click", "1")
  }

  /// Puts the window at a place of its own on the screen, 0 being the leftmost.
  func stand(at place: Int) throws { try WindowProgram.shell("xdotool", "windowmove", window, "\(place * 1_280)", "0") }

  /// Types what a script of xdotool says, line by line.
  func run(script: String) throws {
    let file = folder.appendingPathComponent("hands-\(UUID().uuidString)")
    try Data(script.utf8).write(to: file)
    try WindowProgram.shell("xdotool", file.path)
  }

  /// Clicks on the control whose words begin so, once it is there; turns the wheel where it is out of sight.
  func click(_ words: String) throws {
    var looks = 0
    let control = try waitFor(seconds: 10, "'\(words)' on the page \(page?.name ?? "?")") {
      looks += 1
      if looks % 40 == 0 { try WindowProgram.shell("xdotool", "click", "5") }
      return page?.controls.first { $0.words.hasPrefix(words) }
    }
    try WindowProgram.shell("xdotool", "mousemove", "--window", window, "\(control.x)", "\(control.y)", "click", "1")
  }

  /// Presses a key until what the focus comes to is said to be so.
  func walk(to words: String, by key: String = "Down") throws {
    for _ in 0..<60 {
      let count = spoken.count
      try press(key)
      let line = try? waitFor(seconds: 2, "the focus") { spoken.count > count ? spoken.last : nil }
      if line?.hasPrefix(words) == true { return }
    }
    throw TookTooLong(description: "\(key) never came to '\(words)': \(spoken.suffix(20))")
  }

  // MARK: - Ears

  /// The lines a screen reader was given so far.
  var spoken: [String] {
    ((try? String(contentsOf: output, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
  }

  /// Waits until a line that begins so is spoken after the first `count` lines; returns how many there are then.
  @discardableResult
  func hear(_ words: String, after count: Int = 0, seconds: Double = 15) throws -> Int {
    try waitFor(seconds: seconds, "'\(words)' to be said; last: \(spoken.suffix(3))") {
      spoken.dropFirst(count).firstIndex { $0.hasPrefix(words) }.map { $0 + 1 }
    }
  }

  /// Begins a match between windows that are on the network page; returns which has X: the server chooses, and X's window says so. The
  /// match has begun when the window counts the seconds.
  static func quickMatch(_ desks: [WindowProgram]) throws -> Int {
    for desk in desks {
      try desk.wait(page: "network")
      try desk.click("Quick match")
    }
    return try waitFor(seconds: 60, "one to be told to move") {
      desks.firstIndex { $0.spoken.contains { $0.contains("make your first move") } }
    }
  }

  /// How often the server could not store a move.
  var refusals: Int { spoken.count { $0.contains("cannot store this now") } }

  /// What the program has saved of its newest game, once that has so many moves; until then, does what is to be done
  /// meanwhile.
  func record(moves: Int, seconds: Double = 60, meanwhile: () throws -> Void = {}) throws -> Record {
    try waitFor(seconds: seconds, "\(moves) moves in the file; \(spoken.suffix(5)) \(complaints)") {
      try meanwhile()
      guard let file = games.last, let text = try? String(contentsOf: file, encoding: .utf8),
        let record = try? Record(text: text, variants: Variant.allCases), record.game.cells.count == moves
      else { return nil }
      return record
    }
  }

  // MARK: - Eyes

  /// The open page: its name, the middle of each control and the words for it.
  struct Page {
    let name: String
    let controls: [(x: Int, y: Int, words: String)]
  }

  /// What the program says is on the screen.
  var page: Page? {
    guard let text = try? String(contentsOf: controls, encoding: .utf8) else { return nil }
    let lines = text.split(separator: "\n")
    return Page(
      name: lines.first.map(String.init) ?? "",
      controls: lines.dropFirst().compactMap { line in
        let parts = line.split(separator: " ", maxSplits: 4)
        let numbers = parts.prefix(4).compactMap { Int($0) }
        guard numbers.count == 4, parts.count == 5 else { return nil }
        return (numbers[0] + numbers[2] / 2, numbers[1] + numbers[3] / 2, String(parts[4]))
      })
  }

  /// Waits until a page is open.
  func wait(page name: String) throws {
    try waitFor(seconds: 10, "the page \(name), not \(page?.name ?? "?"); \(complaints)") {
      page?.name == name ? () : nil
    }
  }

  /// The settings as they are kept, `key = value` by line.
  var settings: String {
    (try? String(contentsOf: folder.appendingPathComponent("config/alina/settings"), encoding: .utf8)) ?? ""
  }

  /// Waits until the settings file holds a line.
  func wait(setting line: String) throws {
    try waitFor(seconds: 10, "'\(line)' among the settings: \(settings)") {
      settings.split(separator: "\n").contains { $0 == line } ? () : nil
    }
  }

  /// What is on the screen in the window's place: 8-bit RGB, 1280×720.
  struct Picture {
    let bytes: [UInt8]

    /// The share of pixels around the middle of a cell that answer a question.
    func share(cell: Int, within radius: Int, _ isCounted: (_ red: Int, _ green: Int, _ blue: Int) -> Bool) -> Double {
      let (centerX, centerY) = WindowProgram.center(of: cell)
      var count = 0
      for y in centerY - radius..<centerY + radius {
        for x in centerX - radius..<centerX + radius {
          let at = (y * 1_280 + x) * 3
          if isCounted(Int(bytes[at]), Int(bytes[at + 1]), Int(bytes[at + 2])) { count += 1 }
        }
      }
      return Double(count) / Double(4 * radius * radius)
    }

    /// The share of a cell that is inked, 0…1; marks beaten by a line are pale, paper is paler.
    func ink(cell: Int) -> Double { share(cell: cell, within: 60) { r, g, b in r + g + b < 600 } }

    /// The share of a cell with its corners that is red.
    func red(cell: Int) -> Double { share(cell: cell, within: 68) { r, g, _ in r > g + 80 } }
  }

  /// A picture of the window.
  func picture() throws -> Picture {
    let file = folder.appendingPathComponent("picture.rgb")
    try WindowProgram.shell("import", "-window", window, "-depth", "8", "rgb:\(file.path)")
    let bytes = [UInt8](try Data(contentsOf: file))
    guard bytes.count == 1_280 * 720 * 3 else { throw ToolFailed(description: "a picture of \(bytes.count) bytes") }
    return Picture(bytes: bytes)
  }

  /// What the program said on standard error so far.
  var complaints: String { (try? String(contentsOf: errors, encoding: .utf8)) ?? "" }

  /// Files under the folder for games, newest name last.
  var games: [URL] {
    let games = folder.appendingPathComponent("data/alina/games")
    let all = (try? FileManager.default.contentsOfDirectory(at: games, includingPropertiesForKeys: nil)) ?? []
    return all.filter { $0.pathExtension == "pgn" }.sorted { $0.lastPathComponent < $1.lastPathComponent }
  }

  var isRunning: Bool { process.isRunning }
  var processIdentifier: Int32 { process.pid }

  // MARK: - Ends

  /// Ctrl-Q; returns the exit status.
  func quit(seconds: Double = 20) throws -> Int32 {
    try takeFocus()
    try press("ctrl+q")
    return try waitForExit(seconds: seconds)
  }

  func waitForExit(seconds: Double = 20) throws -> Int32 {
    try process.wait(seconds: seconds)
  }

  func killHard() { process.kill() }

  // MARK: - Tools

  struct TookTooLong: Error, CustomStringConvertible { let description: String }
  struct ToolFailed: Error, CustomStringConvertible { let description: String }

  /// Runs a tool and returns what it prints.
  @discardableResult
  static func shell(_ command: String...) throws -> String {
    // No tool here works longer than this; one that waits for a window that is gone must not wait for ever.
    let output = try Child.run(command, seconds: 20)
    guard output.status == 0 else {
      throw ToolFailed(description: "\(command.joined(separator: " ")): status \(output.status)")
    }
    return output.out.trimmingCharacters(in: .whitespacesAndNewlines)
  }
}

/// Keeps the folders of a test until it ends.
final class Tidy: Sendable {
  @TaskLocal static var now: Tidy?
  let folders = Mutex<[TemporaryFolder]>([])

  struct Suites: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }
    func provideScope(
      for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
      try await Tidy.$now.withValue(Tidy(), operation: function)
    }
  }
}

extension Trait where Self == Tidy.Suites {
  /// For suites that use `WindowProgram.newFolder`.
  static var tidy: Self { Self() }
}

/// Looks again and again until something is there; the interval only says how soon it is noticed.
func waitFor<T>(seconds: Double, _ what: @autoclosure () -> String, _ look: () throws -> T?) throws -> T {
  let end = Date().addingTimeInterval(seconds)
  while Date() < end {
    if let found = try look() { return found }
    usleep(10_000)
  }
  throw WindowProgram.TookTooLong(description: "waited \(seconds) s for \(what())")
}
