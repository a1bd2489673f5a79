import Interface
import Base
import ClientModel
import MatchProtocol
import TicTacToe

/// The network part of the state: the player's requests and the server's events.
extension WindowState {
  /// Connects to a server given by the command line or the last run.
  package mutating func connect(
    to address: ServerAddress, destination: Destination? = nil, isHosting: Bool = false, newToken: String = ""
  ) -> [Effect] {
    self.address = address.description
    self.destination = destination
    isReplaced = false
    (link, opensLobby) = (.connecting, true)
    forgetServer()
    if case .room(let code) = destination { self.code = code }
    if case .watch(_, let code) = destination { self.code = code }
    network = NetworkModel(phase: .connecting)
    // The port of a server on this machine changes, so do not store it.
    self.isHosting = isHosting
    return [.connect(address, newToken: newToken)] + (isHosting ? [] : [.remember(.server(self.address))])
  }

  /// Clears the state of the former connection.
  private mutating func forgetServer() {
    (views, pendingMatch, wanted, pending, code, waitedIn, lostAt) = ([:], nil, nil, nil, nil, nil, nil)
    (isQuiet, blocked, openings, dropsRoom) = (false, [], 0, false)
  }

  // MARK: - Requests of the player

  mutating func seek(_ intent: Intent, _ page: SceneName) -> [Effect] {
    var chosen: [Effect] = []
    // The network page has its own choice of the game; elsewhere the game on the board counts.
    if intent == .playFriend || intent == .quickMatch, page != .network, mode == .local,
      preferences.game != setup.variant
    {
      preferences.game = setup.variant
      chosen = [.remember(.game(setup.variant))]
    }
    return chosen + carryOut(intent, page)
  }

  private mutating func carryOut(_ intent: Intent, _ page: SceneName) -> [Effect] {
    switch intent {
    case .connect(let text, let token):
      guard let address = ServerAddress(text) else {
        opensLobby = false
        return [.refuse] + tell(text.isEmpty ? "\(.writeSomeAddress)" : "\(.writeAddress, Message(text))", page)
      }
      return leaveMatch() + connect(to: address, newToken: token)
    case .joinNearby(let address, let code):
      guard let address = ServerAddress(address) else { return refuse(.writeSomeAddress) }
      return leaveMatch() + connect(to: address, destination: .room(code: code))
    case .host: return leaveMatch() + [.host]
    case .playFriend, .quickMatch:
      if link == .online { break }
      guard let address = ServerAddress(preferences.server) else {
        return intent == .playFriend ? leaveMatch() + [.show(.network), .host] : [.show(.network)]
      }
      return leaveMatch() + [.show(.network)]
        + connect(to: address, destination: intent == .playFriend ? .open : .queue)
    case .leave: return leave()
    default: break
    }
    guard link == .online else { return refuse(link == .none ? .notConnected : .stillConnecting) }
    network.message = nil
    switch intent {
    case .openRoom where network.phase.isRoom:
      // Reopen the room after another game or clock was chosen.
      defer { pendingMatch = nil }
      return (pendingMatch.map { [.command(.abort($0))] } ?? []) + openRoom()
    case .quickMatch, .openRoom, .playFriend:
      guard network.phase == .lobby || network.phase == .playing else { return refuse(.errOccupied) }
      let effects = leaveMatch()
      let isQuick = intent == .quickMatch
      dropsRoom = openings > 0
      code = nil
      if isQuick { network.phase = .queued(bots: 0) }
      return effects + [.show(.network)] + (isQuick ? [.command(.seek(terms(preferences.clock)))] : openRoom())
    case .acceptBot:
      guard case .queued = network.phase else { return refuse(.notWaiting) }
      return [.command(.acceptBots)]
    case .joinRoom(let code):
      guard let code = canonicalCode(code) else { return refuse(.writeCode) }
      self.code = code
      return leaveMatch() + [.command(.join(code))]
    case .watch(let id):
      guard let m = MatchID(rawValue: id) else { return refuse(.errNotFound) }
      let effects = leaveMatch()
      (code, wanted) = (nil, m)
      return effects + [.command(.watch(m, code: nil))]
    case .registerName(let name): return name.isEmpty ? refuse(.errName) : [.command(.register(name))]
    default: return []
    }
  }

  private func terms(_ chosen: String) -> MatchTerms {
    let usual = preferences.game.usualClock
    // The first offered clock stands for the game's usual one; the settings spell it as that of Classic.
    let isUsual = chosen == TimeControl.standard.description
    let clock = chosen == "none" ? nil : isUsual ? usual : TimeControl(chosen) ?? usual
    return MatchTerms(
      rules: preferences.game, clock: clock,
      rated: preferences.isRated && clock != nil && network.you?.isGuest == false)
  }

  private mutating func openRoom() -> [Effect] {
    openings += 1
    dropsRoom = false
    var terms = terms(preferences.roomClock)
    terms.opener = preferences.roomSide
    return [.command(.create(terms))]
  }

  /// Whole seconds for which the player has waited for an opponent; `nil` if the player does not wait.
  package func waited(at seconds: Double) -> Int? { queuedAt.map { max(0, Int(seconds - $0)) } }

  /// The default clock of the selected game.
  package var usualClock: String { preferences.game.usualClock.description }

  /// Returns the board to a local game, unless `another` game begins at once.
  mutating func leaveMatch(for another: Bool = false) -> [Effect] {
    var effects: [Effect] = wanted.map { [.command(.unwatch($0))] } ?? []
    wanted = nil
    guard let m = match else { return effects }
    if case .watching = mode { effects.append(.command(.unwatch(m))) }
    // If the server is unreachable, the match stays resumable at the next start.
    if isPlaying { effects += hangUp() } else { effects += [.command(.forget(m)), .remember(.matchServer(""))] }
    talk = TalkModel()
    (pending, isOpponentAway) = (nil, false)
    if link != .none { network.phase = .lobby }
    return another ? effects : effects + begin(home)
  }

  private mutating func hangUp() -> [Effect] {
    (link, destination) = (.none, nil)
    forgetServer()
    network = NetworkModel(you: nil)
    return [.hangUp]
  }

  /// Leaves the match, the room or the queue; from the lobby the server.
  private mutating func leave() -> [Effect] {
    if isInLiveMatch { return refuse(.finishFirst) }
    if match != nil { return leaveMatch() + [.show(.network)] }
    switch network.phase {
    case .queued:
      network.phase = .lobby
      return [.command(.unseek), .show(.network)]
    case .room:
      network.phase = .lobby
      dropsRoom = openings > 0
      defer { (pendingMatch, code) = (nil, nil) }
      return (pendingMatch.map { [.command(.abort($0))] } ?? []) + [.show(.network)]
    case .offline where link == .none: return refuse(.notConnected)
    case .offline, .connecting, .lobby, .playing: return hangUp() + [.remember(.matchServer(""))]
    }
  }

  // MARK: - Events of the server

  mutating func hear(_ event: ClientEvent, _ view: MatchView?, _ board: Board) -> [Effect] {
    if let view { views[view.state.id] = view }
    switch event {
    case .status(let status): return hear(status, board)
    case .queued(let waited, let bots):
      network.phase = .queued(bots: bots)
      queuedAt = now - Double(waited) / 1_000
    case .room(let m, let code, _):
      openings = max(0, openings - 1)
      guard openings == 0, !dropsRoom else { return [.command(.abort(m))] }
      pendingMatch = m
      self.code = code
      network.message = nil
      network.phase = .room(code: code)
    case .paired(let m, _): return adopt(m)
    case .event(let m, _, let event):
      if m == match, case .abort = event.kind { isCalledOff = true }
      if m == pendingMatch, view?.state.players == nil, view?.state.phase == .over { return roomClosed(board.page) }
      var effects = news(of: m, board)
      // A spectator follows the same players to their rematch.
      if mode == .watching(m), case .rematch(let next?) = event.kind {
        wanted = next
        effects.append(.command(.watch(next, code: code)))
      }
      return effects
    case .state(let m):
      // The page was reloaded, and its URL has the code of the player's own room.
      if view?.state.phase == .open, match == nil, let code {
        pendingMatch = m
        network.phase = .room(code: code)
        return (board.page == .network ? [] : [.show(.network)]) + news(of: m, board)
      }
      return news(of: m, board)
    case .moveRejected(let m, let cell, let code, let said):
      pending = nil
      return [.say("\(cell.text): \(code.message(said))")] + (m == match ? follow(board) : [])
    case .refused(let code, let said, let asked): return refused(asked, code.message(said), board.page)
    case .muted(let isMuted): (isQuiet, talk.isMuted) = (isMuted, isMuted)
    case .blocked(let name, let isBlocked):
      if isBlocked { blocked.insert(name) } else { blocked.remove(name) }
      talk.isBlocked = blocked.contains(talk.opponent)
    case .reported: return [.say("\(.wasReported, Message(reported))")]
    case .becameGuest(let login):
      let name = Message(network.you?.name ?? "")
      return tell(login.map { "\(.loginRefused, Message($0), name)" } ?? "\(.newGuest, name)", board.page)
    case .loginNotSaved: return [.say("\(.notRemembered)")]
    case .tokenRefused: return tell("\(.tokenRefused, Message(network.you?.name ?? ""))", board.page)
    case .lost(let m):
      views[m] = nil
      if m == pendingMatch { return roomClosed(board.page) }
      return m == match ? leaveMatch() + [.say("\(.matchEnded)")] : []
    case .chat(let m, let name, let said?, _): return hear(name, Message(said), m, board.page)
    case .chat(let m, let name, nil, let code?):
      return hear(name, Emote(rawValue: code).map { "\($0.phrase)" } ?? Message(code), m, board.page)
    case .page("list", let rows, _):
      network.matches = rows.compactMap { row in
        guard let id = row["m"]?.string, let x = row["x"]?.string, let o = row["o"]?.string,
          let rules = Variant(named: row["rules"]?.string)
        else { return nil }
        return .init(id: id, title: rules.isImplied ? "\(x) – \(o)" : "\(x) – \(o) · \(rules.phrase)")
      }
    case .page("me", let rows, _):
      isRatingKnown = true
      isQuiet = rows.first?["quiet"]?.bool ?? false
      blocked = Set(rows.first?["blocked"]?.array?.compactMap { $0.string } ?? [])
      (talk.isMuted, talk.isBlocked) = (isQuiet, blocked.contains(talk.opponent))
      for row in rows {
        guard let rules = Variant(named: row["rules"]?.string) else { continue }
        network.you?.ratings[rules] = row["rating"]?.int
      }
    case .registered(let name):
      network.you = .init(name: name, isGuest: false)
      return [.remember(.name(name))]
    case .draining: return [.say("\(.restarting)")]
    case .page, .gone, .chat: break
    }
    return []
  }

  /// Shows a message where the player looks: on the network page in its own line, elsewhere as a notice.
  private mutating func tell(_ message: Message, _ page: SceneName) -> [Effect] {
    guard page == .network || opensLobby else { return [.say(message)] }
    network.message = message
    return openLobby(page)
  }

  /// Opens the lobby if the player waits for it, but never over something begun meanwhile.
  private mutating func openLobby(_ page: SceneName) -> [Effect] {
    defer { opensLobby = false }
    return opensLobby && page != .network && match == nil && !isResuming ? [.show(.network)] : []
  }

  /// Updates the state after the server has refused a message.
  private mutating func refused(_ asked: ClientMessage?, _ reason: Message, _ page: SceneName) -> [Effect] {
    switch asked {
    case .seek: if case .queued = network.phase { network.phase = .lobby }
    case .create:
      openings = max(0, openings - 1)
      if network.phase.isRoom, pendingMatch == nil { (code, network.phase) = (nil, .lobby) }
    case .join, .watch: (code, wanted) = (nil, nil)
    case .say, .emote:
      if !talk.unsent.isEmpty { talk.unsent.removeFirst() }
      return [.say(reason)]
    default: break
    }
    return tell(reason, page)
  }

  private mutating func roomClosed(_ page: SceneName) -> [Effect] {
    (pendingMatch, code, network.phase) = (nil, nil, .lobby)
    return tell("\(.roomClosed)", page)
  }

  private mutating func hear(_ status: ConnectionStatus, _ board: Board) -> [Effect] {
    var effects: [Effect] = []
    switch status {
    case .connecting:
      if link == .none { link = .connecting }
      if match == nil { network.phase = .connecting }
    case .online(let welcome):
      link = .online
      network.you = .init(
        name: welcome.you.name, ratings: [.classic: welcome.you.rating], isGuest: welcome.you.guest)
      network.message = nil
      // The client itself continues its seek, and its room still exists.
      if case .room = waitedIn, pendingMatch.map(welcome.matches.contains) != true { waitedIn = nil }
      if match == nil { network.phase = waitedIn ?? .lobby }
      waitedIn = nil
      // The answer also contains the list of blocked players.
      effects.append(.command(.me))
      isRatingKnown = false
      if !welcome.you.guest { effects.append(.remember(.name(welcome.you.name))) }
      // A running match opens by itself and takes precedence over the destination.
      let hasMatch = !welcome.matches.isEmpty || isPlaying
      switch destination {
      case .room where hasMatch, .resume where hasMatch: break
      case .room(let code): effects.append(.command(.join(code)))
      case .resume: effects += [.remember(.matchServer("")), .say("\(.matchEnded)")]
      case .open: effects += openRoom()
      case .queue:
        network.phase = .queued(bots: 0)
        effects.append(.command(.seek(terms(preferences.clock))))
      case .watch(let id, let code):
        wanted = MatchID(rawValue: id)
        if let wanted { effects.append(.command(.watch(wanted, code: code))) }
      case nil where !hasMatch: effects += [.remember(.matchServer(""))] + openLobby(board.page)
      case nil: break
      }
      destination = nil
    case .waiting(let milliseconds, let reason):
      if link == .online { lostAt = now - (reason == .silent ? Double(Limits.silence) / 1_000 : 0) }
      link = .waiting
      network.message = "\(.nextTry, reason.message, "\((milliseconds + 999) / 1000)")"
      if match == nil {
        switch network.phase {
        case .queued, .room: waitedIn = network.phase
        default: break
        }
        network.phase = .connecting
        effects += openLobby(board.page)
      }
    case .failed(let failure):
      let opening = openLobby(board.page)
      link = .none
      isReplaced = failure == .replaced
      destination = nil
      network.phase = .offline
      network.message = failure.message
      (pending, talk.unsent) = (nil, [])
      effects.append(.hangUp)
      effects += opening.isEmpty && board.page != .network ? [.say(failure.message)] : opening
    case .closed:
      link = .none
      network.phase = .offline
    }
    return effects + tellAway()
  }

  // MARK: - The match on the board

  private mutating func news(of m: MatchID, _ board: Board) -> [Effect] {
    if m == match { return follow(board) }
    guard let view = views[m], view.state.players != nil else { return [] }
    // Ignore a match that was over when this window learned of it, and one that is no longer watched.
    let isOurs = view.you != nil && view.state.phase != .over && (m == pendingMatch || !isPlaying)
    return isOurs || m == wanted ? adopt(m) : []
  }

  /// Shows a match in its current state on the board.
  private mutating func adopt(_ m: MatchID) -> [Effect] {
    guard let view = views[m], let players = view.state.players else {
      pendingMatch = m
      return []
    }
    var effects: [Effect] = []
    if let old = match, old != m { effects.append(.command(.forget(old))) }
    (pendingMatch, wanted, counted) = (nil, nil, nil)
    let wasWith = talk.opponent
    mode = view.you == nil ? .watching(m) : .online(m)
    let before = setup
    let rules = view.state.terms.rules
    setup = GameSetup(x: WindowState.seat(.x, view), o: WindowState.seat(.o, view), variant: rules)
    (pending, isOpponentAway, isCalledOff, opensLobby, waitedIn) = (nil, false, false, false, nil)
    turnSince = (-1, now)
    network.message = nil
    network.phase = .playing
    isRatingKnown = false
    if let you = view.you {
      let opponent = players[you.opponent].name
      // In a rematch the sides are usually swapped.
      if opponent != wasWith { (talk, score) = (TalkModel(), .init()) }
      if opponent == wasWith, before.x.isRemote != setup.x.isRemote { score = .init(x: score.o, o: score.x) }
      talk.opponent = opponent
      (talk.isMuted, talk.isBlocked) = (isQuiet, blocked.contains(opponent))
      if !isHosting { effects.append(.remember(.matchServer(address))) }
    } else {
      score = .init()
    }
    let joined = JoinedMatch(
      match: m, you: view.you, rules: rules, names: Sides(x: players.x.name, o: players.o.name),
      station: view.state.station, moves: view.state.moves, times: view.state.times)
    timesTold = view.state.times.count
    effects += [.join(joined), .show(.board), .attention]
    var game = Game(from: VariantState(startOf: rules))
    for cell in view.state.moves { try? game.play(cell) }
    return effects + follow(Board(game: game))
  }

  private static func seat(_ side: Player, _ view: MatchView) -> Seat {
    guard view.you != side, let player = view.state.players?[side] else { return .human }
    return .remote(name: player.guest ? player.name : "\(player.name) (\(player.rating))")
  }

  /// Updates the board to the state of the match.
  private mutating func follow(_ board: Board) -> [Effect] {
    guard let view, view.state.players != nil else { return [] }
    var target = view.state.moves
    // A rematch request starts a new time limit.
    let askers = Player.allCases.count { view.state.wantsRematch[$0] }
    let turn = view.state.phase == .over ? -2 - askers : target.count
    // If the turn changed while the connection was lost, assume that it did right after the loss.
    if turnSince.ply != turn { turnSince = (turn, lostAt ?? now) }
    if link == .online { lostAt = nil }
    if let mark = pending, mark.ply < target.count || view.state.phase == .over { pending = nil }
    if let mark = pending ?? view.pending.map({ (ply: $0.ply, cell: $0.cell) }), mark.ply == target.count {
      target.append(mark.cell)
    }
    var effects: [Effect] = []
    let times = view.state.times
    if board.game.cells != target || times.count > timesTold {
      effects.append(.follow(target, times: times))
    }
    timesTold = times.count
    if let end = view.state.end, !board.game.isOver || effects != [] { effects.append(.end(WindowState.end(end))) }
    if view.state.phase == .over { effects.append(.remember(.matchServer(""))) }
    return effects + tellAway()
  }

  /// Tells the music when the other side leaves and returns.
  private mutating func tellAway() -> [Effect] {
    guard let view else { return [] }
    let isAway =
      view.state.phase != .over && (view.you.map { view.state.away[$0.opponent] } ?? false || link != .online)
    guard isAway != isOpponentAway else { return [] }
    isOpponentAway = isAway
    return [.away(isAway)]
  }

  private static func end(_ end: MatchState.End) -> GameEnd {
    switch end.reason {
    case .normal: GameEnd(outcome: end.outcome, termination: .normal)
    case .resign: GameEnd(outcome: end.outcome, termination: .resignation)
    case .time: GameEnd(outcome: end.outcome, termination: .time)
    case .agreement: GameEnd(outcome: end.outcome, termination: .agreement)
    case .gone: GameEnd(outcome: end.outcome, termination: .forfeit)
    case .aborted: GameEnd(outcome: nil, termination: .abandoned)
    }
  }

  /// Seconds after the end of a match, or after one side has asked, in which the server takes a rematch.
  private static let rematchWithin = 30.0
  /// Countdowns longer than this many seconds are not shown.
  private static let longestCountdown = 60

  /// Seconds left to ask for or accept a rematch; `nil` if impossible.
  func rematchIn(at seconds: Double) -> Int? {
    guard let view, view.you != nil, link == .online, view.state.phase == .over, view.state.next == nil else {
      return nil
    }
    let left = turnSince.at + WindowState.rematchWithin - seconds
    return left > 0 ? Int(left.rounded(.up)) : nil
  }

  /// The match for the board page; `milliseconds` is the client's clock, `seconds` that of `step`.
  package func online(at seconds: Double, client milliseconds: Int64) -> OnlineModel? {
    guard let view, view.state.players != nil else { return nil }
    let state = view.state
    var model = OnlineModel(you: view.you)
    model.isOffline = link != .online && state.phase != .over
    model.reconnects = link != .none
    model.mayLeave = !isInLiveMatch
    guard let you = view.you else { return model }
    if let offer = state.offer { model.draw = offer.side == you ? .mine : .theirs }
    model.mayOfferDraw = WindowState.mayOfferDraw(you, state)
    model.mayAbort = state.phase != .over && !state.bothMoved
    if state.phase == .live, !state.bothMoved {
      let within = Double(state.terms.firstMoveWithin) / 1_000
      let left = max(0, Int((turnSince.at + within - seconds).rounded(.up)))
      model.firstMoveIn = left <= WindowState.longestCountdown ? left : nil
    }
    model.rematchIn = rematchIn(at: seconds)
    if model.mayRematch {
      model.rematch = state.wantsRematch[you] ? .mine : state.wantsRematch[you.opponent] ? .theirs : .nobody
    }
    model.isCalledOff = isCalledOff
    if state.phase == .live, state.away[you.opponent] {
      model.isOpponentAway = true
      model.claimIn = view.claimableAt.map { max(0, Int(clamping: ($0 - milliseconds + 999) / 1000)) }
    }
    if let rating = state.end?.ratings?[you] { model.rating = (rating.before, rating.after) }
    return model
  }
}
