import MatchProtocol
import MatchStore
import TicTacToe

/// A match in memory: the fold of its log, and what is known of the moment and needs no log.
struct CachedMatch: Sendable {
  private(set) var state: MatchState
  var record: MatchRecord
  /// The nodes that follow it, as the store said last.
  var nodes: [NodeID] = []
  /// Its strength among the live matches that everybody may watch, if it is one.
  var listed: Double?
  /// The bodies of the log, for those who come later.
  private(set) var bodies: [[UInt8]] = []
  /// What each command did: its action and the `seq` that answers it.
  private(set) var answers: [String: (action: MatchAction, seq: Int)] = [:]
  /// The sessions of this node that follow each side.
  var followers = Sides<[String]>(x: [], o: [])
  /// Connections of spectators.
  var watchers: [ConnectionID] = []

  /// The unit that is out and will change it.
  var unit: UInt64?
  /// Whether its log is being read again, and whether it should be as soon as no unit is out.
  var isBeingRead = false
  var isBehind = false
  /// How many events were known when it was asked for: the store has no fewer.
  var known = 0
  /// Whether no unit is out and its log is not being read again, so that the next thing can be decided.
  var isSettled: Bool { unit == nil && !isBeingRead }
  /// Commands that wait until it is settled, in order.
  var waiting: [(id: ConnectionID, request: Request)] = []
  /// The store had no room for what time or presence wanted: not before this it is tried again.
  var retryAt: Int64?

  /// When the clock of the side to move began to run; `nil` while it stands.
  private(set) var turnStarted: Int64?
  /// After a restart: the clock stands until the side to move is back, at the latest until the end of this.
  private var wait: Span?
  var waitsUntil: Int64? { wait?.end }
  /// Which sides are away. The log says so too, up to `mostPresences` times a side.
  private(set) var away = Sides(x: false, o: false)
  /// Sides whose last connection has ended, here or at a node that is no more, which no log says yet; and whether with `bye`.
  var hasLeft = Sides(x: false, o: false)
  var leftCleanly = Sides(x: false, o: false)
  /// Whether somebody is missing; only then can a side have come or gone.
  var missesSomebody: Bool { away.x || away.o || hasLeft.x || hasLeft.o }
  /// Events of a log that tell of one side's comings and goings; what comes after as many is not logged, so that nobody makes a log grow
  /// by reconnecting.
  static let mostPresences = 64
  private var presences = Sides(x: 0, o: 0)
  func logsPresence(of side: Player) -> Bool { presences[side] < CachedMatch.mostPresences }
  private(set) var awaySince = Sides<Int64?>(x: nil, o: nil)
  /// Milliseconds each side may be away this time.
  private var graceNow = Sides(x: 0, o: 0)
  /// Milliseconds each side has been away before.
  private var awayBefore = Sides(x: 0, o: 0)
  /// When an unconfirmed pairing falls apart.
  private var confirming: Span?
  var confirmBy: Int64? { confirming?.end }
  /// When the room's code dies, by the steady clock.
  private(set) var codeDies: Int64?
  /// Until when a rematch may be asked, or agreed to.
  private(set) var rematchUntil: Int64?
  /// When memory lets go of it.
  var forgetAt: Int64?
  /// When its timers ring that are set, the latest first: one is set only if it rings before all others.
  var timers: [Int64] = []

  init(_ record: MatchRecord) {
    self.record = record
    state = MatchState(id: record.id)
  }

  /// The match folded from its stored log, each event at the time that it had by the steady clock, `ahead` behind the store's;
  /// throws if the log cannot be folded. O(events).
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
  /// Whoever sits at it or has opened it.
  var accounts: [Int64] { record.accounts }

  func side(of account: Int64) -> Player? {
    record.x == account ? .x : record.o == account ? .o : nil
  }

  func account(at side: Player) -> Int64? { side == .x ? record.x : record.o }

  static func key(_ side: Player, _ mid: String) -> String { side.text + mid }

  /// A session follows a side from now on; `false` if it did.
  @discardableResult mutating func add(_ session: String, to side: Player) -> Bool {
    guard !followers[side].contains(session) else { return false }
    followers[side].append(session)
    return true
  }

  /// Folds an event that happened at a steady time, with all that it means for clocks and absences.
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
      if state.phase == .live { turnStarted = now } else { confirming = Span(now, configuration.confirmWithin) }
    case .confirm:
      if state.phase == .live { (confirming, turnStarted) = (nil, now) }
    case .move: (turnStarted, wait) = (now, nil)
    case .gone, .back:
      guard let side = event.side else { break }
      presences[side] += 1
      mark(side, isHere: event.kind == .back, now, configuration)
    case .recovered:
      for side in Player.allCases { mark(side, isHere: false, now, configuration) }
      if state.phase == .confirming {
        // Both need a moment to come back before they can confirm.
        confirming = Span(now, configuration.confirmWithin * 2)
      } else {
        (turnStarted, wait) = (nil, Span(now, configuration.grace))
      }
    case .end, .aside:
      (turnStarted, wait, confirming, codeDies) = (nil, nil, nil, nil)
      if record.ended == nil { record.ended = event.at }
      allowRematch(configuration, now)
    // Whoever is asked has as long as whoever asks.
    case .rematch: allowRematch(configuration, now)
    case .flag, .draw, .resign, .abort, .claim: break
    }
  }

  private mutating func allowRematch(_ configuration: LobbyConfiguration, _ now: Int64) {
    rematchUntil = now + Int64(configuration.rematchWithin)
    forgetAt = now + Int64(configuration.rematchWithin) + 30_000
  }

  /// Whether it is over and a rematch may be asked for.
  func mayHaveRematch(_ now: Int64) -> Bool { rematchUntil.map { now <= $0 } ?? false }

  /// Takes note of a side that comes or goes.
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

  /// A side that is away has said goodbye, at another node.
  mutating func shortenGrace(of side: Player, _ configuration: LobbyConfiguration) {
    graceNow[side] = min(graceNow[side], configuration.graceAfterBye)
  }

  /// The wait after a restart is over if its time has come: the clock runs.
  mutating func startOverdueClock(_ now: Int64) {
    if let wait, wait.end <= now { (self.wait, turnStarted) = (nil, now) }
  }

  /// Time in which nobody could move or come back does not count: so many milliseconds until now, or what a turn, a wait or an absence
  /// has had of them.
  mutating func postpone(by milliseconds: Int64, _ now: Int64) {
    func later(_ since: Int64) -> Int64 { max(since, min(now, since + milliseconds)) }
    turnStarted = turnStarted.map(later)
    if let start = wait?.start { wait?.start = later(start) }
    if let start = confirming?.start { confirming?.start = later(start) }
    for side in Player.allCases { awaySince[side] = awaySince[side].map(later) }
  }

  /// So many milliseconds from a time on.
  private struct Span {
    var start: Int64
    let length: Int64
    var end: Int64 { start + length }

    init(_ start: Int64, _ length: Int) { (self.start, self.length) = (start, Int64(length)) }
  }

  /// When the side to move loses on time if it does not move, without allowance for lag.
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
  /// The command an event answers; a recorded move or answer, with everything that tells one command from another.
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
