import Base
import ScoreModel
import TicTacToe

/// Finding a bar's melody among candidates.
extension Conductor {
  /// Composes a bar, writes it down and makes it the bar in force; its generation is `self.generation`.
  mutating func compose(_ plan: BarPlan, _ problem: MelodyProblem, at moment: Tick, number: Int) -> WrittenBar {
    let barSeed = SplitMix64.first(
      seed: gameSeed, index: UInt64(number + 1) << 16 | UInt64(plan.kind == .closing ? 1 : 0))
    let rules = rules
    let count = max(rules.melody.candidates, 1)
    var search = MelodySearch(problem, rules: rules.melody, scale: rules.scale, seed: barSeed)
    /// A candidate past the usual number is a variation: one of them with another note in one slot.
    func line(_ candidate: Int) -> MelodyLine {
      search.choose(candidate % count)
      let line = search.solve()
      let slot = candidate / count - 1
      return slot < 0 || slot >= line.degrees.count ? line : search.varied(line, at: slot) ?? line
    }
    let octaves = rules.hand(plan.hand).octaves
    let (choice, found) = choose(octaves, problem.count, line)
    let ply = game.position.ply
    while game.choices.count <= ply { game.choices.append([]) }
    game.choices[ply].append(choice)
    novelty.insert(notes(of: found), octaves: octaves)

    let index = bars.count
    let written = BarWriter(rules: rules).write(
      plan, line: found.degrees, index: index, start: moment,
      generator: SplitMix64(seed: barSeed, index: 0xFFFF))
    if explains {
      search.choose(choice % count)
      reasons[index] = search.reasons(for: found, octaves: octaves)
    }
    take(written)
    return written
  }

  private func notes(of line: MelodyLine) -> [Int] { line.degrees.map { rules.scale.midi($0) } }

  /// The candidate that costs least, what was heard before being dearer; a whole bar heard before is varied.
  private func choose(_ octaves: Int, _ slots: Int, _ line: (Int) -> MelodyLine) -> (Int, MelodyLine) {
    let ply = game.position.ply
    let number = ply < game.choices.count ? game.choices[ply].count : 0
    if ply < game.replay.count, number < game.replay[ply].count {
      let choice = game.replay[ply][number]
      return (choice, line(choice))
    }
    let count = max(rules.melody.candidates, 1)
    var best: (choice: Int, line: MelodyLine, isRepeat: Bool, cost: Int)?
    var candidate = 0
    while candidate < count || (best?.isRepeat == true && candidate < count * (slots + 1)) {
      let found = line(candidate)
      let isRepeat = novelty.isRepeat(notes(of: found), octaves: octaves)
      let cost =
        found.cost + rules.melody.familiar * novelty.shared(notes(of: found)) + (isRepeat ? rules.melody.again : 0)
      if best.map({ cost < $0.cost }) ?? true { best = (candidate, found, isRepeat, cost) }
      candidate += 1
    }
    return best.map { ($0.choice, $0.line) } ?? (0, line(0))
  }
}
