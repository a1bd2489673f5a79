import ScoreModel

/// The permitted values of an entry in a rule file.
package indirect enum RuleKind: Sendable {
  case int(ClosedRange<Int>)
  case double(ClosedRange<Double>)
  case bool
  case word([String])
  /// A name that the file defines itself.
  case name
  case line
  /// The name of one of the file's chains, or `none`.
  case chain
  case pitch
  /// A note letter with an accidental.
  case letter
  /// An effect unit of one of several kinds.
  case unit([String])
  /// A list: the kind of its items, the permitted range of its length, and the word for its items in error messages.
  case list(RuleKind, ClosedRange<Int>, String)
  /// Two values of a kind, the second not below the first, and the word for them in error messages.
  case rising(RuleKind, String)
  case either(RuleKind, RuleKind)
}

/// A value of a rule file in the form passed to visitors.
package enum RuleValue: Sendable, Hashable {
  case int(Int)
  case double(Double)
  case text(String)
  /// No value: an omitted optional, or the chain `none`.
  case none
  case unit(ScoreRules.Unit)
  case list([RuleValue])

  var text: String? { if case .text(let value) = self { value } else { nil } }
  var list: [RuleValue] { if case .list(let values) = self { values } else { [] } }
}

/// A type whose values can be stored in a rule file.
package protocol RuleCoded {
  init?(_ value: RuleValue)
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
  package init?(_ value: RuleValue) {
    guard let spelling = value.text.flatMap({ Spelling($0) }) else { return nil }
    self.init(spelling.midi)
  }
  /// A name of the pitch; the spelling in the file is lost.
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

/// A visitor of all values of a rule file in order: the parser, the printer and the documentation generator. `ScoreRules.visit` is the only
/// description of the format.
package protocol RuleVisitor {
  /// Visits a value and may replace it by another value of the same kind.
  mutating func leaf(_ name: String, _ kind: RuleKind, _ value: inout RuleValue)
  mutating func group(_ name: String, _ body: (inout Self) -> Void)
  mutating func each(
    _ name: String, _ counts: ClosedRange<Int>, of what: String, count: Int, _ body: (inout Self, Int) -> Void)
  /// Visits entries that the file may omit.
  mutating func optional(_ body: (inout Self) -> Void)
}

extension RuleVisitor {
  mutating func leaf<Value: RuleCoded>(_ name: String, _ kind: RuleKind, _ value: inout Value) {
    var slot = value.coded
    leaf(name, kind, &slot)
    value = Value(slot) ?? value
  }

  mutating func leaf<Value: RuleCoded>(_ name: String, _ kind: RuleKind, _ value: inout Value?) {
    var slot = value.map { $0.coded } ?? .none
    leaf(name, kind, &slot)
    value = Value(slot)
  }

  mutating func list<Value: RuleCoded>(
    _ name: String, _ kind: RuleKind, _ value: inout [Value], _ counts: ClosedRange<Int>, of what: String
  ) {
    var slot = RuleValue.list(value.map { $0.coded })
    leaf(name, .list(kind, counts, what), &slot)
    value = slot.list.compactMap { Value($0) }
  }

  /// Visits a range, which a file writes as its minimum and maximum.
  mutating func range<Value: RuleCoded & Comparable>(
    _ name: String, _ kind: RuleKind, _ value: inout ClosedRange<Value>, of what: String
  ) {
    var slot = RuleValue.list([value.lowerBound.coded, value.upperBound.coded])
    leaf(name, .rising(kind, what), &slot)
    let ends = slot.list.compactMap { Value($0) }
    if ends.count == 2, ends[0] <= ends[1] { value = ends[0]...ends[1] }
  }

  /// Visits a list of mappings, each by `visit`; a mapping beyond the end of `items` starts as `new`.
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

  /// Visits a Boolean written as one of two words, the word for `false` first.
  mutating func bool(_ name: String, _ value: inout Bool, _ words: [String] = ["false", "true"]) {
    var slot = RuleValue.text(words[value ? 1 : 0])
    leaf(name, words[0] == "false" ? .bool : .word(words), &slot)
    value = slot.text.map { $0 == words[1] } ?? value
  }
}
