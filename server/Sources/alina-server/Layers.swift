import Foundation
import MatchServer

/// Lays the settings of a file and of the environment under the command line.
enum Layers {
  /// The flags that take no value.
  static let switches: Set<String> = ["tls-self-signed", "insecure", "memory", "no-page", "no-admin"]
  /// The flags that take one.
  static let options: Set<String> = [
    "listen", "data", "admin", "page", "tls-cert", "tls-key", "threads", "max-connections", "max-per-address", "rate",
    "burst", "bot-rate", "logins-per-minute", "keep-days", "drain-seconds", "proxy-from", "log-format", "log-level",
    "max-pending", "max-wait", "code-tries", "store",
    "node-name", "node-listen", "node-address", "public-address", "cluster-dir", "language",
  ]

  /// Refuses a password on the command line, which everybody on the machine can read.
  static func refusePasswords(_ given: ArraySlice<String>) throws {
    for word in given {
      let value = word.hasPrefix("--store=") ? String(word.dropFirst(8)) : word
      guard PGAddress.matches(value), try PGAddress(value).hasPassword else { continue }
      throw ConfigurationError(
        text: "the password does not belong on the command line, where others can read it: put it into the file that "
          + "PGPASSFILE names (default ~/.pgpass), or the URL into ALINA_STORE or the configuration file")
    }
  }

  /// The arguments of `serve` and `check-config` with file and environment in front; those of other subcommands as
  /// they are.
  static func arguments(_ given: ArraySlice<String>) throws -> [String] {
    var given = Array(given)
    let serving = ["serve", "check-config"]
    let first = given.first ?? ""
    guard first.isEmpty || first.hasPrefix("-") || serving.contains(first) else { return given }
    guard !given.contains("--help"), !given.contains("-h"), !given.contains("--version") else { return given }
    let command = serving.contains(first) ? [given.removeFirst()] : []
    var file = ProcessInfo.processInfo.environment["ALINA_CONFIG"]
    if let at = given.firstIndex(of: "--config") {
      guard at + 1 < given.count else { throw ConfigurationError(text: "--config needs a file") }
      file = given[at + 1]
      given.removeSubrange(at...(at + 1))
    }
    var under: [String] = []
    if let file { under += try read(file) }
    for name in (switches.union(options)).sorted() {
      let key = "ALINA_" + name.uppercased().replacing("-", with: "_")
      if let value = ProcessInfo.processInfo.environment[key] { under += try flag(name, value, key) }
    }
    // Of a flag given twice the last counts: the command line.
    return command + under + given
  }

  private static func read(_ path: String) throws -> [String] {
    let text: String
    do { text = try String(contentsOfFile: path, encoding: .utf8) } catch {
      throw ConfigurationError(text: "cannot read \(path): \(error.localizedDescription)")
    }
    var result: [String] = []
    var seen: Set<String> = []
    for (i, line) in text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let content = String(line).trimmingCharacters(in: .whitespacesAndNewlines)
      guard !content.isEmpty, !content.hasPrefix("#") else { continue }
      let parts = content.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
      guard parts.count == 2 else { throw ConfigurationError(text: "\(path), line \(i + 1): not \"name = value\"") }
      guard seen.insert(parts[0]).inserted else {
        throw ConfigurationError(text: "\(path), line \(i + 1): \(parts[0]) is set twice")
      }
      result += try flag(parts[0], parts[1], "\(path), line \(i + 1)")
    }
    return result
  }

  private static func flag(_ name: String, _ value: String, _ place: String) throws -> [String] {
    if switches.contains(name) {
      switch value {
      case "true", "yes", "1": return ["--\(name)"]
      case "false", "no", "0", "": return []
      default: throw ConfigurationError(text: "\(place): \(name) is true or false, not \(value)")
      }
    }
    guard options.contains(name) else { throw ConfigurationError(text: "\(place): there is no setting \(name)") }
    return ["--\(name)", value]
  }
}
