import Foundation
import TestSupport
import Testing

@testable import Arena

enum Support {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent()
  static let misbehave = folder.appending(path: "Fixtures/misbehave.py").path
  static let bot = repository.appending(path: "examples/engine.py").path
  static let isSlow = ProcessInfo.processInfo.environment["ALINA_SLOW"] == "1"

  /// The built alina-arena: in the folder that `./test` sets, or the debug build.
  static let arena: String = {
    let folder = ProcessInfo.processInfo.environment["ALINA_BIN"] ?? repository.appending(path: ".build/debug").path
    return folder + "/alina-arena"
  }()

  static func withFolder<T>(_ body: (String) throws -> T) rethrows -> T {
    let path = FileManager.default.temporaryDirectory.appending(path: "arena-\(UUID().uuidString)").path
    try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try body(path)
  }

  struct Output {
    var code: Int32
    var out: String
    var err: String
  }

  static func run(_ arguments: [String], input: String = "", program: String = arena) throws -> Output {
    let result = try Child.run([program] + arguments, input: input)
    return Output(code: result.status, out: result.out, err: result.errors)
  }

  static func shell(_ command: String) throws -> Output { try run(["-c", command], program: "/bin/sh") }

  /// `cp` copies the program, so that this process never has the copy open for writing. A child that another test forks would inherit the
  /// open file, and the copy could not be executed ("text file busy").
  static func copyArena(into folder: String) throws -> String {
    #expect(try shell("mkdir -p '\(folder)' && cp '\(arena)' '\(folder)'").code == 0)
    return folder + "/alina-arena"
  }

  /// All descendants of an engine inherit the mark in their environment.
  static func processes(marked mark: String) -> Int { pids(marked: mark).count }

  static func pids(marked mark: String, named name: String? = nil) -> [pid_t] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    func read(_ pid: pid_t, _ what: String) -> Data {
      FileManager.default.contents(atPath: "/proc/\(pid)/\(what)") ?? Data()
    }
    return names.compactMap { pid_t($0) }.filter { pid in
      read(pid, "environ").split(separator: 0).contains { $0 == Data("ALINA_TEST=\(mark)".utf8) }
        && (name.map { read(pid, "comm") == Data("\($0)\n".utf8) } ?? true)
    }
  }

  static func misbehaving(_ mode: String, mark: String = "") -> RunConfiguration.Entrant {
    var entrant = RunConfiguration.Entrant(.engine([misbehave] + mode.split(separator: " ").map(String.init)))
    entrant.engine.environment = [.init(name: "ALINA_TEST", value: mark)]
    return entrant
  }

  static func games(_ path: String) throws -> (games: [GameLine.Content], isFinished: Bool) {
    let reader = try GameFileReader(path)
    var games: [GameLine.Content] = []
    while let game = try reader.next() { games.append(game) }
    return (games, reader.footer != nil)
  }

  static func match(_ a: String, _ b: String, games: Int, seed: UInt64 = 1) throws -> RunConfiguration {
    try tournament([a, b], .match, games: games, seed: seed)
  }

  static func tournament(
    _ players: [String], _ format: Format, games: Int, seed: UInt64 = 1
  ) throws -> RunConfiguration {
    var configuration = RunConfiguration()
    configuration.entrants = try players.map { RunConfiguration.Entrant(try PlayerSpec($0)) }
    (configuration.format, configuration.games, configuration.seed) = (format, games, seed)
    return configuration
  }

  static func play(
    _ configuration: RunConfiguration, threads: Int = 2, to path: String
  ) throws -> (bytes: [UInt8], report: RunReport) {
    var run = try Run(configuration, threads: threads, guardExecutable: arena)
    run.output = path
    let report = try run.play()
    return (Array(FileManager.default.contents(atPath: path) ?? Data()), report)
  }
}
