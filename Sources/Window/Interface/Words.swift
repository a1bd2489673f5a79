/// The texts of one language: one `key = text` per line. A line that begins with `#` is a comment.
package struct Words: Sendable {
  package private(set) var texts: [Phrase: String] = [:]
  /// The errors in the text, one line each.
  package private(set) var faults: [String] = []

  package init(_ text: String) {
    for (index, line) in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
      if line.isEmpty || line.first == UInt8(ascii: "#") { continue }
      let end = line.firstIndex(of: UInt8(ascii: " ")) ?? line.endIndex
      let name = String(decoding: line[..<end], as: UTF8.self)
      let rest = line[end...]
      if !rest.starts(with: " = ".utf8) || rest.count == 3 {
        faults.append("line \(index + 1): expected \"key = text\"")
      } else if let phrase = Phrase(rawValue: name) {
        let old = texts.updateValue(String(decoding: rest.dropFirst(3), as: UTF8.self), forKey: phrase)
        if old != nil { faults.append("line \(index + 1): \(name) is there twice") }
      } else {
        faults.append("line \(index + 1): \(name) is not a phrase")
      }
    }
    for phrase in Phrase.allCases where texts[phrase] == nil { faults.append("\(phrase.rawValue) is missing") }
  }
}

package enum Language: String, Sendable, Hashable, CaseIterable {
  case english = "en"
  case german = "de"
  case french = "fr"

  package var words: Words {
    switch self {
    case .english: .english
    case .german: .german
    case .french: .french
    }
  }

  /// The language's name for itself, such as `Deutsch`.
  package var name: String { Phrase.languageName.text(in: self) }
}
