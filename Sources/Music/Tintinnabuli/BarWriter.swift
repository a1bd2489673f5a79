import Base
import ScoreModel

/// The properties of a bar that are fixed before its melody is searched.
struct BarPlan {
  var kind: Bar.Kind
  var ply = 0
  /// The voice that plays the bar; `nil` in the opening.
  var voice: Voice?
  var count: Int
  var sign: SignRule
  /// A sign that an earlier bar could not play. The second pair plays this sign, with the pan and the roll of the voice that caused it.
  var pending: (rule: SignRule, voice: Voice)?
  /// The previous bar's long note if the note was cut; this bar plays the note within its first pair.
  var resolves: Note?
  /// The pair in which T leaves the triad: 0 if the downbeat already has the degree `awakenM`, else 1; `nil` if T stays in the triad.
  var awakensAt: Int?
  /// The length of a short note in seconds.
  var short: Double
  /// The degree of a mark that leaves the board, and the index of the pair in which T answers the mark while M rests.
  var removed: (slot: Int, degree: Int)?
  var root = 0
  var rhythm = Bar.Rhythm.even
  /// The change that the last closed sentence makes to this bar, and the change's number in `sentences.changes`, from 1.
  var change: (number: Int, rule: ScoreRules.Sentences.Change)?
  /// Whether the bar quotes an earlier bar on purpose (`Event.returns`).
  var quotes = false
  var strikesDrone = false
  var hasM = true
  /// When T sounds; `nil` to follow the bar's sign.
  var tPace: SignRule.TPace?
  /// Per cent of the usual velocity, for all notes. T's velocity is also multiplied by `tVelocity`, in per cent.
  var velocity = 100
  var tVelocity = 100
  /// The number of the long note's effect chain; 0 for none.
  var longChain: UInt8 = 0
  var colour: ScoreRules.Colour?
  var signs: [String] = []

  /// In the rhythms `held` and `low`, M rests between its first notes and the long pair.
  func restsM(_ slot: Int) -> Bool {
    (rhythm == .held || rhythm == .low) && slot > firstHeld && slot < count - 1
  }

  /// The index of the last pair in which M plays before M rests: usually 0, but 1 if a sign sounds in the second pair.
  var firstHeld: Int { pending != nil || awakensAt == 1 || sign.secondPair != nil ? 1 : 0 }
}

/// A bar with all of its events; times count from its start.
struct WrittenBar: Sendable {
  var bar: Bar
  /// The onset of each pair from the bar's start, and the end of the bar.
  var onsets: [Tick]
  /// The number of each pair's effect chain; 0 for none.
  var chains: [UInt8]
  /// Bells and pedal movements; frames count from the bar's start, and the generation is not set yet.
  var marks: [ScoreEvent]

  var end: Tick { bar.start + onsets[onsets.count - 1] }

  /// The score events of the bar from `from` on, a time that counts from the bar's start.
  func events(generation: UInt32, from: Tick = .zero, silencesT: Bool = false) -> [ScoreEvent] {
    var events: [ScoreEvent] = []
    for mark in marks where mark.frame >= from {
      var mark = mark
      mark.frame = bar.start + mark.frame
      mark.generation = generation
      events.append(mark)
    }
    for (index, pair) in bar.pairs.enumerated() {
      let t = silencesT ? nil : pair.t
      var voices = pair.bass.map { (ScoreEvent.Voice.bass, $0) }
      if let t { voices.append((.t, t)) }
      if let answer = pair.answer, !silencesT { voices.append((.t, answer)) }
      if let m = pair.m { voices.append((.m, m)) }
      for (voice, note) in voices where note.onset >= from {
        events.append(
          ScoreEvent(
            frame: bar.start + note.onset, generation: generation, kind: .note, voice: voice, pitch: note.pitch,
            velocity: note.velocity, pan: note.pan, chain: voice == .bass ? 0 : chains[index],
            duration: Int32(clamping: note.duration.rawValue)))
      }
    }
    return events
  }
}

extension WrittenBar {
  /// Makes a bar without bells and effects; the pedal goes down at the bar's start.
  init(plain bar: Bar) {
    let end = bar.pairs.last?.end ?? .zero
    self.init(
      bar: bar, onsets: bar.pairs.map { $0.onset ?? .zero } + [end],
      chains: [UInt8](repeating: 0, count: bar.pairs.count),
      marks: [ScoreEvent(frame: .zero, generation: 0, kind: .pedal, amount: 127)])
  }
}

/// Turns a plan and a melody into a bar as performed: adds the T-voice and the bass, and shapes time and touch.
struct BarWriter {
  let rules: ScoreRules

  func write(_ plan: BarPlan, line: [Int], index: Int, start: Tick, generator: SplitMix64) -> WrittenBar {
    var generator = generator
    let onsets = onsets(plan, &generator)
    var pairs: [Pair] = []
    var chains: [UInt8] = []
    var marks = [ScoreEvent(frame: .zero, generation: 0, kind: .pedal, amount: 127)]
    for slot in 0..<plan.count {
      if plan.removed?.slot == slot {
        pairs.append(leaving(plan, slot, onsets))
        chains.append(0)
        continue
      }
      if plan.rhythm == .low, plan.restsM(slot) {
        pairs.append(Pair(m: nil, t: nil, bass: [lowNote(plan, slot, onsets)]))
        chains.append(0)
        continue
      }
      let manner = manner(plan, slot)
      // A sign left over from an earlier bar takes pan and roll from the voice that caused the sign, but the register from the bar's voice.
      let m = rules.scale.midi(line[slot]) + 12 * rules.manner(of: plan.voice).octaves
      let awakens = plan.awakensAt == slot
      let t = awakens ? awakenedT(plan, below: m) : tNote(plan, slot, m)
      let rule = rule(plan, slot)
      let length = onsets[slot + 1] - onsets[slot]
      let second = slot == 1 && rule.secondPair != nil ? rule.secondVelocity : 100
      let touch = touch(plan, slot, rules.scale.midi(line[slot]), &generator) * second / 100
      let tDelay = tDelay(plan, slot, length)
      // The roll (the time by which T precedes M) is at most half of the pair, so that M has the other half.
      let isAlone = !plan.hasM || tPace(plan, slot) == .silent
      let rolled = Tick.milliseconds(isAlone ? 0 : manner.rollMilliseconds)
      let roll = min(rolled, Tick(rawValue: length.rawValue / 2))
      func note(_ midi: Int, _ velocity: Int, _ delay: Tick) -> Note {
        Note(
          pitch: Pitch(onKeys: midi), velocity: velocity == 0 ? 1 : UInt8(velocity),
          onset: onsets[slot] + delay, duration: length - delay, pan: Int8(clamping: manner.pan))
      }
      let tTouch = (touch - (rules.performance.m - rules.performance.t)) * plan.tVelocity / 100
      let answers = slot > 0 && slot < plan.count - 1 && plan.hasM && tPace(plan, slot) == .double
      let half = Tick(rawValue: length.rawValue / 2)
      var melody = plan.hasM && !plan.restsM(slot) ? note(m, clamp(touch, plan), roll) : nil
      if plan.rhythm == .held, slot == plan.firstHeld, slot < plan.count - 1 {
        melody?.duration = onsets[plan.count - 1] - onsets[slot] - roll
      }
      pairs.append(
        Pair(
          m: melody,
          t: tDelay.map { note(t, clamp(tTouch, plan), $0) },
          answer: answers ? note(rules.scale.triadTone(t < m ? 1 : -1, of: m), clamp(tTouch, plan), half) : nil,
          bass: bass(plan, slot, onsets), isLong: slot == plan.count - 1, isAwakening: awakens))
      chains.append(chain(plan, slot))
      marks += self.marks(plan, slot, m, onsets, awakens)
    }
    var bar = Bar(
      index: index, kind: plan.kind, ply: plan.ply, voice: plan.voice, start: start, pairs: pairs,
      signs: plan.signs)
    (bar.root, bar.rhythm) = (rules.scale.root, plan.rhythm)
    bar.change = plan.change?.number ?? 0
    return WrittenBar(bar: bar, onsets: onsets, chains: chains, marks: marks)
  }

  // MARK: Time and touch

  /// The onsets of the pairs and the end of the bar. Phrase arch and final ritard follow the KTH rules (Friberg, Bresin, Sundberg 2006).
  private func onsets(_ plan: BarPlan, _ generator: inout SplitMix64) -> [Tick] {
    let k = rules.performance
    let shorts = plan.count - 1
    var onsets = [Tick.zero]
    var time = 0.0
    // In a long-short rhythm every second note is half as long as the note before; the mean length of a note stays the same.
    let weights = (0..<max(shorts, 1)).map { plan.rhythm == .longShort ? 2.0 - Double($0 % 2) : 1 }
    let mean = weights.reduce(0, +) / Double(weights.count)
    for slot in 0..<plan.count {
      let jitter = Double(generator.below(2_001) - 1_000) / 1_000
      if slot == shorts {
        time += plan.short * Double(rules.bars.long) * max(1 + k.timing * k.timingSpread / 100 * jitter, 0.25)
      } else {
        let place = shorts > 1 ? Double(slot) / Double(shorts - 1) * 2 - 1 : 0
        // A parabola with the mean zero: slower at both ends and quicker in the middle, while the bar's average tempo stays.
        let arch = k.phraseArch * k.archSlower * (place * place - 1.0 / 3)
        let fromEnd = k.ritardSlower.count - (shorts - slot)
        let ritard = fromEnd >= 0 ? k.finalRitard * k.ritardSlower[fromEnd] : 0
        // With extreme rules `factor` could become 0 or negative; the lower limit 0.25 gives every note a length.
        let factor = 1 + ((shorts > 2 ? arch : 0) + ritard + k.timing * k.timingSpread * jitter) / 100
        time += plan.short * max(factor, 0.25) * weights[slot] / mean
      }
      onsets.append(.seconds(time))
    }
    return onsets
  }

  private func touch(_ plan: BarPlan, _ slot: Int, _ midi: Int, _ generator: inout SplitMix64) -> Int {
    let k = rules.performance
    let place = plan.count > 1 ? Double(slot) / Double(plan.count - 1) * 2 - 1 : 0
    let middle = (rules.melody.register.lowerBound.midi + rules.melody.register.upperBound.midi) / 2
    let height = Double(midi - middle) / 12
    let jitter = Double(generator.below(2_001) - 1_000) / 1_000
    let value =
      Double(k.m) + k.phraseArch * k.archSofter * (2.0 / 3 - place * place) + k.highLoud * k.highLouder * height
      + k.touch * k.touchSpread * jitter
    return Int(value.rounded()) * plan.velocity * (plan.colour?.touch ?? 100) / 10_000
  }

  /// Limits a velocity to `performance.range`; in bars that are softened, for example by hurry, notes may go down to `softest`.
  private func clamp(_ velocity: Int, _ plan: BarPlan) -> Int {
    let isSoftened = plan.velocity < 100 || plan.tVelocity < 100 || (plan.colour?.touch ?? 100) < 100
    let low = isSoftened ? rules.performance.softest : rules.performance.range.lowerBound
    return min(max(velocity, low), rules.performance.range.upperBound)
  }

  // MARK: The T-voice

  /// The sign that a pair plays: the bar's own sign, but in the second pair a sign left over from an earlier bar, if any.
  private func rule(_ plan: BarPlan, _ slot: Int) -> SignRule {
    slot == 1 ? plan.pending?.rule ?? plan.sign : plan.sign
  }

  private func manner(_ plan: BarPlan, _ slot: Int) -> ScoreRules.Manner {
    rules.manner(of: slot == 1 ? plan.pending?.voice ?? plan.voice : plan.voice)
  }

  private func tPace(_ plan: BarPlan, _ slot: Int) -> SignRule.TPace {
    let own = plan.tPace ?? rule(plan, slot).tPace
    guard own == .together else { return own }
    return [plan.change?.rule.tPace, plan.colour?.tPace].compactMap { $0 }.first { $0 != .together } ?? own
  }

  /// The delay of T within its pair; `nil` if T rests in the pair.
  private func tDelay(_ plan: BarPlan, _ slot: Int, _ length: Tick) -> Tick? {
    switch tPace(plan, slot) {
    case .together, .double: .zero
    case .after: slot == 0 || slot == plan.count - 1 ? .zero : Tick(rawValue: length.rawValue / 2)
    case .half: slot == 0 || (plan.count - 1 - slot) % 2 == 0 ? .zero : nil
    case .silent: plan.hasM ? nil : .zero
    }
  }

  /// All actions of a sign left over from an earlier bar apply to the second pair, at whichever place its rule sets them.
  private func takesPlace(_ place: Place, _ plan: BarPlan, _ slot: Int) -> Bool {
    slot == 1 && plan.pending != nil ? true : place.contains(slot, of: plan.count)
  }

  private func tNote(_ plan: BarPlan, _ slot: Int, _ m: Int) -> Int {
    let rule = rule(plan, slot)
    let position = rule.t == rules.calm.t ? plan.change?.rule.t ?? rule.t : rule.t
    var t = position.tone(of: m, slot: slot, in: rules.scale)
    if rule.tOctaves != 0 && takesPlace(rule.tOctavesAt, plan, slot) { t += 12 * rule.tOctaves }
    return t
  }

  private func awakenedT(_ plan: BarPlan, below m: Int) -> Int {
    let rule = rule(plan, plan.awakensAt ?? 0)
    var degree = (rules.scale.degree(of: m) ?? 0) - 1
    while rules.scale.place(degree) != rule.awakenT - 1 { degree -= 1 }
    return rules.scale.midi(degree)
  }

  /// The pair that answers a mark leaving the board: M rests, and T plays two falling notes.
  private func leaving(_ plan: BarPlan, _ slot: Int, _ onsets: [Tick]) -> Pair {
    let manner = rules.manner(of: plan.voice)
    let m = rules.scale.midi(plan.removed?.degree ?? 0) + 12 * manner.octaves
    let length = onsets[slot + 1] - onsets[slot]
    let half = Tick(rawValue: length.rawValue / 2)
    let touch = rules.performance.t * plan.velocity / 100 * plan.tVelocity / 100 * rules.sentences.leaves / 100
    let velocity = UInt8(clamping: min(max(touch, rules.performance.softest), rules.performance.range.upperBound))
    func note(_ position: Int, from onset: Tick) -> Note {
      Note(
        pitch: Pitch(onKeys: rules.scale.triadTone(position, of: m)), velocity: velocity,
        onset: onsets[slot] + onset, duration: length - onset, pan: Int8(clamping: manner.pan))
    }
    return Pair(m: nil, t: note(-1, from: .zero), answer: note(-2, from: half))
  }

  // MARK: Bass and effects

  private func bass(_ plan: BarPlan, _ slot: Int, _ onsets: [Tick]) -> [Note] {
    let rule = rule(plan, slot)
    let end = onsets[onsets.count - 1]
    var notes: [Note] = []
    if slot == 0, var note = plan.resolves {
      note.velocity = UInt8(clamping: max(Int(note.velocity) * rules.gestures.resolve / 100, rules.performance.softest))
      // The cut long note comes half a pair after the downbeat: on the downbeat only notes of the player who moved are heard.
      note.onset = Tick(rawValue: onsets[1].rawValue / 2)
      note.duration = end - note.onset
      notes.append(note)
    }
    let strikes = (slot == 0 && plan.strikesDrone) || rule.drone.map { takesPlace($0, plan, slot) } ?? false
    if strikes {
      notes += rules.drone.notes.map {
        Note(
          pitch: $0, velocity: UInt8(clamping: max(rules.drone.velocity * plan.velocity / 100, 1)), onset: onsets[slot],
          duration: .seconds(rules.drone.seconds), pan: 0)
      }
    }
    if slot == 0, !strikes, let degree = plan.change?.rule.bass {
      notes.append(low(degree - 1, plan, at: onsets[slot], until: end))
    }
    if let pitch = rule.bass, takesPlace(rule.bassAt, plan, slot) {
      notes.append(
        Note(
          pitch: pitch, velocity: UInt8(clamping: rules.drone.velocity), onset: onsets[slot],
          duration: end - onsets[slot], pan: 0))
    }
    return notes
  }

  /// The low note of a pair without M and T: from pair to pair the triad's root, third and fifth in turn.
  private func lowNote(_ plan: BarPlan, _ slot: Int, _ onsets: [Tick]) -> Note {
    low(2 * ((slot - 1) % 3), plan, at: onsets[slot], until: onsets[plan.count - 1])
  }

  /// The note `degrees` above the bar's root, in the octave in which the root is nearest to the low tonic.
  private func low(_ degrees: Int, _ plan: BarPlan, at onset: Tick, until end: Tick) -> Note {
    let tonic = rules.scale.degree(atOrAbove: (rules.drone.notes.max() ?? rules.drone.bed).midi)
    let root = Scale.step(plan.root)
    let pitch = rules.scale.midi(tonic + (root > 3 ? root - 7 : root) + degrees)
    return Note(
      pitch: Pitch(onKeys: pitch), velocity: UInt8(clamping: max(rules.drone.velocity * plan.velocity / 100, 1)),
      onset: onset, duration: end - onset, pan: 0)
  }

  private func chain(_ plan: BarPlan, _ slot: Int) -> UInt8 {
    let rule = rule(plan, slot)
    if let chain = rule.chain, takesPlace(rule.chainAt, plan, slot) { return rules.chain(chain) }
    if let chain = plan.change?.rule.chain, plan.longChain == 0 || slot < plan.count - 1 { return rules.chain(chain) }
    guard slot == plan.count - 1 else { return 0 }
    return plan.longChain > 0 ? plan.longChain : rules.chain(plan.colour?.chain)
  }

  /// The bells of a pair and, if T leaves the triad in the pair, a short lift of the pedal.
  private func marks(_ plan: BarPlan, _ slot: Int, _ m: Int, _ onsets: [Tick], _ awakens: Bool) -> [ScoreEvent] {
    var marks: [ScoreEvent] = []
    let rule = rule(plan, slot)
    let bells = rule.awakenM == nil ? rule.bells.contains { takesPlace($0, plan, slot) } : awakens
    if bells && !rule.bells.isEmpty {
      marks.append(
        ScoreEvent(
          frame: onsets[slot], generation: 0, kind: .bell, voice: .m, pitch: Pitch(onKeys: m),
          velocity: UInt8(clamping: rules.performance.t), pan: 0))
    }
    if awakens {
      let lift = max(onsets[slot] - .seconds(rules.pedal.lift), .zero)
      marks.append(.pedal(at: lift, to: 0, seconds: rules.pedal.fade))
      marks.append(.pedal(at: onsets[slot] + .seconds(rules.pedal.retake), to: 127, seconds: rules.pedal.fade))
    }
    return marks
  }
}
