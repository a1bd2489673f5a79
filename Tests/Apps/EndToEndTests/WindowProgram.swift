import Foundation
import Records
import Synchronization
import TestSupport
import Testing
import TicTacToe

/// The real `alina` on an X display, operated by xdotool.
final class WindowProgram {
  let folder: URL
  private let process: Child
  private let errors: URL
  private let output: URL
  private let controls: URL
  private(set) var window = ""

  static var hasDisplay: Bool { ProcessInfo.processInfo.environment["DISPLAY"]?.isEmpty == false }

  static var program: URL {
    if let bin = ProcessInfo.processInfo.environment["ALINA_BIN"] { return URL(fileURLWithPath: bin + "/alina") }
    // `swift test` alone sets no ALINA_BIN; the program is beside the test bundle.
    return URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent("alina")
  }

  init(
    _ arguments: [String], environment: [String: String] = [:], folder: URL? = nil, isAlone: Bool = false,
    program: URL = WindowProgram.program
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
    // Over the window the mouse would show a preview on a cell.
    try WindowProgram.shell("xdotool", "mousemove", "0", "0")
    process = try Child(
      [program.path, "--control-log", controls.path, "--speak-lines"] + arguments,
      environment: variables, output: .file(output.path), errors: .file(errors.path))
    if isAlone { return }
    window = try waitFor(seconds: 20, "a window") {
      let found = try? WindowProgram.shell("xdotool", "search", "--onlyvisible", "--pid", "\(process.pid)")
      return found?.split(separator: "\n").last.map(String.init)
    }
    try takeFocus()
  }

  static func set(_ settings: String, in folder: URL) throws {
    let config = folder.appendingPathComponent("config/alina")
    try FileManager.default.createDirectory(at: config, withIntermediateDirectories: true)
    try Data(settings.utf8).write(to: config.appendingPathComponent("settings"))
  }

  /// No window manager runs on this display to give the window the focus.
  private func takeFocus() throws {
    try waitFor(seconds: 10, "the window to take the focus") {
      try WindowProgram.shell("xdotool", "windowfocus", window)
      return (try? WindowProgram.shell("xdotool", "getwindowfocus")) == window ? () : nil
    }
  }

  /// The folder is removed when the test ends, because raw sound takes 23 MB per minute.
  static func newFolder() throws -> URL {
    guard let tidy = Tidy.now else { throw ToolFailed(description: "the suite is not .tidy") }
    let folder = TemporaryFolder()
    tidy.folders.withLock { $0.append(folder) }
    return URL(fileURLWithPath: folder.path)
  }

  // MARK: - Mouse and keyboard

  func click(cell: Int) throws {
    let (x, y) = WindowProgram.center(of: cell)
    try WindowProgram.shell("xdotool", "mousemove", "--window", window, "\(x)", "\(y)", "click", "1")
  }

  func park() throws { try WindowProgram.shell("xdotool", "mousemove", "--window", window, "1275", "300") }

  func press(_ keys: String...) throws {
    for key in keys { try WindowProgram.shell("xdotool", "key", key) }
  }

  /// In pixels of a window of 1280×720. Cells are counted from 0 in reading order.
  static func center(of cell: Int) -> (x: Int, y: Int) { (495 + 145 * (cell % 3), 104 + 145 * (cell / 3)) }

  /// Clicks a cell of any variant in a window of 1280×720.
  func click(_ cell: Cell, of variant: Variant) throws {
    let (edge, side) = (3 * 145.0, Double(variant.side))
    let x = 422.5 + edge * (Double(variant.column(of: cell)) + 0.5) / side
    let y = 31.5 + edge * (Double(variant.row(of: cell)) + 0.5) / side
    try WindowProgram.shell("xdotool", "mousemove", "--window", window, "\(Int(x))", "\(Int(y))", "click", "1")
  }

  /// Places are 1280 pixels apart, counted from 0 at the left of the screen.
  func stand(at place: Int) throws { try WindowProgram.shell("xdotool", "windowmove", window, "\(place * 1_280)", "0") }

  func run(script: String) throws {
    let file = folder.appendingPathComponent("hands-\(UUID().uuidString)")
    try Data(script.utf8).write(to: file)
    try WindowProgram.shell("xdotool", file.path)
  }

  /// Clicks the control whose label begins with `words`; waits and scrolls for it.
  func click(_ words: String) throws {
    var looks = 0
    let control = try waitFor(seconds: 10, "'\(words)' on the page \(page?.name ?? "?")") {
      looks += 1
      if looks % 40 == 0 { try WindowProgram.shell("xdotool", "click", "5") }
      return page?.controls.first { $0.words.hasPrefix(words) }
    }
    try WindowProgram.shell("xdotool", "mousemove", "--window", window, "\(control.x)", "\(control.y)", "click", "1")
  }

  /// Presses a key until the line spoken for the focused control begins with `words`.
  func walk(to words: String, by key: String = "Down") throws {
    for _ in 0..<60 {
      let count = spoken.count
      try press(key)
      let line = try? waitFor(seconds: 2, "the focus") { spoken.count > count ? spoken.last : nil }
      if line?.hasPrefix(words) == true { return }
    }
    throw TookTooLong(description: "\(key) never came to '\(words)': \(spoken.suffix(20))")
  }

  // MARK: - Spoken lines

  var spoken: [String] {
    ((try? String(contentsOf: output, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
  }

  /// Waits for a spoken line after the first `count` lines; returns the number of lines so far.
  @discardableResult
  func hear(_ words: String, after count: Int = 0, seconds: Double = 15) throws -> Int {
    try waitFor(seconds: seconds, "'\(words)' to be said; last: \(spoken.suffix(3))") {
      spoken.dropFirst(count).firstIndex { $0.hasPrefix(words) }.map { $0 + 1 }
    }
  }

  /// Starts a match between windows; returns the index of the window to which the server gives X.
  static func quickMatch(_ desks: [WindowProgram]) throws -> Int {
    for desk in desks {
      try desk.wait(page: "network")
      try desk.click("Quick match")
    }
    return try waitFor(seconds: 60, "one to be told to move") {
      desks.firstIndex { $0.spoken.contains { $0.contains("make your first move") } }
    }
  }

  /// The number of moves that the server could not store, counted by the spoken notices.
  var refusals: Int { spoken.count { $0.contains("cannot store this now") } }

  /// Waits until the newest saved game has `moves` moves; calls `meanwhile` while waiting.
  func record(moves: Int, seconds: Double = 60, meanwhile: () throws -> Void = {}) throws -> Record {
    try waitFor(seconds: seconds, "\(moves) moves in the file; \(spoken.suffix(5)) \(complaints)") {
      try meanwhile()
      guard let file = games.last, let text = try? String(contentsOf: file, encoding: .utf8),
        let record = try? Record(text: text, variants: Variant.allCases), record.game.cells.count == moves
      else { return nil }
      return record
    }
  }

  // MARK: - Pages and pictures

  struct Page {
    let name: String
    let controls: [(x: Int, y: Int, words: String)]
  }

  /// From the program's control log; `nil` if there is no log yet.
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

  func wait(page name: String) throws {
    try waitFor(seconds: 10, "the page \(name), not \(page?.name ?? "?"); \(complaints)") {
      page?.name == name ? () : nil
    }
  }

  var settings: String {
    (try? String(contentsOf: folder.appendingPathComponent("config/alina/settings"), encoding: .utf8)) ?? ""
  }

  func wait(setting line: String) throws {
    try waitFor(seconds: 10, "'\(line)' among the settings: \(settings)") {
      settings.split(separator: "\n").contains { $0 == line } ? () : nil
    }
  }

  /// The window's area of the screen: 8-bit RGB, 1280×720.
  struct Picture {
    let bytes: [UInt8]

    /// The share, 0…1, of the pixels in a square around a cell's middle that are counted. The square's sides are twice `radius`.
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

    /// The share, 0…1, of a cell that is as dark as a mark. Dimmed marks and paper are lighter.
    func ink(cell: Int) -> Double { share(cell: cell, within: 60) { r, g, b in r + g + b < 600 } }

    func red(cell: Int) -> Double { share(cell: cell, within: 68) { r, g, _ in r > g + 80 } }
  }

  func picture() throws -> Picture {
    let file = folder.appendingPathComponent("picture.rgb")
    try WindowProgram.shell("import", "-window", window, "-depth", "8", "rgb:\(file.path)")
    let bytes = [UInt8](try Data(contentsOf: file))
    guard bytes.count == 1_280 * 720 * 3 else { throw ToolFailed(description: "a picture of \(bytes.count) bytes") }
    return Picture(bytes: bytes)
  }

  var complaints: String { (try? String(contentsOf: errors, encoding: .utf8)) ?? "" }

  var games: [URL] {
    let games = folder.appendingPathComponent("data/alina/games")
    let all = (try? FileManager.default.contentsOfDirectory(at: games, includingPropertiesForKeys: nil)) ?? []
    return all.filter { $0.pathExtension == "pgn" }.sorted { $0.lastPathComponent < $1.lastPathComponent }
  }

  var isRunning: Bool { process.isRunning }
  var processIdentifier: Int32 { process.pid }

  // MARK: - End of the program

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

  @discardableResult
  static func shell(_ command: String...) throws -> String {
    // A tool takes this long only if it waits for a window that has closed.
    let output = try Child.run(command, seconds: 20)
    guard output.status == 0 else {
      throw ToolFailed(description: "\(command.joined(separator: " ")): status \(output.status)")
    }
    return output.out.trimmingCharacters(in: .whitespacesAndNewlines)
  }
}

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
  static var tidy: Self { Self() }
}

func waitFor<T>(seconds: Double, _ what: @autoclosure () -> String, _ look: () throws -> T?) throws -> T {
  if let found = try firstValue(within: seconds, look) { return found }
  throw WindowProgram.TookTooLong(description: "waited \(seconds) s for \(what())")
}
