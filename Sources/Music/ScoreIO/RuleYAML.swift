import ScoreFormats
import Tintinnabuli
import Yams

/// Rule files as they are written: YAML becomes the reader's tree.
extension RuleReader {
  /// Bytes beyond which a rule file is refused.
  package static let limit = 1 << 18

  /// Reads the text of a rule file. Throws all its errors, in the order of their lines.
  package static func rules(_ text: String) throws(RuleErrors) -> ScoreRules { try rules(tree(text)) }

  /// The tree of a text.
  static func tree(_ text: String) throws(RuleErrors) -> RuleTree {
    guard text.utf8.count <= limit else { throw RuleErrors("larger than \(limit >> 10) KiB") }
    do {
      // Words are read by us: Yams would match each key and value against the patterns of YAML's own types.
      guard let root = try Yams.compose(yaml: text, .basic) else { throw RuleErrors("is empty") }
      return tree(root)
    } catch let error as RuleErrors {
      throw error
    } catch YamlError.scanner(_, let problem, let mark, _), YamlError.parser(_, let problem, let mark, _),
      YamlError.composer(_, let problem, let mark, _)
    {
      throw RuleErrors("is no YAML here: \(problem)", line: mark.line)
    } catch YamlError.duplicatedKeysInMapping(let keys, let context) {
      let names = keys.map(\.description).sorted().joined(separator: ", ")
      throw RuleErrors("key \(names) is there twice", line: context.mark.line)
    } catch {
      throw RuleErrors("is no YAML")
    }
  }

  private static func tree(_ node: Node) -> RuleTree {
    let line = node.mark?.line ?? 0
    switch node {
    case .scalar(let scalar): return .scalar(scalar.string, line: line)
    case .sequence(let sequence): return .list(sequence.map(tree), line: line)
    case .mapping(let mapping):
      return .mapping(
        mapping.map { ($0.string ?? "?", $0.mark?.line ?? line, tree($1)) }, line: line)
    case .alias: return .scalar("", line: line)
    }
  }
}
