/// A rule file as a tree, the same for YAML and JSON: the input of the parser.
package indirect enum RuleTree: Sendable {
  /// A word or number as written, with its line number.
  case scalar(String, line: Int)
  case list([RuleTree], line: Int)
  /// A mapping; each key has its line number, too.
  case mapping([Entry], line: Int)

  /// A key with its line number and value.
  package typealias Entry = (key: String, line: Int, value: RuleTree)

  /// The line number, from 1.
  package var line: Int {
    switch self {
    case .scalar(_, let line), .list(_, let line), .mapping(_, let line): line
    }
  }

  /// The word or number; `nil` for lists and mappings.
  package var text: String? { if case .scalar(let text, _) = self { text } else { nil } }

  /// The value of a key in a mapping.
  package subscript(key: String) -> RuleTree? {
    if case .mapping(let entries, _) = self { entries.first { $0.key == key }?.value } else { nil }
  }

  /// The value for error messages: the first 40 characters of a word or number in quotes, or else only "a mapping" or "a list".
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
  /// The error and the permitted values.
  package let message: String

  package init(line: Int, key: String, message: String) { (self.line, self.key, self.message) = (line, key, message) }

  /// `line N: key: message`.
  package var description: String {
    (line > 0 ? "line \(line): " : "") + (key.isEmpty ? "" : "\(key): ") + message
  }
}

/// All errors in a rule file.
package struct RuleErrors: Error, Sendable, Hashable, CustomStringConvertible {
  /// The errors in line order.
  package let errors: [RuleError]

  package init(_ errors: [RuleError]) { self.errors = errors.sorted { ($0.line, $0.key) < ($1.line, $1.key) } }

  /// A single error, of the whole file or of a line.
  package init(_ message: String, line: Int = 0) { errors = [RuleError(line: line, key: "", message: message)] }

  /// One line for each error.
  package var description: String { errors.map { $0.description }.joined(separator: "\n") }
}
