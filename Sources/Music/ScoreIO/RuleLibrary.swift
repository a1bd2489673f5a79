import Base
import Foundation
import Processes
import Records
import ScoreFormats
import TicTacToe
import Tintinnabuli

package enum RuleLibrary {
  package struct Loaded: Sendable, Hashable {
    package let rules: ScoreRules
    package let path: String
    /// FNV-1a (64 bits) of the file's bytes in hexadecimal, stored in records beside the name.
    package let hash: String

    /// The reference for records: the name of a shipped rule file, or the file name of any other rule file, with the hash.
    package var reference: Record.ScoreRules {
      let file = URL(fileURLWithPath: path).lastPathComponent
      let name = file.hasSuffix(".yaml") ? String(file.dropLast(5)) : file
      return Record.ScoreRules(name: RuleLibrary.path(of: name) == path ? name : file, hash: hash)
    }
  }

  package static let standard = "score"

  /// The names of the shipped rule files, the default rules first.
  package static var names: [String] {
    guard let folder = path(of: standard).map({ URL(fileURLWithPath: $0).deletingLastPathComponent().path }) else {
      return []
    }
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let names = files.filter { $0.hasSuffix(".yaml") }.map { String($0.dropLast(5)) }.sorted()
    return [standard] + names.filter { $0 != standard && isRules("\(folder)/\($0).yaml") }
  }

  /// Whether a YAML file is a rule file: only a rule file has the key `scale` at the start of a line.
  private static func isRules(_ path: String) -> Bool {
    FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self).contains("\nscale:") } ?? false
  }

  /// The path of the rule file that has the given name or path; `nil` if there is no such file.
  package static func path(of name: String) -> String? {
    if name.contains("/") || name.hasSuffix(".yaml") || name.hasSuffix(".yml") {
      return FileManager.default.fileExists(atPath: name) ? name : nil
    }
    return Installation.asset("\(name).yaml")
  }

  /// Loads a rule file by name or path (default: `standard`). Throws one line for each error.
  package static func load(_ name: String? = nil) throws(ScoreFileError) -> Loaded {
    let name = name ?? standard
    guard let path = path(of: name) else {
      let known =
        names.isEmpty
        ? "looked in \(Installation.assetFolders.joined(separator: " "))" : "shipped: \(names.joined(separator: " "))"
      throw ScoreFileError("\(name): no such rule file; \(known)")
    }
    guard let data = FileManager.default.contents(atPath: path) else {
      throw ScoreFileError("\(path): cannot be read")
    }
    guard let text = String(data: data, encoding: .utf8) else { throw ScoreFileError("\(path): is not UTF-8 text") }
    let rules: ScoreRules
    do throws(RuleErrors) { rules = try RuleReader.rules(text) } catch {
      throw ScoreFileError(error.errors.map { "\(path): \($0)" }.joined(separator: "\n"))
    }
    do throws(ScoreFileError) { _ = try EventLine.lines(rules.example, rules: rules) } catch {
      throw ScoreFileError("\(path): example: \(error)")
    }
    return Loaded(rules: rules, path: path, hash: fnv1aText(data))
  }

  /// The tree of the rule file that has the given name or path; `nil` if the file cannot be read or is not YAML.
  package static func tree(_ name: String) -> RuleTree? {
    guard let data = path(of: name).flatMap({ FileManager.default.contents(atPath: $0) }) else { return nil }
    return try? RuleReader.tree(String(decoding: data, as: UTF8.self))
  }

  /// The rules that have both the name and the hash in a record: a shipped file, or a file in the working directory or in `folder`.
  package static func load(recorded reference: Record.ScoreRules, beside folder: String) -> Loaded? {
    let places = [path(of: reference.name), reference.name, "\(folder)/\(reference.name)"].compactMap { $0 }
    return places.lazy.compactMap { try? load($0.contains("/") ? $0 : "./\($0)") }.first { $0.hash == reference.hash }
  }
}
