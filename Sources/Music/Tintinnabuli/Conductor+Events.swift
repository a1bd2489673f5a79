import Base
import ScoreModel

/// What happens in pieces, and what is heard of it.
extension Conductor {
  // MARK: Beginnings

  /// Sounds the beginning of a session: the low tonic and, unless a piece is taken up again, the opening phrase.
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

  /// Begins a piece: the arch ends at once, the pedal is let go, the low tonic struck; the opening phrase goes on.
  ///
  /// - Parameters:
  ///   - moment: When.
  ///   - number: How many events the piece has had before it is heard.
  ///   - marks: What each voice holds.
  ///   - match: The seed of a piece that is composed by a log of its times, the same for all who listen.
  ///   - place: Where a match stands on the way through the tonics, from 0; it goes round.
  public mutating func begin(
    at moment: Tick, number: Int = 0, marks: Marks = Marks(), match: UInt64? = nil, place: Int = 0
  ) -> [ScoreEvent] {
    let isFirst = piecesBegun == 0 && piece.events.isEmpty
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
      (pieceSeed, novelty, inTime) = (match, Novelty(), [])
      tunePiece()
    }
    findTonic()
    piecesBegun += 1
    slots = Slots(start: moment, short: short)
    guard !isFirst else { return [] }
    let generation = book.newGeneration()
    let up = Tick.seconds(rules.pedal.newGame)
    var events = [
      cut(at: moment), .pedal(at: moment, to: 0, seconds: rules.pedal.newGame, generation: generation),
      .pedal(at: moment + up, to: 127, seconds: rules.pedal.fade, generation: generation),
      rules.drone.bed(at: moment, seconds: rules.pedal.newGame, generation: generation),
    ]
    events += tonic(at: moment + up, generation: generation)
    pendingTonic = moment + up
    slots = Slots(start: moment + up, short: short)
    book.silence()
    agenda.wait(from: moment + up, rules)
    return events.inOrder
  }

  private mutating func resetPiece(number: Int, marks: Marks, isFirst: Bool) {
    if !isFirst { pieceNumber &+= 1 }
    pieceSeed = pieceNumber == 0 ? seed : SplitMix64.first(seed: seed, index: pieceNumber)
    let opening = isFirst ? piece.choices : []
    piece = Piece()
    past = []
    (piece.number, piece.barNumber, piece.marks) = (number, number, marks)
    (piece.choices, piece.firstBar) = (opening, isFirst ? 0 : bars.count)
    tunePiece()
  }

  /// Each piece has its own register and order of contours, so that the tenth is not the first.
  mutating func tunePiece() {
    var generator = SplitMix64(seed: pieceSeed, index: 0xA11A)
    piece.drift = generator.below(2 * rules.melody.drift + 1) - rules.melody.drift
    piece.contourOffset = generator.below(12)
  }

  // MARK: Events

  /// Sounds an event: its degree is the downbeat of a bar that begins at once and cuts what was left of the one before.
  ///
  /// - Parameters:
  ///   - event: What happened. After an end, or with a number that the piece has had, it begins a piece nobody announced.
  ///   - moment: When it is heard.
  ///   - logged: The time that a match's log gives it, whenever its line arrived; its bar is composed by that.
  /// - Returns: A cut and the whole bar. An end brings its arch by `advance`.
  /// - Complexity: O(candidates × pairs × degrees × `melody.widest`); about a millisecond for a bar of eight pairs.
  public mutating func strike(_ event: Event, at moment: Tick, logged: Tick? = nil) -> [ScoreEvent] {
    let number = event.number ?? (piece.isOver ? 1 : piece.number + 1)
    let startsOver = piece.isOver || number <= piece.number
    // Over the network only the log's times, in whole slots, say what was heard of the bar before.
    let last = startsOver ? nil : piece.last
    let gap = last.map { last in logged.map { Tempo.whole($0 - last.logged) } ?? moment - last.moment }
    var before = piece
    let unsaid = piece.debts.collect(
      at: moment, elapsed: logged == nil ? nil : gap, book, isMatch: piece.isMatch, short: short, rules)
    let since = piece.debts.since
    book.cut(at: moment)
    if startsOver {
      let bed = piece.bed
      resetPiece(number: number - 1, marks: Marks(), isFirst: false)
      piece.bed = bed
    }
    // At one board what an event has cut off stays cut off when it is taken back, and the time until the next says nothing.
    if startsOver || !piece.isMatch {
      before = piece
      (before.last, before.hurried) = (nil, 0)
    }
    past.append(Piece.Before(piece: before, novelty: piece.isMatch ? novelty : nil, moment: moment))
    let overtakesTonic = pendingTonic.map { $0 >= moment } ?? false
    pendingTonic = nil
    if let gap, !inTime.contains(event.voice) { piece.tempo.hear(gap) }
    let isHurried = gap.map { $0 < .seconds(rules.gestures.hurry) } ?? false
    let hurried = isHurried ? piece.hurried + 1 : 0
    let stood = event.stood ?? -piece.standing
    piece.hurried = hurried
    piece.last = (moment, logged ?? moment)
    var told = event
    told.number = number
    piece.events.append(told)
    (piece.number, piece.marks, piece.standing) = (number, event.marks, event.standing)
    piece.barNumber += 1

    let known = event.facts.union(isHurried ? [.hurry] : []).union(event.end?.facts ?? [])
    let signs = rules.signs.filter { $0.applies(to: known) }
    let sign = signs.first ?? rules.calm
    let length = length(of: event, number: number, since: since)
    var plan = BarPlan(
      kind: .move, ply: number, voice: event.voice, count: length.count, sign: sign, short: length.short)
    plan.root = event.root
    plan.resolves = unsaid
    // The low tonic tells of the way: a piece that comes home strikes it too.
    let comesHome = event.phase != nil && event.root == 0 && (piece.events.dropLast().last?.root ?? 0) != 0
    plan.strikesDrone = startsOver || overtakesTonic || comesHome || rules.drone.bars.contains(piece.barNumber)
    plan.velocity = loudness(at: piece.form)
    if isHurried {
      plan.velocity = plan.velocity * (100 - rules.gestures.hurryFade * min(hurried, rules.gestures.hurryMost)) / 100
      plan.tVelocity = rules.gestures.hurryT
    }
    plan.awakensAt = sign.awakenM.map { Scale.step(event.degree - event.root) == $0 - 1 ? 0 : 1 }
    piece.debts.settle(&plan, signs, rules)
    plan.signs = [sign.name] + (plan.owed.map { ["owed:" + $0.rule.name] } ?? [])
    if let degree = event.leaves {
      // The second pair is the first that a sign may need.
      let slot = plan.owed != nil || plan.awakensAt == 1 || sign.secondPair != nil ? 2 : 1
      plan.leaves = (slot, degree + rules.lowest)
      if plan.count < slot + 2 {
        // In the same time, where somebody is waited for.
        if inTime.count < 2 { plan.short *= Double(plan.count - 1) / Double(slot + 1) }
        plan.count = slot + 2
      }
    }

    var problem = problem(plan, start: event.degree)
    problem.leans = sign.leans
    problem.goal = signs.lazy.compactMap { $0.goal }.first ?? .triad
    let contour = sign.contour ?? piece.contour(sign.turns ? stood : event.standing, number: number, rules.melody)
    problem.direction = contour.directions(problem.count, turning: sign.turns)
    if plan.longChain == 0 { plan.longChain = rules.chain(rules.longNotes) }
    fix(&problem, &plan, event)

    let written = compose(plan, problem, at: moment, number: number)
    piece.debts.say(plan, written, by: event.voice)
    slots = Slots(start: moment, onsets: written.onsets, short: plan.short)
    // The old piece's pedal is let go under the downbeat and caught again when the hands have moved on; a hurried one's half.
    let isHalf = hurried > 0 && hurried % max(rules.gestures.hurryPedal, 1) == 0
    let dip = startsOver ? (0, rules.pedal.newGame) : isHalf ? (rules.pedal.half, rules.pedal.halfSeconds) : nil
    var events = self.events(of: written)
    if let (amount, seconds) = dip {
      events.removeAll { $0.kind == .pedal && $0.frame == moment }
      events += [(moment, amount), (moment + .seconds(seconds), 127)].map {
        .pedal(at: $0, to: $1, seconds: rules.pedal.fade, generation: book.generation)
      }
    }
    events.append(cut(at: moment))
    events += lead(to: event.root, at: moment)
    if let end = event.end {
      close(end, facts: [], from: written.end)
    } else {
      // The next event's root is prepared.
      events += lead(to: event.leads, at: moment + (written.onsets.dropLast().last ?? .zero))
    }
    if event.end == nil, event.closes, let sentence = event.sentence {
      closeSentence(sentence, event, from: written.end)
    } else if event.end == nil {
      waitWithPhrases(Agenda.Phrasing(), from: written.end)
    }
    return events.inOrder
  }

  /// How many pairs the bar of an event has, and how long its short notes are.
  ///
  /// Where nobody is waited for (both voices in time, an end) bars grow by the law. An opponent in musical time answers on
  /// the long note, so that a person's bar has what it needs. A person's answer is expected after the median of the piece
  /// so far: the long note begins when `reach` per cent of that are over, by quicker short notes first, then by fewer.
  /// None begins later than `apart` seconds after the last one, which was heard `since`.
  private func length(of event: Event, number: Int, since: Tick) -> (count: Int, short: Double) {
    let law = rules.bars
    let full =
      (event.phase.map { ScoreRules.Sentences.value(rules.sentences.pairs, at: $0) } ?? law.pairs(ply: number)) - 1
    let isAnswered = inTime.contains(event.voice.other)
    if isAnswered && inTime.contains(event.voice) { return (full + 1, short) }
    let left = law.apart - (since.seconds < law.apart ? since.seconds : 0)
    if event.end != nil { return (full + 1, min(short, max(left / Double(full), law.quickest))) }
    let expected = event.pace ?? piece.tempo.median(guess: law.expected)
    let time = min(expected * Double(law.reach) / 100, left)
    let fitting = max(Int(time / law.quickest), 1)
    var shorts =
      isAnswered ? min(max(full, law.answered.lowerBound), law.answered.upperBound) : max(min(full, fitting), 1)
    if event.phase != nil { shorts = min(shorts, max(rules.sentences.pairs.upperBound - 1, 1)) }
    // What is taken away needs a pair of its own, and what is past its opening says more than one note, however little time
    // there is: by notes as quick as grace notes.
    let isCrowded = !isAnswered && (event.leaves != nil || event.phase != nil && full > 1)
    if event.leaves != nil || isCrowded { shorts = max(shorts, 2) }
    let least = isCrowded ? law.quickest * 0.4 : isAnswered || shorts > 1 ? law.quickest : law.quickest / 2
    return (shorts + 1, min(short, max(time / Double(shorts), least)))
  }

  // MARK: Matches

  /// Tells the time that a match's log gives the last event, which was heard before that was known: where its bar is
  /// another by that, the rest of it sounds as that one does.
  public mutating func settle(_ logged: Tick, at moment: Tick) -> [ScoreEvent] {
    let shown = self
    guard piece.isMatch, let event = piece.events.last, let before = past.popLast() else { return [] }
    restore(before)
    let events = strike(event, at: before.moment, logged: logged).filter { $0.frame >= moment && $0.kind != .cut }
    if let bar = bars.last, let old = shown.bars.last, bar.index == old.index, bar.pairs == old.pairs {
      let (piece, past) = (piece, past)
      self = shown
      (self.piece, self.past) = (piece, past)
      return []
    }
    agenda.next = agenda.next.map { max($0, moment) }
    return ([cut(at: moment)] + events).inOrder
  }

  /// Makes the piece what it was before its last event; what was echoed stays so.
  mutating func restore(_ before: Piece.Before) {
    let echoes = piece.echoes
    piece = before.piece
    piece.echoes = echoes
    novelty = before.novelty ?? novelty
  }

  // MARK: Ends

  /// Ends the piece without an event: its arch begins on the spot. A piece that is over already stays so.
  ///
  /// - Parameter end: How it ends; `nil` where it is given up, which lets the pedal go and closes nothing.
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
    var events = goOn(at: moment)
    events.append(cut(at: moment))
    return events.inOrder
  }

  private mutating func close(_ end: End, facts: Set<Fact>, from moment: Tick) {
    piece.isOver = true
    if end.kind == .draw { piece.draw = 0 }
    piece.debts.forgive()
    var ending = rules.ending(end.kind)
    if end.kind == .draw, !rules.draws.isEmpty {
      var form = piece.drama % rules.draws.count
      // Who listens to a match has heard other games before: there the game alone decides.
      if form + 1 == station.draw, !piece.isMatch { form = (form + 1) % rules.draws.count }
      piece.draw = form + 1
      ending.contour = rules.draws[form]
    }
    var closing = Agenda.Closing(ending: ending, sizes: archSizes(), winner: end.winner, facts: facts)
    closing.motto = piece.motto(end.winner)
    // The last bar is at home.
    closing.roots = [0]
    let quotes = end.sentences.filter { !piece.motto(end.winner, in: $0).isEmpty }
    if !quotes.isEmpty {
      // Each motto has a bar of its own, on the root it was played on.
      let mottos = quotes.map { piece.motto(end.winner, in: $0) }
      closing.sizes = closing.sizes.filter { $0 > 3 } + mottos.map { max($0.count, 2) }
      closing.motto = mottos.flatMap { $0 }
      closing.roots = quotes.dropLast().map { root(of: $0) } + [0]
    }
    if !closing.motto.isEmpty {
      // A motto seldom ends at home: a long note on the tonic follows it, before T is left alone.
      let coda = closing.sizes.count - (ending.endsWithTAlone ? 1 : 0)
      closing.coda = coda
      closing.sizes.insert(1, at: coda)
      closing.roots.append(0)
    }
    agenda.close(closing, from: moment)
  }

  /// The root of a sentence: that of its first event.
  private func root(of sentence: Int) -> Int { piece.events.first { $0.sentence == sentence }?.root ?? 0 }

  /// Half an arch closes a sentence; its last notes are the motto that the voice of the event had in it.
  private mutating func closeSentence(_ sentence: Int, _ event: Event, from moment: Tick) {
    var ending = ScoreRules.Ending()
    (ending.lastGoal, ending.augment, ending.tPace) = (.tonic, rules.win.augment, rules.win.tPace)
    let top = ScoreRules.Sentences.value(rules.sentences.arch, at: event.phase ?? 0)
    let sizes = Array(stride(from: max(top, rules.bars.shortest), through: rules.bars.shortest, by: -1))
    var closing = Agenda.Closing(ending: ending, sizes: sizes, winner: event.voice)
    closing.sentence = sentence
    closing.motto = piece.motto(event.voice, in: sentence)
    closing.roots = sizes.map { _ in event.root }
    // Where somebody is waited for the answer comes on the long note of its first bar.
    let notes = inTime.count > 1 ? sizes.reduce(0) { $0 + $1 - 1 + rules.bars.long } : sizes[0]
    closing.until = moment + .seconds(short * Double(notes))
    agenda.wait(from: moment, rules)
    agenda.close(closing, from: moment)
  }

  /// Pairs of the bars of the arch: by the law where the piece's bars grew by it; else four to six bars, which fall from
  /// the longest of the piece but its last.
  private func archSizes() -> [Int] {
    let law = rules.bars
    if inTime.count > 1 { return law.closing(plies: piece.grown) }
    let longest = eventBars.dropLast().map { $0.pairs.count }.max() ?? 0
    let top = min(max(longest, law.shortest + 2), law.shortest + 4)
    return Array(stride(from: top, through: law.shortest, by: -1)) + [law.last]
  }

  /// The bars of the running piece's events, those taken back among them.
  var eventBars: [Bar] { score.filter { $0.kind == .move } }
}
