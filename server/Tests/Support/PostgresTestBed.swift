import Foundation
import MatchStore
import PostgresStore
import Synchronization
import TestSupport

/// A PostgreSQL server for tests. It ends with this process, because `scripts/postgres` ends when its standard input closes.
package final class PostgresTestBed: @unchecked Sendable {  // the pipes are used under `lock`
  /// For all suites; each test uses a schema of its own.
  package static let shared = PostgresTestBed()

  /// Empty if the server did not start.
  package private(set) var url = ""
  private let script: Child?
  private let lock = NSLock()
  private let schemas = Mutex(0)

  /// With `tls` the server has a certificate, which clients that use its URL verify.
  package init(tls: Bool = false) {
    _ = TestPassword.postgres
    script = try? Child(
      [repository.appending(path: "scripts/postgres").path], environment: tls ? ["POSTGRES_TLS": "1"] : [:],
      input: .pipe, output: .pipe, errors: .ours)
    url = script?.line()?.split(separator: " ").last.map(String.init) ?? ""
  }

  deinit {
    try? script?.input.close()
    _ = try? script?.wait()
  }

  /// Empty if the server did not start.
  package var port: String { url.split(separator: ":").last?.split(separator: "/").first.map(String.init) ?? "" }

  /// `order` is `kill`, `start`, `stop` or `cont`. Returns when the script has carried out the order.
  package func order(_ order: String) throws {
    lock.lock()
    defer { lock.unlock() }
    let answer = try answer(to: order)
    guard answer == "done" else { throw StoreError.unusable("scripts/postgres \(order): \(answer)") }
  }

  /// Returns a URL that leads to the server or its standby, whichever is writable.
  package func makeStandby() throws -> String {
    lock.lock()
    defer { lock.unlock() }
    let answer = try answer(to: "standby")
    guard answer.hasPrefix("url ") else { throw StoreError.unusable("scripts/postgres standby: \(answer)") }
    return String(answer.dropFirst(4))
  }

  private func answer(to order: String) throws -> String {
    try script?.input.write(contentsOf: Data((order + "\n").utf8))
    return script?.line() ?? ""
  }

  /// The URL of a new, empty store.
  package func freshURL() throws -> String {
    let name = schemas.withLock { number in
      number += 1
      return "t\(number)_\(ProcessInfo.processInfo.processIdentifier)"
    }
    try sql("CREATE SCHEMA \(name)")
    // Functions of the schema take precedence over PostgreSQL's own: see `setClock`.
    return url + "?options=-csearch_path%3D\(name)%2Cpg_catalog"
  }

  /// The first call must come before the store is opened, because prepared statements keep the `clock_timestamp` that they found.
  package func setClock(ahead milliseconds: Int64, at url: String) throws {
    try sql(
      """
      CREATE OR REPLACE FUNCTION clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE plpgsql
      AS 'BEGIN RETURN pg_catalog.clock_timestamp() + INTERVAL ''\(milliseconds) milliseconds''; END'
      """, at: url)
  }

  /// The schema must have no store yet. The returned function sets its clock, to milliseconds since 1970.
  package func makeClock(at url: String) throws -> @Sendable (Int64) throws -> Void {
    for text in PostgresTestBed.settableClock { try sql(text, at: url) }
    let connection = try PGConnection(try PGAddress(url), setup: [PGStatement(once: "SET synchronous_commit = off")()])
    let set = PGStatement(
      once: "UPDATE clock SET ahead = to_timestamp($1::bigint / 1000.0) - pg_catalog.clock_timestamp()")
    return { _ = try connection.run([set(.int($0))], within: 20_000) }
  }

  /// Statements for a `clock_timestamp` that hides PostgreSQL's own and adds the interval in the table `clock`.
  package static let settableClock = [
    "CREATE TABLE clock AS SELECT INTERVAL '0' AS ahead",
    """
    CREATE FUNCTION clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE plpgsql
    AS 'BEGIN RETURN pg_catalog.clock_timestamp() + (SELECT ahead FROM clock); END'
    """,
  ]

  @discardableResult package func sql(_ text: String, at url: String? = nil) throws -> [[PGValue]] {
    let connection = try PGConnection(try PGAddress(url ?? self.url))
    return try connection.run([PGStatement(once: text)()], within: 20_000).first?.rows ?? []
  }
}
