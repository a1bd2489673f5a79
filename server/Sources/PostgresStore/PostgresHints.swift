import Dispatch
import Foundation
import MatchStore
import Synchronization

/// The name of a node's channel: of the whole database, so the schema is part of it. $1 is the node.
private let channelOfNode = "'alina_' || to_hex(hashtext(current_schema())) || '_' || "

extension PostgresStore {
  private static let notifyAll = PGStatement(once: "SELECT count(pg_notify(\(channelOfNode) id, '')) FROM node")

  /// An empty notification stands for a missed one.
  package func requestComparison() throws(StoreError) { try pool.run([PostgresStore.notifyAll()]) }
}

/// A thread that hears what is told to a node, and connects again for ever.
final class PostgresListener: Sendable {
  private let address: PGAddress
  private let node: NodeID
  private let heard: @Sendable (String?) -> Void
  private let isOver = Mutex(false)
  /// Whose end ends the wait for hints.
  private let bell = Pipe()

  /// Milliseconds without a word after which the database is asked whether it is there, and until which it must answer.
  private static let silence: Int32 = 1500

  init(_ address: PGAddress, node: NodeID, heard: @escaping @Sendable (String?) -> Void) {
    (self.address, self.node, self.heard) = (address, node, heard)
  }

  func start() {
    let thread = Thread { self.run() }
    thread.name = "hints in"
    thread.start()
  }

  /// Ends it soon, without waiting; nothing is heard any more after the word that is being heard.
  func end() {
    let wasOver = isOver.withLock { isOver in
      defer { isOver = true }
      return isOver
    }
    if !wasOver { try? bell.fileHandleForWriting.close() }
  }

  private var isEnded: Bool { isOver.withLock { $0 } }

  private func run() {
    var failures = 0
    while !isEnded {
      do throws(PGError) { try hear { failures = 0 } } catch {
        // 50 ms doubling to 400 ms, as for every other connection.
        var ready = pollfd(fd: bell.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&ready, 1, min(400, 50 << Int32(failures)))
        failures = min(failures + 1, 3)
      }
    }
  }

  private func hear(_ connected: () -> Void) throws(PGError) {
    let connection = try PGConnection(address, setup: PostgresStore.everywhere)
    let name = PGStatement(once: "SELECT quote_ident(\(channelOfNode) $1)")(.text(node))
    let channel = try connection.run([name], within: 2000).first?.rows.first?.first?.text ?? ""
    _ = try connection.run([PGStatement(once: "LISTEN \(channel)")()], within: 2000)
    connected()
    tell(nil)
    while !isEnded {
      let texts = try connection.hear(
        for: PostgresListener.silence, orUntil: bell.fileHandleForReading.fileDescriptor)
      for text in texts { tell(text.isEmpty ? nil : text) }
      if texts.isEmpty, !isEnded {
        _ = try connection.run([PGStatement(once: "SELECT 1")()], within: Int64(PostgresListener.silence))
      }
    }
  }

  private func tell(_ text: String?) { if !isEnded { heard(text) } }
}

/// A thread that tells hints, all that have gathered at once. Those that cannot be told are dropped.
///
/// Never in the transaction of a move: one that has notified takes a lock over the whole database until its log is
/// flushed.
final class PostgresTeller: Sendable {
  private struct State {
    var hints: [(node: NodeID, text: String)] = []
    var bytes = 0
    var isStarted = false
    var isOver = false
  }

  /// Bytes that may wait; what is beyond is dropped.
  private static let room = 8 << 20

  private let state = Mutex(State())
  private let wake = DispatchSemaphore(value: 0)
  private let pool: PostgresPool

  init(_ address: PGAddress) {
    let careless = PGStatement(once: "SET synchronous_commit = off")()
    pool = PostgresPool(address, setup: PostgresStore.everywhere + [careless], count: 1)
  }

  func tell(_ hints: [(node: NodeID, text: String)]) {
    let fitting = hints.filter { $0.text.utf8.count <= PostgresStore.hintBytes }
    guard !fitting.isEmpty else { return }
    let (starts, wakes) = state.withLock { state in
      guard !state.isOver else { return (false, false) }
      let wasEmpty = state.hints.isEmpty
      for hint in fitting where state.bytes < PostgresTeller.room {
        state.hints.append(hint)
        state.bytes += hint.text.utf8.count
      }
      defer { state.isStarted = true }
      return (!state.isStarted, wasEmpty)
    }
    if wakes { wake.signal() }
    guard starts else { return }
    let thread = Thread { self.run() }
    thread.name = "hints out"
    thread.start()
  }

  /// Ends it soon, without waiting.
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
      let (hints, isOver) = state.withLock { state in
        defer { (state.hints, state.bytes) = ([], 0) }
        return (state.hints, state.isOver)
      }
      if isOver { return }
      guard !hints.isEmpty else { continue }
      _ = try? pool.run(
        [PostgresTeller.notify(.texts(hints.map(\.node)), .texts(hints.map(\.text)))], within: 2000)
    }
  }
}
