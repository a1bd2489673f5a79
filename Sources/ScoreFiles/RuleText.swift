import Composer
import ScoreModel

/// Rules written out: as a rule file, and as the table of all that may be in one.
public struct RuleText: RuleVisitor {
  private var lines: [String] = []
  private var indent = ""
  private var isOptional = false
  /// Whether something that must be there is not, so that what holds it cannot be written.
  private var isMissing = false

  /// The text of a rule file that reads as these rules; pitches are spelled with sharps.
  public static func yaml(_ rules: ScoreRules) -> String {
    var text = RuleText()
    var rules = rules
    rules.visit(&text)
    return text.lines.joined(separator: "\n") + "\n"
  }

  /// Writes one value.
  public mutating func leaf(_ name: String, _ kind: RuleKind, _ value: inout RuleValue) {
    if let text = Self.text(value, kind) { return lines.append("\(indent)\(name): \(text)") }
    isMissing = isMissing || !isOptional
  }

  /// Writes a mapping, whole or not at all.
  public mutating func group(_ name: String, _ body: (inout Self) -> Void) {
    let outer = (indent, isOptional, isMissing, lines)
    (indent, isOptional, isMissing) = (indent + "  ", false, false)
    lines.append("\(outer.0)\(name):")
    body(&self)
    if isMissing && outer.1 { lines = outer.3 }
    if lines.last == "\(outer.0)\(name):" { lines[lines.count - 1] += " {}" }
    (indent, isOptional, isMissing) = (outer.0, outer.1, outer.2)
  }

  /// Writes a list of mappings.
  public mutating func each(
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

  /// Writes what is there of what may be left out.
  public mutating func optional(_ body: (inout Self) -> Void) {
    let outer = isOptional
    isOptional = true
    body(&self)
    isOptional = outer
  }

  /// A value as a rule file has it; `nil` for none.
  static func text(_ value: RuleValue, _ kind: RuleKind) -> String? {
    switch value {
    case .int(let n): "\(n)"
    case .double(let x): number(x)
    case .text(let text): text.replacing("♯", with: "#").replacing("♭", with: "b")
    case .none: if case .chain = kind { "none" } else { nil }
    case .unit(let unit):
      "{\(unit.kind): \(unit.preset ?? "custom")"
        + unit.values.sorted { $0.key < $1.key }.map { ", \($0.key): \(number($0.value))" }.joined() + "}"
    case .list(let values): "[" + values.compactMap { text($0, kind) }.joined(separator: ", ") + "]"
    }
  }

  static func number(_ x: Double) -> String { x == x.rounded() && abs(x) < 1e9 ? "\(Int(x))" : "\(x)" }
}

/// The table of all that may be in a rule file, in its order.
struct RuleTable: RuleVisitor {
  private var rows: [String] = []
  private var path = ""
  private var isOptional = false

  /// The table as Markdown, with the values of some rules beside it.
  static func markdown(_ rules: ScoreRules) -> String {
    var table = RuleTable()
    var rules = rules
    rules.visit(&table)
    return "| key | what it may be | here |\n|---|---|---|\n" + table.rows.joined(separator: "\n") + "\n"
  }

  mutating func leaf(_ name: String, _ kind: RuleKind, _ value: inout RuleValue) {
    let here = path.contains("[]") ? "" : RuleText.text(value, kind) ?? ""
    rows.append("| `\(path)\(name)`\(isOptional ? " ?" : "") | \(Self.words(kind)) | \(here) |")
  }

  mutating func group(_ name: String, _ body: (inout Self) -> Void) {
    let outer = (path, isOptional)
    path += name + "."
    body(&self)
    (path, isOptional) = outer
  }

  mutating func each(
    _ name: String, _ counts: ClosedRange<Int>, of what: String, count: Int, _ body: (inout Self, Int) -> Void
  ) {
    guard count > 0 else { return }
    group(name + "[]") { body(&$0, 0) }
  }

  mutating func optional(_ body: (inout Self) -> Void) {
    let outer = isOptional
    isOptional = true
    body(&self)
    isOptional = outer
  }

  private static func words(_ kind: RuleKind) -> String {
    switch kind {
    case .int(let range): "a whole number \(range.lowerBound)–\(range.upperBound)"
    case .double(let range): "a number \(RuleText.number(range.lowerBound))–\(RuleText.number(range.upperBound))"
    case .bool: "`true` `false`"
    case .word(let words): words.map { "`\($0)`" }.joined(separator: " ")
    case .name: "a name of a–z, 0–9 and -"
    case .chain: "`none` or the name of a chain"
    case .pitch: "a pitch"
    case .letter: "a note"
    case .unit(let kinds): "a unit: " + kinds.map { "`\($0)`" }.joined(separator: " ")
    case .list(let kind, let counts, let what):
      "\(counts.count == 1 ? "\(counts.lowerBound)" : "\(counts.lowerBound)–\(counts.upperBound)") \(what), each \(words(kind))"
    case .rising(let kind, let what): "two rising \(what), each \(words(kind))"
    case .either(let a, let b): "\(words(a)); or \(words(b))"
    }
  }
}
