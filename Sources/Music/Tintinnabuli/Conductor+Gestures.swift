import ScoreModel

/// Small answers: undo, refusal, preview, connection, clock. Previews, refusals and clocks may come at any moment.
extension Conductor {
  /// Takes the last event back: its bar's pairs sound backwards, softly. Events taken back at the same moment sound as one
  /// gesture.
  public mutating func undo(at moment: Tick) -> [ScoreEvent] {
    guard let before = past.popLast() else { return [] }
    let number = piece.number
    let bed = piece.bed
    restore(before)
    // It is where it went, and goes back.
    let root = piece.bed
    piece.bed = bed
    let gesture = bars.last.flatMap { $0.kind == .undo && $0.start == moment ? $0.pairs : nil } ?? []
    let source = bars.last { $0.kind == .move && $0.ply == number }
    book.cut(at: moment)
    guard let source else { return lead(to: root, at: moment) }
    let step = Tick.seconds(rules.gestures.undoShort / pace)
    let written = EchoWriter(rules: rules, short: short)
      .backwards(source, after: gesture, step: step, index: bars.count, at: moment)
    book.take(written)
    agenda.wait(from: written.end, rules)
    return ([cut(at: moment)] + lead(to: root, at: moment) + events(of: written)).inOrder
  }

  /// Knocks: something was refused.
  public mutating func refuse(at moment: Tick) -> [ScoreEvent] {
    [
      ScoreEvent(
        frame: moment, generation: book.newGeneration(), kind: .knock,
        velocity: UInt8(clamping: rules.gestures.knock))
    ]
  }

  /// Sounds a degree in the register of a voice, as a sine, barely audible; `nil` ends it.
  public mutating func preview(_ degree: Int?, as voice: Voice, at moment: Tick) -> [ScoreEvent] {
    let midi = rules.scale.midi(rules.lowest + (degree ?? 0)) + 12 * rules.manner(of: voice).octaves
    return [
      ScoreEvent(
        frame: moment, generation: book.newGeneration(), kind: .preview, pitch: Pitch(onKeys: midi),
        amount: degree == nil ? 0 : 127)
    ]
  }

  /// Tells that a connection was lost or is back: T, written as ever, falls silent at once and comes back with the next bar.
  public mutating func connection(lost: Bool, at moment: Tick) -> [ScoreEvent] {
    let isNews = lost && !connectionLost
    connectionLost = lost
    return isNews ? book.withoutT(from: moment) : []
  }

  /// Tells that a clock runs low, or no longer does: while it is low the bed pulses.
  public mutating func clock(low: Bool, at moment: Tick) -> [ScoreEvent] {
    if low {
      if agenda.pulse == nil { agenda.pulse = moment }
      return []
    }
    guard agenda.pulse != nil else { return [] }
    agenda.pulse = nil
    return [bed(at: moment, seconds: 1, generation: book.newGeneration())]
  }

  mutating func beat(at moment: Tick) -> [ScoreEvent] {
    agenda.pulse = moment + .seconds(rules.gestures.pulse)
    let shape = rules.gestures.pulseShape.map { $0 * rules.gestures.pulse }
    let generation = book.newGeneration()
    return [
      bed(at: moment, seconds: shape[0], generation: generation),
      bed(
        at: moment + .seconds(shape[1]), level: rules.gestures.pulseLevel, seconds: shape[2], generation: generation),
    ]
  }
}
