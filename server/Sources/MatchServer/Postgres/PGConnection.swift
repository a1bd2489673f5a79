import Dispatch
import Foundation
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// One connection to PostgreSQL with a thread of its own, which alone touches libpq: jobs go in from any thread, results
/// come out on that thread, and only Sendable values cross.
///
/// Jobs are sent in pipeline mode without waiting for one another's answers. The calls of a job are one transaction,
/// unless they begin and end one themselves. A connection that is lost is made again when the next job comes, with a
/// growing delay after each failure, unless it was made with `revives: false`.
final class PGConnection: Sendable {
  /// What becomes of a job: the rows of each call, or why all of it failed.
  typealias Outcome = Result<[PGRows], PGFailure>

  /// Calls on their way.
  struct Job: Sendable {
    var calls: [PGCall]
    /// Milliseconds after which an unanswered job counts as lost, from when it was handed in.
    var deadline: Int64
    var completion: @Sendable (Outcome) -> Void
  }

  private struct Mailbox {
    var jobs: [Job] = []
    var isClosing = false
    var isDead: String?
    /// Jobs handed in and not yet answered.
    var load = 0
  }

  private let mailbox = Mutex(Mailbox())
  /// Wakes the thread from `poll`.
  private let bell = PGBell()

  /// Starts the thread; it connects when the first job comes, and sends `setup` first on each new connection.
  init(_ address: PGAddress, setup: [PGCall] = [], revives: Bool = true) {
    let thread = Thread { [self, bell] in serve(PGWire(address, setup: setup, bell: bell), revives: revives) }
    thread.name = "alina.postgres"
    thread.stackSize = 512 << 10
    thread.start()
  }

  /// How many jobs wait for an answer.
  var load: Int { mailbox.withLock { $0.load } }

  /// Hands in a job; `completion` is called exactly once, on the connection's thread. May be called from any thread.
  func submit(
    _ calls: [PGCall], within milliseconds: Int64, completion: @escaping @Sendable (Outcome) -> Void
  ) {
    let job = Job(calls: calls, deadline: PGWire.now + milliseconds, completion: completion)
    let refusal: PGFailure? = mailbox.withLock { box in
      if let reason = box.isDead { return .unreachable(reason) }
      if box.isClosing { return .unreachable("the connection is closed") }
      box.jobs.append(job)
      box.load += 1
      return nil
    }
    if let refusal { completion(.failure(refusal)) } else { bell.ring() }
  }

  /// Makes the calls and waits for their rows; blocks the thread, which must not be the connection's.
  func run(_ calls: [PGCall], within milliseconds: Int64) throws(PGFailure) -> [PGRows] {
    let done = DispatchSemaphore(value: 0)
    let outcome = Mutex<Outcome>(.failure(.unreachable("")))
    submit(calls, within: milliseconds) { result in
      outcome.withLock { $0 = result }
      done.signal()
    }
    done.wait()
    return try outcome.withLock { $0 }.get()
  }

  /// Answers what is on its way, then ends the connection and its thread.
  func close() {
    mailbox.withLock { $0.isClosing = true }
    bell.ring()
  }

  /// The thread.
  private func serve(_ wire: PGWire, revives: Bool) {
    var backoff = PGBackoff()
    var wasConnected = false
    while let patience = waitForWork(wire) {
      if !wire.isConnected {
        // What the session held (locks, above all) went with it, and whoever relied on it must be told.
        guard revives || !wasConnected else {
          die(.lost("the connection ended"))
          continue
        }
        usleep(UInt32(min(backoff.delay(now: PGWire.now), patience) * 1000))
        do throws(PGFailure) { try wire.connect() } catch {
          backoff.failed(now: PGWire.now)
          // Who was waiting is told why there is no connection; who comes later gets another attempt.
          if revives { answer(take(), .failure(.unreachable(error.text))) } else { die(.unreachable(error.text)) }
          continue
        }
        (backoff, wasConnected) = (PGBackoff(), true)
      }
      do throws(PGFailure) { try exchange(wire) } catch {
        wire.disconnect()
        answer(wire.abandon(), .failure(error))
        if !revives { die(error) }
      }
    }
    wire.disconnect()
  }

  /// Waits until there are jobs; returns how long the most patient may wait, or `nil` once closed and empty.
  private func waitForWork(_ wire: PGWire) -> Int64? {
    while true {
      let (due, isClosing): (Int64?, Bool) = mailbox.withLock { box in
        (box.jobs.map { $0.deadline - PGWire.now }.max(), box.isClosing)
      }
      if let due { return max(due, 0) }
      if isClosing { return nil }
      wire.waitIdle()
    }
  }

  /// Sends what is there and takes in answers until nothing is left of either.
  private func exchange(_ wire: PGWire) throws(PGFailure) {
    while true {
      try send(wire.hasRoom ? take() : [], wire)
      if wire.isIdle { return }
      try wire.step()
      for (job, outcome) in wire.finished() { answer([job], outcome) }
    }
  }

  /// Those behind one that cannot be sent were not touched: they wait for the next connection.
  private func send(_ jobs: [Job], _ wire: PGWire) throws(PGFailure) {
    for (i, job) in jobs.enumerated() {
      do throws(PGFailure) { try wire.send(job) } catch {
        mailbox.withLock { $0.jobs.insert(contentsOf: jobs[(i + 1)...], at: 0) }
        throw error
      }
    }
  }

  private func take() -> [Job] {
    mailbox.withLock { box in
      defer { box.jobs = [] }
      return box.jobs
    }
  }

  private func answer(_ jobs: [Job], _ outcome: Outcome) {
    guard !jobs.isEmpty else { return }
    mailbox.withLock { $0.load -= jobs.count }
    for job in jobs { job.completion(outcome) }
  }

  /// Refuses what waits and all that comes, and ends the thread.
  private func die(_ failure: PGFailure) {
    mailbox.withLock { box in
      box.isDead = failure.text
      box.isClosing = true
    }
    answer(take(), .failure(failure))
  }
}

/// How long to wait before connecting again: 50 ms doubling to 400 ms, less up to half of it by chance, so that many
/// nodes do not come back in step. Longer ones would be what the players wait for when the database is back.
struct PGBackoff {
  private var failures = 0
  private var last: Int64 = 0

  mutating func failed(now: Int64) {
    failures = min(failures + 1, 6)
    last = now
  }

  /// Milliseconds still to wait.
  func delay(now: Int64) -> Int64 {
    guard failures > 0 else { return 0 }
    let whole: Int64 = min(400, 50 << Int64(failures - 1))
    let due = last + whole - Int64.random(in: 0...whole / 2)
    return max(0, due - now)
  }
}
