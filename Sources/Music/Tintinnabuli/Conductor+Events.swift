import Base
import ScoreModel

extension Conductor {
  // MARK: Beginnings

  /// Starts a session: the low tonic and, unless a piece is resumed, the opening phrase.
  public mutating func open(at moment: Tick, resuming: Bool = false) -> [ScoreEvent] {
    let generation = book.newGeneration()
    var events = [
      ScoreEvent(frame: moment, generation: generation, kind: .pedal, amount: 127),
      rules.drone.bed(at: moment, seconds: rules.drone.fade, generation: generation),
    ]
    events += tonic(at: moment + .seconds(rules.opening.drone), generation: generation)
    agenda.open(at: moment, resuming: resuming, rules)
    return events.inOrder
  }

  /// Starts a piece: ends the music of the last piece, releases the pedal and strikes the low tonic. The session's first piece continues
  /// the opening phrase instead.
  ///
  /// - Parameters:
  ///   - number: The number of events before this session joins the piece.
  ///   - match: The seed of a network match, equal for all listeners, or of free play.
  ///   - place: The position of a match or of free play in the cycle of tonics, from 0; after the last tonic the first follows.
  public mutating func begin(
    at moment: Tick, number: Int = 0, marks: Marks = Marks(), match: UInt64? = nil, place: Int = 0
  ) -> [ScoreEvent] {
    let isFirst = !series.hasBegun && piece.events.isEmpty
    if !isFirst { book.cut(at: moment) }
    if !piece.isMatch && !piece.events.isEmpty {
      let awoke = piece.events.contains { event in
        home.signs.contains { $0.awakenM != nil && $0.applies(to: event.facts) }
      }
      station = station.next(
        goesOn: awoke || piece.draw != nil, draw: piece.draw, of: home.tonics.count)
    }
    resetPiece(number: number, marks: marks, isFirst: isFirst)
    if let match {
      let place = place % max(home.tonics.count, 1)
      piece.station = Station(game: place, place: place)
      (series.seed, novelty, autoReplyVoices) = (match, Novelty(), [])
      tunePiece()
    }
    findTonic()
    series.hasBegun = true
    agenda.slots = Slots(start: moment, short: short)
    guard !isFirst else { return [] }
    let generation = book.newGeneration()
    let up = Tick.seconds(rules.pedal.newGame)
    var events = [
      cut(at: moment), .pedal(at: moment, to: 0, seconds: rules.pedal.newGame, generation: generation),
      .pedal(at: moment + up, to: 127, seconds: rules.pedal.fade, generation: generation),
      rules.drone.bed(at: moment, seconds: rules.pedal.newGame, generation: generation),
    ]
    events += tonic(at: moment + up, generation: generation)
    agenda.pendingTonic = moment + up
    agenda.slots = Slots(start: moment + up, short: short)
    book.silence()
    agenda.wait(from: moment + up, rules)
    return events.inOrder
  }

  private mutating func resetPiece(number: Int, marks: Marks, isFirst: Bool) {
    series.begin(isFirst: isFirst)
    let opening = isFirst ? piece.choices.taken : []
    piece = Piece()
    undoStack = []
    (piece.number, piece.barNumber, piece.marks) = (number, number, marks)
    (piece.choices.taken, piece.firstBar) = (opening, isFirst ? 0 : bars.count)
    tunePiece()
  }

  /// Chooses the piece's register and its order of contours at random, by its seed, so that pieces differ.
  mutating func tunePiece() {
    var generator = SplitMix64(seed: pieceSeed, index: 0xA11A)
    piece.tuning.drift = generator.below(2 * rules.melody.drift + 1) - rules.melody.drift
    piece.tuning.contourOffset = generator.below(12)
  }

  // MARK: Events

  /// Composes an event: its degree is the downbeat of a bar that starts at once and cuts the previous bar. The order of the steps matters:
  /// each step uses what earlier steps have changed.
  ///
  /// - Parameters:
  ///   - event: It starts a new piece if the piece has ended or already has an event with this or a higher number.
  ///   - logged: The event's time in a match's log: the bar depends on this time, not on the time of arrival.
  /// - Returns: A cut and the whole bar. If the event ends the piece, `advance` returns the closing bars later.
  /// - Complexity: O(candidates × pairs × degrees × `melody.widest`); about a millisecond for a bar of eight pairs.
  public mutating func compose(_ event: Event, at moment: Tick, logged: Tick? = nil) -> [ScoreEvent] {
    var stroke = Stroke(event, at: moment, logged: logged, after: piece)
    cutLastBar(&stroke)
    takeTime(&stroke)
    takeEvent(&stroke)
    var plan = plan(stroke)
    piece.pendingSigns.scheduleNext(&plan, stroke.signs, rules)
    plan.signs = [plan.sign.name] + (plan.pending.map { ["owed:" + $0.rule.name] } ?? [])
    if let degree = event.removedDegree { soundRemovedMark(degree, &plan) }
    let problem = problem(stroke, &plan)
    let written = compose(plan, problem, at: moment, number: stroke.number)
    piece.pendingSigns.record(plan, written, by: event.voice)
    agenda.slots = Slots(start: moment, onsets: written.onsets, short: plan.short)
    let bar = changePedal(in: events(of: written), stroke) + [cut(at: moment)]
    return (bar + moveBed(to: event.root, at: moment) + scheduleNext(after: written, event, at: moment)).inOrder
  }

  /// Cuts the last bar, begins a new piece if the event starts one, and stores a snapshot for a take-back of the event.
  private mutating func cutLastBar(_ stroke: inout Stroke) {
    let (moment, before) = (stroke.moment, piece)
    stroke.cutNote = piece.pendingSigns.collectCutSigns(
      at: moment, elapsed: stroke.logged == nil ? nil : stroke.gap, book, isMatch: piece.isMatch, short: short, rules)
    stroke.sinceLongNote = piece.pendingSigns.sinceLongNote
    book.cut(at: moment)
    if stroke.startsOver {
      let bed = piece.bed
      resetPiece(number: stroke.number - 1, marks: Marks(), isFirst: false)
      piece.bed = bed
    }
    if !stroke.event.isFree {
      undoStack.append(Snapshot(of: piece.isMatch ? before : piece, novelty, at: moment))
    }
    stroke.overtakesTonic = agenda.pendingTonic.map { $0 >= moment } ?? false
    agenda.pendingTonic = nil
  }

  /// Adds a person's thinking time to the piece's thinking times, and counts a very short time as hurry.
  private mutating func takeTime(_ stroke: inout Stroke) {
    if let gap = stroke.gap, !autoReplyVoices.contains(stroke.event.voice) { piece.tempo.add(gap) }
    stroke.isHurried = stroke.gap.map { $0 < .seconds(rules.gestures.hurry) } ?? false
    piece.tempo.hurried = stroke.isHurried ? piece.tempo.hurried + 1 : 0
    piece.tempo.last = (stroke.moment, stroke.logged ?? stroke.moment)
  }

  /// Adds the event to the piece, and finds the signs for its facts.
  private mutating func takeEvent(_ stroke: inout Stroke) {
    var event = stroke.event
    stroke.stood = event.stood ?? -piece.standing
    event.number = stroke.number
    piece.events.append(event)
    (piece.number, piece.marks, piece.standing) = (stroke.number, event.marks, event.standing)
    // In free play `drone.bars` counts the bars of each sentence.
    if event.isFree, piece.events.dropLast().last?.sentence != event.sentence { piece.barNumber = 0 }
    piece.barNumber += 1
    let known = event.facts.union(stroke.isHurried ? [.hurry] : []).union(event.end?.facts ?? [])
    stroke.signs = rules.signs.filter { $0.applies(to: known) }
  }

  /// The plan of the event's bar. Later steps add a sign left over from an earlier bar, and the pair of a removed mark.
  private func plan(_ stroke: Stroke) -> BarPlan {
    let (event, sign) = (stroke.event, stroke.signs.first ?? rules.calm)
    let size = barSize(of: event, number: stroke.number, sinceLongNote: stroke.sinceLongNote)
    var plan = BarPlan(
      kind: .move, ply: stroke.number, voice: event.voice, count: size.pairs, sign: sign, short: size.short)
    (plan.root, plan.rhythm, plan.resolves) = (event.root, sign.rhythm, stroke.cutNote)
    plan.change = change
    plan.strikesDrone = strikesDrone(stroke)
    (plan.velocity, plan.tVelocity) = velocity(isHurried: stroke.isHurried)
    plan.awakensAt = sign.awakenM.map { Scale.step(event.degree - event.root) == $0 - 1 ? 0 : 1 }
    return plan
  }

  /// Whether the event strikes the low tonic: at a piece's start, in the bars listed in `drone.bars`, and if the root returns to the tonic.
  private func strikesDrone(_ stroke: Stroke) -> Bool {
    let comesHome =
      stroke.event.phase != nil && stroke.event.root == 0 && (piece.events.dropLast().last?.root ?? 0) != 0
    return stroke.startsOver || stroke.overtakesTonic || comesHome || rules.drone.bars.contains(piece.barNumber)
  }

  /// The velocity in per cent of the usual: for all notes, and an additional factor for T. Hurried events in a row get softer and softer.
  private func velocity(isHurried: Bool) -> (m: Int, t: Int) {
    let (loudness, law) = (loudness(at: piece.form), rules.gestures)
    guard isHurried else { return (loudness, 100) }
    return (loudness * (100 - law.hurryFade * min(piece.tempo.hurried, law.hurryMost)) / 100, law.hurryT)
  }

  /// Gives a removed mark its own pair, in which T is alone: the second pair, or the third if a sign needs the second.
  private func soundRemovedMark(_ degree: Int, _ plan: inout BarPlan) {
    let slot = plan.pending != nil || plan.awakensAt == 1 || plan.sign.secondPair != nil ? 2 : 1
    plan.removed = (slot, degree + rules.lowest)
    guard plan.count < slot + 2 else { return }
    // If a person plays, make the short notes shorter, so that the additional pairs do not delay the long note.
    if autoReplyVoices.count < 2 { plan.short *= Double(plan.count - 1) / Double(slot + 1) }
    plan.count = slot + 2
  }

  private func problem(_ stroke: Stroke, _ plan: inout BarPlan) -> MelodyProblem {
    let (event, sign) = (stroke.event, plan.sign)
    var problem = problem(plan, start: event.degree)
    problem.leans = sign.leans
    problem.goal = stroke.signs.lazy.compactMap { $0.goal }.first ?? .triad
    let standing = sign.turns ? stroke.stood : event.standing
    let contour = sign.contour ?? piece.contour(standing, number: stroke.number, rules.melody)
    problem.direction = contour.directions(problem.count, turning: sign.turns)
    if plan.longChain == 0 { plan.longChain = rules.chain(rules.longNotes) }
    fix(&problem, &plan, event)
    return problem
  }

  /// Releases the pedal for a moment at the start of a new piece, and half way at every `hurryPedal`th hurried move.
  private func changePedal(in bar: [ScoreEvent], _ stroke: Stroke) -> [ScoreEvent] {
    let isHalf = piece.tempo.hurried > 0 && piece.tempo.hurried % max(rules.gestures.hurryPedal, 1) == 0
    guard stroke.startsOver || isHalf else { return bar }
    let (amount, seconds) =
      stroke.startsOver ? (0, rules.pedal.newGame) : (rules.pedal.half, rules.pedal.halfSeconds)
    return bar.filter { $0.kind != .pedal || $0.frame != stroke.moment }
      + [(stroke.moment, amount), (stroke.moment + .seconds(seconds), 127)].map {
        .pedal(at: $0, to: $1, seconds: rules.pedal.fade, generation: book.generation)
      }
  }

  /// Schedules the music after the event's bar. At its long note the bed moves to the root that the next event is expected to have.
  private mutating func scheduleNext(after written: WrittenBar, _ event: Event, at moment: Tick) -> [ScoreEvent] {
    if let end = event.end {
      close(end, facts: [], from: written.end)
      return []
    }
    let events = moveBed(to: event.nextRoot, at: moment + (written.onsets.dropLast().last ?? .zero))
    if event.closes, let sentence = event.sentence {
      closeSentence(sentence, event, from: written.end)
    } else if event.isFree {
      agenda.wait(from: written.end, rules)
      agenda.next = written.end + .seconds(rules.phrases.after)
    } else {
      waitWithPhrases(Agenda.Phrasing(), from: written.end)
    }
    return events
  }

  /// The number of pairs of an event's bar, the long note's pair included, and the seconds of a short note. The usual number comes from
  /// `rules.bars`, in a long piece from `sentences.pairs`. A bar has fewer pairs if a person replies and the time is too short for them. If
  /// the music times the reply but not the event, the bar has `rules.bars.answered` pairs and a long note. Unless the music times both,
  /// short notes are so quick that the long note starts within `reach` per cent of the expected thinking time, and at most `apart` seconds
  /// after the last one heard. If notes as quick as `quickest` do not fit, the long note starts later.
  private func barSize(of event: Event, number: Int, sinceLongNote: Tick) -> (pairs: Int, short: Double) {
    let law = rules.bars
    let usualShorts =
      (event.phase.map { ScoreRules.Sentences.value(rules.sentences.pairs, at: $0) } ?? law.usualPairs(ply: number)) - 1
    let isAnswered = autoReplyVoices.contains(event.voice.other)
    if isAnswered && autoReplyVoices.contains(event.voice) { return (usualShorts + 1, short) }
    let left = law.apart - (sinceLongNote.seconds < law.apart ? sinceLongNote.seconds : 0)
    if event.end != nil { return (usualShorts + 1, min(short, max(left / Double(usualShorts), law.quickest))) }
    let expected = event.pace ?? piece.tempo.median(guess: law.expected)
    let time = min(expected * Double(law.reach) / 100, left)
    let fitting = max(Int(time / law.quickest), 1)
    var shorts =
      isAnswered
      ? min(max(usualShorts, law.answered.lowerBound), law.answered.upperBound) : max(min(usualShorts, fitting), 1)
    if event.phase != nil { shorts = min(shorts, max(rules.sentences.pairs.upperBound - 1, 1)) }
    // A removed mark needs its own pair, and a long piece past its first bars two short notes, at worst as quick as grace notes.
    let isCrowded = !isAnswered && (event.removedDegree != nil || event.phase != nil && usualShorts > 1)
    if event.removedDegree != nil || isCrowded { shorts = max(shorts, 2) }
    let least = isCrowded ? law.quickest * 0.4 : isAnswered || shorts > 1 ? law.quickest : law.quickest / 2
    return (shorts + 1, min(short, max(time / Double(shorts), least)))
  }

  /// The change that the last closed sentence makes to the next `sentences.lasting` bars, and its number in `sentences.changes`, from 1.
  var change: (number: Int, rule: ScoreRules.Sentences.Change)? {
    let changes = rules.sentences.changes
    let closed = piece.events.dropLast().filter { $0.closes || $0.endsSentence }
    guard !changes.isEmpty, !piece.isOver, piece.events.last?.end == nil, let last = closed.last?.number,
      piece.number - last <= rules.sentences.lasting
    else { return nil }
    let index = (closed.count - 1 + piece.tuning.contourOffset) % changes.count
    return (index + 1, changes[index])
  }

  // MARK: Matches

  /// Composes the rest of the last bar again if its event's logged time, which was unknown when the event sounded, changes the bar.
  public mutating func correctTime(_ logged: Tick, at moment: Tick) -> [ScoreEvent] {
    let shown = self
    guard piece.isMatch, let event = piece.events.last, let before = undoStack.popLast() else { return [] }
    before.restore(&piece, &novelty)
    let events = compose(event, at: before.moment, logged: logged).filter { $0.frame >= moment && $0.kind != .cut }
    if let bar = bars.last, let old = shown.bars.last, bar.index == old.index, bar.pairs == old.pairs {
      let (piece, undoStack) = (piece, undoStack)
      self = shown
      (self.piece, self.undoStack) = (piece, undoStack)
      return []
    }
    agenda.next = agenda.next.map { max($0, moment) }
    return ([cut(at: moment)] + events).inOrder
  }

  // MARK: Ends

  /// Ends the piece without an event: the arch starts at once. `nil` gives the piece up, which only cuts the music and releases the pedal.
  public mutating func end(_ end: End?, at moment: Tick) -> [ScoreEvent] {
    guard !piece.isOver else { return [] }
    book.cut(at: moment)
    guard let end else {
      piece.isOver = true
      let generation = book.newGeneration()
      agenda.stop()
      book.silence()
      return [
        cut(at: moment), .pedal(at: moment, to: 0, seconds: rules.pedal.newGame, generation: generation),
      ].inOrder
    }
    close(end, facts: end.facts.union([.offBoard]), from: moment)
    var events = performNextStep(at: moment)
    events.append(cut(at: moment))
    return events.inOrder
  }

  private mutating func close(_ end: End, facts: Set<Fact>, from moment: Tick) {
    piece.isOver = true
    if end.kind == .draw { piece.draw = 0 }
    piece.pendingSigns.clear()
    var ending = rules.ending(end.kind)
    if end.kind == .draw, !rules.draws.isEmpty {
      var form = piece.drama % rules.draws.count
      // A draw does not repeat the form of the session's last draw. A network match may: its listeners had different draws before.
      if form + 1 == station.draw, !piece.isMatch { form = (form + 1) % rules.draws.count }
      piece.draw = form + 1
      ending.contour = rules.draws[form]
    }
    var closing = Agenda.Closing(ending: ending, sizes: archSizes(), winner: end.winner, facts: facts)
    closing.motto = piece.motto(end.winner)
    closing.roots = [0]
    let quotes = end.sentences.filter { !piece.motto(end.winner, in: $0).isEmpty }
    if !quotes.isEmpty {
      // Each sentence's motto (first three degrees) has a bar of its own on the sentence's root; only the last motto's bar is on the tonic.
      let mottos = quotes.map { piece.motto(end.winner, in: $0) }
      closing.sizes = closing.sizes.filter { $0 > 3 } + mottos.map { max($0.count, 2) }
      closing.motto = mottos.flatMap { $0 }
      closing.roots = quotes.dropLast().map { root(of: $0) } + [0]
    }
    if !closing.motto.isEmpty {
      // The motto seldom ends on the tonic, so the coda follows it: a long note on the tonic.
      let coda = closing.sizes.count - (ending.endsWithTAlone ? 1 : 0)
      closing.coda = coda
      closing.sizes.insert(1, at: coda)
      closing.roots.append(0)
    }
    agenda.close(closing, from: moment)
  }

  private func root(of sentence: Int) -> Int { piece.events.first { $0.sentence == sentence }?.root ?? 0 }

  /// Closes a sentence with a half arch, whose last notes are the motto of the event's voice.
  private mutating func closeSentence(_ sentence: Int, _ event: Event, from moment: Tick) {
    var ending = ScoreRules.Ending()
    (ending.lastGoal, ending.augment, ending.tPace) = (.tonic, rules.win.augment, rules.win.tPace)
    let top = ScoreRules.Sentences.value(rules.sentences.arch, at: event.phase ?? 0)
    let sizes = Array(stride(from: max(top, rules.bars.shortest), through: rules.bars.shortest, by: -1))
    var closing = Agenda.Closing(ending: ending, sizes: sizes, winner: event.voice)
    closing.sentence = sentence
    closing.motto = piece.motto(event.voice, in: sentence)
    closing.roots = sizes.map { _ in event.root }
    // If a person plays, a reply waits only until the long note of the half arch's first bar has begun.
    let notes = autoReplyVoices.count > 1 ? sizes.reduce(0) { $0 + $1 - 1 + rules.bars.long } : sizes[0]
    closing.until = moment + .seconds(short * Double(notes))
    agenda.wait(from: moment, rules)
    agenda.close(closing, from: moment)
  }

  /// The numbers of pairs in the closing bars. If a person plays, the first is about as long as the longest bar before the end.
  private func archSizes() -> [Int] {
    let law = rules.bars
    if autoReplyVoices.count > 1 { return law.closing(plies: piece.equivalentEventNumber) }
    let longest = eventBars.dropLast().map { $0.pairs.count }.max() ?? 0
    let top = min(max(longest, law.shortest + 2), law.shortest + 4)
    return Array(stride(from: top, through: law.shortest, by: -1)) + [law.last]
  }

  /// The bars of the running piece's events, including events taken back.
  var eventBars: [Bar] { score.filter { $0.kind == .move } }
}

/// An event that is being composed, with the results of the steps of `compose`.
private struct Stroke {
  let event: Event
  let moment: Tick
  let logged: Tick?
  let number: Int
  let startsOver: Bool
  /// The time since the last event; in a match by the log, in whole slots of 0.25 s, so that it is equal for all listeners.
  let gap: Tick?
  /// The long note of the last bar, if the cut by this event kept the note from being heard.
  var cutNote: Note?
  /// The time between the start of the last long note that was heard and this event.
  var sinceLongNote = Tick.zero
  /// Whether the event comes before the scheduled low tonic of its piece.
  var overtakesTonic = false
  var isHurried = false
  /// The standing of the event's voice before the event: −1 lost, 0 even, 1 won.
  var stood = 0.0
  var signs: [SignRule] = []

  init(_ event: Event, at moment: Tick, logged: Tick?, after piece: Piece) {
    (self.event, self.moment, self.logged) = (event, moment, logged)
    number = event.number ?? (piece.isOver ? 1 : piece.number + 1)
    startsOver = piece.isOver || number <= piece.number
    gap = (startsOver ? nil : piece.tempo.last).map { last in
      logged.map { Tempo.whole($0 - last.logged) } ?? moment - last.moment
    }
  }
}
