import Synchronization

/// What the host measures of its commits, in Prometheus' text format.
final class HostMetrics: Sendable {
  /// The upper bounds of the buckets, in seconds.
  private static let bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

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
    for (name, value) in gauges { out += "# TYPE alina_\(name) gauge\nalina_\(name) \(value)\n" }
    for (name, value) in counters + own { out += "# TYPE alina_\(name)_total counter\nalina_\(name)_total \(value)\n" }
    let name = "alina_commit_seconds"
    out += "# TYPE \(name) histogram\n"
    for (bound, count) in zip(HostMetrics.bounds, values.buckets) {
      out += "\(name)_bucket{le=\"\(bound)\"} \(count)\n"
    }
    return out
      + "\(name)_bucket{le=\"+Inf\"} \(values.commits)\n\(name)_sum \(values.seconds)\n\(name)_count \(values.commits)\n"
  }
}
