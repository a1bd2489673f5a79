import MatchProtocol
import MatchStore
import TicTacToe

/// A match in memory: the fold of its log, and what is known of the moment and needs no log.
struct CachedMatch: Sendable {
  var state: MatchState
  var record: MatchRecord
  /// The last transaction that was decided for it.
  var issued: UInt64 = 0
  /// Its strength among the live matches that everybody may watch, if it is one.
  var listed: Double?
  /// The bodies of the log, for those who come later.
  var bodies: [[UInt8]] = []
  /// What each command did: its action and the `seq` that answers it.
  var answers: [String: (action: MatchAction, seq: Int)] = [:]
  /// The sessions that follow each side.
  var followers = Sides<[String]>(x: [], o: [])
  /// Connections of spectators.
  var watchers: [ConnectionID] = []
  /// When the clock of the side to move began to run; `nil` while it stands.
  var turnStarted: Int64?
  /// After a restart: the clock stands until the side to move is back, at the latest until then.
  var waitsUntil: Int64?
  /// Which sides are away. The log says so too, up to `mostPresences` times.
  var away = Sides(x: false, o: false)
  /// Events of a log that tell of comings and goings; what comes after as many is not logged, so that nobody makes a log grow by
  /// reconnecting.
  static let mostPresences = 64
  private(set) var presences = 0
  /// When each side went away.
  var awaySince = Sides<Int64?>(x: nil, o: nil)
  /// Milliseconds each side may be away this time.
  var graceNow = Sides(x: 0, o: 0)
  /// Milliseconds each side has been away before.
  var awayBefore = Sides(x: 0, o: 0)
  /// When an unconfirmed pairing falls apart.
  var confirmBy: Int64?
  /// The tickets a pairing came from, to be returned to the present side.
  var tickets: [Ticket] = []
  /// When the room's code dies, by the steady clock.
  var codeDies: Int64?
  /// Until when a rematch may be asked, or agreed to; `nil` if it ended before the server started.
  var rematchUntil: Int64?
  /// When memory lets go of it.
  var forgetAt: Int64?
  /// The due time of the timer that is set.
  var timerAt: Int64?

  init(_ record: MatchRecord) {
    self.record = record
    state = MatchState(id: record.id)
  }

  /// The match folded from its stored log; throws if the log cannot be.
  init(_ stored: StoredMatch) throws(ProtocolError) {
    self.init(stored.record)
    try stored.read { event, body throws(ProtocolError) in try add(event, body: body) }
  }

  /// Lets a rematch be asked, or answered, for so many milliseconds from now on.
  mutating func allowRematch(_ milliseconds: Int, _ now: Int64) {
    rematchUntil = now + Int64(milliseconds)
    forgetAt = now + Int64(milliseconds) + 30_000
  }

  var id: MatchID { state.id }
  var isOver: Bool { state.phase == .over }

  func side(of account: Int64) -> Player? {
    record.x == account ? .x : record.o == account ? .o : nil
  }

  static func key(_ side: Player, _ mid: String) -> String { side.text + mid }

  /// Folds an event and remembers what it answers.
  mutating func add(_ event: MatchEvent, body: [UInt8]) throws(ProtocolError) {
    try state.append(event, body: body)
    bodies.append(body)
    switch event.kind {
    case .gone, .back: presences += 1
    case .recovered: break
    default: return remember(event)
    }
    away = state.away
  }

  private mutating func remember(_ event: MatchEvent) {
    if let side = event.side, let mid = event.mid, let action = MatchAction(event) {
      answers[CachedMatch.key(side, mid)] = (action, state.seq)
    }
  }

  /// Goes on from another's log, which begins with this one's.
  mutating func take(log other: CachedMatch) {
    (state, bodies, answers, presences) = (other.state, other.bodies, other.answers, other.presences)
  }

  /// When the side to move loses on time if it does not move, without allowance for lag.
  func deadline(_ configuration: LobbyConfiguration) -> Int64? {
    guard state.phase == .live, state.position.outcome == nil, let started = turnStarted else { return nil }
    if !state.bothMoved { return started + Int64(configuration.firstMoveWithin) }
    return started + Int64(state.clocks?[state.turn] ?? configuration.untimedMove)
  }

  /// Milliseconds the side to move has left at a time, for display.
  func left(at now: Int64, _ configuration: LobbyConfiguration) -> Int? {
    guard state.phase == .live else { return nil }
    guard state.bothMoved, let started = turnStarted else { return state.clocks?[state.turn] }
    return (state.clocks?[state.turn] ?? configuration.untimedMove) - Int(now - started)
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
