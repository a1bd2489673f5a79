import ScoreModel
import Session

/// A piece that plays instead of the running game's score, such as a replay. Its generations (bar numbers) are far above those of the
/// score, so that a cut in the score does not drop events of the piece.
struct PiecePlayback {
  private let events: [ScoreEvent]
  private var next = 0
  /// Frames to add to a time of the piece to get the engine's time.
  private let offset: Int64
  private let generation: UInt32
  /// The end of the piece in the engine's time.
  let end: Tick

  /// How far ahead events are posted.
  private static let ahead = Tick.seconds(2)
  /// The pause before the piece, in which the notes of the running game's score fade.
  private static let pause = Tick.milliseconds(450)
  /// The first generation of a piece; the running game's score, which counts from 1, would need years to reach this number.
  private static let firstGeneration: UInt32 = 0x3000_0000

  /// `number`: how many pieces the program has started, including this piece.
  init(_ events: [ScoreEvent], from: Tick, to: Tick, number: UInt32, sound: SoundPort) {
    let now = sound.now()
    generation = PiecePlayback.firstGeneration + 2 * number + 1
    offset = (now + PiecePlayback.pause - from).rawValue
    end = to + Tick(rawValue: offset)
    self.events = events.filter {
      $0.frame >= from && $0.frame <= to && $0.kind != .cut && $0.kind != .drone && $0.kind != .preview
    }
    // Discard the pending events of the running game's score, and lift its pedal so that its notes end.
    sound.post(PiecePlayback.silence(at: now, generation: generation))
  }

  func position(_ sound: SoundPort) -> Tick { Tick(rawValue: sound.now().rawValue - offset) }

  /// Posts due events; `false` when the piece has ended.
  mutating func advance(_ sound: SoundPort) -> Bool {
    let horizon = sound.now() + PiecePlayback.ahead
    var due: [ScoreEvent] = []
    while next < events.count, events[next].frame.rawValue + offset <= horizon.rawValue {
      var event = events[next]
      event.frame = Tick(rawValue: event.frame.rawValue + offset)
      event.generation = generation
      due.append(event)
      next += 1
    }
    if !due.isEmpty { sound.post(due) }
    return sound.now() < end
  }

  /// Releases the piece's notes and discards its pending events.
  func stop(_ sound: SoundPort) { sound.post(PiecePlayback.silence(at: sound.now(), generation: generation + 1)) }

  /// Discards the pending events of the running game's score; sounding notes continue.
  static func cut(_ sound: SoundPort) {
    sound.post([ScoreEvent(frame: sound.now(), generation: firstGeneration, kind: .cut)])
  }

  private static func silence(at now: Tick, generation: UInt32) -> [ScoreEvent] {
    [
      ScoreEvent(frame: now, generation: generation, kind: .cut),
      ScoreEvent(frame: now, generation: generation, kind: .pedal, amount: 0, duration: 48 * 300),
      ScoreEvent(frame: now + .milliseconds(350), generation: generation, kind: .pedal, amount: 127, duration: 48 * 60),
    ]
  }
}
