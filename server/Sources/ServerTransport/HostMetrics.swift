import Base
import Foundation
import MatchProtocol
import Synchronization

/// Numbers in Prometheus' text format, version 0.0.4, each with what it means.
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

  /// A counter of each code there is, those that have not come yet too, so that a rate of the first is seen.
  mutating func counter<Code: RawRepresentable<String> & CaseIterable & Hashable>(
    _ name: String, _ help: String, _ counts: [Code: Int]
  ) {
    head(name, help, "counter")
    for code in Code.allCases { text += "\(name){code=\"\(code.rawValue)\"} \(counts[code] ?? 0)\n" }
  }

  mutating func histogram(_ name: String, _ help: String, _ histogram: Histogram) {
    head(name, help, "histogram")
    var count = 0
    for (bound, bucket) in zip(Histogram.bounds, histogram.buckets) {
      count += bucket
      text += "\(name)_bucket{le=\"\(bound)\"} \(count)\n"
    }
    text += "\(name)_bucket{le=\"+Inf\"} \(histogram.count)\n"
    text += "\(name)_sum \(histogram.sum)\n\(name)_count \(histogram.count)\n"
  }
}

/// Times in buckets.
struct Histogram {
  /// The upper bounds of the buckets, in seconds.
  static let bounds = [
    0.00001, 0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5,
  ]

  private(set) var buckets = [Int](repeating: 0, count: bounds.count)
  private(set) var count = 0
  private(set) var sum = 0.0

  mutating func add(nanoseconds: UInt64) {
    let seconds = Double(nanoseconds) / 1e9
    count += 1
    sum += seconds
    if let bucket = Histogram.bounds.firstIndex(where: { seconds <= $0 }) { buckets[bucket] += 1 }
  }
}

/// What the host measures, of its commits, its loop and its connections.
final class HostMetrics: Sendable {
  private struct Values {
    var (transactions, failures) = (0, 0)
    var byes: [ByeCode: Int] = [:]
    var (decide, commit, lag) = (Histogram(), Histogram(), Histogram())
  }

  private let values = Mutex(Values())

  func decided(nanoseconds: UInt64) { values.withLock { $0.decide.add(nanoseconds: nanoseconds) } }

  func committed(_ count: Int, nanoseconds: UInt64) {
    values.withLock { values in
      values.transactions += count
      values.commit.add(nanoseconds: nanoseconds)
    }
  }

  func failed() { values.withLock { $0.failures += 1 } }

  func late(nanoseconds: UInt64) { values.withLock { $0.lag.add(nanoseconds: nanoseconds) } }

  /// Counts a connection that the server ended.
  func ended(_ code: ByeCode) { values.withLock { $0.byes[code, default: 0] += 1 } }

  /// Writes all of it, and what the system knows of the process.
  func write(to out: inout Exposition) {
    let values = values.withLock { $0 }
    out.counter("alina_byes_total", "Connections that the server ended, by the code of the bye.", values.byes)
    out.counter("alina_commits_total", "Batches stored.", values.commit.count)
    out.counter("alina_transactions_total", "Transactions stored.", values.transactions)
    out.counter(
      "alina_commit_failures_total", "Commits after which the server started over.", values.failures)
    out.histogram(
      "alina_decide_seconds", "Seconds that the lobby takes for a line, a timer, or an answer of the store.",
      values.decide)
    out.histogram(
      "alina_commit_seconds", "Seconds from handing a batch to the store to its answer.", values.commit)
    out.histogram(
      "alina_loop_lag_seconds", "Seconds by which a timer of each second comes late on the lobby's loop.", values.lag)
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
