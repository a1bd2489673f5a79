import ArgumentParser
import Foundation
import MatchStore
import PostgresStore
import Synchronization

/// Combines settings from a file, the environment and the command line.
enum ConfigurationSources {
  /// The flags of `serve`, and whether each takes a value.
  private static let flags: [String: Bool] = {
    var flags: [String: Bool] = [:]
    let children = ServeOptions.groups.flatMap { Mirror(reflecting: $0).children }
    for case (let label?, let value) in children where label != "_weakSync" {
      let name = label.drop { $0 == "_" }
      flags[name.reduce(into: "") { $0 += $1.isUppercase ? "-\($1.lowercased())" : "\($1)" }] = !(value is Flag<Bool>)
    }
    return flags
  }()

  /// Removed flags and their replacements.
  private static let removed: [String: String] = {
    let store = "give every node the same --store; docs/cluster.md"
    return [
      "node-name": store, "node-listen": store, "cluster-dir": store,
      "node-address": "nodes do not dial each other; docs/cluster.md",
      "language": "stop all nodes of a store, then start the new build; docs/cluster.md",
    ]
  }()

  /// The settings that a command other than `serve` takes from file and environment.
  private static let taken: [String: Set<String>] = {
    let (port, data): (Set, Set) = (["admin", "data"], ["data", "store"])
    return [
      "status": port, "players": port, "reports": port,
      "backup": data, "restore": data, "export": data, "import": data, "forget": data, "token": data,
    ]
  }()

  /// The origin of each setting not given as a flag: `FILE:3: listen` or `ALINA_LISTEN`.
  private static let places = Mutex<[String: String]>([:])

  /// Replaces the flag at the start of an error message by the place where its value was set: a line of the file, or a variable.
  static func placed(_ complaint: String) -> String {
    let flag = complaint.prefix { !" :".contains($0) }
    guard let place = places.withLock({ $0[String(flag.dropFirst(2))] }) else { return complaint }
    return place + complaint.dropFirst(flag.count)
  }

  /// Every user of the machine can read a command line.
  static func refusePasswords(_ given: ArraySlice<String>) throws {
    for word in given {
      let value = word.hasPrefix("--store=") ? String(word.dropFirst(8)) : word
      guard PGAddress.matches(value), try PGAddress(value).hasPassword else { continue }
      throw ConfigurationError(
        text: "the password does not belong on the command line, where others can read it: put it into the file that "
          + "PGPASSFILE names (default ~/.pgpass), or the URL into ALINA_STORE or the configuration file")
    }
  }

  /// The arguments of a command, preceded by its settings from file and environment.
  static func arguments(_ given: ArraySlice<String>) throws -> [String] {
    var given = Array(given)
    let serving = ["serve", "check-config"]
    let first = given.first ?? ""
    let isNamed = serving.contains(first) || taken[first] != nil
    guard isNamed || first.isEmpty || first.hasPrefix("-") else { return given }
    guard !given.contains("--help"), !given.contains("-h"), !given.contains("--version") else { return given }
    let command = isNamed ? [given.removeFirst()] : []
    for word in given where word.hasPrefix("--") {
      let name = String(word.dropFirst(2).prefix { $0 != "=" })
      if let instead = removed[name] { throw ConfigurationError(text: "--\(name) was removed: \(instead)") }
    }
    var (file, source) = (ProcessInfo.processInfo.environment["ALINA_CONFIG"], "ALINA_CONFIG")
    if let at = given.firstIndex(where: { $0 == "--config" || $0.hasPrefix("--config=") }) {
      let word = given.remove(at: at)
      guard word != "--config" || at < given.count else { throw ConfigurationError(text: "--config needs a file") }
      (file, source) = (word == "--config" ? given.remove(at: at) : String(word.dropFirst(9)), "--config")
    }
    var under: [String: [String]] = [:]
    if let file { under = try read(file, from: source) }
    for name in (Array(flags.keys) + removed.keys).sorted() where taken[first]?.contains(name) ?? true {
      let key = "ALINA_" + name.uppercased().replacing("-", with: "_")
      if let value = ProcessInfo.processInfo.environment[key] { under[name] = try flag(name, value, key) }
    }
    if let taken = taken[first] {
      under = under.filter { taken.contains($0.key) }
      // `--data` also overrides a setting `store` from the file or the environment.
      if given.contains(where: { $0 == "--data" || $0.hasPrefix("--data=") }) { under["store"] = nil }
    }
    for word in given { places.withLock { $0[String(word.dropFirst(2).prefix { $0 != "=" })] = nil } }
    // Of repeated flags the last one counts, so the command line's flags come last.
    return command + under.sorted { $0.key < $1.key }.flatMap(\.value) + given
  }

  private static func read(_ path: String, from source: String) throws -> [String: [String]] {
    let text: String
    do { text = try String(readFrom: path) } catch { throw ConfigurationError(text: "\(source): \(error)") }
    var result: [String: [String]] = [:]
    for (i, line) in text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let content = String(line).trimmingCharacters(in: .whitespacesAndNewlines)
      guard !content.isEmpty, !content.hasPrefix("#") else { continue }
      let parts = content.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
      guard parts.count == 2 else { throw ConfigurationError(text: "\(path):\(i + 1): not \"name = value\"") }
      let place = "\(path):\(i + 1): \(parts[0])"
      guard result[parts[0]] == nil else { throw ConfigurationError(text: "\(place) is set twice") }
      result[parts[0]] = try flag(parts[0], parts[1], place)
    }
    return result
  }

  private static func flag(_ name: String, _ value: String, _ place: String) throws -> [String] {
    if let instead = removed[name] { throw ConfigurationError(text: "\(place) was removed: \(instead)") }
    switch flags[name] {
    case true?:
      guard !value.isEmpty else { throw ConfigurationError(text: "\(place) has no value") }
      places.withLock { $0[name] = place }
      return ["--\(name)=\(value)"]
    case nil: throw ConfigurationError(text: "\(place) is not a setting")
    case false?:
      switch value {
      case "true", "yes", "1": return ["--\(name)"]
      case "false", "no", "0", "": return []
      default: throw ConfigurationError(text: "\(place) is true or false, not \(value)")
      }
    }
  }
}
