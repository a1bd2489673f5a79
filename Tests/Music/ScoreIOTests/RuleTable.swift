import Tintinnabuli

@testable import ScoreIO

struct RuleTable: RuleVisitor {
  private var rows: [String] = []
  private var path = ""
  private var isOptional = false

  /// The column "here" has the values of `rules`.
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
    case .line: "a text of one line"
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
