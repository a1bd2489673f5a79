import Base
import Opponents
import Processes

/// Written by `alina-arena train-ultimate`.
package enum UltimateValueFile {
  private static let name = "ultimate.values"

  package static func load() throws(ArenaError) -> UltimateValue {
    let path = try found()
    let bytes = try readFile(path, limit: UltimateValue.byteCount)
    guard let value = UltimateValue(bytes: bytes) else {
      let mark = UltimateValue.mark.dropLast()
      let start = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
      let fault =
        start == mark
        ? "has \(bytes.count) bytes; allowed: \(UltimateValue.byteCount)"
        : "begins with \(quoted(start, limit: mark.count)); allowed: '\(mark)'"
      throw ArenaError("\(path) \(fault), as alina-arena train-ultimate writes it")
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
