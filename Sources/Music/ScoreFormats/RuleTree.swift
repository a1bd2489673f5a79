/// A rule file as a tree, the same for YAML and JSON: the input of the parser.
package indirect enum RuleTree: Sendable {
  /// A word or number as written, with its line number.
  case scalar(String, line: Int)
  case list([RuleTree], line: Int)
  case mapping([Entry], line: Int)

  package typealias Entry = (key: String, line: Int, value: RuleTree)

  package var line: Int {
    switch self {
    case .scalar(_, let line), .list(_, let line), .mapping(_, let line): line
    }
  }

  package var text: String? { if case .scalar(let text, _) = self { text } else { nil } }

  package subscript(key: String) -> RuleTree? {
    if case .mapping(let entries, _) = self { entries.first { $0.key == key }?.value } else { nil }
  }

  var shown: String {
    switch self {
    case .scalar(let text, _): "\"\(text.prefix(40))\""
    case .mapping: "a mapping"
    case .list: "a list"
    }
  }
}

/// An error in a rule file, with its location and the permitted values.
package struct RuleError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The line number of the error, from 1; 0 for the whole file.
  package let line: Int
  /// The path of the key, such as `melody.weights.leap`; empty for the whole file.
  package let key: String
  package let message: String

  package init(line: Int, key: String, message: String) { (self.line, self.key, self.message) = (line, key, message) }

  package var description: String {
    (line > 0 ? "line \(line): " : "") + (key.isEmpty ? "" : "\(key): ") + message
  }
}

package struct RuleErrors: Error, Sendable, Hashable, CustomStringConvertible {
  package let errors: [RuleError]

  package init(_ errors: [RuleError]) { self.errors = errors.sorted { ($0.line, $0.key) < ($1.line, $1.key) } }

  package init(_ message: String, line: Int = 0) { errors = [RuleError(line: line, key: "", message: message)] }

  package var description: String { errors.map { $0.description }.joined(separator: "\n") }
}
