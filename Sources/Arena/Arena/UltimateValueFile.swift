import Base
import Foundation
import Opponents

/// The file of what the top level knows of Ultimate.
package enum UltimateValueFile {
  /// What it is called beside the program.
  package static let name = "ultimate.values"

  /// Where the file is looked for: beside the program, in `Assets` of the folders above it, and in `Assets` here.
  package static var folders: [String] {
    let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    var folder = URL(filePath: program).deletingLastPathComponent()
    var folders = [folder.path]
    for _ in 0..<4 {
      folder.deleteLastPathComponent()
      folders.append(folder.appending(path: "Assets").path)
    }
    return folders + ["Assets"]
  }

  /// Reads a file that `alina-arena train-ultimate` wrote.
  package static func load(_ path: String) throws(ArenaError) -> UltimateValue {
    guard let value = UltimateValue(bytes: try readFile(path, limit: UltimateValue.byteCount)) else {
      throw ArenaError("\(path) has no values of Ultimate; alina-arena train-ultimate writes such a file")
    }
    return value
  }

  /// Reads the file from the first of some folders that has one.
  package static func load(from folders: [String]) throws(ArenaError) -> UltimateValue { try load(path(in: folders)) }

  /// The hash of that file.
  static func sha256(in folders: [String]) throws(ArenaError) -> String {
    SHA256.hash(try readFile(path(in: folders), limit: UltimateValue.byteCount)).hex
  }

  private static func path(in folders: [String]) throws(ArenaError) -> String {
    let paths = folders.map { "\($0)/\(name)" }
    if let path = paths.first(where: { FileManager.default.fileExists(atPath: $0) }) { return path }
    throw ArenaError("\(name) is missing; it lies in Assets, and alina-arena train-ultimate writes it")
  }

  /// Writes the file at once: it holds what it held or all of the new.
  package static func write(_ weights: [Int16], to path: String) throws(ArenaError) {
    do { try Data(UltimateValue.bytes(of: weights)).write(to: URL(filePath: path), options: .atomic) } catch {
      throw ArenaError("\(path) cannot be written: \(reason(of: error))")
    }
  }
}
