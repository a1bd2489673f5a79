import Foundation

/// A server process of ours, its port and its memory.
final class Child {
  private let process = Process()
  private(set) var port = 0

  /// Starts a program that prints `listening HOST:PORT`, and waits for that line.
  init(_ program: String, _ arguments: [String]) {
    let out = Pipe()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.standardOutput = out
    do { try process.run() } catch {
      complain("cannot start \(program): \(error)")
      exit(1)
    }
    var text = ""
    while !text.contains("\n") {
      let data = out.fileHandleForReading.availableData
      if data.isEmpty { break }
      text += String(decoding: data, as: UTF8.self)
    }
    guard let found = text.split(separator: "\n").first?.split(separator: ":").last.flatMap({ Int($0) }) else {
      complain("\(program) did not start")
      exit(1)
    }
    port = found
  }

  deinit { stop() }

  func stop() {
    guard process.isRunning else { return }
    process.terminate()
    process.waitUntilExit()
  }

  /// KiB of memory in use.
  var resident: Int {
    let text = (try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
    return line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
  }

  /// Seconds of processor time used so far.
  var processorSeconds: Double {
    let text = (try? String(contentsOfFile: "/proc/\(process.processIdentifier)/stat", encoding: .utf8)) ?? ""
    // The fields after the program's name in parentheses; user and system time are the 12th and 13th of them.
    let fields = (text.split(separator: ")").last ?? "").split(separator: " ")
    guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return 0 }
    return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }
}
