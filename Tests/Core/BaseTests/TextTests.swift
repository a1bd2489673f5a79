import Base
import Testing

@Suite("Text for messages")
struct TextTests {
  @Test func `a quoted text can neither control a terminal nor change the direction of the text around it`() {
    #expect(quoted("a\u{1B}[2J\u{9B}31m\u{202E}b\u{2066}") == "'a?[2J?31m?b?'")
    #expect(quoted("Vera", limit: 2) == "'Ve…'")
  }

  @Test func `a JSON value without controls keeps all else, at any depth`() {
    #expect("a\u{0}\u{1B}[2J\r\n\u{9B}\u{2028}é".withoutControls == "a[2Jé")
    let value: JSON = ["a": .array([.string("\u{7}b"), ["c": "\td", "e": .bool(true)]]), "f": .null]
    let clean: JSON = ["a": .array([.string("b"), ["c": "d", "e": .bool(true)]]), "f": .null]
    #expect(value.withoutControls == clean)
  }
}
