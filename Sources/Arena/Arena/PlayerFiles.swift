import Base
import Foundation
import TicTacToe

/// The header of a file of games has the hashes of the players' files, but not their folders.
extension PlayerSpec {
  /// Stands for a folder in the header of a file of games: `/home/me/bot` becomes `…/bot`.
  fileprivate static let ellipsis = "…/"

  /// `cmd:/home/me/bot --book=/tmp/b` becomes `cmd:…/bot --book=…/b`.
  package var portable: PlayerSpec {
    switch self {
    case .engine(let words): .engine(words.map(PlayerSpec.withoutFolders))
    case .menace(let file?): .menace(file: PlayerSpec.withoutFolders(file))
    default: self
    }
  }

  static func withoutFolders(_ word: String) -> String {
    let (option, path) = parts(of: word)
    guard path.contains("/") else { return word }
    return option + ellipsis + (path.split(separator: "/").last ?? "")
  }

  /// Splits `--book=/tmp/b` into `--book=` and `/tmp/b`.
  private static func parts(of word: String) -> (option: String, path: String) {
    guard word.hasPrefix("-"), let sign = word.firstIndex(of: "=") else { return ("", word) }
    return (String(word[...sign]), String(word[word.index(after: sign)...]))
  }

  /// The words that may name files: an engine's program and arguments, or the file of matchboxes.
  fileprivate var words: [String] {
    switch self {
    case .engine(let words): words
    case .menace(let file?): [file]
    default: []
    }
  }

  private func replacing(_ words: [String]) -> PlayerSpec {
    if case .engine = self { .engine(words) } else { .menace(file: words[0]) }
  }

  /// The hash of the file of matchboxes; or of an engine's program, and of each word with a slash or a dot that is a file's path.
  fileprivate func fileHashes(in folder: String?) throws(ArenaError) -> [RunConfiguration.Entrant.File] {
    var files: [RunConfiguration.Entrant.File] = []
    for (number, word) in words.enumerated() {
      var path = PlayerSpec.parts(of: word).path
      if number == 0, isEngine {
        guard let found = PlayerSpec.program(path) else { continue }
        path = found
        if let folder, path.hasPrefix("./") || path.hasPrefix("../") { path = "\(folder)/\(path)" }
      } else if isEngine, !path.contains("/"), !path.contains(".") {
        continue
      }
      if let hash = try PlayerSpec.hash(of: path) { files.append(.init(word: number, sha256: hash)) }
    }
    return files
  }

  /// Finds files by name and hash. A file found in `folders` gets an absolute path, because an engine may run in another folder than the
  /// arena.
  fileprivate func located(_ files: [RunConfiguration.Entrant.File], in folders: [String]) throws(ArenaError)
    -> PlayerSpec
  {
    var found = words
    for (number, word) in words.enumerated() {
      let (option, path) = PlayerSpec.parts(of: word)
      let isElsewhere = path.hasPrefix(PlayerSpec.ellipsis)
      let name = isElsewhere ? String(path.dropFirst(PlayerSpec.ellipsis.count)) : path
      guard let hash = files.first(where: { $0.word == number })?.sha256 else {
        guard !isElsewhere else {
          throw ArenaError("player '\(text)': the file does not say where '\(name)' is; give the players again")
        }
        // The name alone could be that of any program.
        guard number > 0 || !isEngine else {
          throw ArenaError("player '\(text)': the file has no SHA-256 of the program '\(name)'; give the players again")
        }
        continue
      }
      let candidates = folders.map { "\($0)/\(name)" }
      var match: String?
      // Before `folders`, look for a program in `PATH`, and for any other file at its own path, unless the header has `…/` in place of its
      // folder.
      let plain = number == 0 && isEngine ? PlayerSpec.program(name) : isElsewhere ? nil : name
      if let plain, try PlayerSpec.hash(of: plain) == hash { match = isElsewhere ? plain : name }
      for candidate in candidates where match == nil {
        guard try PlayerSpec.hash(of: candidate) == hash else { continue }
        match = URL(filePath: candidate).standardizedFileURL.path
      }
      guard let match else {
        throw ArenaError(
          "player '\(text)': no file '\(name)' with SHA-256 \(hash.prefix(12))… in \(folders.joined(separator: ", "));"
            + " say where with --where FOLDER, or give the players again")
      }
      found[number] = option + match
    }
    return words.isEmpty ? self : replacing(found)
  }

  /// `nil` if `PATH` does not have the program.
  private static func program(_ name: String) -> String? {
    if name.contains("/") { return name }
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    return path.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
  }

  /// The hash of a file; `nil` if the path is not a regular file of at most 1 GiB.
  private static func hash(of path: String) throws(ArenaError) -> String? {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= 1 << 30 else { return nil }
    guard let handle = FileHandle(forReadingAtPath: path) else {
      throw ArenaError("\(path): \(systemReason)")
    }
    defer { try? handle.close() }
    var hash = SHA256()
    while let data = try? handle.read(upToCount: 1 << 20), !data.isEmpty { hash.update(data) }
    return hash.digest.hex
  }
}

extension RunConfiguration.Entrant {
  func fileHashes() throws(ArenaError) -> [File] { try spec.fileHashes(in: engine.folder) }

  /// The player with its files and its working folder found in `folders`.
  func located(in folders: [String]) throws(ArenaError) -> RunConfiguration.Entrant {
    var copy = self
    copy.spec = try spec.located(files, in: folders)
    guard let folder = engine.folder, folder.hasPrefix(PlayerSpec.ellipsis) else { return copy }
    let name = folder.dropFirst(PlayerSpec.ellipsis.count)
    copy.engine.folder = (folders.map { "\($0)/\(name)" } + folders).first {
      URL(filePath: $0).standardizedFileURL.lastPathComponent == name && access($0, X_OK) == 0
    }
    guard copy.engine.folder != nil else {
      throw ArenaError("player '\(spec.text)': no folder '\(name)' in \(folders.joined(separator: ", ")); see --where")
    }
    return copy
  }

  /// The folders to name with `--where` when this run is resumed: those of the player's files and of the engine's working folder.
  package var searchFolders: [String] {
    let start = engine.folder.map { URL(filePath: $0, directoryHint: .isDirectory) }
    let folders = spec.words.filter { $0.contains("/") }.map {
      URL(filePath: $0, relativeTo: start).standardizedFileURL.deletingLastPathComponent().path
    }
    return folders + (engine.folder.map { [URL(filePath: $0).deletingLastPathComponent().path] } ?? [])
  }
}
