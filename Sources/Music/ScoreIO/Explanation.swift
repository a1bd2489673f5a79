import GameScore
import Oracle
import Records
import ScoreModel
import ScoreFormats
import TicTacToe
import Tintinnabuli

/// Explains the score bar by bar: the facts of the move, the rules applied, and the reason for each note.
package enum Explanation {
  /// Explains a rendition made with `explains: true`.
  package static func text(_ rendition: Rendition, record: Record) -> String {
    rendition.bars.map { text(of: $0, in: rendition, record: record) }.joined(separator: "\n")
  }

  package static func text(of bar: Bar, in rendition: Rendition, record: Record) -> String {
    let (moves, rules) = (record.game.variantMoves, rendition.rules)
    var event: (words: String, facts: Set<Fact>)?
    if bar.kind == .move, let move = moves.first(where: { $0.ply == bar.ply }) {
      let awakens = move == moves.awakening
      // The facts computed from the move lack a loss of the only local human, but the names of the bar's signs have it.
      let known = GameConductor.facts(of: move, awakens: awakens).union(bar.signs.contains("loss") ? [.loss] : [])
      event = (describe(move, awakens: awakens), known)
    }
    return text(
      of: bar, event, rules, choice: choice(of: bar, in: rendition), reasons: rendition.reasons[bar.index] ?? [])
  }

  /// Explains the bars of a score that was composed from event lines while its conductor's `explains` was true.
  package static func text(_ score: LiveScore) -> String {
    score.conductor.bars.map { text(of: $0, in: score) }.joined(separator: "\n")
  }

  package static func text(of bar: Bar, in score: LiveScore) -> String {
    let event = score.facts[bar.index].map { facts in
      (facts.isEmpty ? "none" : facts.map(\.rawValue).sorted().joined(separator: "; "), facts)
    }
    let reasons = score.conductor.reasons[bar.index] ?? []
    return text(of: bar, event, score.conductor.rules, choice: nil, reasons: reasons)
  }

  private static func text(
    of bar: Bar, _ event: (words: String, facts: Set<Fact>)?, _ rules: ScoreRules, choice: String?,
    reasons: [NoteReason]
  ) -> String {
    var lines = [TextScore.heading(bar)]
    if let event {
      lines.append("  facts: " + event.words)
      let fired = rules.signs.filter { !$0.when.isEmpty && $0.applies(to: event.facts) }.map(\.name)
      lines.append("  rules: " + (fired.isEmpty ? "calm" : fired.joined(separator: ", ")) + heard(bar))
    } else if !bar.signs.isEmpty {
      lines.append("  rules: " + bar.signs.joined(separator: ", "))
    }
    if bar.root > 0 {
      lines.append("  T on the triad of " + rules.scale.spelling(of: rules.scale.midi(35 + bar.root)).letterName)
    }
    if let rhythm = rhythm(bar) { lines.append("  rhythm: " + rhythm) }
    if rules.sentences.changes.indices.contains(bar.change - 1) {
      lines.append("  change \(bar.change): " + describe(rules.sentences.changes[bar.change - 1]))
    }
    if let choice { lines.append("  candidate \(choice)") }
    for (index, pair) in bar.pairs.enumerated() {
      let reason =
        pair.m == nil
        ? pair.t == nil ? "low alone" : "T alone" : index < reasons.count ? why(reasons[index], rules.scale) : ""
      lines.append(("  " + notes(pair, rules.scale).padded(to: 22) + reason).trimmedEnd)
    }
    return lines.map { $0 + "\n" }.joined()
  }

  static func describe(_ move: VariantMove, awakens: Bool) -> String {
    let variant = move.after.variant
    func cells(_ set: SquareSet) -> String {
      set.map { variant.name(of: Cell(9 * move.board + $0.index)) }.joined(separator: " ")
    }
    var words = ["\(move.mover.letter) \(variant.name(of: move.cell))"]
    if let values = move.values {
      words.append(
        values.before == values.after
          ? "stands \(word(values.after))" : "from \(word(values.before)) to \(word(values.after))")
    }
    if !move.threats.isEmpty { words.append("threatens \(cells(move.threats))") }
    if !move.opposingThreats.isEmpty { words.append("is threatened at \(cells(move.opposingThreats))") }
    for side in [move.mover, move.mover.opponent] where !move.losingSquares(for: side).isEmpty {
      words.append("\(side.letter) loses at \(cells(move.losingSquares(for: side)))")
    }
    if move.isFork { words.append("fork") }
    if move.isBlock { words.append("blocks") }
    if move.isMistake { words.append("mistake") }
    if move.isOnlyMove { words.append("only move") }
    if awakens { words.append("awakening") }
    if let removed = move.removed { words.append("takes \(removed.name) away") }
    if move.repetitions > 0 { words.append("a position that has stood before") }
    if move.winsBoard { words.append("wins board \(Square(move.board).name)") }
    if move.fillsBoard { words.append("fills board \(Square(move.board).name)") }
    if move.isForced { words.append("forced") }
    if let board = move.sendsTo { words.append("sends to board \(Square(board).name)") }
    switch move.outcome {
    case .win(let winner): words.append("\(winner == move.mover ? "wins" : "loses") with \(cells(move.completed))")
    case .draw: words.append("draws")
    case nil: break
    }
    return words.joined(separator: "; ")
  }

  private static func word(_ value: Value) -> String {
    switch value {
    case .win: "won"
    case .draw: "even"
    case .loss: "lost"
    }
  }

  /// Describes the change that a closed sentence makes to the bar, with keys of the rule file: `register 2`.
  private static func describe(_ change: ScoreRules.Sentences.Change) -> String {
    var words: [String] = []
    if let t = change.t { words.append("t \(t.rawValue)") }
    if change.tPace != .together { words.append("t-pace \(change.tPace.rawValue)") }
    if let bass = change.bass { words.append("bass \(bass)") }
    if change.register != 0 { words.append("register \(change.register)") }
    if let chain = change.chain { words.append("chain \(chain)") }
    if !change.bed.isEmpty { words.append("bed " + change.bed.map { "\($0)" }.joined(separator: " ")) }
    return words.joined(separator: ", ")
  }

  private static func rhythm(_ bar: Bar) -> String? {
    switch bar.rhythm {
    case .even: nil
    case .longShort: "long-short: notes two to one by turns"
    case .held: "held: M holds one note while T moves"
    case .low: "low: low notes alone before the long note"
    }
  }

  private static func heard(_ bar: Bar) -> String {
    let owed = bar.signs.filter { $0.hasPrefix("owed:") }.map { $0.dropFirst(5) }
    let sign = bar.signs.first.map { " → heard as \($0)" } ?? ""
    return sign + (owed.isEmpty ? "" : ", second pair plays the pending \(owed.joined(separator: ", "))")
  }

  private static func choice(of bar: Bar, in rendition: Rendition) -> String? {
    if bar.kind == .move {
      return bar.ply < rendition.choices.count ? rendition.choices[bar.ply].first.map { "\($0)" } : nil
    }
    let closing = rendition.bars.filter { $0.kind == .closing }.map(\.index)
    guard let number = closing.firstIndex(of: bar.index), let last = rendition.choices.last else { return nil }
    let first = last.count - closing.count
    return last.indices.contains(first + number) ? "\(last[first + number])" : nil
  }

  private static func notes(_ pair: Pair, _ scale: Scale) -> String {
    let low = pair.bass.isEmpty ? "" : " over " + pair.bass.map(scale.name).joined(separator: "+")
    return "\(scale.name(pair.m))\(pair.isLong ? "–" : "") \(scale.name(pair.t))\(pair.isAwakening ? "*" : "")\(low)"
  }

  private static func why(_ reason: NoteReason, _ scale: Scale) -> String {
    let sum = reason.costs.reduce(0) { $0 + $1.cost }
    let parts = reason.costs.filter { $0.cost != 0 }.map { "\($0.rule.name) \($0.cost)" }
    let cost = "\(sum)".paddedLeft(to: 5) + " = " + (parts.isEmpty ? "nothing" : parts.joined(separator: " + "))
    guard let other = reason.runnerUp else { return cost + "; settled" }
    return cost + "; next \(scale.spelling(of: other.pitch.midi)), dearer by \(other.dearer)"
  }
}
