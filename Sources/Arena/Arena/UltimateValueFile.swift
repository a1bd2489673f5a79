import Base
import Opponents
import Processes

/// The file of Ultimate's value function, written by `alina-arena train-ultimate`.
package enum UltimateValueFile {
  private static let name = "ultimate.values"

  package static func load() throws(ArenaError) -> UltimateValue {
    let path = try found()
    guard let value = UltimateValue(bytes: try readFile(path, limit: UltimateValue.byteCount)) else {
      throw ArenaError("\(path) has no values of Ultimate; alina-arena train-ultimate writes such a file")
    }
    return value
  }

  static func sha256() throws(ArenaError) -> String {
    SHA256.hash(try readFile(found(), limit: UltimateValue.byteCount)).hex
  }

  private static func found() throws(ArenaError) -> String {
    if let path = Installation.asset(name) { return path }
    throw ArenaError("\(name) is missing; looked in \(Installation.assetFolders.joined(separator: " "))")
  }
}
