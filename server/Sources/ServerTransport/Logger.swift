import Base
import Foundation
import MatchStore

/// Writes log entries to standard error, one line each: text or JSON.
package struct Logger: Sendable {
  package enum Format: String, Sendable, CaseIterable {
    case text, json
  }

  /// Severities in ascending order.
  package enum Level: String, Sendable, CaseIterable {
    case trace, debug, info, notice, warning, error, critical

    /// The syslog priority.
    fileprivate var priority: Int {
      switch self {
      case .trace, .debug: 7
      case .info: 6
      case .notice: 5
      case .warning: 4
      case .error: 3
      case .critical: 2
      }
    }
  }

  /// Whether standard error is systemd's journal, which expects a priority in front of each line and adds the time itself.
  private static let isJournal: Bool = {
    var file = stat()
    guard let stream = ProcessInfo.processInfo.environment["JOURNAL_STREAM"], fstat(STDERR_FILENO, &file) == 0 else {
      return false
    }
    return stream == "\(file.st_dev):\(file.st_ino)"
  }()

  private let format: Format
  private let written: Set<Level>

  /// `nil` disables logging.
  package init(format: Format = .text, from level: Level?) {
    self.format = format
    written = Set(Level.allCases.drop { $0 != level })
  }

  package func notice(_ text: String, metadata: [String: String] = [:]) {
    log(level: .notice, text, metadata: metadata)
  }
  func warning(_ text: String, metadata: [String: String] = [:]) { log(level: .warning, text, metadata: metadata) }
  package func error(_ text: String, metadata: [String: String] = [:]) { log(level: .error, text, metadata: metadata) }
  package func critical(_ text: String, metadata: [String: String] = [:]) {
    log(level: .critical, text, metadata: metadata)
  }

  func log(level: Level, _ text: String, metadata: [String: String]) {
    guard written.contains(level) else { return }
    let time = Moment.current.wall
    let fields = metadata.sorted { $0.key < $1.key }
    var line: [UInt8] = []
    switch format {
    case .json:
      var object = JSONObject()
      object.add("at", .int(time))
      object.add("level", .string(level.rawValue))
      object.add("msg", .string(text))
      for (key, value) in fields where object[key] == nil { object.add(key, .string(value)) }
      JSONWriter.append(.object(object), to: &line)
    case .text:
      let date = Date(timeIntervalSince1970: Double(time) / 1000).formatted(.iso8601)
      line = Array("\(date) \(level) \(text)".utf8)
      for (key, value) in fields {
        line += Array(" \(key)=".utf8)
        // Quote a value that could be mistaken for several fields.
        if value.unicodeScalars.contains(where: { $0.properties.isWhitespace || $0 == "=" || $0 == "\"" }) {
          JSONWriter.append(.string(value), to: &line)
        } else {
          line += Array(value.utf8)
        }
      }
      // Fields may contain players' text: replace control characters, which a terminal would execute.
      for i in line.indices where line[i] < 0x20 { line[i] = UInt8(ascii: "?") }
    }
    let mark = Logger.isJournal ? "<\(level.priority)>" : ""
    let dropped = LineWriter.errors.write(mark + String(decoding: line, as: UTF8.self) + "\n")
    if dropped > 0 {
      warning("lines of the log were dropped, because they were not read", metadata: ["lines": "\(dropped)"])
    }
  }
}
