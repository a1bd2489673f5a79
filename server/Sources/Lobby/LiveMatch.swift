import MatchProtocol
import MatchStore
import TicTacToe

/// A match in memory: the state folded from its log, plus data that is not logged, such as sessions and timers.
struct LiveMatch: Sendable {
  private(set) var state: MatchState
  var record: MatchRecord
  /// The nodes that follow the match, as the store named them last.
  var nodes: [NodeID] = []
  private(set) var log = EventLog()
  /// The match whose rematch this one is.
  private(set) var previous: MatchID?
  /// For each side, the sessions of this node that play it. Each of them is connected.
  private(set) var followers = Sides<[Session]>(x: [], o: [])
  private(set) var watchers: [Session] = []

  var work = Work()
  /// Whether a new event can be decided.
  var isSettled: Bool { !work.hasUnit && !work.isBeingRead }

  var presence = Sides(x: Presence(), o: Presence())
  /// Monotonic ms at which the clock of the side to move began to run; `nil` while the clock is stopped.
  private(set) var turnStarted: Int64?
  /// After a restart of the server, the clock stays stopped until the side to move has come back, at most for this span.
  private var wait: Span?
  /// When the room's code expires, in monotonic ms.
  private(set) var codeDies: Int64?
  /// Until when a rematch may be requested or accepted, in monotonic ms.
  private(set) var rematchUntil: Int64?
  /// When the match is evicted from memory, in monotonic ms; `nil` until the match is over.
  var forgetAt: Int64?
  /// The match's pending timers, by due time in monotonic ms, the latest first: a new timer is set only if due before all others.
  var timers: [Int64] = []

  /// `isRead`: the request waits for a read of the match, and is then handled without another.
  typealias Waiting = (id: ConnectionID, request: Request, isRead: Bool)

  struct Work: Sendable {
    /// Whether a unit in flight will change this match.
    var hasUnit = false
    var isBeingRead = false
    /// Whether to read the log again once no unit and no read is in flight.
    var isBehind = false
    /// How many events memory had when the log was last requested, and how many of these events the store was known to have.
    var requested = (count: 0, storedCount: 0)
    /// Requests that wait, in order, until no unit and no read of the match is in flight.
    var waiting: [Waiting] = []
    /// While the store fails: monotonic ms until which the server submits no event of its own, such as a loss on time.
    var retryAt: Int64?
  }

  init(_ record: MatchRecord) {
    self.record = record
    state = MatchState(id: record.id)
  }

  /// Folds a stored log; O(events). Throws if the log is inconsistent. `ahead`: the store's clock minus the monotonic clock, in ms.
  init(
    _ stored: StoredMatch, now: Int64, ahead: Int64, _ configuration: LobbyConfiguration
  ) throws(ProtocolError) {
    self.init(stored.record)
    try stored.read { event, body throws(ProtocolError) in
      try add(event, body: body, at: min(now, event.at - ahead), configuration)
    }
    if isOver { forgetAt = max(forgetAt ?? 0, now + 60_000) }
  }

  var id: MatchID { state.id }
  var isOver: Bool { state.phase == .over }
  var isInProgress: Bool { [.confirming, .live].contains(state.phase) }
  var missesSomebody: Bool { presence.x.isMissing || presence.o.isMissing }
  /// The accounts that play the match or opened its room.
  var accounts: [Int64] { record.accounts }

  func side(of account: Int64) -> Player? {
    record.x == account ? .x : record.o == account ? .o : nil
  }

  func account(at side: Player) -> Int64? { side == .x ? record.x : record.o }

  // MARK: who is here

  /// The sessions of both players at this node.
  var players: [Session] { followers.x + followers.o }

  func isHere(_ side: Player) -> Bool { !followers[side].isEmpty }

  /// The sides of a match in progress that are neither recorded as absent nor connected here.
  var unaccountedSides: [Player] {
    isInProgress ? Player.allCases.filter { !presence[$0].isAway && !isHere($0) } : []
  }

  /// Subscribes a session of a side's player; `false` if the session was subscribed already.
  @discardableResult mutating func add(_ session: Session, to side: Player) -> Bool {
    guard !followers[side].contains(where: { $0.id == session.id }) else { return false }
    followers[side].append(session)
    return true
  }

  /// `false` if the session did not play the side.
  @discardableResult mutating func remove(_ session: String, from side: Player) -> Bool {
    let count = followers[side].count
    followers[side].removeAll { $0.id == session }
    return followers[side].count < count
  }

  mutating func addWatcher(_ session: Session) { watchers.append(session) }

  mutating func removeWatcher(_ id: ConnectionID) { watchers.removeAll { $0.connection == id } }

  func isWatched(by id: ConnectionID) -> Bool { watchers.contains { $0.connection == id } }

  // MARK: the log

  /// Call just before the log is requested from the store.
  mutating func noteRequest() { work.requested = (log.bodies.count, log.storedCount) }

  mutating func compare(_ stored: [[UInt8]], requested: (count: Int, storedCount: Int)) -> EventLog.Comparison {
    log.compare(stored, requested: requested)
  }

  /// How to handle events that another node announced.
  enum Reaction {
    case ignore, reread
    case fold([(event: MatchEvent, body: [UInt8])])
  }

  /// `bodies`: announced events, the first numbered `seq`; empty if the announcement only says that the match has grown.
  func reaction(to bodies: [[UInt8]], from seq: Int) -> Reaction {
    // If an announced event differs from the event of the same number in memory, one of the two is forged.
    if log.contradicts(bodies, from: seq) { return .reread }
    guard !bodies.isEmpty else { return .reread }
    guard state.seq < seq + bodies.count - 1 else { return .ignore }
    let events = bodies.compactMap { try? MatchEvent(body: $0) }
    // Only the store has the players, ratings and records that these events change: read the match again.
    let needsMore = events.contains { event in
      switch event.kind {
      case .start, .end, .aside: true
      default: false
      }
    }
    guard seq <= state.seq + 1, events.count == bodies.count, !needsMore else { return .reread }
    return .fold(Array(zip(events, bodies)))
  }

  /// Takes over the sessions, waiting requests and timers of `old`, this match as it was.
  mutating func takeOver(from old: LiveMatch) {
    (followers, watchers, work, timers) = (old.followers, old.watchers, old.work, old.timers)
  }

  /// Folds an event and updates clocks, absences and deadlines. `now`: monotonic ms. `isStored`: whether the store has the event.
  mutating func add(
    _ event: MatchEvent, body: [UInt8], at now: Int64, _ configuration: LobbyConfiguration, isStored: Bool = true
  ) throws(ProtocolError) {
    try state.append(event, body: body)
    log.append(event, body: body, isStored: isStored)
    switch event.kind {
    case .open: codeDies = now + Int64(configuration.codeLives)
    case .start(_, _, _, let previous, _, _):
      self.previous = previous
      (codeDies, turnStarted) = (nil, now)
    case .confirm: turnStarted = now
    case .move: (turnStarted, wait) = (now, nil)
    case .gone, .back:
      guard let side = event.side else { break }
      presence[side].countLogged()
      mark(side, isHere: event.kind == .back, now, configuration)
    case .recovered:
      for side in Player.allCases { mark(side, isHere: false, now, configuration) }
      (turnStarted, wait) = (nil, Span(now, configuration.grace))
    case .end, .aside:
      (turnStarted, wait, codeDies) = (nil, nil, nil)
      if record.ended == nil { record.ended = event.at }
      allowRematch(configuration, now)
    // A rematch request restarts the time limit, so that the opponent has all of `rematchWithin` to answer.
    case .rematch: allowRematch(configuration, now)
    case .flag, .draw, .resign, .abort, .claim: break
    }
  }

  private mutating func allowRematch(_ configuration: LobbyConfiguration, _ now: Int64) {
    rematchUntil = now + Int64(configuration.rematchWithin)
    forgetAt = now + Int64(configuration.rematchWithin) + 30_000
  }

  func mayHaveRematch(_ now: Int64) -> Bool { rematchUntil.map { now <= $0 } ?? false }

  mutating func mark(_ side: Player, isHere: Bool, _ now: Int64, _ configuration: LobbyConfiguration) {
    presence[side].mark(isHere: isHere, now, configuration)
    if isHere, wait != nil, state.turn == side { (wait, turnStarted) = (nil, now) }
  }

  /// The reaction to a side's arrival or departure: an event for the log or, if the log has the most presence events already, only a
  /// change in memory.
  enum PresenceChange {
    case log(MatchEvent.Kind)
    case mark
    /// Forget the departure: another node would log no `back` for a return there, so the side would stay absent here.
    case forget
  }

  /// `isHere`: the side is connected to this node. `isAlone`: there is no other node. `nil` if nothing has changed.
  func presenceChange(of side: Player, isHere: Bool, isAlone: Bool) -> PresenceChange? {
    let known = presence[side]
    guard isHere ? known.isAway : known.hasLeft && !known.isAway else { return nil }
    // A `back` is logged even beyond `Presence.mostLogged`, so that the log never shows a present player as absent.
    if isHere ? state.away[side] : known.mayBeLogged { return .log(isHere ? .back : .gone) }
    return isHere || isAlone ? .mark : .forget
  }

  /// Starts the clock of the side to move if the wait after a restart of the server is over.
  mutating func startOverdueClock(_ now: Int64) {
    if let wait, wait.end <= now { (self.wait, turnStarted) = (nil, now) }
  }

  /// Moves the starts of turn, restart wait and absences later, at most to `now`: an outage of the store must not count against a player.
  mutating func postpone(by milliseconds: Int64, _ now: Int64) {
    func later(_ since: Int64) -> Int64 { max(since, min(now, since + milliseconds)) }
    turnStarted = turnStarted.map(later)
    if let start = wait?.start { wait?.start = later(start) }
    for side in Player.allCases { presence[side].postpone(by: milliseconds, now) }
  }

  /// A monotonic start time and a length, both in milliseconds.
  private struct Span {
    var start: Int64
    let length: Int64
    var end: Int64 { start + length }

    init(_ start: Int64, _ length: Int) { (self.start, self.length) = (start, Int64(length)) }
  }

  /// Monotonic ms at which the side to move runs out of time, without the time added for network delay.
  var deadline: Int64? {
    guard state.phase == .live, state.position.outcome == nil, let started = turnStarted else { return nil }
    if !state.bothMoved { return started + Int64(state.terms.firstMoveWithin) }
    return started + Int64(state.clocks?[state.turn] ?? Limits.untimedMove)
  }

  /// Milliseconds that the side to move has left, for display.
  func left(at now: Int64) -> Int? {
    guard state.phase == .live else { return nil }
    guard state.bothMoved, let started = turnStarted else { return state.clocks?[state.turn] }
    return (state.clocks?[state.turn] ?? Limits.untimedMove) - Int(now - started)
  }

  // MARK: timers

  /// Monotonic ms at which to call `due` next; `nil` if time alone changes nothing. `flagDelay`: ms from deadline to declared loss on time.
  func nextDue(flagDelay: Int64, _ now: Int64, _ configuration: LobbyConfiguration) -> Int64? {
    if let retry = work.retryAt { return retry }
    switch state.phase {
    case .open: return codeDies
    case .confirming: return now
    case .over: return forgetAt
    case .live: break
    }
    var due = wait?.end ?? .max
    if let deadline { due = min(due, deadline + flagDelay) }
    if state.bothMoved {
      switch (presence.x.claimableAt(configuration), presence.o.claimableAt(configuration)) {
      // If both players are absent too long, neither can claim the win: a match without a clock is aborted, any other ends by its clock.
      case (let x?, let o?): if state.terms.clock == nil { due = min(due, max(x, o)) }
      case (let at?, nil), (nil, let at?): due = min(due, at + Int64(configuration.claimByItself))
      case (nil, nil): break
      }
    }
    return due == .max ? nil : due
  }

  /// The change that is due now: the end of the match or, in a match begun by an older server, the missing `confirm` events.
  func due(flagDelay: Int64, _ now: Moment, _ configuration: LobbyConfiguration) -> Change? {
    switch state.phase {
    case .over: return nil
    case .open: return codeDies.map { $0 <= now.monotonic } == true ? .end(nil, .aborted) : nil
    case .confirming:
      let missing = Player.allCases.filter { !state.confirmed[$0] }
      return .append(missing.map { MatchEvent(at: now.wall, side: $0, .confirm) })
    case .live: break
    }
    if let deadline, deadline + flagDelay <= now.monotonic { return outOfTime(now) }
    guard state.bothMoved else { return nil }
    let claimable = Player.allCases.filter {
      presence[$0].claimableAt(configuration).map { $0 <= now.monotonic } ?? false
    }
    if claimable.count == 2 {
      return state.terms.clock == nil ? .end(nil, .aborted) : nil
    }
    guard let absent = claimable.first, !presence[absent.opponent].isAway,
      let at = presence[absent].claimableAt(configuration), at + Int64(configuration.claimByItself) <= now.monotonic
    else { return nil }
    return .end(.win(absent.opponent), .gone)
  }

  /// A loss on time, or an abort if a side has not made its first move.
  func outOfTime(_ now: Moment) -> Change {
    guard state.bothMoved else { return .end(nil, .aborted) }
    var clocks = state.clocks
    clocks?[state.turn] = 0
    let flag = MatchEvent(at: now.wall, side: state.turn, clocks: clocks, .flag)
    return .end(.win(state.turn.opponent), .time, first: [flag])
  }
}
