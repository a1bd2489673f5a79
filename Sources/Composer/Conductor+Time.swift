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
  /// it: first some pairs, then fewer and softer, then single long notes, then silence.
  private mutating func echo(_ number: Int, at moment: Tick) -> [ScoreEvent] {
    course = .waiting(echoes: number + 1)
    let rules = rules.echoes
    let waited = moment - waitingSince
    guard waited < .seconds(rules.until) else { return [] }
    let isThin = waited >= .seconds(rules.thin)
    let left = !isThin ? rules.most : waited < .seconds(rules.sparse) ? min(rules.most, 3) : 1
    // Only the running game's bars (and the opening): its record alone must give the same echoes.
    let heard = bars.dropFirst(game.firstBar).filter { [.opening, .move, .closing].contains($0.kind) }
    let long = heard.filter { $0.sounding.count >= 2 }
    // None is heard more than twice in the same way; where all have been in one octave, the other is left.
    func way(_ source: Bar, _ octaves: Int) -> Int {
      source.index * 256 + left * 8 + echoShift(source, last: left, octaves: octaves) + 4
    }
    func unsaid(_ octaves: Int) -> [Bar] {
      (long.isEmpty ? heard : long).suffix(rules.memory).filter { game.echoed[way($0, octaves), default: 0] < 2 }
    }
    let own = number % 2 * rules.octaves
    let octaves = unsaid(own).isEmpty ? rules.octaves - own : own
    let sources = unsaid(octaves)
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
    let written = echoed(source, last: left, isThin: isThin, octaves: octaves, at: moment)
    take(written)
    var rest = rules.rest
    for _ in 0..<min(number, 30) { rest = min(rest * Double(100 + rules.growth) / 100, rules.until) }
    nextAt = written.end + .seconds(rest)
    return written.events(generation: generation, silencesT: connectionLost)
  }

  /// The octaves by which the last pairs of a bar are moved, so that none rises above the ceiling.
  private func echoShift(_ source: Bar, last: Int, octaves: Int) -> Int {
    let notes = source.sounding.suffix(last).flatMap { [$0.m, $0.t] }
    let highest = notes.compactMap { $0?.pitch.midi }.max() ?? 0
    return [octaves, 0, -1, -2].first { highest + 12 * $0 <= rules.echoes.ceiling.midi } ?? -2
  }

  /// The last pairs of a bar as an echo, none of them above the ceiling.
  private func echoed(_ source: Bar, last: Int, isThin: Bool, octaves: Int, at moment: Tick) -> WrittenBar {
    var bar = source
    bar.index = bars.count
    bar.kind = .echo
    bar.ply = 0
    bar.start = moment
    bar.cut = nil
    bar.signs = ["echo"]
    bar.pairs = source.sounding.suffix(last)
    let long = Tick.seconds(short * Double(rules.bars.long))
    let begin = bar.pairs.first?.onset ?? .zero
    let shift = echoShift(source, last: last, octaves: octaves)
    let share = isThin ? rules.echoes.velocity * rules.echoes.velocity / 100 : rules.echoes.velocity
    for index in bar.pairs.indices {
      let isLast = index == bar.pairs.count - 1
      bar.pairs[index].bass = []
      bar.pairs[index].isLong = isLast
      bar.pairs[index].isAwakening = false
      bar.pairs[index].answer = nil
      // T rests under an echo, but for its long note.
      if !isLast && bar.pairs[index].m != nil { bar.pairs[index].t = nil }
      bar.pairs[index].change { note in
        note.onset = note.onset - begin
        note.pitch = Pitch(min(max(note.pitch.midi + 12 * shift, 21), 108))
        note.velocity = UInt8(clamping: max(Int(note.velocity) * share / 100, rules.performance.softest))
        if isLast { note.duration = long }
      }
    }
    let onsets = bar.pairs.map { $0.onset ?? .zero }
    let end = (onsets.last ?? .zero) + long
    return WrittenBar(
      bar: bar, onsets: onsets + [end], chains: [UInt8](repeating: 0, count: onsets.count),
      marks: [ScoreEvent(frame: .zero, generation: 0, kind: .pedal, amount: 127)])
  }

  /// The low tonic while everyone waits, until it is quiet; never in an arch, whose bars strike it themselves.
  mutating func strikeWaiting(at moment: Tick) -> [ScoreEvent] {
    droneAt = moment - waitingSince < .seconds(rules.echoes.until) ? moment + .seconds(rules.drone.every) : nil
    return tonic(at: moment, generation: newGeneration())
  }

  func tonic(at moment: Tick, generation: UInt32) -> [ScoreEvent] {
    rules.drone.notes.map {
      ScoreEvent(
        frame: moment, generation: generation, kind: .note, voice: .bass, pitch: $0,
        velocity: UInt8(clamping: rules.drone.velocity),
        duration: Int32(clamping: Tick.seconds(rules.drone.seconds).rawValue))
    }
  }
}

extension Bar {
  /// The pairs that sounded: all of an uncut bar, a prefix of a cut one.
  public var sounding: [Pair] {
    guard let cut else { return pairs }
    return pairs.filter { pair in pair.onset.map { $0 < cut } ?? false }
  }
}

extension Pair {
  /// When the first of the two begins.
  var onset: Tick? { [t, m].compactMap { $0?.onset }.min() }

  /// Changes both notes alike.
  mutating func change(_ body: (inout Note) -> Void) {
    if var note = m {
      body(&note)
      m = note
    }
    if var note = t {
      body(&note)
      t = note
    }
    if var note = answer {
      body(&note)
      answer = note
    }
  }
}
