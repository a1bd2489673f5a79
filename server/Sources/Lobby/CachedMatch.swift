import MatchProtocol
import MatchStore
import TicTacToe

/// A match in memory: the state folded from its log, plus data of the moment that is not logged.
struct CachedMatch: Sendable {
  private(set) var state: MatchState
  var record: MatchRecord
  /// The nodes that follow the match, from the store's last answer.
  var nodes: [NodeID] = []
  /// The encoded events of the log, for clients that join later.
  private(set) var bodies: [[UInt8]] = []
  /// For each `mid` that a side used: its action and the `seq` of the resulting event. A repeated command gets the same answer.
  private(set) var answers: [String: (action: MatchAction, seq: Int)] = [:]
  /// For each side, the sessions of this node that play it.
  var followers = Sides<[String]>(x: [], o: [])
  /// The connections of the spectators.
  var watchers: [ConnectionID] = []

  /// The number of the unit in flight that will change this match.
  var unit: UInt64?
  /// Whether the log is being read again, and whether to read it again once no unit is in flight.
  var isBeingRead = false
  var isBehind = false
  /// The number of events in memory when the log was last requested; a shorter log in the store means lost data.
  var known = 0
  /// Whether a new event can be decided: no unit is in flight and the log is not being read again.
  var isSettled: Bool { unit == nil && !isBeingRead }
  /// Commands that wait until the match is settled, in order.
  var waiting: [(id: ConnectionID, request: Request)] = []
  /// The earliest time of the next try, after the store failed an event caused by a timer or by presence.
  var retryAt: Int64?

  /// When the clock of the side to move began to run; `nil` while it is stopped.
  private(set) var turnStarted: Int64?
  /// After a restart: the clock is stopped until the side to move is back, at most for this time.
  private var wait: Span?
  var waitsUntil: Int64? { wait?.end }
  /// The sides that are absent. Logged too, at most `mostPresences` times a side.
  private(set) var away = Sides(x: false, o: false)
  /// Sides whose last connection has ended, here or at a dead node, without a `gone` in the log yet; and whether they sent `bye`.
  var hasLeft = Sides(x: false, o: false)
  var leftCleanly = Sides(x: false, o: false)
  /// Whether a side is absent or has left; without one no presence event can be due.
  var missesSomebody: Bool { away.x || away.o || hasLeft.x || hasLeft.o }
  /// The most presence events logged for one side. Later ones are not logged, so that reconnecting cannot grow a log without limit.
  static let mostPresences = 64
  private var presences = Sides(x: 0, o: 0)
  func logsPresence(of side: Player) -> Bool { presences[side] < CachedMatch.mostPresences }
  private(set) var awaySince = Sides<Int64?>(x: nil, o: nil)
  /// Milliseconds for which each side may be absent this time.
  private var graceNow = Sides(x: 0, o: 0)
  /// Milliseconds of each side's earlier absences.
  private var awayBefore = Sides(x: 0, o: 0)
  /// When the room's code expires, in steady milliseconds.
  private(set) var codeDies: Int64?
  /// The deadline for requesting or accepting a rematch, in steady milliseconds.
  private(set) var rematchUntil: Int64?
  /// When the match is evicted from memory.
  var forgetAt: Int64?
  /// The times of its pending timers, the latest first. A timer is set only if it fires before all others.
  var timers: [Int64] = []

  init(_ record: MatchRecord) {
    self.record = record
    state = MatchState(id: record.id)
  }

  /// Folds a stored log. The store's times become steady times by subtracting `ahead`, the store's clock less the
  /// steady clock. Throws if the log is inconsistent. O(events).
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
  /// The accounts that play the match or opened its room.
  var accounts: [Int64] { record.accounts }

  func side(of account: Int64) -> Player? {
    record.x == account ? .x : record.o == account ? .o : nil
  }

  func account(at side: Player) -> Int64? { side == .x ? record.x : record.o }

  static func key(_ side: Player, _ mid: String) -> String { side.text + mid }

  /// Subscribes a session to a side; returns `false` if it was subscribed already.
  @discardableResult mutating func add(_ session: String, to side: Player) -> Bool {
    guard !followers[side].contains(session) else { return false }
    followers[side].append(session)
    return true
  }

  /// Folds an event at a steady time and updates clocks, absences and deadlines.
  mutating func add(
    _ event: MatchEvent, body: [UInt8], at now: Int64, _ configuration: LobbyConfiguration
  ) throws(ProtocolError) {
    try state.append(event, body: body)
    bodies.append(body)
    if let side = event.side, let mid = event.mid, let action = MatchAction(event) {
      answers[CachedMatch.key(side, mid)] = (action, state.seq)
    }
    switch event.kind {
    case .open: codeDies = now + Int64(configuration.codeLives)
    case .start:
      codeDies = nil
      turnStarted = now
    case .confirm: turnStarted = now
    case .move: (turnStarted, wait) = (now, nil)
    case .gone, .back:
      guard let side = event.side else { break }
      presences[side] += 1
      mark(side, isHere: event.kind == .back, now, configuration)
    case .recovered:
      for side in Player.allCases { mark(side, isHere: false, now, configuration) }
      (turnStarted, wait) = (nil, Span(now, configuration.grace))
    case .end, .aside:
      (turnStarted, wait, codeDies) = (nil, nil, nil)
      if record.ended == nil { record.ended = event.at }
      allowRematch(configuration, now)
    // The second player gets the full time to answer a rematch request.
    case .rematch: allowRematch(configuration, now)
    case .flag, .draw, .resign, .abort, .claim: break
    }
  }

  private mutating func allowRematch(_ configuration: LobbyConfiguration, _ now: Int64) {
    rematchUntil = now + Int64(configuration.rematchWithin)
    forgetAt = now + Int64(configuration.rematchWithin) + 30_000
  }

  /// Whether the match is over and a rematch may still be requested.
  func mayHaveRematch(_ now: Int64) -> Bool { rematchUntil.map { now <= $0 } ?? false }

  /// Records that a side became absent or present.
  mutating func mark(_ side: Player, isHere: Bool, _ now: Int64, _ configuration: LobbyConfiguration) {
    away[side] = !isHere
    if isHere {
      if let since = awaySince[side] { awayBefore[side] += Int(now - since) }
      awaySince[side] = nil
      if wait != nil, state.turn == side { (wait, turnStarted) = (nil, now) }
    } else {
      awaySince[side] = now
      graceNow[side] = leftCleanly[side] ? configuration.graceAfterBye : configuration.grace
    }
    (hasLeft[side], leftCleanly[side]) = (false, false)
  }

  /// Shortens the allowed absence of a side that sent `bye` at another node.
  mutating func shortenGrace(of side: Player, _ configuration: LobbyConfiguration) {
    graceNow[side] = min(graceNow[side], configuration.graceAfterBye)
  }

  /// Starts the clock if the wait after a restart has ended.
  mutating func startOverdueClock(_ now: Int64) {
    if let wait, wait.end <= now { (self.wait, turnStarted) = (nil, now) }
  }

  /// Shifts running turns, waits and absences later by an outage of the given milliseconds that ended now, at most to
  /// now, so that no player's clock is charged for time in which no command could be stored.
  mutating func postpone(by milliseconds: Int64, _ now: Int64) {
    func later(_ since: Int64) -> Int64 { max(since, min(now, since + milliseconds)) }
    turnStarted = turnStarted.map(later)
    if let start = wait?.start { wait?.start = later(start) }
    for side in Player.allCases { awaySince[side] = awaySince[side].map(later) }
  }

  /// A start time and a length in milliseconds.
  private struct Span {
    var start: Int64
    let length: Int64
    var end: Int64 { start + length }

    init(_ start: Int64, _ length: Int) { (self.start, self.length) = (start, Int64(length)) }
  }

  /// When the side to move loses on time, before the allowance for lag.
  var deadline: Int64? {
    guard state.phase == .live, state.position.outcome == nil, let started = turnStarted else { return nil }
    if !state.bothMoved { return started + Int64(state.terms.firstMoveWithin) }
    return started + Int64(state.clocks?[state.turn] ?? Limits.untimedMove)
  }

  /// Milliseconds the side to move has left at a time, for display.
  func left(at now: Int64) -> Int? {
    guard state.phase == .live else { return nil }
    guard state.bothMoved, let started = turnStarted else { return state.clocks?[state.turn] }
    return (state.clocks?[state.turn] ?? Limits.untimedMove) - Int(now - started)
  }

  /// When the win over an absent side may be claimed.
  func claimableAt(over side: Player, _ configuration: LobbyConfiguration) -> Int64? {
    guard let since = awaySince[side] else { return nil }
    return since + Int64(max(0, min(graceNow[side], configuration.graceInAll - awayBefore[side])))
  }
}

extension MatchAction {
  /// The command that produced an event, for comparison with a repeated command; `nil` for events without a command.
  init?(_ event: MatchEvent) {
    switch event.kind {
    case .move(let ply, let cell, _): self = .move(ply: ply, cell: cell)
    case .resign: self = .resign
    case .draw(let action, let offer): self = .draw(action, offer: offer)
    case .abort: self = .abort
    case .claim: self = .claim
    case .rematch: self = .rematch
    case .open, .start, .confirm, .flag, .gone, .back, .recovered, .end, .aside: return nil
    }
  }
}
