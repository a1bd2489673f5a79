import ScoreModel

/// The music that plays while no event (such as a move) comes: the opening, phrases, closing bars and echoes. Also the times at which
/// its parts are due.
struct Agenda: Sendable {
  /// The kind of music that plays next if no event (such as a move) comes before it.
  enum Course: Sendable {
    case silent
    case opening(step: Int)
    /// Phrases extend the last event's bar.
    case phrases(Phrasing)
    case closing(Closing)
    case waiting(echoes: Int)
  }

  /// How many phrases have extended the last event's bar so far, and how many pairs these phrases have together.
  struct Phrasing: Sendable {
    var count = 0
    var pairs = 0
  }

  /// The arch (the closing bars) after the end of a piece, or the half arch after a sentence (a group of events).
  struct Closing: Sendable {
    var ending: ScoreRules.Ending
    var sizes: [Int]
    var step = 0
    var winner: Voice?
    /// The facts (such as a draw) of a piece that ended without an event. The first bar of the arch plays the sign (musical answer)
    /// for these facts.
    var facts: Set<Fact> = []
    /// The degrees of one or more mottos (a voice's first three events) that M quotes at the end of the arch, before the coda.
    var motto: [Int] = []
    /// The index of the closing bar that is the coda (a long pair on the tonic after the quoted motto); `nil` if the arch has no coda.
    var coda: Int?
    /// The roots of the last `roots.count` bars of the arch, in order; each bar before these has the root of the bar that it recalls.
    var roots: [Int] = []
    /// The sentence (group of events) that a half arch closes; `nil` at the end of the piece.
    var sentence: Int?
    /// The approximate time at which the half arch ends.
    var until = Tick.zero

    /// The number of pairs in which M plays, in the closing bars after the bar with the index `step`. The coda (see `coda`) does not count.
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
  /// The time of the next pulse of the bed (the drone's sustained tone) while a player's clock is low.
  var pulse: Tick?
  /// The start of the wait for the next event: the end of the last bar that was not an echo.
  private(set) var waitingSince = Tick.zero
  /// The times at which an opponent may reply; `nil` before the session's first piece.
  var slots: Slots?
  /// The time of the low tonic that is scheduled at the start of a piece. An earlier event cuts this note and strikes the low tonic
  /// itself.
  var pendingTonic: Tick?

  /// Whether the arch (the closing bars) at the end of a piece plays.
  var isClosing: Bool { if case .closing(let closing) = course { closing.sentence == nil } else { false } }

  /// The approximate end of the half arch that plays after a sentence (a group of events); zero if no half arch plays.
  var sentenceEnd: Tick {
    if case .closing(let closing) = course, closing.sentence != nil { closing.until } else { .zero }
  }

  /// The earliest time at which `advance` has something to compose.
  var due: Tick? { [next, drone, pulse].compactMap { $0 }.min() }

  /// Waits for the next event from `end` on: schedules the first echo and the next stroke of the low tonic. `pairs` is the number of pairs
  /// that the last bar and its phrases have together; the fewer they are, the earlier the echo comes. `nil`: as late as after the longest
  /// bar.
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

  /// Starts an arch (closing bars). An arch at the end of a piece cancels the next stroke of the low tonic.
  mutating func close(_ closing: Closing, from moment: Tick) {
    course = .closing(closing)
    next = moment
    if closing.sentence == nil { drone = nil }
  }

  /// Cancels everything except `pulse`, which goes on while a player's clock is low.
  mutating func stop() { (course, next, drone) = (.silent, nil, nil) }

  /// Delays all scheduled times except the pulse, and the slots of the bar, because the synthesizer began this bar at `frame` instead of
  /// at `start`.
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
