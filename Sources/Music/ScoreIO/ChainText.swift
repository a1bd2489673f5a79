import ScoreFormats
import Tintinnabuli

extension RuleReader {
  /// Parses an effect chain of the command line: `comb:wax-comb melt=412, ringmod:bell`.
  package static func chain(_ text: String) throws(ScoreFileError) -> ScoreRules.Chain {
    do {
      return try chain(units: .list(text.split(separator: ",").map { unit(String($0)) }, line: 0))
    } catch {
      let errors = error.errors.map { $0.description }.joined(separator: "; ")
      throw ScoreFileError("--chain: \(errors); write it as comb:wax-comb melt=412, ringmod:bell, gain:-3")
    }
  }

  /// Converts an effect unit of the command line to the form of rule files. Without a preset the kind's first preset applies.
  private static func unit(_ text: String) -> RuleTree {
    let words = text.replacing(": ", with: ":").split(separator: " ").map(String.init)
    func pair(_ word: String, at separator: Character) -> (String, String?) {
      let parts = word.split(separator: separator, maxSplits: 1).map(String.init)
      return (parts.first ?? "", parts.count > 1 ? parts[1] : nil)
    }
    var (name, preset) = pair(words.first ?? "", at: ":")
    if name == "ringmod" { name = "ring-modulator" }
    var values = words.dropFirst().map { pair($0, at: "=") }
    if name == "gain", let level = preset { (preset, values) = ("custom", [("decibels", level)] + values) }
    preset = preset ?? ScoreRules.Unit.kinds.first { $0.name == name }?.presets.first ?? "custom"
    return .mapping(([(name, preset)] + values).map { ($0, 0, .scalar($1 ?? "", line: 0)) }, line: 0)
  }
}
