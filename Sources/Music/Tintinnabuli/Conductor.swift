import Base
import ScoreModel

/// Composes as events come: turns what happens in pieces into score events, in score time.
///
/// A conductor has a session of pieces, one after another. Tell it what happens (`begin`, `strike`, `undo`, `end`) with
/// the moment of each, no moment before an earlier one, and call `advance` for what time alone brings. Each answers with
/// the events to post to a synthesizer.
///
/// - Important: Not real-time safe: it allocates. Run it beside the audio thread. Deterministic: the same rules, seed,
///   happenings and moments give the same events on every machine.
public struct Conductor: Sendable {
  /// When an opponent that has done its thinking may answer.
  public enum Reply: String, Sendable, Hashable, CaseIterable {
    /// On a slot of the long note of the bar it answers.
    case musical
    /// At once.
    case immediate
  }

  /// The rules as their file has them; bars already written keep theirs.
  public var home: ScoreRules { didSet { findTonic() } }
  /// The rules in force: those of the file, on the tonic of the running piece.
  public internal(set) var rules: ScoreRules
  /// Where the session stands on its way through the tonics.
  public var station: Station { didSet { findTonic() } }
  /// Where the running piece stands: a match where all who hear it are, any other where the session is.
  public var pieceStation: Station { piece.station ?? station }
  /// The tempo, 0.7 slow … 1.3 quick; holds from the next bar.
  public var pace = 1.0 { didSet { pace = min(max(pace, 0.7), 1.3) } }
  /// When an opponent may answer.
  public var reply = Reply.musical
  /// The voices that answer on the slots of the score; nobody waits for them. Both, unless people play. Set it before a
  /// piece begins.
  public var inTime: Set<Voice> = [.first, .second]
  /// Who the voices are, for the colours that the rules give players.
  public var names: [Voice: String] = [:]
  /// Whether `reasons` are kept.
  public var explains = false
  /// The seed of the running piece, for its record.
  public internal(set) var pieceSeed: UInt64
  /// How many pieces began without being the session's first.
  public internal(set) var pieceNumber: UInt64 = 0
  /// Whether the T-voice is silent because somebody's connection is lost.
  public internal(set) var connectionLost = false
  /// How far ahead of `advance(to:)` events are handed out, so that a stalled caller does not starve the music.
  public static let lookahead = Tick.milliseconds(1_500)

  // Internal, for the parts of the conductor in other files.
  let seed: UInt64
  var piecesBegun = 0
  var novelty = Novelty()
  var book = ScoreBook()
  var agenda = Agenda()
  var slots: Slots?
  /// The low tonic of a new piece that a quick event may overtake.
  var pendingTonic: Tick?
  var piece = Piece()
  /// What each event of the piece found, so that it can be taken back or composed again.
  var past: [Piece.Before] = []

  /// Makes the conductor of a session.
  ///
  /// - Parameters:
  ///   - seed: The seed of the session's first piece; later pieces have seeds that follow from it.
  ///   - home: The rules, on the tonic of their file.
  ///   - station: Where a session that is taken up again stood.
  public init(seed: UInt64, rules home: ScoreRules, station: Station = Station()) {
    (self.seed, self.home, self.station) = (seed, home, station)
    rules = home.at(station)
    pieceSeed = seed
    tunePiece()
  }

  /// Makes the next piece a later one of a session already played: it begins with pedal and low tonic, and its seed
  /// is the conductor's own.
  public mutating func joinSession() {
    piecesBegun = 1
    pieceNumber = .max
  }

  // MARK: What was composed

  /// Every bar of the session so far, as written; for pictures, explanations and export.
  public var bars: [Bar] { book.bars }
  /// Why each note of M is there, by bar index; filled only while `explains`.
  public var reasons: [Int: [NoteReason]] { book.reasons }
  /// The bars of the running piece: opening, events, echoes, arch, and what was taken back.
  public var score: ArraySlice<Bar> { bars.dropFirst(piece.firstBar) }
  /// The candidates taken for the bars of the running piece, by the number of the event that they follow.
  public var choices: [[Int]] { piece.choices }
  /// Whether the running piece has ended.
  public var isOver: Bool { piece.isOver }
  /// Whether an arch is being played, or its next bar is due.
  public var isClosing: Bool { agenda.isClosing }

  /// Takes the candidates of a record for the bars of the running piece instead of judging novelty, where it has them.
  public mutating func replay(choices: [[Int]]) { piece.replay = choices }

  // MARK: Time

  /// The moment `advance` has something to do next; `nil` where time alone brings nothing.
  public var due: Tick? { agenda.due.map { $0 - Self.lookahead } }

  /// Carries on what time alone brings (opening, echoes, closing arch, drone).
  ///
  /// - Parameter moment: Now. Events are handed out up to `lookahead` beyond it.
  public mutating func advance(to moment: Tick) -> [ScoreEvent] {
    let horizon = moment + Self.lookahead
    var events: [ScoreEvent] = []
    while let due = agenda.due, due <= horizon {
      if agenda.next == due {
        events += goOn(at: due)
      } else if agenda.drone == due {
        events += strikeWaiting(at: due)
      } else {
        events += beat(at: due)
      }
    }
    return events.inOrder
  }

  /// The first slot an opponent may answer on: at or after `ready`, `gestures.reply` slots or more into the long note.
  ///
  /// Slots are the onsets of the bar as it is played, then one every short note through the long one and silence. Where
  /// nobody is waited for, a breath of `gestures.breath` slots is taken, so that the long note is heard.
  public func replySlot(ready: Tick) -> Tick {
    guard reply == .musical, let slots, !piece.isOver else { return ready }
    let breath = rules.gestures.breath
    var generator = SplitMix64(seed: pieceSeed, index: 0xB4EA << 32 | UInt64(piece.number))
    let least = inTime.count > 1 ? breath.lowerBound + generator.below(breath.count) : rules.gestures.reply
    // What closes a sentence is heard out.
    return slots.first(after: max(ready, agenda.sentenceEnd), least: least)
  }

  /// Tells that the synthesizer began a generation late: `to` is the frame its first event really had.
  public mutating func shifted(generation: UInt32, to frame: Tick) {
    guard let start = book.shift(generation: generation, to: frame) else { return }
    if slots?.start == start { slots?.start = frame }
    piece.debts.shift(from: start, to: frame)
    agenda.shift(by: frame - start)
  }

  // MARK: What all parts use

  mutating func findTonic() { rules = home.at(pieceStation) }

  /// The length of a short note now, in seconds.
  var short: Double { rules.bars.short / pace }

  /// The loudness of a bar in per cent, by how far its piece has come: from the quiet end of `performance.dynamics`, 0, to
  /// the loud one, 1. Some pieces have less of it than others.
  func loudness(at form: Double) -> Int {
    let dynamics = rules.performance.dynamics
    let share = form * Double(70 + 10 * (pieceSeed % 4)) / 100
    return dynamics.lowerBound + Int(Double(dynamics.upperBound - dynamics.lowerBound) * share)
  }

  func colour(of voice: Voice?) -> ScoreRules.Colour? {
    guard let name = voice.flatMap({ names[$0] }) else { return nil }
    return rules.colours.first { $0.name == name }
  }

  /// The events of the bar in force.
  func events(of written: WrittenBar, silencesT: Bool? = nil) -> [ScoreEvent] {
    written.events(generation: book.generation, silencesT: silencesT ?? connectionLost)
  }

  /// The bed on the root that it sounds, at a level, its own if none is given, within `seconds`.
  func bed(at moment: Tick, level: Int? = nil, seconds: Double, generation: UInt32) -> ScoreEvent {
    var event = rules.drone.bed(at: moment, level: level, seconds: seconds, generation: generation)
    guard piece.bed != 0 else { return event }
    // By the nearer way.
    let up = rules.scale.midi(rules.lowest + Scale.step(piece.bed)) - rules.scale.midi(rules.lowest)
    event.pitch = Pitch(onKeys: event.pitch.midi + (up > 6 ? up - 12 : up))
    return event
  }

  /// The bed goes to a root, if it is not there.
  mutating func lead(to root: Int, at moment: Tick) -> [ScoreEvent] {
    guard (root - piece.bed) % 7 != 0 else { return [] }
    piece.bed = root
    return [bed(at: moment, seconds: rules.sentences.bed, generation: book.generation)]
  }

  /// The cut of the bar in force.
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
  /// The events by frame; at one frame cuts come first, then pedal, bed and bells, then notes in the order given.
  public var inOrder: [ScoreEvent] {
    func rank(_ kind: ScoreEvent.Kind) -> Int { kind == .cut ? 0 : kind == .note ? 2 : 1 }
    return sorted { ($0.frame, rank($0.kind)) < ($1.frame, rank($1.kind)) }
  }
}

extension ScoreEvent {
  /// A movement of the pedal.
  static func pedal(at frame: Tick, to amount: Int, seconds: Double, generation: UInt32 = 0) -> ScoreEvent {
    ScoreEvent(
      frame: frame, generation: generation, kind: .pedal, amount: UInt8(clamping: amount),
      duration: Int32(clamping: Tick.seconds(seconds).rawValue))
  }
}
