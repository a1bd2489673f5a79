import Dispatch
import Foundation
import MatchStore
import Synchronization

/// A node's channel name without the node's id. Contains a hash of the schema's name, because channels are global to a database.
private let channelOfNode = "'alina_' || to_hex(hashtext(current_schema())) || '_' || "

extension PostgresStore {
  private static let notifyAll = PGStatement(once: "SELECT count(pg_notify(\(channelOfNode) id, '')) FROM node")

  /// Sends every node an empty notification, on which a node compares its memory with the store.
  package func requestComparison() throws(StoreError) { try pool.run([PostgresStore.notifyAll()]) }
}

/// A thread that receives the notifications for a node and reconnects after each failure.
final class PostgresListener: Sendable {
  private let address: PGAddress
  private let node: NodeID
  private let heard: @Sendable (String?) -> Void
  private let isOver = Mutex(false)
  /// A pipe that wakes the thread when its writing end is closed.
  private let wakePipe = Pipe()

  /// Milliseconds without a notification until the connection is tested, and in which the database must answer the test.
  private static let silence: Int32 = 1500

  init(_ address: PGAddress, node: NodeID, heard: @escaping @Sendable (String?) -> Void) {
    (self.address, self.node, self.heard) = (address, node, heard)
  }

  func start() {
    let thread = Thread { self.run() }
    thread.name = "notify in"
    thread.start()
  }

  /// Does not wait for the thread's end: a notification that is just being delivered is still delivered.
  func end() {
    let wasOver = isOver.withLock { isOver in
      defer { isOver = true }
      return isOver
    }
    if !wasOver { try? wakePipe.fileHandleForWriting.close() }
  }

  private var isEnded: Bool { isOver.withLock { $0 } }

  private func run() {
    var failures = 0
    while !isEnded {
      do throws(PGError) { try receive { failures = 0 } } catch {
        // Wait 50 ms after the first failure in a row, then 100, 200 and 400 ms. `end` ends the wait.
        var ready = pollfd(fd: wakePipe.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&ready, 1, min(400, 50 << Int32(failures)))
        failures = min(failures + 1, 3)
      }
    }
  }

  private func receive(_ connected: () -> Void) throws(PGError) {
    let connection = try PGConnection(address, setup: PostgresStore.everywhere)
    let name = PGStatement(once: "SELECT quote_ident(\(channelOfNode) $1)")(.text(node))
    let channel = try connection.run([name], within: 2000).first?.rows.first?.first?.text ?? ""
    _ = try connection.run([PGStatement(once: "LISTEN \(channel)")()], within: 2000)
    connected()
    deliver(nil)
    while !isEnded {
      let texts = try connection.notifications(
        within: PostgresListener.silence, orUntil: wakePipe.fileHandleForReading.fileDescriptor)
      for text in texts { deliver(text.isEmpty ? nil : text) }
      if texts.isEmpty, !isEnded {
        _ = try connection.run([PGStatement(once: "SELECT 1")()], within: Int64(PostgresListener.silence))
      }
    }
  }

  private func deliver(_ text: String?) { if !isEnded { heard(text) } }
}

/// A thread that sends all queued notifications in one transaction, and drops those that cannot be sent. Transactions of moves send none: a
/// transaction with NOTIFY locks the whole database until its commit is flushed.
final class PostgresPublisher: Sendable {
  private struct State {
    var notifications: [(node: NodeID, text: String)] = []
    var bytes = 0
    var isStarted = false
    var isOver = false
  }

  /// The most bytes of queued notifications; further notifications are dropped.
  private static let room = 8 << 20

  private let state = Mutex(State())
  private let wake = DispatchSemaphore(value: 0)
  private let pool: PostgresPool

  init(_ address: PGAddress) {
    let careless = PGStatement(once: "SET synchronous_commit = off")()
    pool = PostgresPool(address, setup: PostgresStore.everywhere + [careless], count: 1)
  }

  func publish(_ notifications: [(node: NodeID, text: String)]) {
    let fitting = notifications.filter { $0.text.utf8.count <= longestNotification }
    guard !fitting.isEmpty else { return }
    let (starts, wakes) = state.withLock { state in
      guard !state.isOver else { return (false, false) }
      let wasEmpty = state.notifications.isEmpty
      for notification in fitting where state.bytes < PostgresPublisher.room {
        state.notifications.append(notification)
        state.bytes += notification.text.utf8.count
      }
      defer { state.isStarted = true }
      return (!state.isStarted, wasEmpty)
    }
    if wakes { wake.signal() }
    guard starts else { return }
    let thread = Thread { self.run() }
    thread.name = "notify out"
    thread.start()
  }

  /// Stops the thread soon, without waiting.
  func end() {
    state.withLock { $0.isOver = true }
    wake.signal()
    pool.close()
  }

  private static let notify = PGStatement(
    """
    SELECT count(pg_notify(\(channelOfNode) d.node, d.text))
    FROM unnest($1::text[], $2::text[]) AS d (node, text)
    """)

  private func run() {
    while true {
      wake.wait()
      let (notifications, isOver) = state.withLock { state in
        defer { (state.notifications, state.bytes) = ([], 0) }
        return (state.notifications, state.isOver)
      }
      if isOver { return }
      guard !notifications.isEmpty else { continue }
      _ = try? pool.run(
        [PostgresPublisher.notify(.texts(notifications.map(\.node)), .texts(notifications.map(\.text)))], within: 2000)
    }
  }
}
