import Foundation
import MatchStore
import PostgresStore
import Synchronization
import TestSupport

/// A PostgreSQL of the tests' own, by `scripts/postgres`: started when the first test wants one, ended with this process
/// (the script ends when its standard input does).
package final class PostgresTestBed: @unchecked Sendable {  // the pipes are used under `lock`
  /// The one that suites share; each test has a schema of its own in it.
  package static let shared = PostgresTestBed()

  /// Where it is, or empty if it did not start.
  package private(set) var url = ""
  private let script: Child?
  private let lock = NSLock()
  private let schemas = Mutex(0)

  /// Starts one; with `tls` it has a certificate, which its URL verifies.
  package init(tls: Bool = false) {
    script = try? Child(
      [repository.appending(path: "scripts/postgres").path], environment: tls ? ["POSTGRES_TLS": "1"] : [:],
      input: .pipe, output: .pipe, errors: .ours)
    url = script?.line()?.split(separator: " ").last.map(String.init) ?? ""
  }

  deinit {
    try? script?.input.close()
    _ = try? script?.wait()
  }

  /// `kill`, `start`, `stop` or `cont`, done when it returns.
  package func order(_ order: String) throws {
    lock.lock()
    defer { lock.unlock() }
    let answer = try answer(to: order)
    guard answer == "done" else { throw StoreError.unusable("scripts/postgres \(order): \(answer)") }
  }

  /// Starts a second one that follows; returns the URL of whichever can be written.
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

  /// The URL of an empty store of a test's own.
  package func freshURL() throws -> String {
    let name = schemas.withLock { number in
      number += 1
      return "t\(number)_\(ProcessInfo.processInfo.processIdentifier)"
    }
    try sql("CREATE SCHEMA \(name)")
    // Functions of the schema go before PostgreSQL's own: see `setClock`.
    return url + "?options=-csearch_path%3D\(name)%2Cpg_catalog"
  }

  /// Sets by how much the clock of a store is ahead of PostgreSQL's. The first call must come before the store is opened, because a
  /// prepared statement keeps the function that it found.
  package func setClock(ahead milliseconds: Int64, at url: String) throws {
    try sql(
      """
      CREATE OR REPLACE FUNCTION clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE plpgsql
      AS 'BEGIN RETURN pg_catalog.clock_timestamp() + INTERVAL ''\(milliseconds) milliseconds''; END'
      """, at: url)
  }

  /// Runs one statement on a connection of its own.
  @discardableResult package func sql(_ text: String, at url: String? = nil) throws -> [[PGValue]] {
    let connection = try PGConnection(try PGAddress(url ?? self.url))
    return try connection.run([PGStatement(once: text)()], within: 20_000).first?.rows ?? []
  }
}
