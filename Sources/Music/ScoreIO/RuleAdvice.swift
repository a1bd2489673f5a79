import ScoreModel
import TicTacToe
import Tintinnabuli

/// Warns of requests in a valid rule file that the music can never fulfil. In a conflict the first request in this list wins: a bar's
/// number of pairs and its downbeat; the notes that the bar's sign fixes; the cells of a completed line; the widest melodic move; the
/// weights of melodies.
package enum RuleAdvice {
  package static func lines(_ rules: ScoreRules) -> [String] {
    rules.signs.indices.flatMap { unheard(rules, $0) + unreachable(rules, rules.signs[$0]) }
  }

  /// One line for each entry, such as `drone.notes`, of which a pitch lies outside the 88 keys in some tonic and moves to another octave.
  package static func moved(_ rules: ScoreRules) -> [String] {
    var tonics: [String: [String]] = [:]
    var names: [String] = []
    func note(_ name: String, _ tonic: Spelling) {
      if tonics[name] == nil { names.append(name) }
      if tonics[name]?.contains(tonic.letterName) != true { tonics[name, default: []].append(tonic.letterName) }
    }
    let pitches =
      [
        ("boards", rules.boards), ("drone.notes", rules.drone.notes), ("drone.bed", [rules.drone.bed]),
        ("mix.strings.notes", rules.mix.strings),
      ] + rules.signs.map { ("\($0.name): the bass", [$0.bass].compactMap { $0 }) }
    for tonic in rules.tonics.isEmpty ? [rules.scale.tonicSpelling] : rules.tonics {
      let up = rules.semitones(to: tonic)
      for (name, pitches) in pitches where !pitches.allSatisfy({ Pitch.keys.contains($0.midi + up) }) {
        note(name, tonic)
      }
      let there = rules.moved(to: tonic)
      for sign in there.signs where !staysOnKeys(sign, there) { note("\(sign.name): T", tonic) }
    }
    return names.map { "\($0) sounds in another octave in \((tonics[$0] ?? []).joined(separator: " "))" }
  }

  /// Whether the notes of T that a sign asks for lie on the 88 keys, for every melody note of the compass and for both voices.
  private static func staysOnKeys(_ sign: SignRule, _ rules: ScoreRules) -> Bool {
    [rules.first, rules.second].allSatisfy { hand in
      (rules.melody.compass.lowerBound.midi...rules.melody.compass.upperBound.midi).allSatisfy { midi in
        let m = midi + 12 * hand.octaves
        guard rules.scale.degree(of: m) != nil else { return true }
        return (0...1).allSatisfy { slot in
          let t = sign.t.tone(of: m, slot: slot, in: rules.scale)
          return Pitch.keys.contains(t) && Pitch.keys.contains(t + 12 * sign.tOctaves)
        }
      }
    }
  }

  private static func unheard(_ rules: ScoreRules, _ index: Int) -> [String] {
    let sign = rules.signs[index]
    let when = Set(sign.when)
    if !when.isDisjoint(with: sign.unless) { return ["\(sign.name): asks for a fact and for its absence"] }
    if when.contains(.draw), when.contains(.win) || when.contains(.loss) {
      return ["\(sign.name): no game is both won and drawn"]
    }
    let earlier = rules.signs[..<index].first {
      Set($0.when).isSubset(of: when) && Set($0.unless).isSubset(of: sign.unless)
    }
    guard let earlier else { return [] }
    let isCovered = earlier.covers.contains(sign.name) || sign.when.isEmpty
    return [
      "\(sign.name): \(earlier.name) always comes first\(isCovered ? " and covers it" : "; it sounds only as a pending sign")"
    ]
  }

  private static func unreachable(_ rules: ScoreRules, _ sign: SignRule) -> [String] {
    let degrees = rules.cells.compactMap { rules.scale.degree(of: $0.midi) }
    guard degrees.count == 9 else { return [] }
    var lines: [String] = []
    if let second = sign.secondPair {
      let compass = rules.melody.compass.lowerBound.midi...rules.melody.compass.upperBound.midi
      let out = degrees.count { !compass.contains(rules.scale.midi($0 + second)) }
      if out > 0 { lines.append("\(sign.name): the second pair of \(out) cells lies outside the compass") }
    }
    if sign.visitsLine {
      let far = Line.all.filter { line in
        let cells = line.map { degrees[$0.index] }
        // The melody begins on any cell of the line and then visits the other two, first the one whose degree is nearer.
        return cells.contains { first in
          let others = cells.filter { $0 != first }.sorted { abs($0 - first) < abs($1 - first) }
          let steps = zip([first] + others, others).map { abs($0 - $1) }
          let free = rules.bars.usualPairs(ply: 5) - 2
          return steps.contains { $0 > (free > 2 ? 2 : 1) * rules.melody.widest }
        }
      }
      if !far.isEmpty { lines.append("\(sign.name): \(far.count) lines have a cell that sounds in another octave") }
    }
    return lines
  }
}
