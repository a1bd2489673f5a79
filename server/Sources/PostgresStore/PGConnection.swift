import CLibPQ
import Foundation
import MatchStore

/// A connection to PostgreSQL in libpq's pipeline mode, used by one thread at a time. A lost connection is not reopened: a statement meant
/// for a transaction must never run outside of it.
package final class PGConnection: @unchecked Sendable {  // lent to one thread at a time
  private var connection: OpaquePointer?
  private var prepared: Set<String> = []

  /// Connects and runs `setup`. Blocks up to `connect_timeout` for each address.
  package init(_ address: PGAddress, setup: [PGCall] = []) throws(PGError) {
    connection = PQconnectdb(address.parameters)
    do throws(PGError) {
      try must(PQstatus(connection) == CONNECTION_OK)
      // Suppress notices, such as "relation already exists".
      PQsetNoticeProcessor(connection, { _, _ in }, nil)
      let version = PQserverVersion(connection) / 10_000
      guard version >= 15 else { throw .refused("PostgreSQL 15 or newer is needed, this is \(version)") }
      try must(PQsetnonblocking(connection, 1) == 0 && PQenterPipelineMode(connection) == 1)
      if !setup.isEmpty { _ = try run(setup, within: 5000) }
    } catch {
      close()
      // libpq reports a server that does not answer and one that refuses the connection by the same error; only the text says which.
      throw .unreachable("\(error)")
    }
  }

  deinit { close() }

  /// After closing, the outcome of calls in flight is unknown.
  func close() {
    PQfinish(connection)
    connection = nil
  }

  /// As far as the client can tell without a round trip.
  var isOpen: Bool {
    while let connection {
      var ready = pollfd(fd: PQsocket(connection), events: Int16(POLLIN), revents: 0)
      guard poll(&ready, 1, 0) > 0 else { return true }
      // The server has sent a message, or has closed the connection, or both.
      if PQconsumeInput(connection) != 1 { close() }
    }
    return false
  }

  /// Sends the calls in one pipeline, which is one transaction unless they include BEGIN or COMMIT.
  package func run(_ calls: [PGCall], within milliseconds: Int64) throws(PGError) -> [PGRows] {
    guard isOpen else { throw .unreachable("cannot reach PostgreSQL: the connection ended") }
    do throws(PGError) {
      var steps: [String?] = []
      for call in calls { steps += try send(call) }
      return try receive(steps, Moment.currentMonotonic + milliseconds)
    } catch {
      // A refused statement leaves the connection usable.
      if case .lost = error { close() }
      throw error
    }
  }

  /// Waits for a notification on the LISTEN channels, for `descriptor` to become readable, or for the time limit.
  func notifications(within milliseconds: Int32, orUntil descriptor: Int32) throws(PGError) -> [String] {
    guard connection != nil else { throw .unreachable("cannot reach PostgreSQL: the connection ended") }
    do throws(PGError) {
      // Notifications that arrived with an earlier answer are returned at once.
      let before = takeNotifications()
      if !before.isEmpty { return before }
      var ready = [
        pollfd(fd: PQsocket(connection), events: Int16(POLLIN), revents: 0),
        pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&ready, 2, milliseconds) > 0, ready[0].revents != 0 else { return [] }
      try must(PQconsumeInput(connection) == 1)
      return takeNotifications()
    } catch {
      close()
      throw error
    }
  }

  private func takeNotifications() -> [String] {
    var texts: [String] = []
    while let told = PQnotifies(connection) {
      texts.append(String(cString: told.pointee.extra))
      PQfreemem(told)
    }
    return texts
  }

  /// Returns an entry for each expected result: the name of a statement being prepared, or `nil` for rows.
  private func send(_ call: PGCall) throws(PGError) -> [String?] {
    let (statement, n) = (call.statement, Int32(call.values.count))
    var isNew = false
    if let name = statement.name, prepared.insert(name).inserted {
      try must(PQsendPrepare(connection, name, statement.sql, 0, nil) == 1)
      isNew = true
    }
    var buffer: [UInt8] = []
    let places = call.values.map { value in
      let start = buffer.count
      return value.encode(into: &buffer) ? start..<buffer.count : nil
    }
    // An empty value needs an address, too: libpq reads a null pointer as NULL.
    buffer.append(0)
    let isSent = buffer.withUnsafeBytes { raw in
      let base = raw.assumingMemoryBound(to: CChar.self).baseAddress
      let values = places.map { place in place.flatMap { base?.advanced(by: $0.lowerBound) } }
      let (lengths, formats) = (places.map { Int32($0?.count ?? 0) }, places.map { _ in Int32(1) })
      guard let name = statement.name else {
        return PQsendQueryParams(connection, statement.sql, n, nil, values, lengths, formats, 1)
      }
      return PQsendQueryPrepared(connection, name, n, values, lengths, formats, 1)
    }
    try must(isSent == 1)
    return isNew ? [statement.name, nil] : [nil]
  }

  private func receive(_ steps: [String?], _ deadline: Int64) throws(PGError) -> [PGRows] {
    try must(PQpipelineSync(connection) == 1)
    var (at, rows, failure) = (0, [PGRows](), PGError?.none)
    while true {
      try wait(until: deadline)
      while PQisBusy(connection) == 0 {
        try must(PQstatus(connection) == CONNECTION_OK)
        // `nil` marks the end of a statement's results.
        guard let result = PQgetResult(connection) else {
          at += 1
          continue
        }
        defer { PQclear(result) }
        switch PQresultStatus(result) {
        case PGRES_PIPELINE_SYNC:
          if let failure { throw failure }
          return rows
        case _ where at >= steps.count: throw .lost("PostgreSQL: an answer without a question")
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK: if steps[at] == nil { rows.append(PGRows(result)) }
        case let status:
          // The preparation failed, so the next call must prepare the statement again.
          if let name = steps[at] { prepared.remove(name) }
          guard status != PGRES_PIPELINE_ABORTED, failure == nil else { continue }
          let refusal = PGError(result, of: String(cString: PQuser(connection)))
          if case .lost = refusal { throw refusal }
          failure = refusal
        }
      }
    }
  }

  private func wait(until deadline: Int64) throws(PGError) {
    while true {
      let unsent = PQflush(connection)
      try must(unsent >= 0)
      let left = deadline - Moment.currentMonotonic
      guard left > 0 else { throw .lost("PostgreSQL: no answer in time") }
      let events = Int16(unsent == 0 ? POLLIN : POLLIN | POLLOUT)
      var ready = pollfd(fd: PQsocket(connection), events: events, revents: 0)
      _ = poll(&ready, 1, Int32(clamping: left))
      guard ready.revents & ~Int16(POLLOUT) != 0 else { continue }
      return try must(PQconsumeInput(connection) == 1)
    }
  }

  private func must(_ isWell: Bool) throws(PGError) {
    if isWell { return }
    let text = PGAddress.line(String(cString: PQerrorMessage(connection)))
    throw .lost("PostgreSQL: \(text.isEmpty ? "the connection ended" : text)")
  }
}

extension PGRows {
  fileprivate init(_ result: OpaquePointer) {
    count = Int(String(cString: PQcmdTuples(result))) ?? 0
    let columns = (0..<PQnfields(result)).map { ($0, PQftype(result, $0)) }
    rows = (0..<PQntuples(result)).map { row in
      columns.map { column, type in
        guard PQgetisnull(result, row, column) == 0, let bytes = PQgetvalue(result, row, column) else { return .null }
        return PGValue(
          UnsafeRawBufferPointer(start: bytes, count: Int(PQgetlength(result, row, column)))[...], type: type)
      }
    }
  }
}

package enum PGError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Nothing was sent, because there is no connection.
  case unreachable(String)
  /// The server refused the transaction and rolled it back.
  case refused(String)
  /// Rolled back because of concurrent transactions; a retry will probably succeed.
  case contended(String)
  /// No answer arrived: the calls were carried out, or not, or will be later.
  case lost(String)

  package var description: String {
    switch self {
    case .unreachable(let what), .refused(let what), .contended(let what), .lost(let what): what
    }
  }

  /// A refusal, or an unknown outcome if the server also closed the connection.
  fileprivate init(_ result: OpaquePointer, of role: String) {
    func field(_ code: UnicodeScalar) -> String {
      PQresultErrorField(result, Int32(code.value)).map { String(cString: $0) } ?? ""
    }
    let text = PGAddress.line([field("M"), field("D")].filter { !$0.isEmpty }.joined(separator: "; "))
    // Field V is the severity in English, whatever the server's language; FATAL and PANIC end the connection. Field C is the error code.
    switch (field("V"), field("C")) {
    // serialization_failure, deadlock_detected, lock_not_available, unique_violation: retry the transaction with a new snapshot.
    case ("ERROR", "40001"), ("ERROR", "40P01"), ("ERROR", "55P03"), ("ERROR", "23505"): self = .contended(text)
    // insufficient_privilege: the role may not change the schema.
    case ("ERROR", "42501"): self = .refused("PostgreSQL: \(text); the role \(role) must own the database")
    case ("ERROR", _): self = .refused("PostgreSQL: \(text)")
    default:
      self = .lost("PostgreSQL: \(text.isEmpty ? PGAddress.line(String(cString: PQresultErrorMessage(result))) : text)")
    }
  }
}

extension StoreError {
  init(_ error: PGError) {
    if case .lost(let what) = error { self = .unknown(what) } else { self = .failed(error.description) }
  }
}
