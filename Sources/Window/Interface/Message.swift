/// A message to the player, translated only when the message is shown. Written as a string with phrases in it: `"\(.savedAs) \(path)"`.
package struct Message: Sendable, Hashable, ExpressibleByStringInterpolation {
  fileprivate enum Part: Sendable, Hashable {
    /// Untranslated text: names, paths, chat.
    case text(String)
    /// A phrase with values in place of its `%` signs.
    case phrase(Phrase, [Message])
    /// A text in English only. Other languages show the less precise phrase `else`, or nothing if `else` is `nil`.
    case english(String, else: Phrase?)
  }

  private var parts: [Part]

  package init(_ text: String) { parts = [.text(text)] }

  package init(stringLiteral text: String) { self.init(text) }

  package init(stringInterpolation: StringInterpolation) { parts = stringInterpolation.parts }

  package struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var parts: [Part] = []

    package init(literalCapacity: Int, interpolationCount: Int) {}

    package mutating func appendLiteral(_ text: String) {
      if case .text(let before)? = parts.last {
        parts[parts.count - 1] = .text(before + text)
      } else if !text.isEmpty {
        parts.append(.text(text))
      }
    }
    package mutating func appendInterpolation(_ text: String) { appendLiteral(text) }
    package mutating func appendInterpolation(_ number: Int) { appendLiteral("\(number)") }
    package mutating func appendInterpolation(_ message: Message) {
      for part in message.parts { if case .text(let text) = part { appendLiteral(text) } else { parts.append(part) } }
    }
    package mutating func appendInterpolation(_ phrase: Phrase, _ values: Message...) {
      parts.append(.phrase(phrase, values))
    }
    package mutating func appendInterpolation(english text: String, else phrase: Phrase?) {
      parts.append(.english(text, else: phrase))
    }
  }

  package func text(in language: Language) -> String {
    parts.map { part in
      switch part {
      case .text(let text): text
      case .phrase(let phrase, let values): phrase.text(in: language, values.map { $0.text(in: language) })
      case .english(let text, let phrase): language == .english ? text : phrase?.text(in: language) ?? ""
      }
    }.joined()
  }
}
