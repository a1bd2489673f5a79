import Records
import TicTacToe

/// Keeps games as files in one folder, and the name of the one that is not finished, so that a kill loses nothing.
///
/// Every write replaces a whole file; the functions come from the platform's services.
package struct GameStore: Sendable {
  /// What a saved game's name ends with.
  package static let suffix = ".pgn"

  /// Why a game cannot be taken up again.
  package struct Damaged: Error, CustomStringConvertible {
    /// One line for the user, with where the file was set aside.
    package let description: String
  }

  private let folder: String
  private let read: @Sendable (String) -> [UInt8]?
  private let write: @Sendable (String, [UInt8]) -> Bool
  private let lock: @Sendable (String) -> Bool

  /// A store in `folder` (made by the first write), with the platform's file functions.
  package init(
    folder: String, read: @escaping @Sendable (String) -> [UInt8]?,
    write: @escaping @Sendable (String, [UInt8]) -> Bool, lock: @escaping @Sendable (String) -> Bool = { _ in true }
  ) {
    (self.folder, self.read, self.write, self.lock) = (folder, read, write, lock)
  }

  package func path(of name: String) -> String { "\(folder)/\(name)\(GameStore.suffix)" }

  /// Takes a name for this program alone until it ends; false where another has it.
  package func take(_ name: String) -> Bool { lock("\(folder)/\(name)") }

  private var marker: String { "\(folder)/unfinished" }

  /// Saves a game under a name, and remembers whether it is the one to take up again (one that others keep is not).
  /// Returns whether it was written.
  @discardableResult
  package func save(_ record: Record, as name: String, isResumable: Bool = true) -> Bool {
    guard write(path(of: name), Array(record.text.utf8)) else { return false }
    let marks = record.game.isOver || !isResumable ? [] : Array("\(name)\n".utf8)
    return (read(marker) ?? []) == marks || write(marker, marks)
  }

  /// Forgets which game was not finished; its file stays.
  package func forgetUnfinished() {
    if let bytes = read(marker), !bytes.isEmpty { _ = write(marker, []) }
  }

  /// The game that was not finished and the name it is saved under; `nil` where there is none.
  ///
  /// A file that cannot be read as a game is copied aside, forgotten and reported.
  package func unfinished() throws(Damaged) -> (name: String, record: Record)? {
    guard let bytes = read(marker), !bytes.isEmpty else { return nil }
    let name = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    let isPlain = !name.isEmpty && !name.contains("/") && name.utf8.count < 128
    guard isPlain, let text = read(path(of: name)) else {
      forgetUnfinished()
      throw Damaged(description: "the unfinished game could not be found again; starting a new one")
    }
    do {
      let record = try Record(text: String(decoding: text, as: UTF8.self), variants: Variant.allCases)
      guard !record.game.isOver else {
        forgetUnfinished()
        return nil
      }
      // Another window plays it; this one begins its own.
      guard take(name) else { return nil }
      return (name, record)
    } catch {
      let aside = path(of: name) + ".damaged"
      _ = write(aside, text)
      forgetUnfinished()
      throw Damaged(description: "the unfinished game is damaged (\(error)); set aside as \(aside)")
    }
  }
}
