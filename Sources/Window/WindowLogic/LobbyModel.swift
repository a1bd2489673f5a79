import Base
import ClientModel
import Interface
import MatchProtocol
import TicTacToe

/// The connection to a server, and the player's state on it: in the lobby, in the queue, or in a room of this player.
struct LobbyModel: Sendable {
  /// The parts of the window's state outside of the lobby that the lobby reads.
  struct Context {
    var page: SceneName
    var now: Double
    var preferences: WindowState.Preferences
    /// Whether a match is on the board.
    var hasMatch: Bool
    /// Whether the match on the board is this player's own, running or over.
    var isPlayer: Bool
  }

  private(set) var network = NetworkModel()
  private(set) var connection = WindowState.ConnectionState.none
  private(set) var server = (address: "", isHosting: false)
  /// Whether the server closed the connection because the player connected elsewhere.
  private(set) var isReplaced = false
  /// When the connection was lost, in seconds of the platform's clock; `nil` once the board shows the match's current state again.
  private(set) var lostAt: Double?
  private(set) var destination: Destination?
  /// The match that this player is about to play, or this player's room, which becomes a match.
  private(set) var pendingMatch: MatchID?
  /// The match that the player wants to watch, until that match is on the board.
  private(set) var wanted: MatchID?
  /// The code of the room of this player, or of the room or match that the player enters or is about to watch.
  private(set) var code: String?
  /// The rooms that were requested and are not open yet. When they open, all but the last are closed; with `dropsLast` the last one, too,
  /// because the player has done something else since the request.
  private var openings = (count: 0, dropsLast: false)
  /// Whether the network page opens when the connection is made; the player's next action prevents this.
  private var opensPage = false
  /// The phase before the connection was lost, if the player was waiting in the queue or in a room.
  private var waitedIn: NetworkModel.Phase?
  private var listedAt = -Double.infinity
  /// When the player began to wait for an opponent, in seconds of the platform's clock.
  private var queuedAt: Double?
  /// Whether the player has asked for a match with a stranger and waits for it; `false` while waiting for a game of a tournament.
  private(set) var isSeeking = false
  /// Whether the ratings shown are up to date.
  private var isRatingKnown = false

  /// Seconds between two requests for the list of matches.
  private static let listInterval = 5.0

  /// The matches that the server listed at the login and of which no event has arrived since. They may be rooms that still wait.
  private var announced: Set<MatchID> = []
  /// Whether `destination` waits for the states of the announced matches, because it depends on whether this player is in a match.
  private var isUndecided = false
  /// Whether a match is expected to replace the local game on the board: this player's unfinished match, or the match of a link.
  private var holdsBoard = false

  /// Whether this player's unfinished match, which is on the server `matchServer`, is being resumed.
  func isResuming(_ matchServer: String) -> Bool {
    if connection == .online { return !announced.isEmpty }
    if case .room = destination { return matchServer == server.address }
    return destination == .resume
  }

  /// Whether a match is about to be shown on the board. `false` while the server cannot be reached.
  var isOpeningMatch: Bool { holdsBoard && [.connecting, .online].contains(connection) }

  /// Whole seconds for which the player has waited for an opponent; `nil` if the player does not wait.
  func waited(at now: Double) -> Int? { queuedAt.map { max(0, Int(now - $0)) } }

  // MARK: - Time

  mutating func tick(in context: Context) -> [Effect] {
    guard context.page == .network, connection == .online, network.phase == .lobby || queuedAt != nil,
      context.now - listedAt > LobbyModel.listInterval
    else { return [] }
    listedAt = context.now
    return [.command(.list)] + (isRatingKnown ? [] : [.command(.me)])
  }

  /// Call it after each step of `WindowState`.
  mutating func countWait(at now: Double) {
    queuedAt = network.phase.isQueued ? queuedAt ?? now : nil
  }

  // MARK: - Messages

  /// Shows a message: on the network page if that page is or will be open, else as a notice.
  mutating func tell(_ message: Message, in context: Context) -> [Effect] {
    guard context.page == .network || opensPage else { return [.say(message)] }
    network.message = message
    return openPage(in: context)
  }

  mutating func clearMessage() { network.message = nil }

  /// Opens the network page once after connecting, unless a match is on the board or being resumed.
  mutating func openPage(in context: Context) -> [Effect] {
    defer { opensPage = false }
    let mayOpen = context.page != .network && !context.hasMatch && !isResuming(context.preferences.matchServer)
    return opensPage && mayOpen ? [.show(.network)] : []
  }

  mutating func cancelOpening() { opensPage = false }

  mutating func localGameBegan() { (opensPage, holdsBoard) = (false, false) }

  /// Call it when an event of a match has arrived. Once no other match is expected, the local game takes moves again.
  mutating func heardOf(_ m: MatchID) {
    announced.remove(m)
    if announced.isEmpty { holdsBoard = false }
  }

  // MARK: - The connection

  mutating func connect(to address: ServerAddress, _ destination: Destination?, isHosting: Bool, newToken: String)
    -> [Effect]
  {
    forgetServer()
    server = (address.description, isHosting)
    (self.destination, isReplaced, connection, opensPage) = (destination, false, .connecting, true)
    // The player connects from the tournament's page, which stays open.
    if case .request = destination { opensPage = false }
    holdsBoard = true
    switch destination {
    case .room(let code): self.code = code
    case .watch(_, let code): self.code = code
    case .resume: break
    case .open, .queue, .request, nil: holdsBoard = false
    }
    network = NetworkModel(phase: .connecting)
    // A server on this machine has another port at each start, so do not store its address.
    return [.connect(address, newToken: newToken)] + (isHosting ? [] : [.remember(.server(server.address))])
  }

  private mutating func forgetServer() {
    (pendingMatch, wanted, code, waitedIn, lostAt, openings) = (nil, nil, nil, nil, nil, (0, false))
    (isUndecided, isSeeking) = (false, false)
  }

  mutating func hangUp() -> [Effect] {
    forgetServer()
    (connection, destination, network) = (.none, nil, NetworkModel())
    return [.hangUp]
  }

  mutating func hear(_ status: ConnectionStatus, in context: Context) -> [Effect] {
    switch status {
    case .connecting:
      if connection == .none { connection = .connecting }
      if !context.hasMatch { network.phase = .connecting }
    case .online(let welcome): return online(welcome, in: context)
    case .waiting(let milliseconds, let reason):
      if connection == .online { lostAt = context.now - (reason == .silent ? Double(Limits.silence) / 1_000 : 0) }
      connection = .reconnecting
      network.message = "\(.nextTry, reason.message, "\((milliseconds + 999) / 1000)")"
      guard !context.hasMatch else { return [] }
      switch network.phase {
      case .queued, .room: waitedIn = network.phase
      default: break
      }
      network.phase = .connecting
      return openPage(in: context)
    case .failed(let failure):
      let opening = openPage(in: context)
      (connection, isReplaced, destination) = (.none, failure == .replaced, nil)
      (network.phase, network.message) = (.offline, failure.message)
      return [.hangUp] + (opening.isEmpty && context.page != .network ? [.say(failure.message)] : opening)
    case .closed: (connection, network.phase) = (.none, .offline)
    }
    return []
  }

  private mutating func online(_ welcome: ServerMessage.Welcome, in context: Context) -> [Effect] {
    connection = .online
    network.you = .init(name: welcome.you.name, ratings: [.classic: welcome.you.rating], isGuest: welcome.you.guest)
    network.message = nil
    // `MatchClient` repeats a search for an opponent by itself. A room may have been closed while the connection was lost: return to the
    // room only if the server lists its match.
    if case .room = waitedIn, pendingMatch.map(welcome.matches.contains) != true { waitedIn = nil }
    if !context.hasMatch {
      network.phase = waitedIn ?? .lobby
    } else if network.phase == .connecting {
      network.phase = .playing
    }
    (waitedIn, isRatingKnown) = (nil, false)
    // Request the account: its ratings and the list of blocked players.
    var effects: [Effect] = [.command(.me)]
    if !welcome.you.guest { effects.append(.remember(.name(welcome.you.name))) }
    announced = context.isPlayer ? [] : Set(welcome.matches)
    holdsBoard = !announced.isEmpty
    switch destination {
    case .room, .resume, nil:
      isUndecided = true
      return effects + decide(in: context)
    case .open: effects += openRoom(context.preferences)
    case .queue: effects += seek(context.preferences)
    case .watch(let id, let code): if let m = MatchID(rawValue: id) { effects += watch(m, code: code) }
    case .request(let command): effects.append(.command(command))
    }
    destination = nil
    return effects
  }

  /// Call it after each event of a match. If one of the announced matches runs, it opens by itself, and the room of a link is not joined.
  /// Otherwise, once the states of all of them are known, carries out the destination.
  mutating func decide(in context: Context) -> [Effect] {
    guard isUndecided, announced.isEmpty else { return [] }
    defer { (isUndecided, destination) = (false, nil) }
    if context.isPlayer { return [] }
    switch destination {
    case .room(let code): return join(code)
    case .resume: return [.remember(.matchServer("")), .say("\(.matchEnded)")]
    default: return [.remember(.matchServer(""))] + openPage(in: context)
    }
  }

  // MARK: - Requests of the player

  private func terms(_ preferences: WindowState.Preferences, clock chosen: String) -> MatchTerms {
    let usual = preferences.game.usualClock
    // The setting `60+2`, Classic's default clock, stands for the default clock of any variant.
    let isUsual = chosen == TimeControl.standard.description
    let clock = chosen == "none" ? nil : isUsual ? usual : TimeControl(chosen) ?? usual
    return MatchTerms(
      rules: preferences.game, clock: clock,
      rated: preferences.isRated && clock != nil && network.you?.isGuest == false)
  }

  mutating func seek(_ preferences: WindowState.Preferences) -> [Effect] {
    openings.dropsLast = openings.count > 0
    (code, isSeeking, network.phase) = (nil, true, .queued(bots: 0))
    return [.command(.seek(terms(preferences, clock: preferences.clock)))]
  }

  mutating func openRoom(_ preferences: WindowState.Preferences) -> [Effect] {
    openings = (openings.count + 1, false)
    code = nil
    var terms = terms(preferences, clock: preferences.roomClock)
    terms.opener = preferences.roomSide
    return [.command(.create(terms))]
  }

  /// Replaces the player's room by a room with the variant and clock that are chosen now.
  mutating func reopenRoom(_ preferences: WindowState.Preferences) -> [Effect] {
    let code = code
    defer { self.code = code }
    return closeRoom() + openRoom(preferences)
  }

  private mutating func closeRoom() -> [Effect] {
    defer { pendingMatch = nil }
    return pendingMatch.map { [.command(.abort($0))] } ?? []
  }

  mutating func join(_ code: String) -> [Effect] {
    self.code = code
    return [.command(.join(code))]
  }

  mutating func watch(_ m: MatchID, code: String?) -> [Effect] {
    (self.code, wanted) = (code, m)
    return [.command(.watch(m, code: code))]
  }

  mutating func stopWatching() -> [Effect] {
    defer { wanted = nil }
    return wanted.map { [.command(.unwatch($0))] } ?? []
  }

  func acceptBot() -> [Effect] {
    guard network.phase.isQueued else { return .refused(.notWaiting) }
    return [.command(.acceptBots)]
  }

  /// Leaves the room or the queue; in other phases disconnects from the server.
  mutating func leave() -> [Effect] {
    switch network.phase {
    case .queued:
      (isSeeking, network.phase) = (false, .lobby)
      return [.command(.unseek), .show(.network)]
    case .room:
      network.phase = .lobby
      openings.dropsLast = openings.count > 0
      code = nil
      return closeRoom() + [.show(.network)]
    case .offline where connection == .none: return .refused(.notConnected)
    case .offline, .connecting, .lobby, .playing: return hangUp() + [.remember(.matchServer(""))]
    }
  }

  // MARK: - Events of the server

  mutating func queued(waited milliseconds: Int, bots: Int, at now: Double) {
    network.phase = .queued(bots: bots)
    queuedAt = now - Double(milliseconds) / 1_000
  }

  /// Counts an answer to a request for a room. Returns whether the room, if it has opened, stays open.
  @discardableResult
  private mutating func openingAnswered() -> Bool {
    openings.count = max(0, openings.count - 1)
    guard openings.count == 0 else { return false }
    // The next room may be one that was not requested: the answer to `join` with the code of this player's own room.
    defer { openings.dropsLast = false }
    return !openings.dropsLast
  }

  mutating func roomOpened(_ m: MatchID, _ code: String) -> [Effect] {
    guard openingAnswered() else { return [.command(.abort(m))] }
    (pendingMatch, self.code, network.phase, network.message) = (m, code, .room(code: code), nil)
    return []
  }

  mutating func roomClosed(in context: Context) -> [Effect] {
    (pendingMatch, code, network.phase) = (nil, nil, .lobby)
    return tell("\(.roomClosed)", in: context)
  }

  mutating func refused(_ asked: ClientMessage?, _ reason: Message, in context: Context) -> [Effect] {
    switch asked {
    case .seek:
      isSeeking = false
      seekEnded()
    case .create:
      openingAnswered()
      if network.phase.isRoom, pendingMatch == nil { (code, network.phase) = (nil, .lobby) }
    case .join, .watch: (code, wanted) = (nil, nil)
    default: break
    }
    return tell(reason, in: context)
  }

  /// Shows the lobby instead of the queue, if no search for an opponent is open any more.
  mutating func seekEnded() { if !isSeeking, network.phase.isQueued { network.phase = .lobby } }

  /// For a match that this player is about to play and whose players are not known yet.
  mutating func expect(_ m: MatchID) { pendingMatch = m }

  /// Call it when a match is put on the board. A spectator still waits for an own match.
  mutating func matchBegan(isPlayer: Bool) {
    if isPlayer { isSeeking = false }
    (pendingMatch, wanted, waitedIn, opensPage, isRatingKnown) = (nil, nil, nil, false, false)
    (network.message, network.phase) = (nil, .playing)
    (isUndecided, destination) = (false, nil)
  }

  /// Call it when the board has the current state of the match again after a lost connection.
  mutating func matchFollowed() { if connection == .online { lostAt = nil } }

  /// Call it when the match is removed from the board. The player may wait for another match: one with a stranger, or the next game
  /// of a tournament (`awaitsGame`).
  mutating func matchLeft(awaitsGame: Bool) {
    guard connection != .none, !network.phase.isQueued else { return }
    network.phase = isSeeking || awaitsGame ? .queued(bots: 0) : .lobby
  }

  /// Stores the answer of the server to `list` (the matches) or `me` (the ratings of this player).
  mutating func hear(_ rows: [JSONObject], of page: String) {
    if page == "me" { isRatingKnown = true }
    if page == "list" { network.matches = [] }
    for row in rows {
      guard let rules = Variant(named: row["rules"]?.string) else { continue }
      if page == "me" {
        network.you?.ratings[rules] = row["rating"]?.int
      } else if page == "list", let id = row["m"]?.string, let x = row["x"]?.string, let o = row["o"]?.string {
        let title: Message = rules.isImplied ? "\(x) – \(o)" : "\(x) – \(o) · \(rules.phrase)"
        network.matches.append(.init(id: id, title: title))
      }
    }
  }

  mutating func registered(_ name: String) -> [Effect] {
    network.you = .init(name: name, isGuest: false)
    return [.remember(.name(name))]
  }
}
