import ScoreFormats
import Tintinnabuli
import Yams

extension RuleReader {
  /// The largest rule file in bytes (256 KiB).
  package static let limit = 1 << 18

  /// Parses the text of a rule file. Throws all errors in line order.
  package static func rules(_ text: String) throws(RuleErrors) -> ScoreRules { try rules(tree(text)) }

  static func tree(_ text: String) throws(RuleErrors) -> RuleTree {
    guard text.utf8.count <= limit else { throw RuleErrors("larger than \(limit >> 10) KiB") }
    do {
      // `.basic` leaves scalars as text. Otherwise Yams would match each scalar against the patterns of YAML's types.
      guard let root = try Yams.compose(yaml: text, .basic) else { throw RuleErrors("is empty") }
      return tree(root)
    } catch let error as RuleErrors {
      throw error
    } catch YamlError.scanner(_, let problem, let mark, _), YamlError.parser(_, let problem, let mark, _),
      YamlError.composer(_, let problem, let mark, _)
    {
      throw RuleErrors("is not valid YAML here: \(problem)", line: mark.line)
    } catch YamlError.duplicatedKeysInMapping(let keys, let context) {
      let names = keys.map(\.description).sorted().joined(separator: ", ")
      throw RuleErrors("key \(names) occurs twice", line: context.mark.line)
    } catch {
      throw RuleErrors("is not valid YAML")
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
