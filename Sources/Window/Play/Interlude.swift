import ScoreModel
import Session

/// A piece that sounds in place of the running game's score: a replay, or one sign of the help page.
///
/// Its events are posted a little ahead of the sound, under generations of their own, far above the score's.
struct Interlude {
  private let events: [ScoreEvent]
  private var next = 0
  /// What to add to the piece's time to get the engine's.
  private let offset: Int64
  private let generation: UInt32
  /// The last frame of the piece, in the engine's time.
  let end: Tick

  /// How far ahead events are posted.
  private static let ahead = Tick.seconds(2)
  /// The room between what stopped and what begins.
  private static let pause = Tick.milliseconds(450)
  /// The score counts generations from 1; it would take years to come this far.
  private static let firstGeneration: UInt32 = 0x3000_0000

  /// Starts a piece at a moment of its own time; `number` counts the interludes of the session.
  init(_ events: [ScoreEvent], from: Tick, to: Tick, number: UInt32, sound: SoundPort) {
    let now = sound.now()
    generation = Interlude.firstGeneration + 2 * number + 1
    offset = (now + Interlude.pause - from).rawValue
    end = to + Tick(rawValue: offset)
    // What the score has posted but not played is dropped, and what rings is let go.
    self.events = events.filter {
      $0.frame >= from && $0.frame <= to && $0.kind != .cut && $0.kind != .drone && $0.kind != .preview
    }
    sound.post(Interlude.silence(at: now, generation: generation))
  }

  /// Where the piece is now, in its own time.
  func position(_ sound: SoundPort) -> Tick { Tick(rawValue: sound.now().rawValue - offset) }

  /// Posts what comes next; false once everything has sounded.
  mutating func advance(_ sound: SoundPort) -> Bool {
    let horizon = sound.now() + Interlude.ahead
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

  /// Lets go of what sounds and drops what was to come.
  func stop(_ sound: SoundPort) { sound.post(Interlude.silence(at: sound.now(), generation: generation + 1)) }

  /// Drops what the score has posted ahead and not played; what rings goes on.
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
