import ScoreModel

/// Handles undo, refusal, preview, connection and clock. The time of a preview, refusal or clock may lie before that of the previous call.
extension Conductor {
  /// Takes the last event back: its bar sounds backwards and softly. Several undos at the same moment form one bar.
  public mutating func undo(at moment: Tick) -> [ScoreEvent] {
    guard let before = undoStack.popLast() else { return [] }
    let number = piece.number
    let bed = piece.bed
    before.restore(&piece, &novelty)
    // The later bed still sounds: keep it in `piece` for now, so that `moveBed` below glides from it to the restored bed.
    let restored = piece.bed
    piece.bed = bed
    let gesture = bars.last.flatMap { $0.kind == .undo && $0.start == moment ? $0.pairs : nil } ?? []
    let source = bars.last { $0.kind == .move && $0.ply == number }
    book.cut(at: moment)
    guard let source else { return moveBed(to: restored, at: moment) }
    let step = Tick.seconds(rules.gestures.undoShort / pace)
    let written = EchoWriter(rules: rules, short: short)
      .backwards(source, after: gesture, step: step, index: bars.count, at: moment)
    book.take(written)
    agenda.wait(from: written.end, rules)
    return ([cut(at: moment)] + moveBed(to: restored, at: moment) + events(of: written)).inOrder
  }

  /// Plays a knock for a refusal.
  public mutating func refuse(at moment: Tick) -> [ScoreEvent] {
    [
      ScoreEvent(
        frame: moment, generation: book.newGeneration(), kind: .knock,
        velocity: UInt8(clamping: rules.gestures.knock))
    ]
  }

  /// Plays a degree as a barely audible sine in the register of a voice; a degree of `nil` ends the sine.
  public mutating func preview(_ degree: Int?, as voice: Voice, at moment: Tick) -> [ScoreEvent] {
    let midi = rules.scale.midi(rules.lowest + (degree ?? 0)) + 12 * rules.manner(of: voice).octaves
    return [
      ScoreEvent(
        frame: moment, generation: book.newGeneration(), kind: .preview, pitch: Pitch(onKeys: midi),
        amount: degree == nil ? 0 : 127)
    ]
  }

  /// Handles a lost or restored connection. While the connection is lost, T is written but silent.
  public mutating func connection(lost: Bool, at moment: Tick) -> [ScoreEvent] {
    let isNews = lost && !connectionLost
    connectionLost = lost
    return isNews ? book.withoutT(from: moment) : []
  }

  /// Starts or stops the pulse that the bed has while a player's clock is low.
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
