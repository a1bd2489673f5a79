import Composer
import ScoreModel
import Scores
import Synth

extension RuleReader {
  /// Reads a chain as the command line has it: `comb:wax-comb melt=412, ringmod:bell`.
  public static func chain(_ text: String) throws(ScoreFileError) -> ScoreRules.Chain {
    var units: [ScoreRules.Unit] = []
    for part in text.split(separator: ",") { units.append(try unit(String(part))) }
    guard (1...ScoreRules.Chain.most).contains(units.count) else {
      throw ScoreFileError("--chain: 1–\(ScoreRules.Chain.most) units, such as comb:wax-comb, ringmod:bell")
    }
    return ScoreRules.Chain(name: "fx", level: 0, units: units)
  }

  /// Reads one unit of the command line: kind, preset or `custom`, then values that differ.
  private static func unit(_ text: String) throws(ScoreFileError) -> ScoreRules.Unit {
    let words = text.replacing(": ", with: ":").split(separator: " ").map(String.init)
    let head = (words.first ?? "").split(separator: ":", maxSplits: 1).map(String.init)
    let name = head.first.map { $0 == "ringmod" ? "ring-modulator" : $0 } ?? ""
    guard let kind = ScoreRules.Unit.kinds.first(where: { $0.name == name }) else {
      throw ScoreFileError(
        "--chain: \"\(name)\" is no unit; allowed: \(ScoreRules.Unit.kinds.map(\.name).joined(separator: " ")) (ringmod for ring-modulator)"
      )
    }
    if head.count > 1, words.count == 1, kind.name == "gain", let level = Double(head[1]), (-60...24).contains(level) {
      return ScoreRules.Unit(kind: name, preset: nil, values: ["decibels": level])
    }
    let presets = kind.presets.isEmpty ? [] : kind.presets + ["custom"]
    let preset = head.count > 1 ? head[1] : kind.presets.first
    guard let preset, presets.contains(preset) else {
      let allowed = kind.name == "gain" ? "a level, -60…24 dB" : presets.joined(separator: " ")
      throw ScoreFileError("--chain: \(name) has no preset \"\(preset ?? "")\"; allowed: \(allowed)")
    }
    var values: [String: Double] = [:]
    for word in words.dropFirst() {
      let pair = word.split(separator: "=", maxSplits: 1).map(String.init)
      guard pair.count == 2, let range = kind.values.first(where: { $0.name == pair[0] })?.range else {
        let keys = kind.values.map(\.name).joined(separator: " ")
        throw ScoreFileError("--chain: \(name) has no value \"\(word)\"; allowed, as NAME=NUMBER: \(keys)")
      }
      guard let value = Double(pair[1]), range.contains(value) else {
        throw ScoreFileError("--chain: \(name) \(word): allowed are \(range.lowerBound) to \(range.upperBound)")
      }
      values[pair[0]] = value
    }
    return ScoreRules.Unit(kind: name, preset: preset == "custom" ? nil : preset, values: values)
  }
}
