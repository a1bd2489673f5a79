import Base
import Foundation
import MatchProtocol
import Synchronization

/// Numbers in Prometheus' text format, version 0.0.4.
struct Exposition {
  private(set) var text = ""

  /// What each one means.
  private static let help = [
    "alina_connections": "Connections the lobby knows, those held for other nodes included.",
    "alina_open_connections": "Connections of players that are open here.",
    "alina_page_connections": "Connections to the page for people.",
    "alina_watchers": "Pages that watch the live boards.",
    "alina_sessions": "Sessions in memory.", "alina_accounts": "Accounts in memory.",
    "alina_matches": "Matches in memory.", "alina_live_matches": "Matches that are being played.",
    "alina_broken_matches": "Matches whose log in the store was not as expected.",
    "alina_queue": "Players who wait for an opponent at this node.",
    "alina_queue_oldest_seconds": "Seconds that the one who waits longest has waited for an opponent.",
    "alina_pending_writes": "Writes that wait to become durable.",
    "alina_held_lines": "Lines that wait for what they tell of to become durable.",
    "alina_moves_total": "Moves accepted.", "alina_events_total": "Events logged.",
    "alina_matches_started_total": "Matches begun.", "alina_matches_ended_total": "Matches ended.",
    "alina_refusals_total": "Commands refused, by the code of the error.",
    "alina_byes_total": "Connections that the server ended, by the code of the bye.",
    "alina_repeats_total": "Commands answered again because their mid was known.",
    "alina_commits_total": "Batches stored.", "alina_transactions_total": "Transactions stored.",
    "alina_commit_failures_total": "Commits after which the server started over.",
    "alina_decide_seconds": "Seconds that the lobby takes for what happens: a line, a timer, an answer of the store.",
    "alina_commit_seconds": "Seconds from handing a batch to the store to its answer.",
    "alina_loop_lag_seconds": "Seconds by which a timer of each second comes late on the lobby's loop.",
    "alina_build_info": "The version of the server.",
    "process_resident_memory_bytes": "Memory of the process in bytes.",
    "process_open_fds": "Open files and connections.", "process_max_fds": "Most open files and connections.",
  ]

  private mutating func head(_ name: String, _ type: String) {
    if let help = Exposition.help[name] { text += "# HELP \(name) \(help)\n" }
    text += "# TYPE \(name) \(type)\n"
  }

  mutating func gauge(_ name: String, _ value: Int) {
    head(name, "gauge")
    text += "\(name) \(value)\n"
  }

  mutating func gauge(_ name: String, version: String) {
    head(name, "gauge")
    text += "\(name){version=\"\(version)\"} 1\n"
  }

  mutating func counter(_ name: String, _ value: Int) {
    head(name, "counter")
    text += "\(name) \(value)\n"
  }

  /// A counter of each code there is, those that have not come yet too, so that a rate of the first is seen.
  mutating func counter<Code: RawRepresentable<String> & CaseIterable & Hashable>(
    _ name: String, _ counts: [Code: Int]
  ) {
    head(name, "counter")
    for code in Code.allCases { text += "\(name){code=\"\(code.rawValue)\"} \(counts[code] ?? 0)\n" }
  }

  mutating func histogram(_ name: String, _ histogram: Histogram) {
    head(name, "histogram")
    for (bound, count) in zip(Histogram.bounds, histogram.buckets) {
      text += "\(name)_bucket{le=\"\(bound)\"} \(count)\n"
    }
    text += "\(name)_bucket{le=\"+Inf\"} \(histogram.count)\n"
    text += "\(name)_sum \(histogram.sum)\n\(name)_count \(histogram.count)\n"
  }
}

/// Times in buckets, each with those of the buckets before it.
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
    for i in Histogram.bounds.indices.reversed() {
      guard seconds <= Histogram.bounds[i] else { break }
      buckets[i] += 1
    }
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
    out.counter("alina_byes_total", values.byes)
    out.counter("alina_commits_total", values.commit.count)
    out.counter("alina_transactions_total", values.transactions)
    out.counter("alina_commit_failures_total", values.failures)
    out.histogram("alina_decide_seconds", values.decide)
    out.histogram("alina_commit_seconds", values.commit)
    out.histogram("alina_loop_lag_seconds", values.lag)
    out.gauge("alina_build_info", version: alinaVersion)
    let pages = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")[1]
    if let pages = pages.flatMap({ Int($0) }) {
      out.gauge("process_resident_memory_bytes", pages * sysconf(Int32(_SC_PAGESIZE)))
    }
    if let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
      out.gauge("process_open_fds", open.count)
    }
    var limit = rlimit()
    if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
      out.gauge("process_max_fds", Int(clamping: limit.rlim_cur))
    }
  }
}
