/// A rule file as a tree, whatever it was written in: what the reader reads.
package indirect enum RuleTree: Sendable {
  /// A word or a number as the file has it, and its line.
  case scalar(String, line: Int)
  case list([RuleTree], line: Int)
  /// A mapping; keys keep their own lines.
  case mapping([Entry], line: Int)

  /// A key, its line and what it holds.
  package typealias Entry = (key: String, line: Int, value: RuleTree)

  /// Its line, from 1.
  package var line: Int {
    switch self {
    case .scalar(_, let line), .list(_, let line), .mapping(_, let line): line
    }
  }

  /// The word or number, if it is one.
  package var text: String? { if case .scalar(let text, _) = self { text } else { nil } }

  /// What a key of a mapping holds.
  package subscript(key: String) -> RuleTree? {
    if case .mapping(let entries, _) = self { entries.first { $0.key == key }?.value } else { nil }
  }

  /// The value as the file has it, for messages.
  var shown: String {
    switch self {
    case .scalar(let text, _): "\"\(text.prefix(40))\""
    case .mapping: "a mapping"
    case .list: "a list"
    }
  }
}

/// What is wrong in a rule file: where, and what is allowed.
package struct RuleError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The line, from 1; 0 if it is the whole file.
  package let line: Int
  /// The key from the top, such as `melody.weights.leap`; empty for the whole file.
  package let key: String
  /// What is wrong and what is allowed.
  package let message: String

  package init(line: Int, key: String, message: String) { (self.line, self.key, self.message) = (line, key, message) }

  /// `line N: key: message`.
  package var description: String {
    (line > 0 ? "line \(line): " : "") + (key.isEmpty ? "" : "\(key): ") + message
  }
}

/// Everything wrong with a rule file.
package struct RuleErrors: Error, Sendable, Hashable, CustomStringConvertible {
  /// The errors, in the order of their lines.
  package let errors: [RuleError]

  package init(_ errors: [RuleError]) { self.errors = errors.sorted { ($0.line, $0.key) < ($1.line, $1.key) } }

  /// One error, of the whole file or of a line of it.
  package init(_ message: String, line: Int = 0) { errors = [RuleError(line: line, key: "", message: message)] }

  /// One line an error.
  package var description: String { errors.map { $0.description }.joined(separator: "\n") }
}
