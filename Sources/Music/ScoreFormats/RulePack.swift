import Base
import Records
import Tintinnabuli

/// The shipped rule files for the browser: one JSON object, which the build makes from the YAML files, with `hash` and `rules` for each.
package struct RulePack: Sendable {
  /// A rule file: the name and hash by which records refer to it, its rules, and the tree from which they were read.
  package typealias Entry = (reference: Record.ScoreRules, rules: ScoreRules, tree: RuleTree)

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
      let tree = RuleTree(rules)
      entries.append((Record.ScoreRules(name: member.name, hash: hash), try RuleReader.rules(tree), tree))
    }
    self.entries = entries
  }

  package func tree(_ name: String) -> RuleTree? { entries.first { $0.reference.name == name }?.tree }

  /// The rules with the given name: shipped rules, or shipped rules with a player's dials (`OwnMusic`).
  package func rules(_ name: String) -> ScoreRules? {
    if let entry = entries.first(where: { $0.rules.name == name }) { return entry.rules }
    guard let own = try? OwnMusic(name, bases: entries.map { $0.reference.name }), let base = tree(own.base) else {
      return nil
    }
    return try? RuleReader.rules(own.changing(base))
  }
}

extension RuleTree {
  package init(_ json: JSON) {
    switch json {
    case .object(let object):
      self = .mapping(object.fields.map { ($0.name, 0, RuleTree($0.value)) }, line: 0)
    case .array(let values): self = .list(values.map { RuleTree($0) }, line: 0)
    default: self = .scalar(json.string ?? json.text, line: 0)
    }
  }
}
