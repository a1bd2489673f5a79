import ScoreModel

/// What time alone brings next, and when.
struct Agenda: Sendable {
  /// The way the music goes on by itself.
  enum Course: Sendable {
    case silent
    case opening(step: Int)
    /// Phrases extend the bar of the last event; so many of them, of so many pairs, were played.
    case phrases(Phrasing)
    case closing(Closing)
    case waiting(echoes: Int)
  }

  /// The phrases that have extended a bar so far, and their pairs.
  struct Phrasing: Sendable {
    var count = 0
    var pairs = 0
  }

  /// The arch after an end.
  struct Closing: Sendable {
    var ending: ScoreRules.Ending
    var sizes: [Int]
    var step = 0
    var winner: Voice?
    /// The facts of an end without an event; the arch's first bar gives the result's signs.
    var facts: Set<Fact> = []
    /// Its last notes of M before the coda, in degrees.
    var motto: [Int] = []
    /// The step of the coda, the one long pair on the tonic to which a motto comes home; `nil` where none follows.
    var coda: Int?
    /// The roots of its last bars; the others have that of the bar which they remember.
    var roots: [Int] = []
    /// The sentence that it closes, where it is half an arch; `nil` where the piece ends.
    var sentence: Int?
    /// When it is over, about, if it is half an arch.
    var until = Tick.zero

    /// The pairs of M before the coda that come after the bar of this step.
    var pairsAfter: Int {
      sizes.dropFirst(step + 1).reduce(0, +)
        - (ending.endsWithTAlone && step < sizes.count - 1 ? sizes[sizes.count - 1] : 0)
        - (coda.map { step < $0 } ?? false ? 1 : 0)
    }
  }

  var course = Course.silent
  /// When the course goes on.
  var next: Tick?
  /// When the low tonic is struck next while everyone waits.
  var drone: Tick?
  /// When the bed pulses next while a clock is low.
  var pulse: Tick?
  /// Waiting began here: the end of the last bar that was no echo.
  private(set) var waitingSince = Tick.zero

  /// Whether the arch of a piece that has ended is being played.
  var isClosing: Bool { if case .closing(let closing) = course { closing.sentence == nil } else { false } }

  /// When half an arch that is being played ends, about; zero where none is.
  var sentenceEnd: Tick {
    if case .closing(let closing) = course, closing.sentence != nil { closing.until } else { .zero }
  }

  /// When the first of these is due.
  var due: Tick? { [next, drone, pulse].compactMap { $0 }.min() }

  /// Waiting begins at `end`: echoes after a while, and the low tonic now and then.
  mutating func wait(from end: Tick, _ rules: ScoreRules) {
    course = .waiting(echoes: 0)
    waitingSince = end
    next = end + .seconds(rules.echoes.after)
    drone = end + .seconds(rules.drone.every)
  }

  /// A session opens: the opening phrase follows, or, where a game is taken up again, nothing.
  mutating func open(at moment: Tick, resuming: Bool, _ rules: ScoreRules) {
    wait(from: moment, rules)
    if !resuming { course = .opening(step: 0) }
    next = resuming ? nil : moment + .seconds(rules.opening.center)
  }

  /// An arch begins, which strikes the low tonic itself.
  mutating func close(_ closing: Closing, from moment: Tick) {
    course = .closing(closing)
    next = moment
    if closing.sentence == nil { drone = nil }
  }

  /// Nothing comes by itself any more, but for the pulse of a clock.
  mutating func stop() { (course, next, drone) = (.silent, nil, nil) }

  /// What was counted from a bar that began late comes as much later.
  mutating func shift(by late: Tick) {
    next = next.map { $0 + late }
    drone = drone.map { $0 + late }
    waitingSince = waitingSince + late
  }
}

/// The grid an opponent answers on: a downbeat or the beginning of a piece, what follows it, and a short note there.
struct Slots: Sendable {
  var start: Tick
  var onsets: [Tick] = []
  var short: Double

  /// The first slot at or after `ready`, `least` slots or more into the long note.
  func first(after ready: Tick, least: Int) -> Tick {
    let long = start + (onsets.dropLast().last ?? .zero)
    let step = max(Tick.seconds(short).rawValue, 1)
    let n = max(Int64(least), ((ready - long).rawValue + step - 1) / step)
    return long + Tick(rawValue: n * step)
  }
}
