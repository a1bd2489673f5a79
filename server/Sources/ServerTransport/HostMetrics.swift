import Base
import Foundation
import MatchProtocol
import MatchStore
import Synchronization

/// Metrics in Prometheus' text format 0.0.4, each with its help text.
struct Exposition {
  private(set) var text = ""

  private mutating func head(_ name: String, _ help: String, _ type: String) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
  }

  mutating func gauge(_ name: String, _ help: String, _ value: Int, labels: String = "") {
    head(name, help, "gauge")
    text += "\(name)\(labels) \(value)\n"
  }

  mutating func counter(_ name: String, _ help: String, _ value: Int) {
    head(name, help, "counter")
    text += "\(name) \(value)\n"
  }

  /// A counter for each code, including codes at 0, so that Prometheus' function `rate` sees the first increment.
  mutating func counter<Code: RawRepresentable<String> & CaseIterable & Hashable>(
    _ name: String, _ help: String, _ counts: [Code: Int]
  ) {
    head(name, help, "counter")
    for code in Code.allCases { text += "\(name){code=\"\(code.rawValue)\"} \(counts[code] ?? 0)\n" }
  }

  mutating func histogram(_ name: String, _ help: String, _ histogram: Histogram) {
    head(name, help, "histogram")
    var count = 0
    for (i, bound) in Histogram.bounds.enumerated() {
      count += histogram.buckets[i]
      text += "\(name)_bucket{le=\"\(bound)\"} \(count)\n"
    }
    text += "\(name)_bucket{le=\"+Inf\"} \(histogram.count)\n"
    text += "\(name)_sum \(histogram.sum)\n\(name)_count \(histogram.count)\n"
  }
}

struct Histogram {
  /// The upper bounds of the buckets, in seconds.
  static let bounds = [
    0.00001, 0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5,
  ]

  /// Stored inline, not in a heap buffer that copies share: another thread can read its copy while this value changes.
  private(set) var buckets = InlineArray<14, Int>(repeating: 0)
  private(set) var count = 0
  private(set) var sum = 0.0

  mutating func add(nanoseconds: UInt64) {
    let seconds = Double(nanoseconds) / 1e9
    count += 1
    sum += seconds
    if let bucket = Histogram.bounds.firstIndex(where: { seconds <= $0 }) { buckets[bucket] += 1 }
  }
}

final class HostMetrics: Sendable {
  private struct Values {
    var (stored, conflicts, unknown, failures) = (0, 0, 0, 0)
    var (told, repairs) = (0, 0)
    var byes: [ByeCode: Int] = [:]
    /// The measured times of each operation, at the index of its `Span`.
    var times = InlineArray<8, Histogram>(repeating: Histogram())

    mutating func took(_ span: Span, _ nanoseconds: UInt64) { times[span.rawValue].add(nanoseconds: nanoseconds) }
  }

  enum Span: Int {
    case arrival, decide, commit, durable, question, write, lag, notification
  }

  private let values = Mutex(Values())

  func took(_ span: Span, nanoseconds: UInt64) { values.withLock { $0.took(span, nanoseconds) } }

  func stored(_ verdicts: [Verdict], nanoseconds: UInt64) {
    values.withLock { values in
      values.took(.commit, nanoseconds)
      for verdict in verdicts {
        switch verdict {
        case .applied: values.stored += 1
        case .conflict: values.conflicts += 1
        case .unknown: values.unknown += 1
        case .failed: values.failures += 1
        }
      }
    }
  }

  func countPublished(_ count: Int) { values.withLock { $0.told += count } }

  /// Each difference between memory and store is a change whose notification was lost or late.
  func found(_ found: Differences) {
    let count =
      found.matches.count + found.accounts.count + found.gone.count + found.sessions.count + found.tickets.count
    values.withLock { $0.repairs += count }
  }

  /// Counts a connection closed by the server.
  func ended(_ code: ByeCode) { values.withLock { $0.byes[code, default: 0] += 1 } }

  func write(to out: inout Exposition) {
    let values = values.withLock { values in
      var copy = values
      copy.byes = Dictionary(uniqueKeysWithValues: values.byes.map { ($0.key, $0.value) })
      return copy
    }
    func times(_ name: String, _ help: String, _ span: Span) {
      out.histogram("alina_\(name)_seconds", "Seconds \(help)", values.times[span.rawValue])
    }
    out.counter("alina_byes_total", "Connections that the server ended, by the code of the bye.", values.byes)
    out.counter("alina_commits_total", "Batches stored.", values.times[Span.commit.rawValue].count)
    out.counter("alina_transactions_total", "Units stored.", values.stored)
    out.counter(
      "alina_conflicts_total", "Units refused because of a conflict; they are decided again.", values.conflicts)
    out.counter(
      "alina_unknown_verdicts_total", "Units whose outcome was lost with a connection; it is read again.",
      values.unknown)
    out.counter("alina_commit_failures_total", "Units that the store could not store.", values.failures)
    out.counter("alina_hints_told_total", "Notifications sent to other nodes.", values.told)
    out.counter(
      "alina_hints_heard_total", "Notifications received from other nodes.",
      values.times[Span.notification.rawValue].count)
    times("hint_age", "from sending a notification to receiving it, by the wall clocks of both nodes.", .notification)
    out.counter("alina_repairs_total", "Differences between memory and store that comparisons found.", values.repairs)
    times("arrival", "from reading a line to its turn in the lobby.", .arrival)
    times("decide", "that the lobby takes for a line, a timer, or an answer of the store.", .decide)
    times("commit", "from handing a batch to the store to its answer.", .commit)
    times("durable", "from a decision of the lobby until it is durable.", .durable)
    times("question_wait", "that a question waits for a connection to the store.", .question)
    times("write", "from the time a unit is durable until its lines are written to connections.", .write)
    times("loop_lag", "by which a timer that is due every second is late on the lobby's loop.", .lag)
    out.gauge("alina_build_info", "The version of the server.", 1, labels: "{version=\"\(alinaVersion)\"}")
    let pages = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")[1]
    if let pages = pages.flatMap({ Int($0) }) {
      out.gauge(
        "process_resident_memory_bytes", "Memory of the process in bytes.", pages * sysconf(Int32(_SC_PAGESIZE)))
    }
    if let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
      out.gauge("process_open_fds", "Open files and connections.", open.count)
    }
    var limit = rlimit()
    if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
      out.gauge("process_max_fds", "Most open files and connections.", Int(clamping: limit.rlim_cur))
    }
  }
}
