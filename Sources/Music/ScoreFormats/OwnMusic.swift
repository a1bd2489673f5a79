import Tintinnabuli

/// Shipped rules in which a player has turned some of the ten dials, written as a word such as `score-8--3-20------`. The word has the name
/// of the shipped rules and then, for each dial, its steps from the lower end, or nothing if the dial was not turned.
package struct OwnMusic: Sendable, Hashable {
  package let base: String
  /// For each dial the number of its steps from the lower end; `nil` if the dial was not turned.
  package var steps: [Int?]

  package enum Fault: Error, Sendable, Hashable {
    /// The word has this number of places for dials instead of ten.
    case count(Int)
    /// The word's steps for a dial (counted from 1) are not a whole number from 0 to `most`.
    case number(Int, most: Int)
    case base(String)
  }

  package init(base: String) { (self.base, steps) = (base, [Int?](repeating: nil, count: RuleDial.all.count)) }

  /// Parses a word such as `score-8--3-20------`; `bases` are the names of the shipped rules.
  package init(_ word: String, bases: [String]) throws(Fault) {
    let parts = word.split(separator: "-", omittingEmptySubsequences: false)
    let base = String(parts.first ?? "")
    guard bases.contains(base) else { throw .base(base) }
    guard parts.count == RuleDial.all.count + 1 else { throw .count(parts.count - 1) }
    self.init(base: base)
    for (index, part) in parts.dropFirst().enumerated() where !part.isEmpty {
      let most = RuleDial.all[index].steps
      guard let number = Int(part), "\(number)" == part, (0...most).contains(number) else {
        throw .number(index + 1, most: most)
      }
      steps[index] = number
    }
  }

  package var word: String { ([base] + steps.map { $0.map { "\($0)" } ?? "" }).joined(separator: "-") }

  /// The word of a player's rules, which follows `#/m/` in a link; `nil` if the text has no such word.
  package static func word(in text: String) -> String? {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard let mark = parts.lastIndex(of: "m"), mark > 0, parts[mark - 1].hasSuffix("#"), mark + 1 < parts.count else {
      return nil
    }
    return String(parts[mark + 1].prefix { !$0.isWhitespace })
  }

  /// The shipped rules `tree`, changed by the dials that were turned, with `word` as their name.
  package func changing(_ tree: RuleTree) -> RuleTree {
    var tree = tree.setting("name", to: word)
    for (dial, steps) in zip(RuleDial.all, steps) {
      if let steps { tree = tree.setting(dial.key, to: dial.text(at: steps)) }
    }
    return tree
  }
}

extension RuleTree {
  /// The value, as written in the file, at a path of keys such as `melody.widest`; `nil` if the tree has no such value.
  package func text(of key: String) -> String? {
    key.split(separator: ".").reduce(self as RuleTree?) { $0?[String($1)] }?.text
  }

  /// The tree with `text` as the value at a path of keys such as `melody.widest`; unchanged if the tree lacks one of the keys.
  fileprivate func setting(_ key: String, to text: String) -> RuleTree {
    guard case .mapping(let entries, let line) = self else { return .scalar(text, line: self.line) }
    let parts = key.split(separator: ".", maxSplits: 1)
    return .mapping(
      entries.map { entry in
        guard let first = parts.first, entry.key == first else { return entry }
        return (entry.key, entry.line, entry.value.setting(parts.count > 1 ? String(parts[1]) : "", to: text))
      }, line: line)
  }

  /// The tree as the text of a rule file, in which `RuleReader` finds the same values.
  package var yaml: String { block("").joined(separator: "\n") + "\n" }

  private func block(_ indent: String) -> [String] {
    guard case .mapping(let entries, _) = self else { return ["\(indent)\(flow)"] }
    return entries.flatMap { entry -> [String] in
      switch entry.value {
      case .mapping(let inner, _) where !inner.isEmpty: ["\(indent)\(entry.key):"] + entry.value.block(indent + "  ")
      case .list(let items, _) where items.contains(where: { $0.isMapping }):
        ["\(indent)\(entry.key):"]
          + items.flatMap { item in
            let lines = item.block(indent + "    ")
            return ["\(indent)  - " + lines[0].dropFirst(indent.utf8.count + 4)] + lines.dropFirst()
          }
      default: ["\(indent)\(entry.key): \(entry.value.flow)"]
      }
    }
  }

  private var isMapping: Bool { if case .mapping(let entries, _) = self { !entries.isEmpty } else { false } }

  private var flow: String {
    switch self {
    case .scalar(let text, _):
      let isPlain = text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2E }
      return isPlain && !text.isEmpty
        ? text : "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
    case .list(let items, _): return "[" + items.map { $0.flow }.joined(separator: ", ") + "]"
    case .mapping(let entries, _):
      return "{" + entries.map { "\($0.key): \($0.value.flow)" }.joined(separator: ", ") + "}"
    }
  }
}
