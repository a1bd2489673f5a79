import Base
import Foundation
import Opponents

/// The file of what the top level knows of Ultimate, which `alina-arena train-ultimate` writes.
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

  /// Where the file is: beside the program, in `Assets` of the folders above it, or in `Assets` here.
  private static func found() throws(ArenaError) -> String {
    let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    var folder = URL(filePath: program).deletingLastPathComponent()
    var folders = [folder.path]
    for _ in 0..<4 {
      folder.deleteLastPathComponent()
      folders.append(folder.appending(path: "Assets").path)
    }
    let paths = (folders + ["Assets"]).map { "\($0)/\(name)" }
    if let path = paths.first(where: { FileManager.default.fileExists(atPath: $0) }) { return path }
    throw ArenaError("\(name) is missing; it lies in Assets, and alina-arena train-ultimate writes it")
  }
}
