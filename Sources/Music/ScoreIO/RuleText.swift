import ScoreModel
import Tintinnabuli

/// Writes rules as a rule file.
package struct RuleText: RuleVisitor {
  private var lines: [String] = []
  private var indent = ""
  private var isOptional = false
  /// Whether a required value is missing, so that the enclosing group cannot be written.
  private var isMissing = false

  /// The text of a rule file with these rules; pitches are spelled with sharps.
  package static func yaml(_ rules: ScoreRules) -> String {
    var text = RuleText()
    var rules = rules
    rules.visit(&text)
    return text.lines.joined(separator: "\n") + "\n"
  }

  package mutating func leaf(_ name: String, _ kind: RuleKind, _ value: inout RuleValue) {
    if let text = Self.text(value, kind) { return lines.append("\(indent)\(name): \(text)") }
    isMissing = isMissing || !isOptional
  }

  /// Writes a mapping; omits an optional mapping if a required value is missing.
  package mutating func group(_ name: String, _ body: (inout Self) -> Void) {
    let outer = (indent, isOptional, isMissing, lines)
    (indent, isOptional, isMissing) = (indent + "  ", false, false)
    lines.append("\(outer.0)\(name):")
    body(&self)
    if isMissing && outer.1 { lines = outer.3 }
    if lines.last == "\(outer.0)\(name):" { lines[lines.count - 1] += " {}" }
    (indent, isOptional, isMissing) = (outer.0, outer.1, outer.2)
  }

  package mutating func each(
    _ name: String, _ counts: ClosedRange<Int>, of what: String, count: Int, _ body: (inout Self, Int) -> Void
  ) {
    lines.append("\(indent)\(name):\(count == 0 ? " []" : "")")
    let outer = indent
    indent += "    "
    for index in 0..<count {
      let first = lines.count
      body(&self, index)
      lines[first] = outer + "  - " + lines[first].dropFirst(indent.count)
    }
    indent = outer
  }

  package mutating func optional(_ body: (inout Self) -> Void) {
    let outer = isOptional
    isOptional = true
    body(&self)
    isOptional = outer
  }

  /// A value in the syntax of rule files; `nil` for a missing value.
  static func text(_ value: RuleValue, _ kind: RuleKind) -> String? {
    switch value {
    case .int(let n): "\(n)"
    case .double(let x): number(x)
    case .text(let text):
      if case .line = kind {
        "'" + text.replacing("'", with: "''") + "'"
      } else {
        text.replacing("♯", with: "#").replacing("♭", with: "b")
      }
    case .none: if case .chain = kind { "none" } else { nil }
    case .unit(let unit):
      "{\(unit.kind): \(unit.preset ?? "custom")"
        + unit.values.sorted { $0.key < $1.key }.map { ", \($0.key): \(number($0.value))" }.joined() + "}"
    case .list(let values):
      "[" + values.compactMap { text($0, kind.element) }.joined(separator: ", ") + "]"
    }
  }

  static func number(_ x: Double) -> String { x == x.rounded() && abs(x) < 1e9 ? "\(Int(x))" : "\(x)" }
}

extension RuleKind {
  fileprivate var element: RuleKind { if case .list(let kind, _, _) = self { kind } else { self } }
}
