import Base
import Records
import TicTacToe

/// Stores games as files in a folder. A marker file beside an unfinished game lets the next start of the program resume the game. Each game
/// has its own marker, so that several windows can mark games.
package struct GameStore: Sendable {
  package static let suffix = ".pgn"
  private static let markerSuffix = ".unfinished"
  /// The only marker file that versions up to 1.1 write in the folder; its content is the name of the unfinished game.
  private static let oldMarker = "unfinished"

  /// An unfinished game could not be read; its file was copied.
  package struct Damaged: Error {
    package let path: String
    /// The path of the copy.
    package let aside: String
  }

  private let folder: String
  private let files: FileFunctions

  /// The first write creates `folder`.
  package init(folder: String, files: FileFunctions) { (self.folder, self.files) = (folder, files) }

  package func path(of name: String) -> String { "\(folder)/\(name)\(GameStore.suffix)" }

  /// `nil` if the path is not that of a game in this folder.
  package func name(of path: String) -> String? {
    guard path.hasPrefix(folder + "/"), path.hasSuffix(GameStore.suffix) else { return nil }
    return String(path.dropFirst(folder.count + 1).dropLast(GameStore.suffix.count))
  }

  /// Locks a name for this window; `false` if another window holds the lock.
  package func take(_ name: String) -> Bool { files.locks.take("\(folder)/\(name)") }

  package func release(_ name: String) { files.locks.release("\(folder)/\(name)") }

  package func takeNew(_ name: String) -> Bool { files.read(path(of: name)) == nil && take(name) }

  private func marker(of name: String) -> String { "\(folder)/\(name)\(GameStore.markerSuffix)" }

  /// Saves a game and leaves its marker file as it is.
  package func save(_ record: Record, as name: String) throws(WriteFault) {
    try files.write(path(of: name), Array(record.text.utf8))
  }

  package func save(_ record: Record, as name: String, isResumable: Bool) throws(WriteFault) {
    try save(record, as: name)
    if record.game.isOver || !isResumable {
      forgetUnfinished(name)
    } else if files.read(marker(of: name)) == nil {
      try files.write(marker(of: name), Array("\(name)\n".utf8))
    }
  }

  /// `false` if the game cannot be read.
  package func change(_ name: String, _ body: (inout Record) -> Void) throws(WriteFault) -> Bool {
    guard let text = files.read(path(of: name)), var record = try? GameStore.record(text) else { return false }
    body(&record)
    try save(record, as: name)
    return true
  }

  package func delete(_ name: String) -> Bool {
    forgetUnfinished(name)
    return files.delete(path(of: name))
  }

  /// Removes the marker file of a game; the file with the game stays.
  package func forgetUnfinished(_ name: String) {
    if files.read(marker(of: name)) != nil { _ = files.delete(marker(of: name)) }
    if oldName == name { _ = files.delete("\(folder)/\(GameStore.oldMarker)") }
  }

  private var oldName: String? {
    files.read("\(folder)/\(GameStore.oldMarker)").map { bytes in
      String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
  }

  /// Locks and returns the newest unfinished game that no other window plays. Copies the file of an unreadable game and throws `Damaged`.
  package func unfinished() throws(Damaged) -> (name: String, record: Record)? {
    let marked = files.list(folder).filter { $0.hasSuffix(GameStore.markerSuffix) }
    let names = [oldName].compactMap { $0 } + marked.map { String($0.dropLast(GameStore.markerSuffix.count)) }
    // Ignore markers with paths outside of the folder.
    for name in Set(names).sorted(by: >) where !name.contains("/") && take(name) {
      if let text = files.read(path(of: name)) {
        guard let record = try? GameStore.record(text) else {
          let aside = path(of: name) + ".damaged"
          try? files.write(aside, text)
          forgetUnfinished(name)
          throw Damaged(path: path(of: name), aside: aside)
        }
        if !record.game.isOver { return (name, record) }
      }
      forgetUnfinished(name)
      release(name)
    }
    return nil
  }

  private static func record(_ text: [UInt8]) throws(NotationError) -> Record {
    try Record(text: String(decoding: text, as: UTF8.self), variants: Variant.allCases)
  }
}
