import CLibPQ
import Foundation
import MatchStore

/// Where a PostgreSQL database is, as libpq understands it: `postgres://USER@HOST:PORT/DATABASE?sslmode=verify-full…`.
///
/// What the URL leaves open comes from PGHOST, PGUSER, PGPASSFILE, PGSERVICE and the other variables of libpq, then from
/// our defaults below. The password never leaves this value but to libpq.
package struct PGAddress: Sendable {
  /// What libpq connects by.
  let parameters: String
  /// Where it is, without user and password, for logs and messages.
  package let description: String
  /// Whether the URL holds a password, which on a command line everybody on the machine could read.
  package let hasPassword: Bool
  /// Whether it names several hosts, of which another may take over.
  let hasSeveralHosts: Bool
  /// Whether a host may take over that may lack what was acknowledged.
  package var allowsLossyFailover = false

  /// A dead machine is noticed in 2 s, an endless connection attempt ends after 3 s, and of several hosts the one that can
  /// be written is taken.
  private static let defaults = [
    "application_name": "alina-server", "connect_timeout": "3", "tcp_user_timeout": "2000", "keepalives_idle": "5",
    "keepalives_interval": "1", "keepalives_count": "3", "target_session_attrs": "read-write",
  ]

  /// Whether a text is meant as such a URL.
  package static func matches(_ text: String) -> Bool {
    text.hasPrefix("postgres://") || text.hasPrefix("postgresql://")
  }

  /// Reads a URL; throws what libpq says is wrong with it.
  package init(_ url: String) throws(StoreError) {
    guard PGAddress.matches(url) else {
      throw .unusable("the store is postgres://USER@HOST:PORT/DATABASE, which this is not")
    }
    var problem: UnsafeMutablePointer<CChar>?
    guard let options = PQconninfoParse(url, &problem) else {
      // libpq quotes the URL in some of its messages, and with it a password.
      let text = problem.map { PGAddress.line(String(cString: $0)) } ?? "out of memory"
      PQfreemem(problem)
      throw .unusable("the URL of the store cannot be read: \(text.split(separator: ":").first ?? "")")
    }
    defer { PQconninfoFree(options) }
    var option = options
    // What is asked of libpq, and what it will find by itself besides.
    var (asked, found) = (["client_encoding": "UTF8"], [String: String]())
    while let keyword = option.pointee.keyword.map({ String(cString: $0) }) {
      let given = option.pointee.val.map { String(cString: $0) }
      found[keyword] = given ?? option.pointee.envvar.flatMap { getenv($0) }.map { String(cString: $0) }
      if let value = given ?? (found[keyword] == nil ? PGAddress.defaults[keyword] : nil) { asked[keyword] = value }
      option += 1
    }
    hasPassword = asked["password"] != nil || asked["sslpassword"] != nil
    hasSeveralHosts = (found["host"] ?? found["hostaddr"] ?? "").contains(",")
    description =
      "postgres://\(found["host"] ?? "local"):\(found["port"] ?? "5432")/\(found["dbname"] ?? "")"
    parameters = asked.map { keyword, value in
      "\(keyword)='\(value.replacing("\\", with: "\\\\").replacing("'", with: "\\'"))'"
    }.joined(separator: " ")
  }

  /// A message of libpq as one line.
  static func line(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "; ")
  }
}
