import Base
import ScoreModel

extension Conductor {
  mutating func performNextStep(at moment: Tick) -> [ScoreEvent] {
    agenda.next = nil
    switch agenda.course {
    case .silent: return []
    case .opening(let step): return opening(step, at: moment)
    case .closing(let closing): return closingBar(closing, at: moment)
    case .phrases(let said): return phrase(said, at: moment)
    case .waiting(let echoes): return echo(echoes, at: moment)
    }
  }

  // MARK: Opening

  private mutating func opening(_ step: Int, at moment: Tick) -> [ScoreEvent] {
    let count = step == 0 ? 1 : rules.opening.pairs
    var plan = BarPlan(kind: .opening, count: count, sign: rules.calm, short: short)
    plan.velocity = loudness(at: 0)
    plan.signs = ["opening"]
    plan.longChain = rules.chain(rules.longNotes)
    var problem = problem(plan, start: step == 0 ? rules.center : nil)
    problem.direction = piece.contour(0, number: 0, rules.melody).directions(count)
    let written = compose(plan, problem, at: moment, number: 200 + step)
    let opened = moment - .seconds(step == 0 ? rules.opening.center : rules.opening.phrase)
    if step == 0 {
      agenda.course = .opening(step: 1)
      agenda.next = opened + .seconds(rules.opening.phrase)
    } else {
      agenda.course = .waiting(echoes: 0)
      agenda.next = max(opened + .seconds(rules.opening.echoes), written.end)
    }
    return events(of: written)
  }

  // MARK: Phrases

  /// Schedules a phrase if a person plays the next event and `phrases.growth` allows at least two more pairs; otherwise echoes.
  mutating func waitWithPhrases(_ said: Agenda.Phrasing, from end: Tick) {
    agenda.wait(from: end, pairs: (eventBars.last?.pairs.count ?? 0) + said.pairs, rules)
    let left = rules.phrases.growth * piece.equivalentEventNumber - said.pairs
    let isWaited = piece.events.last.map { !autoReplyVoices.contains($0.voice.other) } ?? false
    guard isWaited, left >= 2 else { return }
    agenda.course = .phrases(said)
    agenda.next = end + .seconds(rules.phrases.after)
  }

  /// Composes a phrase that answers the previous bar and starts a step above or below its long note. The phrase does not depend on melodies
  /// heard before, so all listeners of a match hear the same phrase, and a record need not store a candidate's number.
  private mutating func phrase(_ said: Agenda.Phrasing, at moment: Tick) -> [ScoreEvent] {
    guard let event = piece.events.last, let before = bars.last, let long = before.pairs.last?.m else { return [] }
    let rules = rules.rooted(event.root)
    let left = rules.phrases.growth * piece.equivalentEventNumber - said.pairs
    guard left >= 2 else {
      // The rules changed after the phrase was scheduled: echoes follow instead.
      agenda.wait(from: moment, rules)
      return []
    }
    let sign = rules.signs.first { $0.applies(to: event.facts) } ?? rules.calm
    var plan = BarPlan(
      kind: .phrase, ply: piece.number, voice: said.count % 2 == 0 ? event.voice.other : event.voice,
      count: min(rules.bars.usualPairs(ply: piece.equivalentEventNumber), left), sign: sign.sustained,
      short: min(agenda.slots?.short ?? short, short))
    plan.root = event.root
    plan.change = change
    plan.velocity = rules.phrases.velocity * loudness(at: piece.form) / 100
    plan.longChain = rules.chain(rules.longNotes)
    plan.signs = ["phrase"]
    let seed = SplitMix64.first(
      seed: pieceSeed, index: UInt64(piece.number) << 16 | UInt64(said.count) << 1 | 0xF << 40)
    var generator = SplitMix64(seed: seed)
    var problem = problem(plan, start: nil)
    let degree = rules.scale.degree(of: long.pitch.midi - 12 * rules.manner(of: before.voice).octaves)
    let step = degree.map { $0 > problem.center ? -1 : $0 < problem.center ? 1 : 2 * generator.below(2) - 1 } ?? 0
    if let degree { problem.fixed[0] = degree + step }
    problem.leans = sign.leans
    problem.goal = sign.goal == .tension ? .tension : said.count % 2 == 0 ? .fifth : .triad
    problem.direction = piece.contour(-event.standing, number: piece.number + said.count + 1, rules.melody)
      .directions(plan.count)
    var search = MelodySearch(problem, rules: rules.melody, scale: rules.scale, seed: seed)
    search.choose(0)
    let written = write(plan, search.solve(), of: search, at: moment, generator)
    waitWithPhrases(Agenda.Phrasing(count: said.count + 1, pairs: said.pairs + plan.count), from: written.end)
    return events(of: written)
  }

  // MARK: The arch

  /// Composes closing bars (of the piece or of a sentence) to their end, for offline rendering.
  public mutating func renderToEnd() -> [ScoreEvent] {
    var events: [ScoreEvent] = []
    while isClosing || agenda.sentenceEnd > .zero, let next = agenda.next {
      events += advance(to: next - Self.lookahead)
    }
    return events
  }

  /// Fades out: silences the bed and releases the pedal, within the 8 s of `OfflineRenderer.tail`.
  public func fade(at end: Tick) -> [ScoreEvent] {
    [
      bed(at: end, level: 0, seconds: 6, generation: book.generation),
      .pedal(at: end + .seconds(2), to: 0, seconds: 3, generation: book.generation),
    ]
  }

  private mutating func closingBar(_ closing: Agenda.Closing, at moment: Tick) -> [ScoreEvent] {
    let remembered = remembered(closing)
    piece.barNumber += 1
    let plan = closingPlan(closing, recalling: remembered)
    var problem = closingProblem(plan, closing, recalling: remembered)
    let number = (closing.isHalf ? 16 * piece.number : 0) + closing.stepWithoutCoda
    let written =
      closing.isCoda
      ? coda(plan, &problem, after: closing.motto, at: moment)
      : compose(plan, problem, at: moment, number: number)
    let events = closingEvents(of: written, plan, closing, at: moment)
    if !closing.isLast {
      var next = closing
      next.step += 1
      agenda.course = .closing(next)
      agenda.next = written.end
    } else if closing.isHalf {
      waitWithPhrases(Agenda.Phrasing(), from: written.end)
    } else {
      agenda.wait(from: written.end, rules)
    }
    return events
  }

  private func closingPlan(_ closing: Agenda.Closing, recalling bar: Bar?) -> BarPlan {
    let (ending, isHalf, isResult) = (closing.ending, closing.isHalf, closing.isResult)
    let (step, steps) = (closing.stepWithoutCoda, closing.stepCount)
    let sign = isResult ? rules.signs.first { $0.applies(to: closing.facts) } ?? rules.calm : rules.calm
    // If the voices alternate (in a draw), the voice that did not play last begins.
    let last = piece.events.last?.voice ?? .second
    let voice = ending.alternates ? (closing.step % 2 == 0 ? last.other : last) : closing.winner
    let slower = 1 + Double(ending.augment * step) / 100
    var plan = BarPlan(
      kind: isHalf ? .sentence : .closing, ply: isHalf ? piece.number : 0, voice: voice,
      count: closing.sizes[closing.step], sign: sign,
      short: (step == steps - 1 || closing.isCoda) && !isHalf ? rules.bars.lastShort / pace : short * slower)
    let fromEnd = closing.sizes.count - 1 - closing.step
    plan.root = closing.roots.dropLast(fromEnd).last ?? (bar.flatMap { piece.event($0.ply) }?.root ?? 0)
    plan.signs = [isResult ? sign.name : plan.kind.rawValue]
    plan.velocity = loudness(at: (isHalf ? piece.form : 1) * (1 - Double(step + 1) / Double(steps)))
    plan.hasM = !(closing.isLast && ending.endsWithTAlone)
    if isHalf { plan.rhythm = rhythm(of: closing) }
    plan.strikesDrone = closing.isCoda || ending.strikesDrone && rules.drone.bars.contains(piece.barNumber)
    // The coda strikes the low tonic; without a coda the last bar does. In the coda T plays the third of the triad below M's tonic.
    if closing.isLast, !isHalf, closing.coda == nil { plan.sign.drone = .long }
    if closing.isCoda { plan.sign.t = .below2 }
    plan.longChain = rules.chain(ending.chain ?? rules.longNotes)
    if !isResult && plan.hasM { plan.tPace = ending.tPace }
    return plan
  }

  private func closingProblem(_ plan: BarPlan, _ closing: Agenda.Closing, recalling bar: Bar?) -> MelodyProblem {
    let (ending, isResult) = (closing.ending, closing.isResult)
    var problem = problem(plan, start: nil)
    if !closing.isCoda { remember(bar, closing, &problem) }
    problem.center += ending.climb * (closing.stepWithoutCoda + 1)
    problem.goal = isResult ? plan.sign.goal ?? ending.goal : closing.isLast ? ending.lastGoal : ending.goal
    problem.direction = ((isResult ? plan.sign.contour : nil) ?? ending.contour).directions(plan.count)
    return problem
  }

  /// The events of a closing bar, with the changes of the bed and the pedal.
  private mutating func closingEvents(
    of written: WrittenBar, _ plan: BarPlan, _ closing: Agenda.Closing, at moment: Tick
  ) -> [ScoreEvent] {
    var events = events(of: written, silencesT: connectionLost && plan.hasM)
    if !closing.isHalf { events += moveBed(to: plan.root, at: moment) }
    if closing.isLast, !closing.isHalf {
      // A held key sounds on after the pedal is up. The fade-out raises the pedal 2–5 s after this bar, so bass notes end 3 s after it at
      // most.
      for index in events.indices where events[index].voice == .bass && events[index].kind == .note {
        let most = Int32(clamping: (written.end + .seconds(3) - events[index].frame).rawValue)
        events[index].duration = min(events[index].duration, most)
      }
    }
    if closing.ending.releasesPedal && closing.step >= closing.sizes.count - 2 {
      events.removeAll { $0.kind == .pedal }
      events.append(.pedal(at: moment, to: 0, seconds: rules.pedal.newGame, generation: book.generation))
    }
    return events
  }

  /// The rhythm of a bar of a half arch: `longShort` instead of a rhythm in which M rests, if M must play the motto there.
  private func rhythm(of closing: Agenda.Closing) -> Bar.Rhythm {
    let rhythms = rules.sentences.rhythms
    guard !rhythms.isEmpty else { return .even }
    let rhythm = rhythms[closing.step % rhythms.count]
    return closing.pairsAfter + 1 < closing.motto.count && rhythm != .even ? .longShort : rhythm
  }

  /// Writes the coda: a long note on the tonic nearest to the motto's last note. A record need not store a candidate for the coda.
  private mutating func coda(
    _ plan: BarPlan, _ problem: inout MelodyProblem, after motto: [Int], at moment: Tick
  ) -> WrittenBar {
    let end = (motto.last ?? 0) + rules.lowest
    problem.fixed[0] = Scale.step(end) == 0 ? end : nearest(step: 0, to: end)
    var search = MelodySearch(problem, rules: rules.melody, scale: rules.scale, seed: pieceSeed)
    search.choose(0)
    return write(plan, search.solve(), of: search, at: moment, SplitMix64(seed: pieceSeed, index: 0xC0DA))
  }

  /// The earlier bar that a closing bar recalls: the first recalls the last bar but one, the second the bar before, and so on.
  private func remembered(_ closing: Agenda.Closing) -> Bar? {
    let heard = eventBars.dropLast().filter { bar in
      closing.sentence.map { piece.event(bar.ply)?.sentence == $0 } ?? true
    }
    return heard.isEmpty ? nil : heard[heard.count - 1 - closing.stepWithoutCoda % heard.count]
  }

  /// Makes the melody quote the motto in the last notes before the coda. The other notes recall an earlier bar backwards.
  private func remember(_ bar: Bar?, _ closing: Agenda.Closing, _ problem: inout MelodyProblem) {
    let motto = closing.motto
    for slot in 0..<problem.count {
      let fromEnd = closing.pairsAfter + problem.count - 1 - slot
      guard fromEnd < motto.count else { continue }
      let degree = motto[motto.count - 1 - fromEnd] + rules.lowest
      // A degree too far from the note before sounds in the octave nearest to this note.
      let last = problem.fixed[slot - 1] ?? degree
      problem.fixed[slot] =
        abs(degree - last) <= rules.melody.widest ? degree : nearest(step: Scale.step(degree), to: last)
    }
    guard let bar, problem.count > 1 else { return }
    let line = degrees(of: bar)
    for (index, degree) in line.reversed().prefix(problem.count - 1).enumerated() {
      problem.recalls[line.count < problem.count ? index * (problem.count - 1) / line.count : index] = degree
    }
  }

  // MARK: Waiting

  /// Repeats the end of an earlier bar, softer, every second time `echoes.octaves` octaves higher.
  private mutating func echo(_ number: Int, at moment: Tick) -> [ScoreEvent] {
    agenda.course = .waiting(echoes: number + 1)
    let law = rules.echoes
    let waited = moment - agenda.waitingSince
    guard waited < .seconds(min(law.sparse, law.until)) else { return [] }
    let isThin = waited >= .seconds(law.thin)
    // A record must suffice to reproduce the echoes, so only bars of the running piece and its opening are echoed.
    let isFree = piece.events.last?.isFree == true
    let heard =
      isFree
      ? Array(playedSentences.suffix(number == 0 ? 1 : law.memory))
      : score.filter { [.opening, .move, .closing, .sentence].contains($0.kind) }
    let most = isFree ? 2 * law.most : law.most
    let writer = EchoWriter(rules: rules, short: short)
    let chosen = piece.echoes.choose(
      from: heard, octaves: number % 2 * law.octaves, pairs: isThin ? min(most, 3) : most,
      not: bars.last?.kind == .echo ? bars.last?.pairs.first?.m?.pitch : nil,
      SplitMix64(seed: pieceSeed, index: 0xEC40 &+ UInt64(number) &+ UInt64(heard.count) << 16), writer)
    guard let chosen else {
      agenda.next = moment + .seconds(law.rest)
      return []
    }
    let written = writer.echo(
      chosen.source, chosen.pairs, octaves: chosen.octaves,
      share: isThin ? law.velocity * law.velocity / 100 : law.velocity, index: bars.count, at: moment)
    book.take(written)
    var rest = law.rest
    for _ in 0..<min(number, 30) { rest = min(rest * Double(100 + law.growth) / 100, law.until) }
    agenda.next = written.end + .seconds(rest)
    return events(of: written)
  }

  /// For each sentence of free play, a bar of the first pairs of all its events.
  private var playedSentences: [Bar] {
    var sentences: [(number: Int?, bar: Bar)] = []
    for bar in eventBars {
      guard var pair = bar.pairs.first, let number = piece.event(bar.ply)?.sentence else { continue }
      guard let last = sentences.last, last.number == number else {
        var sentence = bar
        (sentence.pairs, sentence.cut) = ([pair], nil)
        sentences.append((number, sentence))
        continue
      }
      let onset = bar.start - last.bar.start
      pair.change { $0.onset = $0.onset + onset }
      sentences[sentences.count - 1].bar.pairs[last.bar.pairs.count - 1].change {
        $0.duration = min($0.duration, onset - $0.onset)
      }
      sentences[sentences.count - 1].bar.pairs.append(pair)
    }
    return sentences.map { $0.bar }
  }

  /// Strikes the low tonic while a player thinks. From `echoes.sparse` seconds on, strokes get softer, and each also recalls an event.
  mutating func strikeWaiting(at moment: Tick) -> [ScoreEvent] {
    let waited = (moment - agenda.waitingSince).seconds
    let (sparse, until) = (rules.echoes.sparse, rules.echoes.until)
    let far = min(max(waited - sparse, 0) / max(until - sparse, 1), 1)
    let rest = rules.drone.every * (1 + far)
    agenda.drone = waited + rest <= until ? moment + .seconds(rest) : nil
    guard waited >= sparse else { return tonic(at: moment, generation: book.newGeneration()) }
    let loud = 100 - Int(75 * far)
    return tonic(at: moment, generation: book.newGeneration(), share: loud)
      + recallEvent(at: moment + .seconds(short), share: rules.echoes.velocity * loud / 100)
  }

  /// Recalls the first event that was not recalled before: plays the first and the long note of its bar.
  private mutating func recallEvent(at moment: Tick, share: Int) -> [ScoreEvent] {
    let told = eventBars.isEmpty ? score.filter { $0.kind == .opening } : eventBars
    guard let number = piece.echoes.tellNext(of: told) else { return [] }
    let writer = EchoWriter(rules: rules, short: short)
    let written = writer.echo(
      told[number], writer.ends(of: told[number]), octaves: number % 2 * rules.echoes.octaves, share: share,
      index: bars.count, at: moment)
    book.take(written)
    return events(of: written)
  }
}
