import ScoreModel

/// What one value of a rule file may be.
public indirect enum RuleKind: Sendable {
  /// A whole number.
  case int(ClosedRange<Int>)
  /// A number.
  case double(ClosedRange<Double>)
  /// `true` or `false`.
  case bool
  /// One of some words.
  case word([String])
  /// A name the file makes up.
  case name
  /// The name of one of the file's chains, or `none`.
  case chain
  /// A pitch of the keyboard.
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
public enum RuleValue: Sendable, Hashable {
  /// A whole number.
  case int(Int)
  /// A number.
  case double(Double)
  /// A word or a name.
  case text(String)
  /// Nothing: an optional value left out, or the chain `none`.
  case none
  /// An effect unit.
  case unit(ScoreRules.Unit)
  /// A list.
  case list([RuleValue])

  var int: Int? { if case .int(let value) = self { value } else { nil } }
  var double: Double? { if case .double(let value) = self { value } else { nil } }
  var text: String? { if case .text(let value) = self { value } else { nil } }
  var list: [RuleValue] { if case .list(let values) = self { values } else { [] } }
  var pitch: Pitch? { text.flatMap { Spelling($0) }.map { Pitch($0.midi) } }
}

/// Something that goes through every value of a rule file in its order: the reader, which sets and checks them, and
/// those that print and document them. What may be in a file is said once, in `ScoreRules.visit`.
public protocol RuleVisitor {
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
  /// A whole number.
  public mutating func int(_ name: String, _ value: inout Int, _ range: ClosedRange<Int>) {
    var slot = RuleValue.int(value)
    leaf(name, .int(range), &slot)
    value = slot.int ?? value
  }

  /// A whole number that may be missing.
  public mutating func int(_ name: String, _ value: inout Int?, _ range: ClosedRange<Int>) {
    var slot = value.map { RuleValue.int($0) } ?? .none
    leaf(name, .int(range), &slot)
    value = slot.int
  }

  /// A number.
  public mutating func double(_ name: String, _ value: inout Double, _ range: ClosedRange<Double>) {
    var slot = RuleValue.double(value)
    leaf(name, .double(range), &slot)
    value = slot.double ?? value
  }

  /// Yes or no, in two words: the one for no, then the one for yes.
  public mutating func bool(_ name: String, _ value: inout Bool, _ words: [String] = ["false", "true"]) {
    var slot = RuleValue.text(words[value ? 1 : 0])
    leaf(name, words[0] == "false" ? .bool : .word(words), &slot)
    value = slot.text.map { $0 == words[1] } ?? value
  }

  /// A pitch.
  public mutating func pitch(_ name: String, _ value: inout Pitch) {
    var slot = Self.text(value)
    leaf(name, .pitch, &slot)
    value = slot.pitch ?? value
  }

  /// A pitch that may be missing.
  public mutating func pitch(_ name: String, _ value: inout Pitch?) {
    var slot = value.map(Self.text) ?? .none
    leaf(name, .pitch, &slot)
    value = slot.pitch
  }

  /// A made-up name.
  public mutating func name(_ name: String, _ value: inout String) {
    var slot = RuleValue.text(value)
    leaf(name, .name, &slot)
    value = slot.text ?? value
  }

  /// The name of a chain.
  public mutating func chain(_ name: String, _ value: inout String?) {
    var slot = value.map { RuleValue.text($0) } ?? .none
    leaf(name, .chain, &slot)
    value = slot.text
  }

  /// An effect unit.
  public mutating func unit(_ name: String, _ value: inout ScoreRules.Unit, _ kinds: [String]) {
    var slot = RuleValue.unit(value)
    leaf(name, .unit(kinds), &slot)
    if case .unit(let unit) = slot { value = unit }
  }

  /// One of the words of a type.
  public mutating func word<Word: RuleWord>(_ name: String, _ value: inout Word) {
    var slot = RuleValue.text(value.rawValue)
    leaf(name, Self.kind(Word.self), &slot)
    value = slot.text.flatMap { Word(rawValue: $0) } ?? value
  }

  /// One of the words of a type, or nothing.
  public mutating func word<Word: RuleWord>(_ name: String, _ value: inout Word?) {
    var slot = value.map { RuleValue.text($0.rawValue) } ?? .none
    leaf(name, Self.kind(Word.self), &slot)
    value = slot.text.flatMap { Word(rawValue: $0) }
  }

  /// Words of a type.
  public mutating func words<Word: RuleWord>(
    _ name: String, _ value: inout [Word], _ counts: ClosedRange<Int>, of what: String
  ) {
    var slot = RuleValue.list(value.map { .text($0.rawValue) })
    leaf(name, .list(Self.kind(Word.self), counts, what), &slot)
    value = slot.list.compactMap { $0.text.flatMap { Word(rawValue: $0) } }
  }

  /// Whole numbers.
  public mutating func ints(
    _ name: String, _ value: inout [Int], _ range: ClosedRange<Int>, _ counts: ClosedRange<Int>, of what: String
  ) {
    var slot = RuleValue.list(value.map { .int($0) })
    leaf(name, .list(.int(range), counts, what), &slot)
    value = slot.list.compactMap { $0.int }
  }

  /// Numbers.
  public mutating func doubles(
    _ name: String, _ value: inout [Double], _ range: ClosedRange<Double>, _ counts: ClosedRange<Int>, of what: String
  ) {
    var slot = RuleValue.list(value.map { .double($0) })
    leaf(name, .list(.double(range), counts, what), &slot)
    value = slot.list.compactMap { $0.double }
  }

  /// Pitches.
  public mutating func pitches(_ name: String, _ value: inout [Pitch], _ counts: ClosedRange<Int>) {
    var slot = RuleValue.list(value.map(Self.text))
    leaf(name, .list(.pitch, counts, "pitches"), &slot)
    value = slot.list.compactMap { $0.pitch }
  }

  /// Made-up names.
  public mutating func names(_ name: String, _ value: inout [String], _ counts: ClosedRange<Int>, of what: String) {
    var slot = RuleValue.list(value.map { .text($0) })
    leaf(name, .list(.name, counts, what), &slot)
    value = slot.list.compactMap { $0.text }
  }

  /// The lowest and the highest pitch.
  public mutating func range(_ name: String, _ value: inout ClosedRange<Pitch>) {
    var slot = RuleValue.list([Self.text(value.lowerBound), Self.text(value.upperBound)])
    leaf(name, .rising(.pitch, "pitches"), &slot)
    let ends = slot.list.compactMap { $0.pitch }
    if ends.count == 2, ends[0] <= ends[1] { value = ends[0]...ends[1] }
  }

  /// The least and the most.
  public mutating func range(
    _ name: String, _ value: inout ClosedRange<Int>, _ range: ClosedRange<Int>, of what: String
  ) {
    var slot = RuleValue.list([.int(value.lowerBound), .int(value.upperBound)])
    leaf(name, .rising(.int(range), what), &slot)
    let ends = slot.list.compactMap { $0.int }
    if ends.count == 2, ends[0] <= ends[1] { value = ends[0]...ends[1] }
  }

  private static func kind<Word: RuleWord>(_ type: Word.Type) -> RuleKind { .word(Word.allCases.map { $0.rawValue }) }

  static func text(_ pitch: Pitch) -> RuleValue {
    // Read back by its sound alone; the file's own spelling is lost.
    let scale = Scale(tonicLetter: 0, tonicAlteration: 0, steps: [0, 2, 4, 5, 7, 9, 11])
    return .text(scale.spelling(of: pitch.midi).description)
  }
}

/// A type whose cases are words of a rule file.
public protocol RuleWord: RawRepresentable<String>, CaseIterable {}
