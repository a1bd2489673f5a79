import Base
import Records
import Tintinnabuli

/// The shipped rule files for the browser: one JSON object, which the build makes from the YAML files (`{"score":
/// {"hash": "…", "rules": {…}}}`, words and numbers as strings).
package struct RulePack: Sendable {
  /// A rule file: its reference for records, and its rules.
  package typealias Entry = (reference: Record.ScoreRules, rules: ScoreRules)

  /// The rule files in order.
  package let entries: [Entry]

  /// Parses a pack; throws the errors of the first invalid file.
  package init(_ bytes: [UInt8]) throws(RuleErrors) {
    let json: JSON
    do { json = try JSON(bytes: bytes) } catch { throw RuleErrors("\(error)") }
    var entries: [Entry] = []
    for member in json.object?.fields ?? [] {
      guard let hash = member.value["hash"]?.string, let rules = member.value["rules"] else {
        throw RuleErrors("\(member.name) lacks its hash or its rules")
      }
      entries.append((Record.ScoreRules(name: member.name, hash: hash), try RuleReader.rules(RuleTree(rules))))
    }
    self.entries = entries
  }
}

extension RuleTree {
  /// A tree from JSON, without line numbers.
  package init(_ json: JSON) {
    switch json {
    case .object(let object):
      self = .mapping(object.fields.map { ($0.name, 0, RuleTree($0.value)) }, line: 0)
    case .array(let values): self = .list(values.map { RuleTree($0) }, line: 0)
    default: self = .scalar(json.string ?? json.text, line: 0)
    }
  }
}
