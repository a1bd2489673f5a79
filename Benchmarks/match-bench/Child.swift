import Foundation

/// The server processes under test, with their ports and resource use.
final class Child {
  private let process = Process()
  /// `scripts/cluster` ends its servers when this input closes.
  private let leash = Pipe()
  private(set) var ports: [Int] = []
  private var servers: [Int32] = []
  private var database: Int32?

  /// Waits for the program's line `listening HOST:PORT`.
  init(_ program: String, _ arguments: [String]) {
    start(program, arguments) { line in
      guard line.hasPrefix("listening "), let port = line.split(separator: ":").last.flatMap({ Int($0) }) else {
        return false
      }
      ports = [port]
      return true
    }
    servers = [process.processIdentifier]
  }

  init(cluster script: String, server: String, nodes: Int, _ arguments: [String]) {
    setenv("ALINA_SERVER", server, 1)
    start(script, ["--nodes", "\(nodes)", "--"] + arguments) { line in
      let words = line.split(separator: " ")
      switch words.first {
      case "node":
        ports.append(Int(words[2].split(separator: ":").last ?? "") ?? 0)
        servers.append(Int32(words[4]) ?? 0)
      case "db": database = Int32(words[2])
      default: break
      }
      return words.first == "connect"
    }
  }

  private func start(_ program: String, _ arguments: [String], _ isReady: (Substring) -> Bool) {
    let out = Pipe()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.standardInput = leash
    process.standardOutput = out
    do { try process.run() } catch {
      complain("cannot start \(program): \(error)")
      exit(1)
    }
    var text = ""
    while true {
      let data = out.fileHandleForReading.availableData
      if data.isEmpty { break }
      text += String(decoding: data, as: UTF8.self)
      while let end = text.firstIndex(of: "\n") {
        let line = text[..<end]
        let done = isReady(line)
        text = String(text[text.index(after: end)...])
        if done { return }
      }
    }
    complain("\(program) did not start")
    exit(1)
  }

  func stop() {
    guard process.isRunning else { return }
    if servers.first == process.processIdentifier { process.terminate() }
    try? leash.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  /// The resident memory of the first server in KiB.
  var resident: Int {
    let text = (try? String(contentsOfFile: "/proc/\(servers[0])/status", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
    return line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
  }

  var processorSeconds: (servers: Double, database: Double) {
    let used = servers.reduce(0) { $0 + Child.processorSeconds($1) }
    guard let database else { return (used, 0) }
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap { Int32($0) } ?? []
    let family = all.filter { $0 == database || Child.fields($0).dropFirst().first == Substring("\(database)") }
    return (used, family.reduce(0) { $0 + Child.processorSeconds($1) })
  }

  /// The fields of /proc/PID/stat after the program's name: state, parent, …
  private static func fields(_ pid: Int32) -> [Substring] {
    let text = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
    return (text.split(separator: ")").last ?? "").split(separator: " ")
  }

  private static func processorSeconds(_ pid: Int32) -> Double {
    let fields = fields(pid)
    guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return 0 }
    return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }
}
