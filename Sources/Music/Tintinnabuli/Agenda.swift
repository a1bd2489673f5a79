import ScoreModel

/// The music that plays while no event comes (opening, phrases, closing bars, echoes), and the times at which its parts are due.
struct Agenda: Sendable {
  /// The music that plays next if no event comes before it.
  enum Course: Sendable {
    case silent
    case opening(step: Int)
    case phrases(Phrasing)
    case closing(Closing)
    case waiting(echoes: Int)
  }

  /// How many phrases have extended the last event's bar so far, and how many pairs these phrases have together.
  struct Phrasing: Sendable {
    var count = 0
    var pairs = 0
  }

  /// The arch after the end of a piece, or the half arch after a sentence.
  struct Closing: Sendable {
    var ending: ScoreRules.Ending
    var sizes: [Int]
    var step = 0
    var winner: Voice?
    /// The facts of a piece that ended without an event; the first bar of the arch plays the sign for these facts.
    var facts: Set<Fact> = []
    /// The degrees of one or more mottos (a voice's first three events) that M quotes at the end of the arch, before the coda.
    var motto: [Int] = []
    /// The index of the closing bar that is the coda (a long pair on the tonic after the quoted motto); `nil` if the arch has no coda.
    var coda: Int?
    /// The roots of the last bars of the arch, in order; each earlier bar has the root of the bar that it recalls.
    var roots: [Int] = []
    /// The sentence that a half arch closes; `nil` at the end of the piece.
    var sentence: Int?
    /// The approximate end of the half arch.
    var until = Tick.zero

    var isLast: Bool { step == sizes.count - 1 }
    var isCoda: Bool { step == coda }
    /// Whether this is the half arch after a sentence.
    var isHalf: Bool { sentence != nil }
    /// Whether bar `step` plays the sign for `facts`.
    var isResult: Bool { step == 0 && !facts.isEmpty }
    /// The coda does not count as a step for the tempo and the loudness of the closing bars.
    var stepWithoutCoda: Int { max(step - (step < coda ?? .max ? 0 : 1), 0) }
    /// The number of bars without the coda.
    var stepCount: Int { sizes.count - (coda == nil ? 0 : 1) }

    /// The number of pairs with M in the closing bars after bar `step`, without the coda.
    var pairsAfter: Int {
      sizes.dropFirst(step + 1).reduce(0, +)
        - (ending.endsWithTAlone && step < sizes.count - 1 ? sizes[sizes.count - 1] : 0)
        - (step < coda ?? 0 ? 1 : 0)
    }
  }

  var course = Course.silent
  /// The time of the next bar of `course`; `nil` if no further bar is due.
  var next: Tick?
  /// The time of the next stroke of the low tonic while no event comes.
  var drone: Tick?
  /// The time of the next pulse of the bed while a player's clock is low.
  var pulse: Tick?
  /// The start of the wait for the next event: the end of the last bar that was not an echo.
  private(set) var waitingSince = Tick.zero
  /// The times at which an opponent may reply; `nil` before the session's first piece.
  var slots: Slots?
  /// The time of the low tonic scheduled at the start of a piece. An earlier event cuts this note and strikes the low tonic itself.
  var pendingTonic: Tick?

  /// Whether the arch at the end of a piece plays.
  var isClosing: Bool { if case .closing(let closing) = course { closing.sentence == nil } else { false } }

  /// The approximate end of the half arch that plays; zero if none plays.
  var sentenceEnd: Tick {
    if case .closing(let closing) = course, closing.sentence != nil { closing.until } else { .zero }
  }

  var due: Tick? { [next, drone, pulse].compactMap { $0 }.min() }

  /// Waits for the next event from `end` on. The fewer `pairs` the last bar and its phrases have together, the earlier the first echo
  /// comes; `nil`: as late as after the longest bar.
  mutating func wait(from end: Tick, pairs: Int? = nil, _ rules: ScoreRules) {
    course = .waiting(echoes: 0)
    waitingSince = end
    let (least, most) = (2, max(rules.bars.longest, 3))
    let share = Double(min(max((pairs ?? most) - least, 0), most - least)) / Double(most - least)
    let early = Double(rules.echoes.afterShort) / 100
    next = end + .seconds(rules.echoes.after * (early + (1 - early) * share))
    drone = end + .seconds(rules.drone.every)
  }

  /// Starts a session: schedules strokes of the low tonic and, unless a game is resumed, the opening phrase.
  mutating func open(at moment: Tick, resuming: Bool, _ rules: ScoreRules) {
    wait(from: moment, rules)
    if !resuming { course = .opening(step: 0) }
    next = resuming ? nil : moment + .seconds(rules.opening.center)
  }

  /// Starts an arch. The arch at the end of a piece cancels the next stroke of the low tonic.
  mutating func close(_ closing: Closing, from moment: Tick) {
    course = .closing(closing)
    next = moment
    if closing.sentence == nil { drone = nil }
  }

  /// Cancels everything except `pulse`, which goes on while a player's clock is low.
  mutating func stop() { (course, next, drone) = (.silent, nil, nil) }

  /// Delays all scheduled times except the pulse, because the synthesizer began the bar at `frame` instead of at `start`.
  mutating func shift(from start: Tick, to frame: Tick) {
    let late = frame - start
    next = next.map { $0 + late }
    drone = drone.map { $0 + late }
    waitingSince = waitingSince + late
    if slots?.start == start { slots?.start = frame }
  }
}

/// The times (slots) at which an opponent may reply: the start of a bar's long note, and then every `short` seconds.
struct Slots: Sendable {
  var start: Tick
  var onsets: [Tick] = []
  var short: Double

  /// The first slot that is at or after `ready`, and at least `least` slots after the start of the long note.
  func first(after ready: Tick, least: Int) -> Tick {
    let long = start + (onsets.dropLast().last ?? .zero)
    let step = max(Tick.seconds(short).rawValue, 1)
    let n = max(Int64(least), ((ready - long).rawValue + step - 1) / step)
    return long + Tick(rawValue: n * step)
  }
}
