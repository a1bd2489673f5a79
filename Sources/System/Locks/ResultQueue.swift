/// A thread-safe queue of results that workers add and one owner takes.
package final class ResultQueue<Result: Sendable>: Sendable {
  private let results = Mutex<[Result]>([])

  package init() {}

  package func add(_ result: Result) { results.withLock { $0.append(result) } }

  /// Oldest first.
  package func takeAll() -> [Result] {
    results.withLock { results in
      defer { results = [] }
      return results
    }
  }
}
