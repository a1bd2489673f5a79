import Base
import TicTacToe

/// Set once by the tournament's organiser.
package struct TournamentTerms: Sendable, Hashable {
  package var name: String
  package var rules: Variant
  package var clock: TimeControl
  /// Minutes from the start, after which no new game begins.
  package var minutes: Int
  package var bots: Bool

  package static let lengths = 5...120
  package static let nameLengths = 1...40

  package init(
    name: String = "", rules: Variant = .classic, clock: TimeControl? = nil, minutes: Int? = nil, bots: Bool = false
  ) {
    (self.name, self.rules, self.bots) = (name, rules, bots)
    self.clock = clock ?? rules.tournamentClock
    self.minutes = minutes ?? rules.tournamentMinutes
  }

  mutating func code(_ c: inout FieldCoder) throws(FieldError) {
    name = try c.text("name", name, max: Self.nameLengths.upperBound)
    try c.require(!name.isEmpty, "name", "1–\(Self.nameLengths.upperBound) characters long")
    rules = try c.field("rules", rules, unless: .classic)
    let text = try c.field("clock", clock.description, or: rules.tournamentClock.description)
    let clock = TimeControl(text)
    try c.require(clock != nil, "clock", "SECONDS+SECONDS, 10–3600 and 0–60, as 20+1")
    if let clock { self.clock = clock }
    minutes = try c.field("minutes", minutes, or: rules.tournamentMinutes)
    try c.require(Self.lengths.contains(minutes), "minutes", "5–120")
    bots = try c.field("bots", bots, unless: false)
  }
}

extension Variant {
  package var tournamentClock: TimeControl {
    let (seconds, increment) =
      switch self {
      case .classic, .misere: (20, 1)
      case .infinite: (60, 1)
      case .ultimate: (180, 2)
      }
    return TimeControl(seconds: seconds, increment: increment) ?? .standard
  }

  package var tournamentMinutes: Int {
    switch self {
    case .classic, .misere: 10
    case .infinite: 15
    case .ultimate: 40
    }
  }
}

/// One player's row of a tournament's table. Rows are numbered from 1 in the order of entering.
package struct TournamentRow: FieldObject, Sendable, Hashable {
  package enum Status: String, FieldText, Sendable, Hashable, CaseIterable {
    /// Plays or may be paired.
    case playing
    /// Is not paired until the player asks to play again.
    case paused
    /// Has left; may enter again.
    case left
    /// Was removed by the organiser; is not ranked.
    case removed
  }

  package var number = 0
  /// Empty on the wire if the receiver has the name already.
  package var name = ""
  package var points = 0
  /// The wins in a row; from the third on, each gives 4 points instead of 2.
  package var streak = 0
  /// The games with a result.
  package var games = 0
  /// The sum, over all games, of the points that the opponent had before the game's result.
  package var opposition = 0
  package var status = Status.playing

  package init() {}

  package mutating func code(_ c: inout FieldCoder) throws(FieldError) {
    try c.code("n", &number)
    name = try c.field("name", name, unless: "")
    points = try c.field("points", points, unless: 0)
    streak = try c.field("streak", streak, unless: 0)
    games = try c.field("games", games, unless: 0)
    opposition = try c.field("opp", opposition, unless: 0)
    status = try c.field("status", status, unless: .playing)
  }

  /// Whether the next win counts double.
  package var isOnFire: Bool { streak >= 2 }

  /// `outcome` is 1 for a win, 0 for a draw, -1 for a loss; `opponent` is the number of points that the opponent had before the result.
  package mutating func add(_ outcome: Int, against opponent: Int) {
    points += outcome > 0 ? (isOnFire ? 4 : 2) : outcome == 0 ? 1 : 0
    streak = outcome > 0 ? streak + 1 : 0
    games += 1
    opposition += opponent
  }

  /// More points rank first, then fewer games, then the better average of the opponents' points, then the earlier entry.
  package func ranks(before other: TournamentRow) -> Bool {
    if points != other.points { return points > other.points }
    if games != other.games { return games < other.games }
    if opposition != other.opposition { return opposition > other.opposition }
    return number < other.number
  }
}

/// The state of a tournament without its table.
package struct TournamentNotice: Sendable, Hashable {
  package enum Phase: String, FieldText, Sendable, Hashable, CaseIterable {
    /// Players enter; no game begins.
    case waiting
    case running
    /// The time is up; the games that are in progress are played to their end.
    case ending
    case over
  }

  /// One of the first three at the end. `won` is the match that this player won last.
  package struct Winner: FieldObject, Sendable, Hashable {
    package var number = 0
    package var name = ""
    package var won: MatchID?

    package init() {}

    package mutating func code(_ c: inout FieldCoder) throws(FieldError) {
      try c.code("n", &number)
      try c.code("name", &name)
      try c.code("m", &won)
    }
  }

  package var code = ""
  package var terms = TournamentTerms()
  package var phase = Phase.waiting
  /// Milliseconds until the start (phase `waiting`; `nil` if no start is set) or until the end (phase `running`). A reader limits them to
  /// `TournamentOrder.longestDelay`.
  package var remaining: Int?
  /// The numbers of rows in the table and of games in progress.
  package var (entrants, running) = (0, 0)
  /// The receiver's `TournamentRow.number`; `nil` if the receiver has never entered.
  package var you: Int?
  /// Whether the receiver has shown the organiser's secret.
  package var isOrganiser = false
  /// The game that spectators are shown until it ends: its two players together had the most points when it was chosen.
  package var top: MatchID?
  /// The first three, in the phase `over`.
  package var winners: [Winner] = []
  /// The organiser's secret, only in the answer to `host`.
  package var secret: String?

  package init() {}

  mutating func code(_ c: inout FieldCoder) throws(FieldError) {
    code = try c.canonical("code", code)
    try terms.code(&c)
    try c.code("phase", &phase)
    try c.code("in_ms", &remaining)
    if c.isReading { remaining = remaining.map { min(max($0, 0), TournamentOrder.longestDelay) } }
    try c.code("entrants", &entrants)
    try c.code("running", &running)
    try c.code("you", &you)
    isOrganiser = try c.field("organiser", isOrganiser, unless: false)
    try c.code("top", &top)
    winners = try c.field("winners", winners, unless: [])
    secret = try c.token("secret", secret, isRequired: false)
  }
}

package struct TournamentOrder: Sendable, Hashable {
  package enum Operation: String, FieldText, Sendable, Hashable, CaseIterable {
    /// Start or stop receiving notices and the table, as a spectator.
    case follow, unfollow
    /// Become a player.
    case enter
    /// Not be paired until `play`.
    case pause, play
    case leave
    /// For the organiser only. `start` begins now or after a delay; `remove` excludes a player, `admit` readmits one.
    case start, end, remove, admit
    /// For the organiser only: receive the finished games in which the player of row `number` had X.
    case games
  }

  package var code: String
  package var operation: Operation
  package var secret: String?
  /// For `start`: milliseconds until the tournament begins; `nil` to begin at once.
  package var delay: Int?
  /// The player to remove or admit.
  package var name: String?
  /// For `games`: the `TournamentRow.number` of the player whose games are wanted. Only games that ended before the time `before`
  /// (milliseconds since 1970) are sent.
  package var number: Int?
  package var before: Int64?

  package init(
    _ operation: Operation, _ code: String, secret: String? = nil, delay: Int? = nil, name: String? = nil,
    number: Int? = nil, before: Int64? = nil
  ) {
    (self.operation, self.code, self.secret) = (operation, code, secret)
    (self.delay, self.name, self.number, self.before) = (delay, name, number, before)
  }

  /// A week in milliseconds.
  package static let longestDelay = 7 * 86_400_000

  package var isOrganisers: Bool { [.start, .end, .remove, .admit, .games].contains(operation) }

  mutating func code(_ c: inout FieldCoder) throws(FieldError) {
    try c.code("op", &operation)
    code = try c.text("code", code, max: 16)
    secret = try c.text("secret", secret, max: 128, isRequired: isOrganisers)
    try c.code("in_ms", &delay)
    try c.require(delay.map { (0...Self.longestDelay).contains($0) } ?? true, "in_ms", "0–\(Self.longestDelay)")
    name = try c.text("name", name, max: 64, isRequired: operation == .remove || operation == .admit)
    try c.code("n", &number)
    try c.require(operation != .games || number != nil, "n", "the number of a player's row")
    try c.code("before", &before)
  }
}
