import CLibPQ
import Foundation
import MatchStore

/// The URL of a PostgreSQL database: `postgres://USER@HOST:PORT/DATABASE?sslmode=verify-full…`. Missing parts come from libpq's variables,
/// such as PGHOST, then from the defaults below.
package struct PGAddress: Sendable {
  /// The connection string for libpq.
  let parameters: String
  /// Without user and password, for logs and messages.
  package let description: String
  /// Whether the URL contains a password, which on a command line every user of the machine could read.
  package let hasPassword: Bool
  /// Whether the URL names several hosts, so that libpq connects to a standby that was promoted.
  let hasSeveralHosts: Bool
  /// Whether a standby that lacks acknowledged data may take over (`--allow-lossy-failover`).
  package var allowsLossyFailover = false

  /// Detect a dead machine 2 s after sending, give up connecting after 3 s, and of several hosts choose the one that accepts writes.
  private static let defaults = [
    "application_name": "alina-server", "connect_timeout": "3", "tcp_user_timeout": "2000", "keepalives_idle": "5",
    "keepalives_interval": "1", "keepalives_count": "3", "target_session_attrs": "read-write",
  ]

  package static func matches(_ text: String) -> Bool {
    text.hasPrefix("postgres://") || text.hasPrefix("postgresql://")
  }

  package init(_ url: String) throws(StoreError) {
    guard PGAddress.matches(url) else {
      throw .unusable("the store is postgres://USER@HOST:PORT/DATABASE, which this is not")
    }
    var problem: UnsafeMutablePointer<CChar>?
    guard let options = PQconninfoParse(url, &problem) else {
      // Some messages of libpq quote the URL with its password after a colon: keep only the part before the first colon.
      let text = problem.map { PGAddress.line(String(cString: $0)) } ?? "out of memory"
      PQfreemem(problem)
      throw .unusable("the URL of the store cannot be read: \(text.split(separator: ":").first ?? "")")
    }
    defer { PQconninfoFree(options) }
    var option = options
    // `asked`: parameters for libpq. `found`: parameters that the URL or the environment sets, so that no default replaces them.
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

  static func line(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "; ")
  }
}
