import Base
import ScoreModel

/// Chooses a bar's melody among candidates (the cheapest melodies for different random costs, and their variations).
extension Conductor {
  mutating func compose(_ plan: BarPlan, _ problem: MelodyProblem, at moment: Tick, number: Int) -> WrittenBar {
    let barSeed = SplitMix64.first(
      seed: pieceSeed,
      index: UInt64(number + 1) << 16 | (plan.kind == .closing ? 1 : plan.kind == .sentence ? 2 : 0))
    let rules = rules.rooted(plan.root)
    let count = max(rules.melody.candidates, 1)
    var search = MelodySearch(problem, rules: rules.melody, scale: rules.scale, seed: barSeed)
    /// The first `count` candidates are the cheapest melodies for `count` sets of random costs. Then come these melodies with one other
    /// note, and last candidate 0 with other long notes.
    func line(_ candidate: Int) -> MelodyLine {
      let isEnd = candidate >= count * (problem.count + 1)
      search.choose(isEnd ? 0 : candidate % count)
      let line = search.solve()
      if isEnd { return search.varied(line, times: candidate - count * (problem.count + 1) + 1) }
      let slot = candidate / count - 1
      return slot < 0 ? line : search.varied(line, at: slot) ?? line
    }
    let octaves = rules.manner(of: plan.voice).octaves
    // In a network match no melody is forgotten with time: the clients' times differ, and all clients have to compose identical bars.
    let heard = piece.isMatch ? .zero : moment
    let (choice, found) = choose(octaves, problem.count, at: heard, plan, line)
    piece.choices.take(choice, at: piece.number)
    novelty.insert(notes(of: found), octaves: octaves, root: longRoot(plan), at: heard)
    if explains { search.choose(choice % count) }
    return write(plan, found, of: search, at: moment, SplitMix64(seed: barSeed, index: 0xFFFF))
  }

  mutating func write(
    _ plan: BarPlan, _ line: MelodyLine, of search: MelodySearch, at moment: Tick, _ generator: SplitMix64
  ) -> WrittenBar {
    let rules = rules.rooted(plan.root)
    var plan = plan
    plan.colour = colour(of: plan.voice)
    var degrees = line.degrees
    if let removed = plan.removed { degrees.insert(removed.degree, at: removed.slot) }
    if explains {
      var reasons = search.reasons(for: line, octaves: rules.manner(of: plan.voice).octaves)
      if let removed = plan.removed { reasons.insert(.silent, at: removed.slot) }
      book.reasons[bars.count] = reasons
    }
    let written = BarWriter(rules: rules).write(
      plan, line: degrees, index: bars.count, start: moment, generator: generator)
    book.take(written)
    return written
  }

  /// The number of alternative long notes that are tried for a bar of two or three notes.
  private static let ends = 9

  /// The root of a bar in a long piece, whose events have a `phase`; `nil` in short pieces.
  private func longRoot(_ plan: BarPlan) -> Int? {
    piece.events.last?.phase == nil ? nil : rules.rooted(plan.root).scale.root
  }

  private func notes(of line: MelodyLine) -> [Int] { line.degrees.map { rules.scale.midi($0) } }

  /// The number and the melody of the cheapest candidate. Bars and five-note patterns that were heard before cost extra.
  private func choose(
    _ octaves: Int, _ slots: Int, at heard: Tick, _ plan: BarPlan, _ line: (Int) -> MelodyLine
  ) -> (Int, MelodyLine) {
    if let choice = piece.choices.next(at: piece.number) { return (choice, line(choice)) }
    if plan.quotes { return (0, line(0)) }
    let root = longRoot(plan)
    // In a long piece, repeating a bar of two or three notes must cost more than a long note that is not of the kind `goal`.
    let again = rules.melody.again * (root != nil && slots < 4 ? 3 : 1)
    let count = max(rules.melody.candidates, 1)
    var best: (choice: Int, line: MelodyLine, isRepeat: Bool, cost: Int)?
    var candidate = 0
    // Bars of two or three notes have few variations, so also try other long notes.
    let most = count * (slots + 1) + (slots > 3 ? 0 : Self.ends)
    while candidate < count || (best?.isRepeat == true && candidate < most) {
      let found = line(candidate)
      let isRepeat = novelty.isRepeat(notes(of: found), octaves: octaves, root: root, at: heard)
      let cost =
        found.cost + rules.melody.familiar * novelty.shared(notes(of: found), at: heard)
        + (isRepeat ? again : 0)
      if best.map({ cost < $0.cost }) ?? true { best = (candidate, found, isRepeat, cost) }
      candidate += 1
    }
    return best.map { ($0.choice, $0.line) } ?? (0, line(0))
  }

  /// The melody problem of a bar before its signs fix any notes; `start` is the degree of the downbeat.
  func problem(_ plan: BarPlan, start: Int?) -> MelodyProblem {
    let register = rules.melody.register
    let low = rules.scale.degree(atOrAbove: register.lowerBound.midi)
    let high = rules.scale.degree(atOrAbove: register.upperBound.midi)
    let lowest = rules.lowest
    func marks(_ voice: Voice?) -> [Int] { voice.map { piece.marks[$0].map { $0 + lowest } } ?? [] }
    // The pair that answers a removed mark has T alone, so M has one note fewer than the bar has pairs.
    let count = plan.count - (plan.removed == nil ? 0 : 1)
    let motto = piece.motto(plan.voice, in: piece.events.last?.sentence)
    return MelodyProblem(
      count: count, fixed: start.map { [0: $0 + lowest] } ?? [:], goal: .triad,
      direction: [Int](repeating: 0, count: count), leans: false,
      center: (low + high) / 2 + piece.tuning.drift + plan.root + (plan.change?.rule.register ?? 0),
      own: marks(plan.voice),
      motto: motto.map { $0 + lowest }, opposing: marks(plan.voice?.other))
  }

  /// Fixes the notes that the signs in an event's bar require.
  func fix(_ problem: inout MelodyProblem, _ plan: inout BarPlan, _ event: Event) {
    guard let first = problem.fixed[0] else { return }
    var next = 1
    if plan.pending?.rule.awakenM != nil { plan.awakensAt = 1 }
    if plan.awakensAt == 1, let step = plan.pending?.rule.awakenM ?? plan.sign.awakenM {
      problem.fixed[1] = nearest(step: Scale.step(step - 1 + event.root), to: first)
      next = 2
    } else if let move = plan.pending?.rule.secondPair ?? plan.sign.secondPair, plan.count > 1 {
      problem.fixed[1] = first + move
      next = 2
    }
    if plan.sign.visitsLine { visitLine(&problem, from: next, event) }
    if let number = event.returns { quote(number, &problem, &plan) }
  }

  private func quote(_ number: Int, _ problem: inout MelodyProblem, _ plan: inout BarPlan) {
    guard let bar = eventBars.last(where: { $0.ply == number }) else { return }
    for (slot, degree) in degrees(of: bar).prefix(problem.count).enumerated() where problem.fixed[slot] == nil {
      problem.fixed[slot] = degree
    }
    plan.quotes = true
    plan.signs.append("returns:\(number)")
  }

  /// The degrees of the bar's melody, without the octaves by which the bar's voice moves it.
  func degrees(of bar: Bar) -> [Int] {
    let octaves = rules.manner(of: bar.voice).octaves
    return bar.pairs.compactMap { $0.m.flatMap { rules.scale.degree(of: $0.pitch.midi - 12 * octaves) } }
  }

  /// From note `slot` on, fixes the notes to the other cells of a completed line. Before a leap wider than `bridge` one note stays free.
  private func visitLine(_ problem: inout MelodyProblem, from slot: Int, _ event: Event) {
    var slot = slot
    var last = problem.fixed[slot - 1] ?? problem.fixed[0] ?? 0
    var left = event.line.map { $0 + rules.lowest }
    while let cell = left.min(by: { (abs($0 - last), $0) < (abs($1 - last), $1) }), slot < problem.count - 1 {
      left.removeAll { $0 == cell }
      var reach = rules.melody.widest
      if abs(cell - last) > rules.melody.bridge && slot + 1 < problem.count - 1 {
        slot += 1
        reach *= 2
      }
      let next = abs(cell - last) <= reach ? cell : nearest(step: Scale.step(cell), to: last)
      problem.fixed[slot] = next
      last = next
      slot += 1
    }
  }

  /// The degree of the compass at the scale step `step` (0–6) nearest to `degree` but different from it; of two equally near, the lower.
  func nearest(step: Int, to degree: Int) -> Int {
    let compass = rules.melody.compass
    let candidates = (degree - 7...degree + 7).filter {
      Scale.step($0) == step && $0 != degree
        && (compass.lowerBound.midi...compass.upperBound.midi).contains(rules.scale.midi($0))
    }
    return candidates.min { (abs($0 - degree), $0) < (abs($1 - degree), $1) } ?? degree
  }
}

extension SplitMix64 {
  static func first(seed: UInt64, index: UInt64) -> UInt64 {
    var generator = SplitMix64(seed: seed, index: index)
    return generator.next()
  }
}
