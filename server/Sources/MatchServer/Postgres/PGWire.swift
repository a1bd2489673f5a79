import CLibPQ
import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// libpq in pipeline mode over one `PGconn`, on one thread: `PGConnection` calls it on its own and on no other.
final class PGWire {
  /// Answers that still have to come for a job, in order.
  private enum Step {
    case prepared(String)
    case rows
  }

  private struct Flight {
    var job: PGConnection.Job
    var steps: ArraySlice<Step>
    var results: [PGRows] = []
    var failure: PGFailure?
    var isDone = false
  }

  /// With so many jobs on their way, more wait in the mailbox.
  private static let mostInFlight = 64

  private let address: PGAddress
  private let setup: [PGCall]
  private let bell: PGBell
  private var connection: OpaquePointer?
  private var prepared: Set<String> = []
  private var flights: [Flight] = []
  private var isFlushed = true

  init(_ address: PGAddress, setup: [PGCall], bell: PGBell) {
    (self.address, self.setup, self.bell) = (address, setup, bell)
  }

  deinit { disconnect() }

  /// Milliseconds of the clock that counts on while the machine sleeps.
  static var now: Int64 { Moment.current.steady }

  var isConnected: Bool { connection != nil }
  var isIdle: Bool { flights.isEmpty }
  var hasRoom: Bool { flights.count < PGWire.mostInFlight }

  /// Connects and runs the setup; blocks up to `connect_timeout` for each address.
  func connect() throws(PGFailure) {
    do throws(PGFailure) {
      try open()
      if !setup.isEmpty { try send(.init(calls: setup, deadline: PGWire.now + 5000, completion: { _ in })) }
      while !isIdle {
        try step()
        for (_, outcome) in finished() { _ = try outcome.get() }
      }
    } catch {
      disconnect()
      _ = abandon()
      throw error
    }
  }

  private func open() throws(PGFailure) {
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

  /// Ends the connection, whatever is on its way.
  func disconnect() {
    PQfinish(connection)
    connection = nil
    prepared = []
    isFlushed = true
  }

  /// The jobs that were on their way when the connection ended.
  func abandon() -> [PGConnection.Job] {
    defer { flights = [] }
    return flights.map(\.job)
  }

  /// Queues a job's messages behind those already sent.
  func send(_ job: PGConnection.Job) throws(PGFailure) {
    var steps: [Step] = []
    flights.append(Flight(job: job, steps: []))
    for call in job.calls {
      if let name = call.statement.name, prepared.insert(name).inserted {
        guard PQsendPrepare(connection, name, call.statement.sql, 0, nil) == 1 else { throw lost() }
        steps.append(.prepared(name))
      }
      guard PGWire.send(call, connection) == 1 else { throw lost() }
      steps.append(.rows)
    }
    guard PQpipelineSync(connection) == 1 else { throw lost() }
    flights[flights.count - 1].steps = steps[...]
    isFlushed = false
  }

  private static func send(_ call: PGCall, _ connection: OpaquePointer?) -> Int32 {
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

  /// Writes and reads what the socket takes and gives; waits for it, the bell or the first deadline.
  func step() throws(PGFailure) {
    if !isFlushed {
      let left = PQflush(connection)
      guard left >= 0 else { throw lost() }
      isFlushed = left == 0
    }
    var wait = Int32.max
    for flight in flights {
      let left = flight.job.deadline - PGWire.now
      guard left > 0 else { throw .lost("no answer in time") }
      wait = min(wait, Int32(clamping: left))
    }
    var ready = [
      pollfd(fd: PQsocket(connection), events: Int16(isFlushed ? POLLIN : POLLIN | POLLOUT), revents: 0),
      pollfd(fd: bell.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    guard poll(&ready, 2, wait) >= 0 || errno == EINTR else { throw .lost(String(cString: strerror(errno))) }
    if ready[1].revents != 0 { bell.silence() }
    if ready[0].revents != 0, ready[0].revents != Int16(POLLOUT) {
      guard PQconsumeInput(connection) == 1 else { throw lost() }
      try collect()
    }
  }

  /// Waits for the bell, and notices if the server hangs up meanwhile.
  func waitIdle() {
    var ready = [
      pollfd(fd: bell.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: connection.map(PQsocket) ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    _ = poll(&ready, 2, -1)
    if ready[0].revents != 0 { bell.silence() }
    if ready[1].revents != 0, PQconsumeInput(connection) != 1 { disconnect() }
  }

  /// Takes in the results that have arrived.
  private func collect() throws(PGFailure) {
    var at = 0
    while at < flights.count, PQisBusy(connection) == 0 {
      // A null pointer ends the results of one statement.
      guard let result = PQgetResult(connection) else {
        flights[at].steps = flights[at].steps.dropFirst()
        continue
      }
      defer { PQclear(result) }
      switch PQresultStatus(result) {
      case PGRES_PIPELINE_SYNC:
        flights[at].isDone = true
        at += 1
      case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
        if case .rows? = flights[at].steps.first { flights[at].results.append(PGWire.rows(result)) }
      case PGRES_PIPELINE_ABORTED: forget(flights[at].steps.first)
      default:
        forget(flights[at].steps.first)
        try note(result, at)
      }
    }
    guard PQstatus(connection) == CONNECTION_OK else { throw lost() }
  }

  /// A statement whose preparation failed is prepared again the next time.
  private func forget(_ step: Step?) {
    if case .prepared(let name)? = step { prepared.remove(name) }
  }

  private func note(_ result: OpaquePointer, _ at: Int) throws(PGFailure) {
    func field(_ code: Character) -> String {
      PQresultErrorField(result, Int32(code.asciiValue ?? 0)).map { String(cString: $0) } ?? ""
    }
    let text = [field("M"), field("D")].filter { !$0.isEmpty }.joined(separator: "; ")
    // V is the severity in English. After FATAL and PANIC the connection is gone, and what it was doing in doubt.
    guard field("V") == "ERROR" else {
      throw .lost(text.isEmpty ? PGAddress.line(String(cString: PQresultErrorMessage(result))) : text)
    }
    if flights[at].failure == nil { flights[at].failure = .refused(state: field("C"), PGAddress.line(text)) }
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

  /// The jobs that are answered, in order, and what became of them.
  func finished() -> [(PGConnection.Job, PGConnection.Outcome)] {
    let done = flights.prefix { $0.isDone }
    flights.removeFirst(done.count)
    return done.map { flight in (flight.job, flight.failure.map { .failure($0) } ?? .success(flight.results)) }
  }

  private func lost() -> PGFailure {
    let text = PGAddress.line(String(cString: PQerrorMessage(connection)))
    return .lost(text.isEmpty ? "the connection ended" : text)
  }
}

/// Notices (a table exists already…) are nobody's business; a file-scope function, because C calls it on our threads.
private func ignoreNotice(_: UnsafeMutableRawPointer?, _: UnsafePointer<CChar>?) {}
