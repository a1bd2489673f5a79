import Base
import Records
import Tintinnabuli

/// The shipped rule files as the page has them: one JSON object, which the build makes of the YAML files
/// (`{"score": {"hash": "…", "rules": {…}}}`, words and numbers as strings).
package struct RulePack: Sendable {
  /// A rule file: what records name it by, and what it says.
  package typealias Entry = (reference: Record.ScoreRules, rules: ScoreRules)

  /// The rule files, in their order.
  package let entries: [Entry]

  /// Reads a pack; throws what is wrong with the first file that is not good.
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
  /// A tree from JSON; it has no lines.
  package init(_ json: JSON) {
    switch json {
    case .object(let object):
      self = .mapping(object.fields.map { ($0.name, 0, RuleTree($0.value)) }, line: 0)
    case .array(let values): self = .list(values.map { RuleTree($0) }, line: 0)
    default: self = .scalar(json.string ?? json.text, line: 0)
    }
  }
}
