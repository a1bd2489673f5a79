import Dispatch
import Foundation
import MatchStore
import Synchronization

/// Deletes old matches, first at the start of the server and then once an hour.
///
/// It has a queue of its own: the first deletion can take minutes, and Swift's tasks have only as many threads as there are processors.
package final class Pruner: Sendable {
  private let slice: @Sendable () throws(StoreError) -> Int
  private let logger: Logger
  private let queue = DispatchQueue(label: "alina.pruning", qos: .utility)
  private let isStopped = Mutex(false)
  /// The failure of the last deletion, and how many hours it has lasted. It is logged once a day, as it may last until somebody plays.
  private let failure = Mutex<(error: StoreError, hours: Int)?>(nil)

  /// `slice` deletes some old matches and returns their number, 0 once none is left.
  package init(logger: Logger, _ slice: @escaping @Sendable () throws(StoreError) -> Int) {
    (self.logger, self.slice) = (logger, slice)
  }

  package func start() { queue.async { self.prune() } }

  /// Lets no further slice begin.
  package func stop() { isStopped.withLock { $0 = true } }

  /// Waits for the slice in progress, at most two seconds: a slice is one transaction, which may also be cut off. Call it after `stop`.
  package func finish() async {
    let slice = DispatchGroup()
    slice.enter()
    queue.async { slice.leave() }
    await withCheckedContinuation { (waiting: CheckedContinuation<Void, Never>) in
      DispatchQueue.global().async {
        _ = slice.wait(timeout: .now() + .seconds(2))
        waiting.resume()
      }
    }
  }

  private func prune() {
    var (all, problem) = (0, StoreError?.none)
    do throws(StoreError) {
      while !isStopped.withLock({ $0 }) {
        let some = try slice()
        guard some > 0 else { break }
        all += some
        // Units are stored between two slices.
        usleep(20_000)
      }
    } catch { problem = error }
    let hours = failure.withLock { last in
      let hours = last.map { $0.error == problem ? $0.hours + 1 : 0 } ?? 0
      last = problem.map { ($0, hours) }
      return hours
    }
    if let problem, hours % 24 == 0 {
      logger.error("cannot delete old matches", metadata: ["error": "\(problem)"])
    }
    if all > 0 { logger.notice("old matches deleted", metadata: ["count": "\(all)"]) }
    queue.asyncAfter(deadline: .now() + .seconds(3600)) { self.prune() }
  }
}
