import CLibPQ
import Foundation

/// One connection to PostgreSQL by libpq's pipeline mode, used by one thread at a time.
///
/// Once it is lost it stays lost: what was meant for the middle of a transaction is never done outside of it.
final class PGConnection: @unchecked Sendable {  // lent to one thread at a time
  private var connection: OpaquePointer?
  private var prepared: Set<String> = []

  /// Milliseconds of the clock that counts on while the machine sleeps.
  private static var now: Int64 { Moment.current.steady }

  /// Connects and makes the calls of `setup`; blocks up to `connect_timeout` for each address.
  init(_ address: PGAddress, setup: [PGCall] = []) throws(PGFailure) {
    do throws(PGFailure) {
      try open(address)
      if !setup.isEmpty { _ = try run(setup, within: 5000) }
    } catch {
      close()
      throw .unreachable(error.text)
    }
  }

  deinit { close() }

  private func open(_ address: PGAddress) throws(PGFailure) {
    let pairs = address.connectionParameters
    let keys = pairs.map { strdup($0.key) } + [nil]
    let values = pairs.map { strdup($0.value) } + [nil]
    defer { for text in keys + values { free(text) } }
    connection = keys.map { UnsafePointer($0) }.withUnsafeBufferPointer { keys in
      values.map { UnsafePointer($0) }.withUnsafeBufferPointer { values in
        PQconnectdbParams(keys.baseAddress, values.baseAddress, 0)
      }
    }
    guard PQstatus(connection) == CONNECTION_OK else { throw lost() }
    _ = PQsetNoticeProcessor(connection, ignoreNotice, nil)
    guard PQserverVersion(connection) >= 150_000 else {
      throw .unreachable("PostgreSQL 15 or newer is needed, this is \(PQserverVersion(connection) / 10_000)")
    }
    guard PQsetnonblocking(connection, 1) == 0, PQenterPipelineMode(connection) == 1 else { throw lost() }
  }

  /// Ends the connection, whatever was on its way.
  func close() {
    PQfinish(connection)
    connection = nil
  }

  /// Whether the connection is there, as far as can be seen without asking the server.
  var isOpen: Bool {
    while let connection {
      var ready = pollfd(fd: PQsocket(connection), events: Int16(POLLIN), revents: 0)
      guard poll(&ready, 1, 0) > 0 else { return true }
      // A last word of the server's, then its end.
      if PQconsumeInput(connection) != 1 { close() }
    }
    return false
  }

  /// Makes the calls in one flight and waits for their rows. They are one transaction, which nothing can interrupt but
  /// the end of the connection, unless they begin or end one themselves.
  func run(_ calls: [PGCall], within milliseconds: Int64) throws(PGFailure) -> [PGRows] {
    guard isOpen else { throw .unreachable("the connection ended") }
    do throws(PGFailure) { return try exchange(calls, PGConnection.now + milliseconds) } catch {
      // What a server refuses leaves the connection whole.
      if case .lost = error { close() }
      throw error
    }
  }

  private func exchange(_ calls: [PGCall], _ deadline: Int64) throws(PGFailure) -> [PGRows] {
    // What the answers belong to: the name of a statement that is prepared, or the rows of one.
    var steps: [String?] = []
    for call in calls {
      if let name = call.statement.name, prepared.insert(name).inserted {
        guard PQsendPrepare(connection, name, call.statement.sql, 0, nil) == 1 else { throw lost() }
        steps.append(name)
      }
      guard send(call) == 1 else { throw lost() }
      steps.append(nil)
    }
    guard PQpipelineSync(connection) == 1 else { throw lost() }
    var (at, rows, failure) = (0, [PGRows](), PGFailure?.none)
    while true {
      try wait(until: deadline)
      while PQisBusy(connection) == 0 {
        guard PQstatus(connection) == CONNECTION_OK else { throw lost() }
        // A null pointer ends the results of one statement.
        guard let result = PQgetResult(connection) else {
          at += 1
          continue
        }
        defer { PQclear(result) }
        let status = PQresultStatus(result)
        if status == PGRES_PIPELINE_SYNC {
          if let failure { throw failure }
          return rows
        }
        guard at < steps.count else { throw .lost("an answer to nothing") }
        let name = steps[at]
        if status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK {
          if name == nil { rows.append(PGConnection.rows(result)) }
          continue
        }
        // What could not be prepared is prepared again the next time.
        if let name { prepared.remove(name) }
        if status != PGRES_PIPELINE_ABORTED, failure == nil { failure = try PGConnection.refusal(result) }
      }
    }
  }

  private func send(_ call: PGCall) -> Int32 {
    var buffer: [UInt8] = []
    var places: [(start: Int, count: Int)?] = []
    for value in call.values {
      let start = buffer.count
      places.append(value.encode(into: &buffer) ? (start, buffer.count - start) : nil)
    }
    // An empty value needs an address too: libpq takes a null pointer for NULL.
    buffer.append(0)
    return buffer.withUnsafeBytes { raw in
      let base = raw.baseAddress?.assumingMemoryBound(to: CChar.self)
      let values = places.map { place in place.flatMap { base?.advanced(by: $0.start) } }
      let lengths = places.map { Int32($0?.count ?? 0) }
      let formats = [Int32](repeating: 1, count: places.count)
      let n = Int32(places.count)
      if let name = call.statement.name {
        return PQsendQueryPrepared(connection, name, n, values, lengths, formats, 1)
      }
      return PQsendQueryParams(connection, call.statement.sql, n, nil, values, lengths, formats, 1)
    }
  }

  /// Writes what the socket takes, then waits for something to read.
  private func wait(until deadline: Int64) throws(PGFailure) {
    while true {
      let unsent = PQflush(connection)
      guard unsent >= 0 else { throw lost() }
      let left = deadline - PGConnection.now
      guard left > 0 else { throw .lost("no answer in time") }
      let events = Int16(unsent == 0 ? POLLIN : POLLIN | POLLOUT)
      var ready = pollfd(fd: PQsocket(connection), events: events, revents: 0)
      guard poll(&ready, 1, Int32(clamping: left)) >= 0 || errno == EINTR else {
        throw .lost(String(cString: strerror(errno)))
      }
      guard ready.revents & ~Int16(POLLOUT) != 0 else { continue }
      guard PQconsumeInput(connection) == 1 else { throw lost() }
      return
    }
  }

  private static func refusal(_ result: OpaquePointer) throws(PGFailure) -> PGFailure {
    func field(_ code: Character) -> String {
      PQresultErrorField(result, Int32(code.asciiValue ?? 0)).map { String(cString: $0) } ?? ""
    }
    let text = [field("M"), field("D")].filter { !$0.isEmpty }.joined(separator: "; ")
    // V is the severity in English. After FATAL and PANIC the connection is gone, and what it was doing in doubt.
    guard field("V") == "ERROR" else {
      throw .lost(text.isEmpty ? PGAddress.line(String(cString: PQresultErrorMessage(result))) : text)
    }
    return .refused(state: field("C"), PGAddress.line(text))
  }

  private static func rows(_ result: OpaquePointer) -> PGRows {
    var rows = PGRows()
    rows.count = Int(String(cString: PQcmdTuples(result))) ?? 0
    let columns = PQnfields(result)
    let types = (0..<columns).map { PQftype(result, $0) }
    rows.rows = (0..<PQntuples(result)).map { row in
      (0..<columns).map { column in
        guard PQgetisnull(result, row, column) == 0 else { return .null }
        let bytes = UnsafeRawBufferPointer(
          start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column)))
        return PGValue(bytes, type: types[Int(column)])
      }
    }
    return rows
  }

  private func lost() -> PGFailure {
    let text = PGAddress.line(String(cString: PQerrorMessage(connection)))
    return .lost(text.isEmpty ? "the connection ended" : text)
  }
}

/// Notices (a table exists already…) are nobody's business; a file-scope function, because C calls it on our threads.
private func ignoreNotice(_: UnsafeMutableRawPointer?, _: UnsafePointer<CChar>?) {}
