import ScoreFormats
import Tintinnabuli

/// Ten numbers of a rule file as dials; turning a dial changes the file's text but keeps its comments and layout.
package struct RuleDials {
  package private(set) var text: String { didSet { document = try? YAMLNode.document(text) } }
  private var document: YAMLNode?
  /// The index of the selected dial.
  package private(set) var chosen = 0

  package init(_ text: String) { (self.text, document) = (text, try? YAMLNode.document(text)) }

  /// Selects the dial that is `places` dials after the selected dial, or before it if negative; wraps around.
  package mutating func choose(_ places: Int) {
    chosen = ((chosen + places) % RuleDial.all.count + RuleDial.all.count) % RuleDial.all.count
  }

  /// Turns the selected dial by a number of steps within its range. Throws if the file lacks the number, or becomes invalid.
  package mutating func turn(_ steps: Int) throws(ScoreFileError) {
    let dial = RuleDial.all[chosen]
    guard let (value, place) = number(dial) else { throw ScoreFileError("the file has no number \(dial.key)") }
    let turned = min(max(value + Double(steps) * dial.step, dial.range.lowerBound), dial.range.upperBound)
    var text = self.text
    text.replaceSubrange(place, with: RuleText.number((turned * 100).rounded() / 100))
    do throws(RuleErrors) { _ = try RuleReader.rules(text) } catch {
      throw ScoreFileError(error.errors.map { "\($0)" }.joined(separator: "\n"))
    }
    self.text = text
  }

  package var lines: [String] { RuleDial.all.indices.map { line($0) } }

  /// A line of text: the dial's name, its number, and its position drawn on a scale.
  package func line(_ index: Int) -> String {
    let dial = RuleDial.all[index]
    let name = (index == chosen ? "> " : "  ") + dial.key.padded(to: 24)
    guard let (value, _) = number(dial) else { return name + "not in the file" }
    let share = (value - dial.range.lowerBound) / (dial.range.upperBound - dial.range.lowerBound)
    let place = min(max(Int((share * 20).rounded()), 0), 20)
    let scale = String(repeating: "─", count: place) + "●" + String(repeating: "─", count: 20 - place)
    let ends = (RuleText.number(dial.range.lowerBound), RuleText.number(dial.range.upperBound))
    return name + RuleText.number(value).padded(to: 7) + ends.0.paddedLeft(to: 4) + " \(scale) " + ends.1
  }

  private func number(_ dial: RuleDial) -> (Double, Range<String.Index>)? {
    var node = document
    for key in dial.key.split(separator: ".") { node = node?[String(key)] }
    guard let node, let number = node.text, let value = Double(number) else { return nil }
    // Lines are split by Unicode scalars: CRLF would be a single Character, which is not equal to a line feed.
    let lines = text.unicodeScalars.split(separator: "\n", maxSplits: node.line, omittingEmptySubsequences: false)
    guard node.line <= lines.count else { return nil }
    let line = lines[node.line - 1]
    guard let start = line.index(line.startIndex, offsetBy: node.column - 1, limitedBy: line.endIndex),
      let end = line.index(start, offsetBy: number.unicodeScalars.count, limitedBy: line.endIndex),
      String(line[start..<end]) == number
    else { return nil }
    return (value, start..<end)
  }
}
