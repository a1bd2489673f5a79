import Base
import ScoreModel
import TicTacToe

/// What time alone brings: opening, closing arch, echoes, drone.
extension Conductor {
  /// The next step of the course, due at `moment`.
  mutating func goOn(at moment: Tick) -> [ScoreEvent] {
    nextAt = nil
    switch course {
    case .silent: return []
    case .opening(let step): return opening(step, at: moment)
    case .closing(let closing): return closingBar(closing, at: moment)
    case .bar: return echo(0, at: moment)
    case .waiting(let echoes): return echo(echoes, at: moment)
    }
  }

  /// Waiting begins at `end`: echoes after a while, and the low tonic now and then.
  mutating func wait(from end: Tick) {
    waitingSince = end
    nextAt = end + .seconds(rules.echoes.after)
    droneAt = end + .seconds(rules.drone.every)
  }

  // MARK: Opening

  private mutating func opening(_ step: Int, at moment: Tick) -> [ScoreEvent] {
    let count = step == 0 ? 1 : rules.opening.pairs
    var plan = BarPlan(kind: .opening, count: count, sign: rules.calm, short: short)
    plan.signs = ["opening"]
    plan.longChain = rules.chain(rules.longNotes)
    var problem = problem(plan, mover: nil, position: .start, start: step == 0 ? Square(4) : nil)
    problem.direction = contour(.draw, number: 0).directions(count)
    let written = compose(plan, problem, at: moment, number: 200 + step)
    let opened = moment - .seconds(step == 0 ? rules.opening.center : rules.opening.phrase)
    if step == 0 {
      course = .opening(step: 1)
      nextAt = opened + .seconds(rules.opening.phrase)
    } else {
      course = .waiting(echoes: 0)
      nextAt = max(opened + .seconds(rules.opening.echoes), written.end)
    }
    return written.events(generation: generation, silencesT: connectionLost)
  }

  // MARK: The arch

  /// Plays the arch to its end, for those who do not wait for it.
  package mutating func hearOut() -> [ScoreEvent] {
    var events: [ScoreEvent] = []
    while isClosing, let next = nextAt { events += advance(to: next - Self.lookahead) }
    return events
  }

  private mutating func closingBar(_ closing: Closing, at moment: Tick) -> [ScoreEvent] {
    var closing = closing
    let ending = closing.ending
    let isLast = closing.step == closing.sizes.count - 1
    let count = closing.sizes[closing.step]
    game.barNumber += 1
    let isResult = closing.step == 0 && !closing.facts.isEmpty
    let sign = isResult ? rules.signs.first { $0.applies(to: closing.facts) } ?? rules.calm : rules.calm
    // In a draw the hands take turns, beginning with the one that did not play last.
    let last = game.facts.last?.mover ?? .o
    let hand = ending.alternates ? (closing.step % 2 == 0 ? last.opponent : last) : closing.winner

    // Each bar of the arch is a little slower than the one before.
    let slower = 1 + Double(ending.augment * closing.step) / 100
    var plan = BarPlan(
      kind: .closing, hand: hand, count: count, sign: sign,
      short: isLast ? rules.bars.lastShort / pace : short * slower)
    plan.signs = [isResult ? sign.name : "closing"]
    plan.hasM = !(isLast && ending.endsWithTAlone)
    plan.strikesDrone = ending.strikesDrone && rules.drone.bars.contains(game.barNumber)
    plan.longChain = rules.chain(ending.chain ?? rules.longNotes)
    if !isResult && plan.hasM { plan.tPace = ending.tPace }

    var problem = problem(plan, mover: hand, position: game.position, start: nil)
    remember(closing.step, isLast, hand, &problem)
    problem.center += ending.climb * (closing.step + 1)
    problem.goal = isResult ? sign.goal ?? ending.goal : isLast ? ending.lastGoal : ending.goal
    problem.direction = ((isResult ? sign.contour : nil) ?? ending.contour).directions(count)
    let written = compose(plan, problem, at: moment, number: closing.step)

    var events = written.events(generation: generation, silencesT: connectionLost && plan.hasM)
    if ending.releasesPedal && closing.step >= closing.sizes.count - 2 {
      events.removeAll { $0.kind == .pedal }
      events.append(
        .pedal(at: moment, to: 0, seconds: rules.pedal.newGame, generation: generation))
    }
    closing.step += 1
    if closing.step < closing.sizes.count {
      course = .closing(closing)
      nextAt = written.end
    } else {
      course = .waiting(echoes: 0)
      wait(from: written.end)
    }
    return events
  }

  /// The arch remembers the game backwards: each bar the line of an earlier one, from its long note to its cell and
  /// drawn out over as many pairs as it has; the last bar has the motto of its hand.
  private func remember(_ step: Int, _ isLast: Bool, _ hand: Player?, _ problem: inout MelodyProblem) {
    var line = motto(hand)
    if !isLast {
      let heard = gameBars.dropLast()
      guard !heard.isEmpty else { return }
      let bar = heard[heard.endIndex - 1 - step % heard.count]
      let octaves = rules.hand(bar.isX.map { $0 ? .x : .o }).octaves
      line = bar.pairs.compactMap { $0.m.flatMap { rules.scale.degree(of: $0.pitch.midi - 12 * octaves) } }.reversed()
    }
    guard !line.isEmpty, problem.count > 1 else { return }
    for (index, degree) in line.prefix(problem.count - 1).enumerated() {
      problem.recalls[line.count < problem.count ? index * (problem.count - 1) / line.count : index] = degree
    }
  }

  // MARK: Waiting

  /// The end of an earlier bar again, softer, every second one higher. The longer everyone waits the less is left of
  /// it: first some pairs, then fewer and softer; then each move once more, its first note and its long one, as the low
  /// tonic calls it; then silence.
  private mutating func echo(_ number: Int, at moment: Tick) -> [ScoreEvent] {
    course = .waiting(echoes: number + 1)
    let rules = rules.echoes
    let waited = moment - waitingSince
    guard waited < .seconds(min(rules.sparse, rules.until)) else { return [] }
    let isThin = waited >= .seconds(rules.thin)
    let left = isThin ? min(rules.most, 3) : rules.most
    // Only the running game's bars (and the opening): its record alone must give the same echoes.
    let heard = score.filter { [.opening, .move, .closing].contains($0.kind) }
    let long = heard.filter { $0.sounding.count >= 2 }
    // None is heard more than twice in the same way; where all have been in one octave, others are left.
    func way(_ source: Bar, _ octaves: Int) -> Int {
      let pairs = ending(of: source, left)
      return source.index * 256 + pairs.count * 8 + shift(of: pairs, octaves) + 4
    }
    func unsaid(_ bars: [Bar], _ octaves: Int) -> [Bar] {
      bars.suffix(rules.memory).filter { game.echoed[way($0, octaves), default: 0] < 2 }
    }
    let own = number % 2 * rules.octaves
    let ways = [long, heard].flatMap { bars in [own, rules.octaves - own, -1].map { (bars, $0) } }
    var (sources, octaves): ([Bar], Int) = ([], own)
    for (bars, way) in ways where sources.isEmpty { (sources, octaves) = (unsaid(bars, way), way) }
    guard !sources.isEmpty else {
      nextAt = moment + .seconds(rules.rest)
      return []
    }
    var generator = SplitMix64(seed: gameSeed, index: 0xEC40 &+ UInt64(number) &+ UInt64(heard.count) << 16)
    let previous = bars.last?.kind == .echo ? bars.last?.pairs.first?.m?.pitch : nil
    let fresh = sources.filter { $0.pairs.first?.m?.pitch != previous }
    let pool = fresh.isEmpty ? sources : fresh
    let source = pool[generator.below(pool.count)]
    game.echoed[way(source, octaves), default: 0] += 1
    let share = isThin ? rules.velocity * rules.velocity / 100 : rules.velocity
    let written = echoed(source, ending(of: source, left), octaves: octaves, share: share, at: moment)
    take(written)
    var rest = rules.rest
    for _ in 0..<min(number, 30) { rest = min(rest * Double(100 + rules.growth) / 100, rules.until) }
    nextAt = written.end + .seconds(rest)
    return written.events(generation: generation, silencesT: connectionLost)
  }

  /// The next move of the game, told once more: its first note and its long one, every second one higher.
  private mutating func tell(at moment: Tick, share: Int) -> [ScoreEvent] {
    let told = gameBars.isEmpty ? score.filter { $0.kind == .opening } : gameBars
    guard let number = told.firstIndex(where: { game.echoed[$0.index * 256] == nil }) else { return [] }
    game.echoed[told[number].index * 256] = 1
    let octaves = number % 2 * rules.echoes.octaves
    take(echoed(told[number], ends(of: told[number]), octaves: octaves, share: share, at: moment))
    return current?.written.events(generation: generation, silencesT: connectionLost) ?? []
  }

  /// The last pairs of a bar; T rests under them, but for the long note.
  private func ending(of bar: Bar, _ count: Int) -> [Pair] {
    var pairs = Array(bar.sounding.suffix(count))
    for index in pairs.indices.dropLast() where pairs[index].m != nil { pairs[index].t = nil }
    return pairs
  }

  /// The first pair of a bar and its last, two short notes apart.
  private func ends(of bar: Bar) -> [Pair] {
    let pairs = bar.sounding
    guard pairs.count > 1, var last = pairs.last, let begin = pairs[0].onset, let end = last.onset else { return pairs }
    let step = Tick.seconds(2 * short)
    var first = pairs[0]
    first.change { $0.duration = step - ($0.onset - begin) }
    last.change { $0.onset = $0.onset - end + begin + step }
    return [first, last]
  }

  /// The octaves by which pairs are moved, so that none rises above the ceiling.
  private func shift(of pairs: [Pair], _ octaves: Int) -> Int {
    let highest = pairs.flatMap { [$0.m, $0.t] }.compactMap { $0?.pitch.midi }.max() ?? 0
    return [octaves, 0, -1, -2].first { highest + 12 * $0 <= rules.echoes.ceiling.midi } ?? -2
  }

  /// Pairs of a bar as an echo of it, `share` per cent as loud.
  private func echoed(_ source: Bar, _ pairs: [Pair], octaves: Int, share: Int, at moment: Tick) -> WrittenBar {
    let long = Tick.seconds(short * Double(rules.bars.long))
    let begin = pairs.first?.onset ?? .zero
    let shift = shift(of: pairs, octaves)
    let echoed = pairs.enumerated().map { index, pair in
      plain(pair, isLong: index == pairs.count - 1, share: share) {
        $0.onset = $0.onset - begin
        $0.pitch = Pitch(min(max($0.pitch.midi + 12 * shift, 21), 108))
        if index == pairs.count - 1 { $0.duration = long }
      }
    }
    return WrittenBar(
      plain: Bar(index: bars.count, kind: .echo, ply: 0, isX: source.isX, start: moment, pairs: echoed, signs: ["echo"])
    )
  }

  /// A pair again, `share` per cent as loud, without what belonged to its own bar alone.
  func plain(_ pair: Pair, isLong: Bool, share: Int, _ change: (inout Note) -> Void) -> Pair {
    var plain = Pair(m: pair.m, t: pair.t, isLong: isLong)
    plain.change { note in
      change(&note)
      note.velocity = UInt8(clamping: max(Int(note.velocity) * share / 100, rules.performance.softest))
    }
    return plain
  }

  /// The low tonic while everyone waits, until it is quiet; never in an arch, whose bars strike it themselves. After long
  /// waiting it calls up the game's moves one by one, all of it ever softer and rarer, at last half as often.
  mutating func strikeWaiting(at moment: Tick) -> [ScoreEvent] {
    let waited = (moment - waitingSince).seconds
    let (sparse, until) = (rules.echoes.sparse, rules.echoes.until)
    let far = min(max(waited - sparse, 0) / max(until - sparse, 1), 1)
    let rest = rules.drone.every * (1 + far)
    droneAt = waited + rest <= until ? moment + .seconds(rest) : nil
    guard waited >= sparse else { return tonic(at: moment, generation: newGeneration()) }
    let loud = 100 - Int(75 * far)
    return tonic(at: moment, generation: newGeneration(), share: loud)
      + tell(at: moment + .seconds(short), share: rules.echoes.velocity * loud / 100)
  }

  func tonic(at moment: Tick, generation: UInt32, share: Int = 100) -> [ScoreEvent] {
    rules.drone.notes.map {
      ScoreEvent(
        frame: moment, generation: generation, kind: .note, voice: .bass, pitch: $0,
        velocity: UInt8(clamping: max(rules.drone.velocity * share / 100, 1)),
        duration: Int32(clamping: Tick.seconds(rules.drone.seconds).rawValue))
    }
  }
}

extension Bar {
  /// The end of its last pair, or where it was cut.
  package var end: Tick { start + (cut ?? pairs.last.map { Conductor.end(of: $0) } ?? .zero) }

  /// The pairs that sounded: all of an uncut bar, a prefix of a cut one.
  package var sounding: [Pair] {
    guard let cut else { return pairs }
    return pairs.filter { pair in pair.onset.map { $0 < cut } ?? false }
  }
}

extension Pair {
  /// When the first of the two begins.
  var onset: Tick? { [t, m].compactMap { $0?.onset }.min() }

  /// Changes its notes alike.
  mutating func change(_ body: (inout Note) -> Void) {
    if m != nil { body(&m!) }
    if t != nil { body(&t!) }
    if answer != nil { body(&answer!) }
  }
}
