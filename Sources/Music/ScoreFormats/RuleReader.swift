import GameScore
import ScoreModel
import Tintinnabuli

/// Parses a rule file's tree into `ScoreRules` and collects all errors. `ScoreRules.visit` lists the keys and the kinds of their values.
package struct RuleReader: RuleVisitor {
  /// The mapping that is being visited; `nil` if the file has something else there, and the visit only collects keys for the error.
  private var node: RuleTree?
  private var path = ""
  /// The keys of the current mapping that were visited so far.
  private var asked: [String] = []
  private var isOptional = false
  private let chains: [String]
  package private(set) var errors: [RuleError] = []

  /// Parses a tree. Throws all errors in line order.
  package static func rules(_ tree: RuleTree) throws(RuleErrors) -> ScoreRules {
    var chains: [String] = []
    if case .list(let list, _)? = tree["chains"] { chains = list.compactMap { $0["name"]?.text } }
    var reader = RuleReader(chains: chains)
    var rules = ScoreRules()
    rules.facts = Fact.ofGames
    reader.enter(tree, "") { rules.visit(&$0) }
    if tree["cells"] == nil { rules.cells = rules.risingCells }
    if reader.errors.isEmpty { reader.check(rules, tree) }
    guard reader.errors.isEmpty else { throw RuleErrors(reader.errors) }
    return rules
  }

  /// Parses a list of effect units from outside a rule file, such as the command line, as a chain. Throws all errors.
  package static func chain(units: RuleTree) throws(RuleErrors) -> ScoreRules.Chain {
    var reader = RuleReader(chains: [])
    var chain = ScoreRules.Chain()
    let fields = [("name", RuleTree.scalar("fx", line: 0)), ("level", .scalar("0", line: 0)), ("units", units)]
    reader.enter(.mapping(fields.map { ($0, 0, $1) }, line: 0), "") { chain.visit(&$0) }
    guard reader.errors.isEmpty else { throw RuleErrors(reader.errors) }
    return chain
  }

  private init(chains: [String]) { self.chains = chains }

  // MARK: - Visiting

  package mutating func leaf(_ name: String, _ kind: RuleKind, _ value: inout RuleValue) {
    guard let child = child(name), let read = read(child, kind, key(name)) else { return }
    value = read
  }

  package mutating func group(_ name: String, _ body: (inout Self) -> Void) {
    guard let child = child(name) else { return }
    enter(child, key(name), body)
  }

  package mutating func each(
    _ name: String, _ counts: ClosedRange<Int>, of what: String, count: Int, _ body: (inout Self, Int) -> Void
  ) {
    guard let child = child(name), let list = elements(child, counts, what, key(name)) else { return }
    for (index, element) in list.enumerated() {
      // Errors refer to an item of a list by its name or, if it has no name, by its number from 1.
      let path = element["name"]?.text.map { "\(key(name)).\($0)" } ?? "\(key(name))[\(index + 1)]"
      enter(element, path) { body(&$0, index) }
    }
  }

  package mutating func optional(_ body: (inout Self) -> Void) {
    isOptional = true
    body(&self)
    isOptional = false
  }

  private func key(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

  private mutating func child(_ name: String) -> RuleTree? {
    asked.append(name)
    let child = node?[name]
    if let node, child == nil, !isOptional { complain(node, path, "\"\(name)\" is missing") }
    return child
  }

  private mutating func enter(_ tree: RuleTree, _ path: String, _ body: (inout Self) -> Void) {
    let outer = (node, self.path, asked, isOptional)
    defer { (node, self.path, asked, isOptional) = outer }
    (self.path, asked, isOptional) = (path, [], false)
    guard case .mapping(let entries, _) = tree else {
      node = nil
      body(&self)
      return complain(tree, path, "must be a mapping with \(asked.joined(separator: " "))")
    }
    node = tree
    body(&self)
    for entry in entries where !asked.contains(entry.key) {
      errors.append(
        RuleError(
          line: entry.line, key: path,
          message: "unknown key \"\(entry.key)\"; allowed: \(asked.joined(separator: " "))"))
    }
  }

  // MARK: - Values

  private mutating func complain(_ tree: RuleTree, _ key: String, _ message: String) {
    errors.append(RuleError(line: tree.line, key: key, message: message))
  }

  private mutating func elements(_ tree: RuleTree, _ counts: ClosedRange<Int>, _ what: String, _ key: String)
    -> [RuleTree]?
  {
    guard case .list(let list, _) = tree else {
      complain(tree, key, "must be a list of \(what)")
      return nil
    }
    guard counts.contains(list.count) else {
      let wanted = counts.count == 1 ? "\(counts.lowerBound)" : "\(counts.lowerBound)–\(counts.upperBound)"
      complain(tree, key, "must be a list of \(wanted) \(what), has \(list.count)")
      return nil
    }
    return list
  }

  /// Parses a value of a kind; `nil` after reporting an error.
  private mutating func read(_ tree: RuleTree, _ kind: RuleKind, _ key: String) -> RuleValue? {
    func number(_ x: Double) -> String { x == x.rounded() ? "\(Int(x))" : "\(x)" }
    let text = tree.text ?? ""
    func found(_ value: RuleValue?, _ wanted: String) -> RuleValue? {
      if value == nil { complain(tree, key, "must be \(wanted), is \(tree.shown)") }
      return value
    }
    func word(_ isGood: Bool, _ wanted: String) -> RuleValue? { found(isGood ? .text(text) : nil, wanted) }
    switch kind {
    case .int(let range):
      let value = Int(text).flatMap { range.contains($0) ? RuleValue.int($0) : nil }
      return found(value, "a whole number \(range.lowerBound)–\(range.upperBound)")
    case .double(let range):
      let value = Double(text).flatMap { range.contains($0) ? RuleValue.double($0) : nil }
      return found(value, "a number \(number(range.lowerBound))–\(number(range.upperBound))")
    case .bool: return word(text == "true" || text == "false", "true or false")
    case .word(let words): return word(words.contains(text), "one of \(words.joined(separator: " "))")
    case .chain:
      if text == "none" { return RuleValue.none }
      return word(chains.contains(text), "one of \((["none"] + chains).joined(separator: " "))")
    case .name:
      let isName = text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
      return word(isName && (1...40).contains(text.utf8.count), "a name of a–z, 0–9 and -")
    case .line:
      return word(tree.text.map { $0.utf8.count <= 1_000 } ?? false, "a text of 1,000 bytes at most, between '…'")
    case .pitch:
      return word(Spelling(text).map { (21...108).contains($0.midi) } ?? false, "a pitch such as F#5, A0–C8")
    case .letter: return word(Spelling(text + "4") != nil, "a note such as B, F# or Eb")
    case .unit(let kinds): return unit(tree, kinds, key)
    case .list(let kind, let counts, let what):
      guard let list = elements(tree, counts, what, key) else { return nil }
      return .list(list.enumerated().compactMap { read($1, kind, "\(key)[\($0 + 1)]") })
    case .rising(let kind, let what):
      guard case .list(let values)? = read(tree, .list(kind, 2...2, what), key), values.count == 2 else { return nil }
      if Self.rise(values[0], values[1]) { return .list(values) }
      complain(tree, key, "must rise")
      return nil
    case .either(let list, let other):
      if case .list = tree { return read(tree, list, key) }
      return read(tree, other, key)
    }
  }

  private static func rise(_ a: RuleValue, _ b: RuleValue) -> Bool {
    switch (a, b) {
    case (.int(let a), .int(let b)): a <= b
    case (.text(let a), .text(let b)): (Spelling(a)?.midi ?? 0) <= (Spelling(b)?.midi ?? 0)
    default: true
    }
  }

  /// Parses an effect unit such as `{comb: wax-comb, melt: 412}`.
  private mutating func unit(_ tree: RuleTree, _ kinds: [String], _ key: String) -> RuleValue? {
    guard let kind = ScoreRules.Unit.kinds.first(where: { kinds.contains($0.name) && tree[$0.name] != nil }) else {
      complain(tree, key, "must name a unit such as {comb: wax-comb}; allowed: \(kinds.joined(separator: " "))")
      return nil
    }
    var unit = ScoreRules.Unit(kind: kind.name, preset: nil)
    enter(tree, key) { reader in
      var preset = RuleValue.none
      reader.leaf(kind.name, .word(kind.presets + ["custom"]), &preset)
      if case .text(let name) = preset, name != "custom" { unit.preset = name }
      reader.optional { reader in
        for (name, range) in kind.values {
          var value = RuleValue.none
          reader.leaf(name, .double(range), &value)
          if case .double(let x) = value { unit.values[name] = x }
        }
      }
    }
    return .unit(unit)
  }

  // MARK: - Consistency

  private mutating func check(_ rules: ScoreRules, _ tree: RuleTree) {
    func complain(_ path: String, _ message: String) {
      let place = path.split(separator: ".").reduce(tree) { $0[String($1)] ?? $0 }
      errors.append(RuleError(line: place.line, key: path, message: message))
    }
    if case .list(let steps, _)? = tree["scale"]?["mode"],
      !Scale.isScale(steps.compactMap { $0.text.flatMap { Int($0) } })
    {
      complain("scale.mode", "must rise from 0")
    }
    for (name, pitches) in [("cell", rules.cells), ("board", rules.boards)] {
      for (index, pitch) in pitches.enumerated() where rules.scale.degree(of: pitch.midi) == nil {
        complain("\(name)s", "\(name) \(index + 1) (\(rules.scale.spelling(of: pitch.midi))) is not in the scale")
      }
    }
    let compass = rules.melody.compass
    for pitch in rules.cells where !compass.contains(pitch) {
      complain("melody.compass", "must hold every cell; \(rules.scale.spelling(of: pitch.midi)) is outside")
    }
    if compass.upperBound.midi - compass.lowerBound.midi < 19 {
      complain("melody.compass", "must be an octave and a fifth at least, so that every bar finds its goal")
    }
    let register = rules.melody.register
    if !compass.contains(register.lowerBound) || !compass.contains(register.upperBound) {
      complain("melody.register", "must lie within the compass")
    }
    if let first = rules.tonics.first, first != rules.scale.tonicSpelling {
      complain("scale.tonics", "must begin with the tonic: each cycle begins at home")
    }
    let octaves = [rules.first.octaves, rules.second.octaves, 0]
    for moved in [rules] + rules.tonics.map({ rules.moved(to: $0) }) {
      let compass = moved.melody.compass
      let lowest = compass.lowerBound.midi + 12 * (octaves.min() ?? 0)
      // Echoes may also sound octaves higher, but are not checked here: `echoes.ceiling` limits their pitch.
      guard lowest < 33 || compass.upperBound.midi + 12 * (octaves.max() ?? 0) > 108 else { continue }
      let tonic = moved.scale.tonicSpelling.letterName
      complain("hands", "with the compass the hands must stay within A1 (T lies below M) and C8, in \(tonic) too")
      break
    }
    if rules.signs.last.map({ !$0.when.isEmpty || !$0.unless.isEmpty }) ?? true {
      complain("signs", "the last rule must have no condition, so that every move has a sign")
    }
    let names = rules.signs.map { $0.name }
    for sign in rules.signs {
      for other in sign.covers where !names.contains(other) {
        complain("signs", "\(sign.name) covers \"\(other)\", which is none of \(names.joined(separator: " "))")
      }
    }
    if Set(names).count < names.count { complain("signs", "two rules have the same name") }
    if rules.performance.softest > rules.performance.range.lowerBound {
      complain("performance.softest", "must not be above the range")
    }
  }
}
