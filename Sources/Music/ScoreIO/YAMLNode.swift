import CYAML
import ScoreFormats

/// A node of a YAML document as libyaml reads it. All scalars stay text: YAML's types are not applied.
struct YAMLNode {
  indirect enum Content {
    case scalar(String)
    case list([YAMLNode])
    case mapping([(key: YAMLNode, value: YAMLNode)])
  }

  /// The place of the node's first character, both counted from 1, columns in Unicode scalars.
  let line, column: Int
  let content: Content

  /// Limits for a document: aliases can repeat a node so often, or contain themselves, that a small text has endless nodes.
  private static let (mostNodes, deepest) = (20_000, 32)

  /// Reads the only document of a text. Throws one error, with its line unless the text is empty or not Unicode.
  static func document(_ text: String) throws(RuleErrors) -> YAMLNode {
    var parser = yaml_parser_t()
    guard yaml_parser_initialize(&parser) == 1 else { throw RuleErrors("is not valid YAML") }
    defer { yaml_parser_delete(&parser) }
    let bytes = Array(text.utf8)
    // The parser keeps the address of the bytes while documents are loaded.
    return try bytes.withUnsafeBufferPointer { bytes throws(RuleErrors) -> YAMLNode in
      yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING)
      yaml_parser_set_input_string(&parser, bytes.baseAddress, bytes.count)
      guard let node = try load(&parser, root) else { throw RuleErrors("is empty") }
      if let line = try load(&parser, { document in yaml_document_get_root_node(&document)?.pointee.line }) {
        throw RuleErrors("is not valid YAML here: it is a second document", line: line)
      }
      return node
    }
  }

  /// Loads the next document, and returns what `use` makes of it.
  private static func load<Value>(
    _ parser: inout yaml_parser_t, _ use: (inout yaml_document_t) throws(RuleErrors) -> Value?
  ) throws(RuleErrors) -> Value? {
    var document = yaml_document_t()
    guard yaml_parser_load(&parser, &document) == 1 else {
      guard let problem = parser.problem, parser.error != YAML_READER_ERROR else {
        throw RuleErrors("is not valid YAML")
      }
      throw RuleErrors(
        "is not valid YAML here: \(String(cString: problem))", line: Int(parser.problem_mark.line) + 1)
    }
    defer { yaml_document_delete(&document) }
    return try use(&document)
  }

  private static func root(_ document: inout yaml_document_t) throws(RuleErrors) -> YAMLNode? {
    var count = 0
    return yaml_document_get_root_node(&document) == nil ? nil : try node(1, of: &document, depth: 0, &count)
  }

  /// Converts the node with the number `index`, counted from 1, and those in it.
  private static func node(
    _ index: Int32, of document: inout yaml_document_t, depth: Int, _ count: inout Int
  ) throws(RuleErrors) -> YAMLNode {
    guard let found = yaml_document_get_node(&document, index)?.pointee else { throw RuleErrors("is not valid YAML") }
    count += 1
    guard depth <= deepest, count <= mostNodes else {
      throw RuleErrors("has more than \(mostNodes) nodes, or more than \(deepest) in each other", line: found.line)
    }
    let content: Content
    switch found.type {
    case YAML_SEQUENCE_NODE:
      let items = found.data.sequence.items
      var list: [YAMLNode] = []
      for item in UnsafeBufferPointer(start: items.start, count: items.top - items.start) {
        list.append(try node(item, of: &document, depth: depth + 1, &count))
      }
      content = .list(list)
    case YAML_MAPPING_NODE:
      let pairs = found.data.mapping.pairs
      var (mapping, keys): ([(key: YAMLNode, value: YAMLNode)], Set<String>) = ([], [])
      for pair in UnsafeBufferPointer(start: pairs.start, count: pairs.top - pairs.start) {
        let key = try node(pair.key, of: &document, depth: depth + 1, &count)
        if let name = key.text, !keys.insert(name).inserted {
          throw RuleErrors("key \(name) occurs twice", line: key.line)
        }
        mapping.append((key, try node(pair.value, of: &document, depth: depth + 1, &count)))
      }
      content = .mapping(mapping)
    default:
      let scalar = found.data.scalar
      content = .scalar(String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self))
    }
    return YAMLNode(line: found.line, column: Int(found.start_mark.column) + 1, content: content)
  }

  var text: String? { if case .scalar(let text) = content { text } else { nil } }

  subscript(key: String) -> YAMLNode? {
    if case .mapping(let entries) = content { entries.first { $0.key.text == key }?.value } else { nil }
  }

  var tree: RuleTree {
    switch content {
    case .scalar(let text): .scalar(text, line: line)
    case .list(let nodes): .list(nodes.map(\.tree), line: line)
    case .mapping(let entries): .mapping(entries.map { ($0.key.text ?? "?", $0.key.line, $0.value.tree) }, line: line)
    }
  }
}

extension yaml_node_t {
  fileprivate var line: Int { Int(start_mark.line) + 1 }
}
