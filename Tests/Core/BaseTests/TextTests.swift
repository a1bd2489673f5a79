import Base
import Testing

@Suite("Text for messages")
struct TextTests {
  @Test func `a quoted text can neither control a terminal nor change the direction of the text around it`() {
    #expect(quoted("a\u{1B}[2J\u{9B}31m\u{202E}b\u{2066}") == "'a?[2J?31m?b?'")
    #expect(quoted("Vera", limit: 2) == "'Ve…'")
  }
}
