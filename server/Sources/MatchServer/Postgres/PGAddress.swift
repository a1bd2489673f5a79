import CLibPQ
import Foundation

/// Where a PostgreSQL database is, as libpq understands it: `postgres://USER@HOST:PORT/DATABASE?sslmode=verify-full…`.
///
/// What the URL leaves open comes from PGHOST, PGUSER, PGPASSFILE, PGSERVICE and the other variables of libpq, then from
/// our defaults below. The password never leaves this value but to libpq.
public struct PGAddress: Sendable {
  private let parameters: [(key: String, value: String)]

  /// Whether a text is meant as such a URL.
  public static func matches(_ text: String) -> Bool {
    text.hasPrefix("postgres://") || text.hasPrefix("postgresql://")
  }

  /// Whether the URL holds a password, which on a command line everybody on the machine could read.
  public var hasPassword: Bool { parameters.contains { $0.key == "password" || $0.key == "sslpassword" } }

  /// Reads a URL; throws what libpq says is wrong with it.
  public init(_ url: String) throws(StoreError) {
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
    var found: [(key: String, value: String)] = []
    var option = options
    while let keyword = option.pointee.keyword {
      if let value = option.pointee.val { found.append((String(cString: keyword), String(cString: value))) }
      option += 1
    }
    parameters = found
  }

  /// Used where neither the URL nor the environment says otherwise: a dead machine is noticed in 2 s, an endless
  /// connection attempt ends after 3 s, and of several hosts the one that can be written is taken.
  private static let defaults = [
    "application_name": "alina-server", "connect_timeout": "3", "tcp_user_timeout": "2000", "keepalives_idle": "5",
    "keepalives_interval": "1", "keepalives_count": "3", "target_session_attrs": "read-write",
  ]
  private static let variables = ["application_name": "PGAPPNAME", "connect_timeout": "PGCONNECT_TIMEOUT"]

  /// The names and values for `PQconnectdbParams`.
  var connectionParameters: [(key: String, value: String)] {
    var result = parameters
    for (key, value) in PGAddress.defaults.sorted(by: { $0.key < $1.key })
    where !parameters.contains(where: { $0.key == key }) {
      if let variable = PGAddress.variables[key], ProcessInfo.processInfo.environment[variable] != nil { continue }
      result.append((key, value))
    }
    result.append(("client_encoding", "UTF8"))
    return result
  }

  /// Where it is, without user and password, for logs and messages.
  public var description: String {
    func value(_ key: String, _ variable: String, _ usual: String) -> String {
      parameters.first { $0.key == key }?.value ?? ProcessInfo.processInfo.environment[variable] ?? usual
    }
    return "postgres://\(value("host", "PGHOST", "local")):\(value("port", "PGPORT", "5432"))/"
      + value("dbname", "PGDATABASE", "")
  }

  /// A message of libpq as one line.
  static func line(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "; ")
  }
}
