import Synchronization

/// What the host measures of its commits, in Prometheus' text format.
final class HostMetrics: Sendable {
  /// The upper bounds of the buckets, in seconds.
  private static let bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

  /// What each one means.
  private static let help = [
    "connections": "Connections the lobby knows, those held for other nodes included.",
    "open_connections": "Connections of players that are open here.",
    "sessions": "Sessions in memory.", "accounts": "Accounts in memory.", "matches": "Matches in memory.",
    "broken_matches": "Matches whose log in the store was not as expected.",
    "queue": "Players who wait for an opponent at this node.",
    "pending_writes": "Writes that wait to become durable.",
    "held_lines": "Lines that wait for what they tell of to become durable.",
    "moves": "Moves accepted.", "events": "Events logged.", "matches_started": "Matches begun.",
    "matches_ended": "Matches ended.", "refusals": "Commands refused.",
    "repeats": "Commands answered again because their mid was known.", "commits": "Batches stored.",
    "transactions": "Transactions stored.", "commit_failures": "Commits after which the server started over.",
    "commit_seconds": "Seconds from handing a batch to the store to its answer.",
  ]

  private struct Values {
    var (commits, transactions, failures) = (0, 0, 0)
    var seconds = 0.0
    var buckets = [Int](repeating: 0, count: bounds.count)
  }

  private let values = Mutex(Values())

  func committed(_ count: Int, nanoseconds: UInt64) {
    let seconds = Double(nanoseconds) / 1e9
    values.withLock { values in
      values.commits += 1
      values.transactions += count
      values.seconds += seconds
      for (i, bound) in HostMetrics.bounds.enumerated() where seconds <= bound { values.buckets[i] += 1 }
    }
  }

  func failed() { values.withLock { $0.failures += 1 } }

  /// Everything, after gauges and counters given with it.
  func text(gauges: [(name: String, value: Int)], counters: [(name: String, value: Int)]) -> String {
    let values = values.withLock { $0 }
    let own = [
      ("commits", values.commits), ("transactions", values.transactions), ("commit_failures", values.failures),
    ]
    var out = ""
    func head(_ metric: String, _ name: String, _ type: String) {
      if let help = HostMetrics.help[name] { out += "# HELP \(metric) \(help)\n" }
      out += "# TYPE \(metric) \(type)\n"
    }
    for (name, value) in gauges {
      head("alina_\(name)", name, "gauge")
      out += "alina_\(name) \(value)\n"
    }
    for (name, value) in counters + own {
      head("alina_\(name)_total", name, "counter")
      out += "alina_\(name)_total \(value)\n"
    }
    let name = "alina_commit_seconds"
    head(name, "commit_seconds", "histogram")
    for (bound, count) in zip(HostMetrics.bounds, values.buckets) {
      out += "\(name)_bucket{le=\"\(bound)\"} \(count)\n"
    }
    return out
      + "\(name)_bucket{le=\"+Inf\"} \(values.commits)\n\(name)_sum \(values.seconds)\n\(name)_count \(values.commits)\n"
  }
}
