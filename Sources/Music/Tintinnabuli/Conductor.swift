import Base
import ScoreModel

/// Composes events as they arrive. Call `begin`, `compose`, `undo` and `end` with non-decreasing times, and `advance` for scheduled music.
/// Not real-time safe, since it allocates. Deterministic: the same rules, seed, events and times give the same result on every machine.
public struct Conductor: Sendable {
  /// When an opponent that has chosen its move may reply.
  public enum Reply: String, Sendable, Hashable, CaseIterable {
    /// The opponent replies a whole number of short notes after the start of the preceding bar's long note.
    case musical
    /// The opponent replies at once.
    case immediate
  }

  /// The rules as the rule file gives them, on the file's own tonic. A change has no effect on bars already written.
  public var home: ScoreRules { didSet { findTonic() } }
  /// The rules in force: those of the file, transposed to the running piece's tonic.
  public internal(set) var rules: ScoreRules
  /// The session's position in the cycle of tonics.
  public var station: Station { didSet { findTonic() } }
  /// The running piece's position in the cycle of tonics: network matches and free play have their own, other pieces the session's.
  public var pieceStation: Station { piece.station ?? station }
  /// The tempo as a factor on the rules' tempo, 0.7 (slow) … 1.3 (fast); applies from the next bar.
  public var pace = 1.0 { didSet { pace = min(max(pace, 0.7), 1.3) } }
  /// The timing of an opponent's replies.
  public var reply = Reply.musical
  /// The voices, usually computers', for whose replies the music chooses the times (see `replySlot`). Set before a piece begins.
  public var autoReplyVoices: Set<Voice> = [.first, .second]
  /// The players' names. The rules choose a voice's colour (`ScoreRules.Colour`) by the player's name.
  public var names: [Voice: String] = [:]
  /// Whether `reasons` are recorded.
  public var explains = false
  /// The seed of the running piece, for its record.
  public var pieceSeed: UInt64 { series.seed }
  /// Whether T is silent because of a lost connection.
  public internal(set) var connectionLost = false
  /// How far ahead `advance(to:)` returns events, so that the music continues if the caller stalls.
  public static let lookahead = Tick.milliseconds(1_500)

  var series: Series
  var novelty = Novelty()
  var book = ScoreBook()
  var agenda = Agenda()
  var piece = Piece()
  /// Snapshots before each event of the piece, for `undo` and `correctTime`.
  var undoStack: [Snapshot] = []

  /// Makes the conductor of a session. The seeds of later pieces are derived from `seed`; a resumed session continues at `station`.
  public init(seed: UInt64, rules home: ScoreRules, station: Station = Station()) {
    (series, self.home, self.station) = (Series(seed: seed), home, station)
    rules = home.at(station)
    tunePiece()
  }

  /// Lets the next piece start like a later piece of a session: with pedal and low tonic, without an opening phrase.
  public mutating func joinSession() {
    series.join()
  }

  // MARK: What was composed

  /// All bars of the session as composed, with the pairs that a cut silenced.
  public var bars: [Bar] { book.bars }
  /// The reasons for each note of M by bar index; kept only with `explains`.
  public var reasons: [Int: [NoteReason]] { book.reasons }
  /// The bars of the running piece: opening, events, echoes, closing bars, and bars of events taken back.
  public var score: ArraySlice<Bar> { bars.dropFirst(piece.firstBar) }
  /// The numbers of the candidate melodies chosen for the running piece's bars, grouped by the number of the preceding event.
  public var choices: [[Int]] { piece.choices.taken }
  /// Whether the running piece has ended.
  public var isOver: Bool { piece.isOver }
  /// Whether the arch at the end of the piece plays.
  public var isClosing: Bool { agenda.isClosing }

  /// Makes the piece use the candidate melodies whose numbers a record gives for its bars. Each other bar gets the cheapest candidate.
  public mutating func replay(choices: [[Int]]) { piece.choices.replay = choices }

  // MARK: Time

  /// The time from which `advance` returns further events; `nil` if nothing is scheduled.
  public var due: Tick? { agenda.due.map { $0 - Self.lookahead } }

  /// Composes scheduled music (opening, phrases, closing bars, echoes, drone) up to `lookahead` beyond `moment`, the current time.
  public mutating func advance(to moment: Tick) -> [ScoreEvent] {
    let horizon = moment + Self.lookahead
    var events: [ScoreEvent] = []
    while let due = agenda.due, due <= horizon {
      if agenda.next == due {
        events += performNextStep(at: due)
      } else if agenda.drone == due {
        events += strikeWaiting(at: due)
      } else {
        events += beat(at: due)
      }
    }
    return events.inOrder
  }

  /// The first slot for an opponent's reply at or after `ready`, and at least `gestures.reply` slots after the start of the long note.
  /// Between two computers the number of slots is drawn from `gestures.breath`, so that the long note is heard.
  public func replySlot(ready: Tick) -> Tick {
    guard reply == .musical, let slots = agenda.slots, !piece.isOver else { return ready }
    let breath = rules.gestures.breath
    var generator = SplitMix64(seed: pieceSeed, index: 0xB4EA << 32 | UInt64(piece.number))
    let least = autoReplyVoices.count > 1 ? breath.lowerBound + generator.below(breath.count) : rules.gestures.reply
    // The reply waits for the end of a half arch.
    return slots.first(after: max(ready, agenda.sentenceEnd), least: least)
  }

  /// Corrects the times of the bar with the given generation number, which the synthesizer began late, at `frame`.
  public mutating func shifted(generation: UInt32, to frame: Tick) {
    guard let start = book.shift(generation: generation, to: frame) else { return }
    piece.pendingSigns.shift(from: start, to: frame)
    agenda.shift(from: start, to: frame)
  }

  // MARK: Shared by all parts

  mutating func findTonic() { rules = home.at(pieceStation) }

  /// The current length of a short note in seconds.
  var short: Double { rules.bars.short / pace }

  /// The loudness of a bar in per cent, within `performance.dynamics`. It rises with the piece's progress `form`; the seed sets how far.
  func loudness(at form: Double) -> Int {
    let dynamics = rules.performance.dynamics
    let share = form * Double(70 + 10 * (pieceSeed % 4)) / 100
    return dynamics.lowerBound + Int(Double(dynamics.upperBound - dynamics.lowerBound) * share)
  }

  func colour(of voice: Voice?) -> ScoreRules.Colour? {
    guard let name = voice.flatMap({ names[$0] }) else { return nil }
    return rules.colours.first { $0.name == name }
  }

  func events(of written: WrittenBar, silencesT: Bool? = nil) -> [ScoreEvent] {
    written.events(generation: book.generation, silencesT: silencesT ?? connectionLost)
  }

  /// The event that moves the bed to the tones of `piece.bed` and to a level (default: `drone.level`) within `seconds`.
  func bed(at moment: Tick, level: Int? = nil, seconds: Double, generation: UInt32) -> ScoreEvent {
    var event = rules.drone.bed(at: moment, level: level, seconds: seconds, generation: generation)
    guard piece.bed != Bed() else { return event }
    func semitones(_ from: Int, _ to: Int) -> Int {
      let up = rules.scale.midi(rules.lowest + to) - rules.scale.midi(rules.lowest + from)
      return (up % 12 + 12) % 12
    }
    let (low, high) = piece.bed.degrees
    // The bed's low tone lies above or below `drone.bed`, whichever is nearer: at most a tritone (6 semitones) away.
    let up = semitones(0, low)
    event.pitch = Pitch(onKeys: event.pitch.midi + (up > 6 ? up - 12 : up))
    if !piece.bed.tones.isEmpty { event.velocity = UInt8(low == high ? 12 : semitones(low, high)) }
    return event
  }

  /// Moves the bed to a root, with the tones that the last closed sentence's change sets. Returns no event if the bed is there already.
  mutating func moveBed(to root: Int, at moment: Tick) -> [ScoreEvent] {
    moveBed(to: Bed(root: root, tones: change?.rule.bed ?? []), at: moment)
  }

  mutating func moveBed(to next: Bed, at moment: Tick) -> [ScoreEvent] {
    guard next != piece.bed else { return [] }
    piece.bed = next
    return [bed(at: moment, seconds: rules.sentences.bed, generation: book.generation)]
  }

  func cut(at moment: Tick) -> ScoreEvent { ScoreEvent(frame: moment, generation: book.generation, kind: .cut) }

  func tonic(at moment: Tick, generation: UInt32, share: Int = 100) -> [ScoreEvent] {
    rules.drone.notes.map {
      ScoreEvent(
        frame: moment, generation: generation, kind: .note, voice: .bass, pitch: $0,
        velocity: UInt8(clamping: max(rules.drone.velocity * share / 100, 1)),
        duration: Int32(clamping: Tick.seconds(rules.drone.seconds).rawValue))
    }
  }
}

extension [ScoreEvent] {
  /// The events by frame; within a frame cuts come first, then all other events except notes, then notes in the given order.
  public var inOrder: [ScoreEvent] {
    func rank(_ kind: ScoreEvent.Kind) -> Int { kind == .cut ? 0 : kind == .note ? 2 : 1 }
    return sorted { ($0.frame, rank($0.kind)) < ($1.frame, rank($1.kind)) }
  }
}

extension ScoreEvent {
  static func pedal(at frame: Tick, to amount: Int, seconds: Double, generation: UInt32 = 0) -> ScoreEvent {
    ScoreEvent(
      frame: frame, generation: generation, kind: .pedal, amount: UInt8(clamping: amount),
      duration: Int32(clamping: Tick.seconds(seconds).rawValue))
  }
}
