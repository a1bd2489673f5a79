import ScoreModel
import TicTacToe

/// Small answers: undo, refusal, preview, connection, clock.
extension Conductor {
  /// The last bar's pairs backwards, softly; moves taken back at the same moment sound as one gesture.
  mutating func undo(at moment: Tick) -> [ScoreEvent] {
    guard let facts = game.facts.last, let before = past.popLast() else { return [] }
    let choices = facts.ply < game.choices.count ? game.choices[facts.ply] : []
    asides.append(Aside(frame: before.moment.rawValue, kind: .taken(facts.square, choices: choices)))
    asides.append(Aside(frame: moment.rawValue, kind: .undone))
    restore(before)
    let gesture = bars.last.flatMap { $0.kind == .undo && $0.start == moment ? $0.pairs : nil } ?? []
    let source = bars.last { $0.kind == .move && $0.ply == facts.ply }
    cutBars(at: moment)
    guard let source else { return [] }
    let step = Tick.seconds(rules.gestures.undoShort / pace)
    let pairs = (gesture + source.sounding.reversed()).enumerated().map { index, pair in
      plain(pair, isLong: false, share: index < gesture.count ? 100 : rules.gestures.undoVelocity) {
        ($0.onset, $0.duration) = (Tick(rawValue: step.rawValue * Int64(index)), step)
      }
    }
    let written = WrittenBar(
      plain: Bar(
        index: bars.count, kind: .undo, ply: facts.ply, isX: source.isX, start: moment, pairs: pairs, signs: ["undo"]))
    take(written)
    course = .bar
    wait(from: written.end)
    return [ScoreEvent(frame: moment, generation: generation, kind: .cut)]
      + written.events(generation: generation, silencesT: connectionLost)
  }

  mutating func knock(at moment: Tick) -> [ScoreEvent] {
    [
      ScoreEvent(
        frame: moment, generation: newGeneration(), kind: .knock, velocity: UInt8(clamping: rules.gestures.knock))
    ]
  }

  /// The focused cell's pitch in the hand of the side to move, as a sine, barely audible.
  mutating func preview(_ square: Square?, at moment: Tick) -> [ScoreEvent] {
    let octaves = rules.hand(game.position.turn).octaves
    let pitch = square.map { Pitch(rules.cells[$0.index].midi + 12 * octaves) }
    return [
      ScoreEvent(
        frame: moment, generation: newGeneration(), kind: .preview, pitch: pitch ?? rules.cells[4],
        amount: pitch == nil ? 0 : 127)
    ]
  }

  /// T, written as ever, falls silent at once and comes back with the next bar.
  mutating func connection(lost: Bool, at moment: Tick) -> [ScoreEvent] {
    let isNews = lost && !connectionLost
    if lost != connectionLost { asides.append(Aside(frame: moment.rawValue, kind: .connection(lost: lost))) }
    connectionLost = lost
    let open = [previous, current].compactMap { $0 }.filter { $0.end > moment }
    guard isNews, !open.isEmpty else { return [] }
    let generation = newGeneration()
    var events = [ScoreEvent(frame: moment, generation: generation, kind: .cut)]
    for sounding in open {
      let bar = sounding.written.bar
      let from = max(moment - bar.start, .zero)
      // What a cut has dropped already does not come back.
      events += sounding.written.events(generation: generation, from: from, silencesT: true).filter {
        $0.frame < sounding.end
      }
    }
    current?.generation = generation
    return events
  }

  /// While a clock is under ten seconds the bed pulses.
  mutating func clock(low: Bool, at moment: Tick) -> [ScoreEvent] {
    if low {
      if pulseAt == nil { pulseAt = moment }
      return []
    }
    guard pulseAt != nil else { return [] }
    pulseAt = nil
    return [rules.drone.bed(at: moment, seconds: 1, generation: newGeneration())]
  }

  mutating func pulse(at moment: Tick) -> [ScoreEvent] {
    pulseAt = moment + .seconds(rules.gestures.pulse)
    let shape = rules.gestures.pulseShape.map { $0 * rules.gestures.pulse }
    let generation = newGeneration()
    return [
      rules.drone.bed(at: moment, seconds: shape[0], generation: generation),
      rules.drone.bed(
        at: moment + .seconds(shape[1]), level: rules.gestures.pulseLevel, seconds: shape[2], generation: generation),
    ]
  }
}
