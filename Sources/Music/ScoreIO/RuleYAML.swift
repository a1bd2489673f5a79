import ScoreFormats
import Tintinnabuli

extension RuleReader {
  /// The largest rule file in bytes (256 KiB).
  package static let limit = 1 << 18

  /// Parses the text of a rule file. Throws all errors in line order.
  package static func rules(_ text: String) throws(RuleErrors) -> ScoreRules { try rules(tree(text)) }

  static func tree(_ text: String) throws(RuleErrors) -> RuleTree {
    guard text.utf8.count <= limit else { throw RuleErrors("larger than \(limit >> 10) KiB") }
    return try YAMLNode.document(text).tree
  }
}
