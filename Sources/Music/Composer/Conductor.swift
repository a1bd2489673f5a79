import ScoreModel
import TicTacToe

/// Turns what happens in games into score events, in score time.
///
/// Not real-time safe: runs beside the audio thread. Deterministic: the same rules, seed, happenings and moments give
/// the same events.
package struct Conductor: Sendable {
  /// When an opponent that has done its thinking may answer.
  package enum Reply: String, Sendable, Hashable, CaseIterable {
    /// On a slot of the long note of the bar it answers.
    case musical
    /// At once.
    case immediate
  }

  /// Every bar of the session so far, as written; for pictures, `explain` and export.
  package internal(set) var bars: [Bar] = []
  /// The rules as their file has them; bars already written keep theirs.
  package var home: ScoreRules { didSet { findTonic() } }
  /// The rules in force: those of the file, on the tonic of the running game.
  package internal(set) var rules: ScoreRules
  /// Where the session stands on its way through the tonics; a match is heard at home.
  package var station: Station { didSet { findTonic() } }
  /// The tempo, 0.7 slow … 1.3 quick; holds from the next bar.
  package var pace = 1.0 { didSet { pace = min(max(pace, 0.7), 1.3) } }
  /// When an opponent may answer.
  package var reply = Reply.musical
  /// The sides that answer on the slots of the score, as opponents of this machine do; nobody waits for them. Both,
  /// unless people play. Set it before a game starts.
  package var inTime: Set<Player> = [.x, .o]
  /// What was heard in the running game besides its moves as they stand, for its record.
  package internal(set) var asides: [Aside] = []
  /// Why each note of M is there, by bar index; filled only while `explains`.
  package internal(set) var reasons: [Int: [NoteReason]] = [:]
  /// Whether `reasons` are kept.
  package var explains = false
  /// The seed of the running game's music, for its record.
  package internal(set) var gameSeed: UInt64
  /// How far ahead of `advance(to:)` events are handed out, so that a stalled caller does not starve the music.
  package static let lookahead = Tick.milliseconds(1_500)

  // Internal, for the parts of the conductor in other files.
  let seed: UInt64
  var generation: UInt32 = 0
  var novelty = Novelty()
  var gameNumber: UInt64 = 0
  var course = Course.silent
  /// When the course goes on by itself.
  var nextAt: Tick?
  /// When the low tonic is struck next while everyone waits.
  var droneAt: Tick?
  /// When the bed pulses next while a clock is low.
  var pulseAt: Tick?
  /// The bar written last and the one before it, which may still sound.
  var current: Sounding?
  var previous: Sounding?
  var slots: Slots?
  var gamesBegun = 0
  /// Waiting began here: the end of the last bar that was no echo.
  var waitingSince = Tick.zero
  /// The low tonic of a new game that a quick move may overtake.
  var pendingTonic: Tick?
  var connectionLost = false

  // The running game.
  var game = GameScore()
  /// What each of its moves found, so that it can be taken back or composed again.
  var past: [Past] = []

  /// What time alone brings next.
  enum Course: Sendable {
    case silent
    case opening(step: Int)
    case bar
    case closing(Closing)
    case waiting(echoes: Int)
  }

  /// A bar as it was handed out.
  struct Sounding: Sendable {
    var written: WrittenBar
    var generation: UInt32
    /// When it was cut: what it had from there on will not sound.
    var cut: Tick?

    /// When its last note ends.
    var end: Tick { min(written.end, cut ?? written.end) }
  }

  /// A sign that is still to be heard, and whose move gave it.
  struct Debt: Sendable, Hashable {
    var sign: String
    var mover: Player
  }

  /// The bar of the last move, as far as the next one must know it.
  struct Said: Sendable {
    var start: Tick
    var onsets: [Tick]
    /// The long note.
    var goal: Note?
    /// The signs it says, whose they are, and the pairs they are heard on.
    var signs: [(debt: Debt, pair: Int)]
  }

  /// The score before a move of moment `moment`.
  struct Past: Sendable {
    var game: GameScore
    /// Of a match alone: at one board what was said stays said.
    var novelty: Novelty?
    var moment: Tick
  }

  /// The grid an opponent answers on: a downbeat or the beginning of a game, what follows it, and a short note there.
  struct Slots: Sendable {
    var start: Tick
    var onsets: [Tick] = []
    var short: Double
  }

  /// The arch after an end.
  struct Closing: Sendable {
    var ending: ScoreRules.Ending
    var sizes: [Int]
    var step = 0
    var winner: Player?
    /// The facts of an end without a move; its first bar gives the result's signs.
    var facts: Set<Fact> = []
  }

  /// What the score remembers of the running game.
  struct GameScore: Sendable {
    var position = Position.start
    var human: Player?
    /// Whether it is composed by a log, for all who hear it.
    var isMatch = false
    var facts: [MoveFacts] = []
    var owed: [Debt] = []
    var said: Said?
    /// How long ago, at the last move, a long note had been heard.
    var since = Tick.zero
    var tempo = Tempo()
    /// The last move's moment, and what the match's log says it was.
    var lastMove: (moment: Tick, logged: Tick)?
    var hurried = 0
    /// How often each bar was echoed in each way.
    var echoed: [Int: Int] = [:]
    var isOver = false
    var drift = 0
    var contourOffset = 0
    var barNumber = 0
    /// The candidates taken and to be taken, as `Record.bars` keeps them.
    var choices: [[Int]] = []
    var replay: [[Int]] = []
    /// How many bars the session had when the game began.
    var firstBar = 0
  }

  /// Makes the conductor of a session whose first game has `seed`; one that is taken up again stands where it stood.
  package init(seed: UInt64, rules home: ScoreRules, station: Station = Station()) {
    (self.seed, self.home, self.station) = (seed, home, station)
    rules = home.at(station)
    gameSeed = seed
    tuneGame()
  }

  /// Makes the next game a later one of a session already played: it begins with pedal and low tonic, and its seed
  /// is the conductor's own.
  mutating func joinSession() {
    gamesBegun = 1
    gameNumber = .max
  }

  /// Whether an arch is being played, or its next bar is due.
  package var isClosing: Bool {
    if case .closing = course { true } else { false }
  }

  /// The bars of the running game: opening, moves, echoes, arch, and what was taken back.
  package var score: ArraySlice<Bar> { bars.dropFirst(game.firstBar) }

  /// The candidates taken for the bars of the running game, in the shape of `Record.bars`.
  package var choices: [[Int]] { game.choices }

  /// Takes the candidates of a record for the bars of the running game instead of judging novelty, where it has them.
  package mutating func replay(choices: [[Int]]) { game.replay = choices }

  /// Answers a happening at a moment not before any earlier one (previews, refusals and clocks may come any time).
  ///
  /// `logged` is the time a match's log gives a move, whenever its line arrived; its bars are composed by it.
  package mutating func handle(_ happening: Happening, at moment: Tick, logged: Tick? = nil) -> [ScoreEvent] {
    let events =
      switch happening {
      case .opened(let resuming): open(at: moment, resuming: resuming)
      case .gameStarted(let position, let human): begin(position, human: human, at: moment)
      case .matchStarted(let seed): begin(.start, human: nil, match: seed, at: moment)
      case .logged: settle(logged, at: moment)
      case .moved(let facts): move(facts, at: moment, logged: logged)
      case .ended(let end): self.end(end, at: moment)
      case .undone: undo(at: moment)
      case .refused: knock(at: moment)
      case .previewed(let square): preview(square, at: moment)
      case .connection(let lost): connection(lost: lost, at: moment)
      case .clockLow(let low): clock(low: low, at: moment)
      }
    return Self.sorted(events)
  }

  /// The moment `advance` has something to do next; `nil` where time alone brings nothing.
  package var due: Tick? { [nextAt, droneAt, pulseAt].compactMap { $0 }.min().map { $0 - Self.lookahead } }

  /// Carries on what time alone brings (opening, echoes, closing arch, drone) up to `moment` and `lookahead` beyond.
  package mutating func advance(to moment: Tick) -> [ScoreEvent] {
    let horizon = moment + Self.lookahead
    var events: [ScoreEvent] = []
    while let due = [nextAt, droneAt, pulseAt].compactMap({ $0 }).min(), due <= horizon {
      if nextAt == due {
        events += goOn(at: due)
      } else if droneAt == due {
        events += strikeWaiting(at: due)
      } else {
        events += pulse(at: due)
      }
    }
    return Self.sorted(events)
  }

  /// The first slot an opponent may answer on: at or after `ready`, `gestures.reply` slots or more into the long note.
  ///
  /// Slots are the onsets of the bar as it is played, then one every short note through the long one and silence.
  package func replySlot(ready: Tick) -> Tick {
    guard reply == .musical, let slots, !game.isOver else { return ready }
    let long = slots.start + (slots.onsets.dropLast().last ?? .zero)
    let step = max(Tick.seconds(slots.short).rawValue, 1)
    let n = max(Int64(rules.gestures.reply), ((ready - long).rawValue + step - 1) / step)
    return long + Tick(rawValue: n * step)
  }

  /// Tells that the synthesizer began a generation late: `to` is the frame its first event really had.
  package mutating func shifted(generation: UInt32, to frame: Tick) {
    guard let bar = current?.written.bar, current?.generation == generation else { return }
    let late = frame - bar.start
    guard late > .zero, bars.indices.contains(bar.index), bars[bar.index].start == bar.start else { return }
    if slots?.start == bar.start { slots?.start = frame }
    if game.said?.start == bar.start { game.said?.start = frame }
    current?.written.bar.start = frame
    bars[bar.index].start = frame
    nextAt = nextAt.map { $0 + late }
    droneAt = droneAt.map { $0 + late }
    waitingSince = waitingSince + late
  }

  // MARK: What all parts use

  mutating func findTonic() { rules = home.at(game.isMatch ? Station() : station) }

  mutating func newGeneration() -> UInt32 {
    generation += 1
    return generation
  }

  /// Makes a bar the one in force, in a generation of its own.
  mutating func take(_ written: WrittenBar) {
    bars.append(written.bar)
    previous = current
    current = Sounding(written: written, generation: newGeneration())
  }

  /// Sorted by frame; at one frame cuts come first, then pedal, bed and bells, then notes in the order given.
  static func sorted(_ events: [ScoreEvent]) -> [ScoreEvent] {
    func rank(_ kind: ScoreEvent.Kind) -> Int { kind == .cut ? 0 : kind == .note ? 2 : 1 }
    return events.sorted { ($0.frame, rank($0.kind)) < ($1.frame, rank($1.kind)) }
  }

  /// The length of a short note now, in seconds.
  var short: Double { rules.bars.short / pace }

  /// Ends what is written from `moment` on: later bars never were, a sounding one is cut.
  mutating func cutBars(at moment: Tick) {
    if let current { self.current?.cut = min(current.cut ?? moment, moment) }
    if let previous { self.previous?.cut = min(previous.cut ?? moment, moment) }
    while let last = bars.last, last.start >= moment {
      bars.removeLast()
      reasons[last.index] = nil
    }
    guard let last = bars.indices.last, bars[last].cut == nil else { return }
    if bars[last].end > moment { bars[last].cut = moment - bars[last].start }
  }

  static func end(of pair: Pair) -> Tick {
    ([pair.m, pair.t].compactMap { $0 } + pair.bass.prefix(pair.m == nil && pair.t == nil ? 1 : 0))
      .map { $0.onset + $0.duration }.max() ?? .zero
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
