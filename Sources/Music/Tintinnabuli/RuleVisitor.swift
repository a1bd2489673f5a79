import ScoreModel

/// What one value of a rule file may be.
package indirect enum RuleKind: Sendable {
  case int(ClosedRange<Int>)
  case double(ClosedRange<Double>)
  case bool
  /// One of some words.
  case word([String])
  /// A name the file makes up.
  case name
  /// The name of one of the file's chains, or `none`.
  case chain
  case pitch
  /// A letter with its accidental.
  case letter
  /// An effect unit of one of some kinds.
  case unit([String])
  /// A list of so many, called so.
  case list(RuleKind, ClosedRange<Int>, String)
  /// Two values, the second not below the first.
  case rising(RuleKind, String)
  /// One or the other.
  case either(RuleKind, RuleKind)
}

/// A value of a rule file, as visitors exchange it.
package enum RuleValue: Sendable, Hashable {
  case int(Int)
  case double(Double)
  case text(String)
  /// Nothing: an optional value left out, or the chain `none`.
  case none
  case unit(ScoreRules.Unit)
  case list([RuleValue])

  var text: String? { if case .text(let value) = self { value } else { nil } }
  var list: [RuleValue] { if case .list(let values) = self { values } else { [] } }
}

/// A type whose values a rule file can hold.
package protocol RuleCoded {
  /// Takes a value; `nil` if it is none of this type.
  init?(_ value: RuleValue)
  /// The value as visitors exchange it.
  var coded: RuleValue { get }
}

extension Int: RuleCoded {
  package init?(_ value: RuleValue) { if case .int(let number) = value { self = number } else { return nil } }
  package var coded: RuleValue { .int(self) }
}

extension Double: RuleCoded {
  package init?(_ value: RuleValue) { if case .double(let number) = value { self = number } else { return nil } }
  package var coded: RuleValue { .double(self) }
}

extension String: RuleCoded {
  package init?(_ value: RuleValue) { if case .text(let text) = value { self = text } else { return nil } }
  package var coded: RuleValue { .text(self) }
}

extension Pitch: RuleCoded {
  /// Takes a pitch by its name.
  package init?(_ value: RuleValue) {
    guard let spelling = value.text.flatMap({ Spelling($0) }) else { return nil }
    self.init(spelling.midi)
  }
  /// Its name, read back by its sound alone; the file's own spelling is lost.
  package var coded: RuleValue {
    let scale = Scale(tonicLetter: 0, tonicAlteration: 0, steps: [0, 2, 4, 5, 7, 9, 11])
    return .text(scale.spelling(of: midi).description)
  }
}

extension ScoreRules.Unit: RuleCoded {
  package init?(_ value: RuleValue) { if case .unit(let unit) = value { self = unit } else { return nil } }
  package var coded: RuleValue { .unit(self) }
}

/// A type whose cases are words of a rule file.
package protocol RuleWord: RuleCoded, RawRepresentable<String>, CaseIterable {}

extension RuleWord {
  package init?(_ value: RuleValue) {
    guard let word = value.text.flatMap({ Self(rawValue: $0) }) else { return nil }
    self = word
  }
  package var coded: RuleValue { .text(rawValue) }
  static var kind: RuleKind { .word(allCases.map { $0.rawValue }) }
}

/// Something that goes through every value of a rule file in its order: the reader, which sets and checks them, and
/// those that print and document them. What may be in a file is said once, in `ScoreRules.visit`.
package protocol RuleVisitor {
  /// Visits one value: takes it, or replaces it by one of its kind.
  mutating func leaf(_ name: String, _ kind: RuleKind, _ value: inout RuleValue)
  /// Visits a mapping.
  mutating func group(_ name: String, _ body: (inout Self) -> Void)
  /// Visits a list of mappings: `body` is called for each, with its number.
  mutating func each(
    _ name: String, _ counts: ClosedRange<Int>, of what: String, count: Int, _ body: (inout Self, Int) -> Void)
  /// Visits what may be left out.
  mutating func optional(_ body: (inout Self) -> Void)
}

extension RuleVisitor {
  /// A value of any type.
  mutating func leaf<Value: RuleCoded>(_ name: String, _ kind: RuleKind, _ value: inout Value) {
    var slot = value.coded
    leaf(name, kind, &slot)
    value = Value(slot) ?? value
  }

  /// A value that may be missing.
  mutating func leaf<Value: RuleCoded>(_ name: String, _ kind: RuleKind, _ value: inout Value?) {
    var slot = value.map { $0.coded } ?? .none
    leaf(name, kind, &slot)
    value = Value(slot)
  }

  /// Some values.
  mutating func list<Value: RuleCoded>(
    _ name: String, _ kind: RuleKind, _ value: inout [Value], _ counts: ClosedRange<Int>, of what: String
  ) {
    var slot = RuleValue.list(value.map { $0.coded })
    leaf(name, .list(kind, counts, what), &slot)
    value = slot.list.compactMap { Value($0) }
  }

  /// The least and the most.
  mutating func range<Value: RuleCoded & Comparable>(
    _ name: String, _ kind: RuleKind, _ value: inout ClosedRange<Value>, of what: String
  ) {
    var slot = RuleValue.list([value.lowerBound.coded, value.upperBound.coded])
    leaf(name, .rising(kind, what), &slot)
    let ends = slot.list.compactMap { Value($0) }
    if ends.count == 2, ends[0] <= ends[1] { value = ends[0]...ends[1] }
  }

  /// Some mappings, each of which goes through its own values; one more than there are begins as `new`.
  mutating func each<Item>(
    _ name: String, _ counts: ClosedRange<Int>, of what: String, _ items: inout [Item], new: Item,
    _ visit: (inout Item, inout Self) -> Void
  ) {
    var visited = items
    each(name, counts, of: what, count: items.count) { v, index in
      while visited.count <= index { visited.append(new) }
      visit(&visited[index], &v)
    }
    items = visited
  }

  mutating func int(_ name: String, _ value: inout Int, _ range: ClosedRange<Int>) { leaf(name, .int(range), &value) }
  mutating func int(_ name: String, _ value: inout Int?, _ range: ClosedRange<Int>) { leaf(name, .int(range), &value) }
  mutating func double(_ name: String, _ value: inout Double, _ range: ClosedRange<Double>) {
    leaf(name, .double(range), &value)
  }
  mutating func pitch(_ name: String, _ value: inout Pitch) { leaf(name, .pitch, &value) }
  mutating func pitch(_ name: String, _ value: inout Pitch?) { leaf(name, .pitch, &value) }
  mutating func name(_ name: String, _ value: inout String) { leaf(name, .name, &value) }
  mutating func chain(_ name: String, _ value: inout String?) { leaf(name, .chain, &value) }
  mutating func word<Word: RuleWord>(_ name: String, _ value: inout Word) { leaf(name, Word.kind, &value) }
  mutating func word<Word: RuleWord>(_ name: String, _ value: inout Word?) { leaf(name, Word.kind, &value) }
  mutating func words<Word: RuleWord>(
    _ name: String, _ value: inout [Word], _ counts: ClosedRange<Int>, of what: String
  ) {
    list(name, Word.kind, &value, counts, of: what)
  }

  /// Yes or no, in two words: the one for no, then the one for yes.
  mutating func bool(_ name: String, _ value: inout Bool, _ words: [String] = ["false", "true"]) {
    var slot = RuleValue.text(words[value ? 1 : 0])
    leaf(name, words[0] == "false" ? .bool : .word(words), &slot)
    value = slot.text.map { $0 == words[1] } ?? value
  }
}
