import Base
import ScoreModel
import TicTacToe

/// What players do, and what is heard of it.
extension Conductor {
  // MARK: Beginnings

  mutating func open(at moment: Tick, resuming: Bool) -> [ScoreEvent] {
    let generation = newGeneration()
    var events = [
      ScoreEvent(frame: moment, generation: generation, kind: .pedal, amount: 127),
      rules.drone.bed(at: moment, seconds: rules.drone.fade, generation: generation),
    ]
    events += tonic(at: moment + .seconds(rules.opening.drone), generation: generation)
    waitingSince = moment
    droneAt = moment + .seconds(rules.drone.every)
    course = resuming ? .waiting(echoes: 0) : .opening(step: 0)
    nextAt = resuming ? nil : moment + .seconds(rules.opening.center)
    return events
  }

  /// A new game: the arch ends at once, the pedal is let go, the low tonic struck; the opening phrase goes on. `match`
  /// is the seed of one that is composed by its log.
  mutating func begin(_ position: Position, human: Player?, match: UInt64? = nil, at moment: Tick) -> [ScoreEvent] {
    let isFirst = gamesBegun == 0 && game.facts.isEmpty
    if !isFirst { cutBars(at: moment) }
    if !game.isMatch && !game.facts.isEmpty {
      station = station.next(awoke: game.facts.contains { $0.isAwakening }, of: home.tonics.count)
    }
    resetGame(position, human: human, isFirst: isFirst)
    if let match {
      game.isMatch = true
      (gameSeed, novelty, inTime) = (match, Novelty(), [])
      tuneGame()
    }
    findTonic()
    gamesBegun += 1
    slots = Slots(start: moment, short: short)
    guard !isFirst else { return [] }
    let generation = newGeneration()
    let up = Tick.seconds(rules.pedal.newGame)
    var events = [
      ScoreEvent(frame: moment, generation: generation, kind: .cut),
      .pedal(at: moment, to: 0, seconds: rules.pedal.newGame, generation: generation),
      .pedal(at: moment + up, to: 127, seconds: rules.pedal.fade, generation: generation),
      rules.drone.bed(at: moment, seconds: rules.pedal.newGame, generation: generation),
    ]
    events += tonic(at: moment + up, generation: generation)
    pendingTonic = moment + up
    slots = Slots(start: moment + up, short: short)
    current = nil
    previous = nil
    course = .waiting(echoes: 0)
    wait(from: moment + up)
    return events
  }

  private mutating func resetGame(_ position: Position, human: Player?, isFirst: Bool) {
    if !isFirst { gameNumber &+= 1 }
    gameSeed = gameNumber == 0 ? seed : SplitMix64.first(seed: seed, index: gameNumber)
    let opening = isFirst ? game.choices : []
    game = GameScore()
    past = []
    asides = []
    game.choices = opening
    game.firstBar = isFirst ? 0 : bars.count
    game.position = position
    game.human = human
    game.barNumber = position.ply
    tuneGame()
  }

  /// Each game has its own register and order of contours, so that the tenth is not the first.
  mutating func tuneGame() {
    var generator = SplitMix64(seed: gameSeed, index: 0xA11A)
    game.drift = generator.below(2 * rules.melody.drift + 1) - rules.melody.drift
    game.contourOffset = generator.below(12)
  }

  // MARK: Moves

  mutating func move(_ facts: MoveFacts, at moment: Tick, logged: Tick?) -> [ScoreEvent] {
    // A move after the end, or out of order, begins a game nobody announced.
    let isUnannounced = game.isOver || facts.before.ply < game.position.ply
    // Over the network only the log's times, in whole slots, say what was heard of the bar before.
    let last = isUnannounced ? nil : game.lastMove
    let gap = last.map { last in logged.map { Tempo.whole($0 - last.logged) } ?? moment - last.moment }
    var before = game
    let (unsaid, since) = owe(after: logged == nil ? nil : gap, at: moment)
    cutBars(at: moment)
    if isUnannounced { resetGame(facts.before, human: game.human, isFirst: false) }
    // At one board what a move has cut off stays cut off when it is taken back, and the time until the next says nothing.
    if isUnannounced || !game.isMatch {
      before = game
      (before.lastMove, before.hurried) = (nil, 0)
    }
    past.append(Past(game: before, novelty: game.isMatch ? novelty : nil, moment: moment))
    let overtakesTonic = pendingTonic.map { $0 >= moment } ?? false
    pendingTonic = nil
    if let gap, !inTime.contains(facts.mover) { game.tempo.hear(gap) }
    let isHurried = gap.map { $0 < .seconds(rules.gestures.hurry) } ?? false
    let hurried = isHurried ? game.hurried + 1 : 0
    game.hurried = hurried
    game.lastMove = (moment, logged ?? moment)
    game.facts.append(facts)
    game.position = facts.after
    game.barNumber += 1

    let known = Self.facts(of: facts).union(isHurried ? [.hurry] : []).union(facts.outcome.map { result($0) } ?? [])
    let signs = rules.signs.filter { $0.applies(to: known) }
    let sign = signs.first ?? rules.calm
    let length = length(of: facts, since: since)
    var plan = BarPlan(
      kind: .move, ply: facts.ply, hand: facts.mover, count: length.count, sign: sign, short: length.short)
    plan.resolves = unsaid
    plan.strikesDrone = isUnannounced || overtakesTonic || rules.drone.bars.contains(game.barNumber)
    if isHurried {
      plan.velocity = 100 - rules.gestures.hurryFade * min(hurried, rules.gestures.hurryMost)
      plan.tVelocity = rules.gestures.hurryT
    }
    let downbeat = rules.scale.degree(of: rules.cells[facts.square.index].midi) ?? 0
    plan.awakensAt = sign.awakenM.map { (downbeat % 7 + 7) % 7 == $0 - 1 ? 0 : 1 }
    settleOwed(&plan, signs)
    plan.signs = [sign.name] + (plan.owed.map { ["owed:" + $0.rule.name] } ?? [])

    var problem = problem(plan, mover: facts.mover, position: facts.after, start: facts.square)
    problem.leans = sign.leans
    problem.goal = sign.goal ?? (facts.threats.isEmpty ? .triad : .tension)
    let standing = sign.turns ? facts.valueBefore : facts.valueAfter
    let contour = sign.contour ?? contour(standing, number: facts.ply)
    problem.direction = contour.directions(plan.count, turning: sign.turns)
    if plan.longChain == 0 { plan.longChain = rules.chain(rules.longNotes) }
    fix(&problem, &plan, facts)

    let written = compose(plan, problem, at: moment, number: facts.ply)
    game.said = Said(
      start: moment, onsets: written.onsets, goal: written.bar.pairs.last?.m, signs: spoken(plan, by: facts.mover))
    slots = Slots(start: moment, onsets: written.onsets, short: plan.short)
    // The old game's pedal is let go under the downbeat and caught again when the hands have moved on; a hurried one's half.
    let isHalf = hurried > 0 && hurried % max(rules.gestures.hurryPedal, 1) == 0
    let dip = isUnannounced ? (0, rules.pedal.newGame) : isHalf ? (rules.pedal.half, rules.pedal.halfSeconds) : nil
    var events = written.events(generation: generation, silencesT: connectionLost)
    if let (amount, seconds) = dip {
      events.removeAll { $0.kind == .pedal && $0.frame == moment }
      events += [(moment, amount), (moment + .seconds(seconds), 127)].map {
        .pedal(at: $0, to: $1, seconds: rules.pedal.fade, generation: generation)
      }
    }
    events.append(ScoreEvent(frame: moment, generation: generation, kind: .cut))
    if let outcome = facts.outcome {
      game.isOver = true
      close(outcome, plies: facts.ply, facts: [], from: written.end)
    } else {
      course = .bar
      wait(from: written.end)
    }
    return events
  }

  /// The facts of a move that follow from the rules of the game alone.
  package static func facts(of move: MoveFacts) -> Set<Fact> {
    var facts: Set<Fact> = []
    if !move.threats.isEmpty { facts.insert(.threat) }
    if !move.opposingThreats.isEmpty { facts.insert(.opposingThreat) }
    if move.isFork { facts.insert(.fork) }
    if move.isBlock { facts.insert(.block) }
    if move.isMistake { facts.insert(.mistake) }
    if move.isOnlyMove { facts.insert(.onlyMove) }
    if move.isAwakening { facts.insert(.awakening) }
    switch move.outcome {
    case .win: facts.insert(.win)
    case .draw: facts.insert(.draw)
    case nil: break
    }
    return facts
  }

  func result(_ outcome: Outcome) -> Set<Fact> {
    switch outcome {
    case .draw: [.draw]
    case .win(let winner): game.human.map { $0 != winner } ?? false ? [.win, .loss] : [.win]
    }
  }

  func contour(_ standing: Value, number: Int) -> ScoreRules.Contour {
    let list =
      switch standing {
      case .win: rules.melody.ahead
      case .draw: rules.melody.even
      case .loss: rules.melody.behind
      }
    return list.isEmpty ? .arch : list[(game.contourOffset + number) % list.count]
  }

  /// The signs a bar says, and the pairs they are heard on.
  private func spoken(_ plan: BarPlan, by mover: Player) -> [(debt: Debt, pair: Int)] {
    var signs: [(debt: Debt, pair: Int)] = []
    if let owed = plan.owed { signs.append((Debt(sign: owed.rule.name, mover: owed.mover), 1)) }
    if !plan.sign.when.isEmpty {
      let isSecond = plan.sign.secondPair != nil || plan.awakensAt == 1 && plan.owed?.rule.awakenM == nil
      signs.append((Debt(sign: plan.sign.name, mover: mover), isSecond ? 1 : 0))
    }
    return signs
  }

  /// Signs of the last move's bar that had no time to sound are owed. Returns the long note that the cut keeps from being
  /// heard, of that bar or of an echo: the next downbeat resolves it; and how long ago the last one was heard. `elapsed`
  /// is the bar's time where a log knows it.
  private mutating func owe(after elapsed: Tick?, at moment: Tick) -> (unsaid: Note?, since: Tick) {
    // A note needs a moment to be heard, what begins just before the cut counts as cut; and two quick ones' time to be long.
    let (heard, long) = (Tick.seconds(rules.gestures.heard), Tick.seconds(2 * rules.bars.quickest))
    var unsaid: Note?
    var since = Tick.zero
    func hear(_ note: Note, for sounded: Tick, byAll: Bool = true) {
      if sounded < heard { unsaid = note } else if byAll, sounded >= long { since = sounded }
    }
    if let said = game.said {
      let elapsed = elapsed ?? moment - said.start
      since = game.since + elapsed
      for (debt, pair) in said.signs where pair < said.onsets.count && said.onsets[pair] + heard > elapsed {
        game.owed.append(debt)
      }
      if let goal = said.goal { hear(goal, for: elapsed - goal.onset) }
      // Echoes are each listener's own: a match goes by when the first must have come.
      if game.isMatch { since = min(since, .seconds(short * Double(rules.bars.long) + rules.echoes.after)) }
      game.said = nil
    }
    let begun = [current, previous].compactMap { $0 }.first { $0.written.bar.start <= moment }
    if let bar = begun?.written.bar, bar.kind == .echo, begun?.cut == nil, let note = bar.pairs.last?.m {
      hear(note, for: moment - bar.start - note.onset, byAll: !game.isMatch)
    }
    game.since = since
    return (rules.gestures.resolve > 0 ? unsaid : nil, since)
  }

  /// Takes the owed sign that comes first, and owes what this move says besides its own sign.
  private mutating func settleOwed(_ plan: inout BarPlan, _ signs: [SignRule]) {
    let covered = Set(plan.sign.covers)
    let isDraw = plan.sign.when.contains(.draw)
    let due = rules.signs.first { sign in
      // The awakening is the one sign a result does not say too; in a draw nothing had awoken.
      let isSaid = sign.name == plan.sign.name || (covered.contains(sign.name) && (sign.awakenM == nil || isDraw))
      return game.owed.contains { $0.sign == sign.name } && !isSaid
    }
    // The second pair has room for one: where an awakening takes it, debts wait.
    if let due, plan.count > 2 || plan.ply > 1, plan.awakensAt != 1 {
      plan.owed = game.owed.first { $0.sign == due.name }.map { (due, $0.mover) }
      game.owed.removeAll { $0.sign == due.name }
    }
    if !plan.sign.when.allSatisfy({ ![.win, .loss, .draw].contains($0) }) {
      game.owed = []
      return
    }
    var said = covered.union([plan.sign.name])
    for sign in signs.dropFirst() where !sign.when.isEmpty && !said.contains(sign.name) {
      if let mover = plan.hand, !game.owed.contains(where: { $0.sign == sign.name }) {
        game.owed.append(Debt(sign: sign.name, mover: mover))
      }
      said.formUnion(sign.covers)
    }
  }

  /// The melody question of a bar before its facts are added.
  func problem(_ plan: BarPlan, mover: Player?, position: Position, start: Square?) -> MelodyProblem {
    func degrees(_ marks: SquareSet) -> [Int] {
      marks.compactMap { rules.scale.degree(of: rules.cells[$0.index].midi) }
    }
    let low = rules.scale.degree(atOrAbove: rules.melody.register.lowerBound.midi)
    let high = rules.scale.degree(atOrAbove: rules.melody.register.upperBound.midi)
    var fixed: [Int: Int] = [:]
    if let start { fixed[0] = rules.scale.degree(of: rules.cells[start.index].midi) }
    return MelodyProblem(
      count: plan.count, fixed: fixed, goal: .triad, direction: [Int](repeating: 0, count: plan.count), leans: false,
      center: (low + high) / 2 + game.drift, own: mover.map { degrees(position[$0]) } ?? [],
      motto: motto(mover), opposing: mover.map { degrees(position[$0.opponent]) } ?? [])
  }

  /// A player's motto: the first three downbeats of his, in the order of play.
  func motto(_ player: Player?) -> [Int] {
    game.facts.filter { $0.mover == player }.prefix(3).compactMap {
      rules.scale.degree(of: rules.cells[$0.square.index].midi)
    }
  }

  /// Settles the notes the signs ask for.
  private func fix(_ problem: inout MelodyProblem, _ plan: inout BarPlan, _ facts: MoveFacts) {
    guard let first = problem.fixed[0] else { return }
    var next = 1
    if plan.owed?.rule.awakenM != nil { plan.awakensAt = 1 }
    if plan.awakensAt == 1, let step = plan.owed?.rule.awakenM ?? plan.sign.awakenM {
      problem.fixed[1] = nearest(step: step - 1, to: first)
      next = 2
    } else if let move = plan.owed?.rule.secondPair ?? plan.sign.secondPair, plan.count > 1 {
      problem.fixed[1] = first + move
      next = 2
    }
    if plan.sign.visitsLine { visitLine(&problem, from: next, facts) }
  }

  /// The line's other cells follow, the nearer first; before a wide leap one note is left free to bridge it. A cell
  /// that is out of reach even so sounds in the octave that is nearest.
  private func visitLine(_ problem: inout MelodyProblem, from slot: Int, _ facts: MoveFacts) {
    var slot = slot
    var last = problem.fixed[slot - 1] ?? problem.fixed[0] ?? 0
    var left = facts.winningCells.subtracting(SquareSet(facts.square)).compactMap {
      rules.scale.degree(of: rules.cells[$0.index].midi)
    }
    while let cell = left.min(by: { (abs($0 - last), $0) < (abs($1 - last), $1) }), slot < problem.count - 1 {
      left.removeAll { $0 == cell }
      var reach = rules.melody.widest
      if abs(cell - last) > rules.melody.bridge && slot + 1 < problem.count - 1 {
        slot += 1
        reach *= 2
      }
      let next = abs(cell - last) <= reach ? cell : nearest(step: (cell % 7 + 7) % 7, to: last)
      problem.fixed[slot] = next
      last = next
      slot += 1
    }
  }

  /// The nearest other note of a step within the compass; the lower one of two as near.
  private func nearest(step: Int, to degree: Int) -> Int {
    let compass = rules.melody.compass
    let candidates = (degree - 7...degree + 7).filter {
      ($0 % 7 + 7) % 7 == step && $0 != degree
        && (compass.lowerBound.midi...compass.upperBound.midi).contains(rules.scale.midi($0))
    }
    return candidates.min { (abs($0 - degree), $0) < (abs($1 - degree), $1) } ?? degree
  }

  // MARK: Matches

  /// The log has given the last move its time: where its bar is another by that, the rest of it sounds as that one does.
  mutating func settle(_ logged: Tick?, at moment: Tick) -> [ScoreEvent] {
    let shown = self
    guard game.isMatch, let logged, let facts = game.facts.last, let before = past.popLast() else { return [] }
    restore(before)
    let events = move(facts, at: before.moment, logged: logged).filter { $0.frame >= moment && $0.kind != .cut }
    if let bar = bars.last, let old = shown.bars.last, bar.index == old.index, bar.pairs == old.pairs {
      let (game, past) = (game, past)
      self = shown
      (self.game, self.past) = (game, past)
      return []
    }
    nextAt = nextAt.map { max($0, moment) }
    return [ScoreEvent(frame: moment, generation: generation, kind: .cut)] + events
  }

  /// Makes the game what it was before its last move; what was echoed stays so.
  mutating func restore(_ before: Past) {
    let echoed = game.echoed
    game = before.game
    game.echoed = echoed
    novelty = before.novelty ?? novelty
  }

  // MARK: Ends

  /// An end without a move closes the arch on the spot; giving the game up lets the pedal go.
  mutating func end(_ end: GameEnd, at moment: Tick) -> [ScoreEvent] {
    guard !game.isOver else { return [] }
    game.isOver = true
    cutBars(at: moment)
    guard let outcome = end.outcome else {
      let generation = newGeneration()
      course = .silent
      nextAt = nil
      droneAt = nil
      current = nil
      return [
        ScoreEvent(frame: moment, generation: generation, kind: .cut),
        .pedal(at: moment, to: 0, seconds: rules.pedal.newGame, generation: generation),
      ]
    }
    close(outcome, plies: game.position.ply, facts: result(outcome).union([.offBoard]), from: moment)
    var events = goOn(at: moment)
    events.append(ScoreEvent(frame: moment, generation: generation, kind: .cut))
    return events
  }

  private mutating func close(_ outcome: Outcome, plies: Int, facts: Set<Fact>, from moment: Tick) {
    var winner: Player?
    if case .win(let player) = outcome { winner = player }
    let hasLost = result(outcome).contains(.loss)
    let ending = winner == nil ? rules.draw : hasLost ? rules.loss : rules.win
    course = .closing(Closing(ending: ending, sizes: archSizes(plies: plies), winner: winner, facts: facts))
    nextAt = moment
    droneAt = nil
    game.owed = []
    game.said = nil
  }

  /// Pairs of the bars of the arch: this game's own, backwards and falling; by the law where its bars grew by it.
  private func archSizes(plies: Int) -> [Int] {
    if inTime.count > 1 { return rules.bars.closing(plies: plies) }
    var sizes: [Int] = []
    var last = Int.max
    for bar in gameBars.reversed() where bar.pairs.count < last && bar.pairs.count >= rules.bars.shortest {
      last = bar.pairs.count
      sizes.append(last)
    }
    return sizes.dropFirst() + [rules.bars.last]
  }

  /// The bars of the running game's moves, those taken back among them.
  var gameBars: [Bar] { score.filter { $0.kind == .move } }
}

extension SplitMix64 {
  /// The first number of a generator.
  static func first(seed: UInt64, index: UInt64) -> UInt64 {
    var generator = SplitMix64(seed: seed, index: index)
    return generator.next()
  }
}

extension Scale {
  /// The degree of the first note of the scale at or above a MIDI note.
  func degree(atOrAbove midi: Int) -> Int {
    var midi = midi
    while true {
      if let degree = degree(of: midi) { return degree }
      midi += 1
    }
  }
}
