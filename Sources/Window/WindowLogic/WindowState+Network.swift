import ClientModel
import Interface
import MatchProtocol
import TicTacToe

/// Network play: passes requests and events to the match on the board, the chat and the lobby.
extension WindowState {
  func context(_ page: SceneName) -> LobbyModel.Context {
    .init(
      page: page, now: now, preferences: preferences, hasMatch: onlineMatch != nil, isPlayer: onlineMatch?.you != nil)
  }

  // MARK: - Requests of the player

  package mutating func connect(
    to address: ServerAddress, destination: Destination? = nil, isHosting: Bool = false, newToken: String = ""
  ) -> [Effect] {
    onlineMatch?.forgetServer()
    talk.forgetServer()
    tournament.forgetServer()
    return lobby.connect(to: address, destination, isHosting: isHosting, newToken: newToken)
  }

  mutating func seek(_ intent: Intent, _ page: SceneName) -> [Effect] {
    var chosen: [Effect] = []
    // On the network page the player has chosen the variant of the match; on other pages take the variant that is on the board.
    if intent == .playFriend || intent == .quickMatch, page != .network, mode == .local,
      preferences.game != setup.variant
    {
      preferences.game = setup.variant
      chosen = [.remember(.game(setup.variant))]
    }
    return chosen + (lobby.connection == .online ? askServer(intent, page) : connect(for: intent, page))
  }

  private mutating func connect(for intent: Intent, _ page: SceneName) -> [Effect] {
    switch intent {
    case .playFriend, .quickMatch:
      guard let address = ServerAddress(preferences.server) else {
        return intent == .playFriend ? leaveMatch() + [.show(.network), .host(.open)] : [.show(.network)]
      }
      return leaveMatch() + [.show(.network)]
        + connect(to: address, destination: intent == .playFriend ? .open : .queue)
    case .connect, .joinNearby, .host, .leave: return askServer(intent, page)
    default: return .refused(lobby.connection == .none ? .notConnected : .stillConnecting)
    }
  }

  private mutating func askServer(_ intent: Intent, _ page: SceneName) -> [Effect] {
    switch intent {
    case .connect(let text, let token):
      guard let address = ServerAddress(text) else {
        lobby.cancelOpening()
        let reason: Message = text.isEmpty ? "\(.writeSomeAddress)" : "\(.writeAddress, Message(text))"
        return [.refuse] + lobby.tell(reason, in: context(page))
      }
      return leaveMatch() + connect(to: address, newToken: token)
    case .joinNearby(let address, let code):
      guard let address = ServerAddress(address) else { return .refused(.writeSomeAddress) }
      return leaveMatch() + connect(to: address, destination: .room(code: code))
    case .host: return leaveMatch() + [.host(.open)]
    case .leave:
      if isInLiveMatch { return .refused(.finishFirst) }
      let isQueued = lobby.network.phase.isQueued
      // Between two games of a tournament the board offers to leave the last game, and the network page to stop waiting for the next one.
      if onlineMatch != nil, !isQueued || page != .network { return leaveMatch() + [.show(.network)] }
      let pause = isQueued && !lobby.isSeeking ? tournament.stopWaiting(at: now) : []
      return lobby.leave() + pause
    default: break
    }
    lobby.clearMessage()
    switch intent {
    case .openRoom where lobby.network.phase.isRoom: return lobby.reopenRoom(preferences)
    case .quickMatch, .openRoom, .playFriend:
      guard lobby.network.phase == .lobby || lobby.network.phase == .playing else { return .refused(.errOccupied) }
      let effects = leaveMatch() + [.show(.network)]
      return effects + (intent == .quickMatch ? lobby.seek(preferences) : lobby.openRoom(preferences))
    case .acceptBot: return lobby.acceptBot()
    case .joinRoom(let code):
      guard let code = canonicalCode(code) else { return .refused(.writeCode) }
      return leaveMatch() + lobby.join(code)
    case .watch(let id):
      guard let m = MatchID(rawValue: id) else { return .refused(.errNotFound) }
      return leaveMatch() + lobby.watch(m, code: nil)
    case .registerName(let name): return name.isEmpty ? .refused(.errName) : [.command(.register(name))]
    default: return []
    }
  }

  mutating func speak(_ intent: Intent) -> [Effect] {
    guard let m = onlineMatch, m.you != nil else { return .refused(.nobodyToTalkTo) }
    guard lobby.connection != .none else { return .refused(.notConnected) }
    return talk.answer(intent, in: m.id, isOnline: lobby.connection == .online)
  }

  /// Leaves the match. Begins a local game, unless another game begins at once (`another`).
  mutating func leaveMatch(for another: Bool = false) -> [Effect] {
    var effects = lobby.stopWatching()
    if another { letter = nil }
    guard let m = onlineMatch else { return effects }
    if m.you == nil { effects.append(.command(.unwatch(m.id))) }
    // Forget only a finished match: an unfinished match stays resumable.
    effects += m.isPlaying ? lobby.hangUp() : [.command(.forget(m.id)), .remember(.matchServer(""))]
    onlineMatch = nil
    talk.end()
    lobby.matchLeft(awaitsGame: tournament.awaitsGame)
    series.nextGame(samePlayers: false)
    return another ? effects : effects + begin(local.home)
  }

  // MARK: - Events of the server

  mutating func hear(_ event: ClientEvent, _ view: MatchView?, _ board: Board) -> [Effect] {
    if let view { onlineMatch?.update(view) }
    let context = context(board.page)
    switch event {
    case .event(let m, _, _), .state(let m), .lost(let m): lobby.heardOf(m)
    default: break
    }
    switch event {
    case .status(let status):
      if case .failed = status {
        onlineMatch?.dropSentMove()
        talk.connectionFailed()
      }
      var effects: [Effect] = []
      if case .online(let welcome) = status { effects = findMatchAgain(listed: welcome.matches) }
      return effects + lobby.hear(status, in: self.context(board.page)) + tellAway()
    case .queued(let waited, let bots): lobby.queued(waited: waited, bots: bots, at: now)
    // Also the answer to `join` with the code of this player's own room, whose page was loaded again: then the network page opens.
    case .room(let m, let code, _): return lobby.roomOpened(m, code) + lobby.openPage(in: context)
    case .paired(let m, _): return showMatch(m, view)
    case .event(let m, _, let event): return hear(event, of: m, view, board, in: context)
    case .state(let m):
      let effects = view.map { tournament.take($0.state, isOnBoard: m == match) } ?? []
      return effects + news(of: m, view, board) + lobby.decide(in: context)
    case .moveRejected(let m, let cell, let code, let said):
      onlineMatch?.dropSentMove()
      return [.say("\(cell.text): \(code.message(said))")] + (m == match ? syncBoard(board.game) : [])
    case .refused(let code, let said, .say), .refused(let code, let said, .emote):
      talk.dropUnsent()
      return [.say(code.message(said))]
    case .refused(let code, let said, let asked): return requestRefused(asked, code, said, in: context)
    case .lost(let m):
      if m == lobby.pendingMatch { return lobby.roomClosed(in: context) }
      guard m == match else { return lobby.decide(in: context) }
      onlineMatch?.forgetServer()
      return leaveMatch() + [.say("\(.matchEnded)")]
    case .chat(let m, _, _, _) where m != match: break
    case .chat, .muted, .blocked, .reported: return talk.hear(event, me: network.you?.name, page: board.page)
    case .becameGuest(let login):
      let name = Message(network.you?.name ?? "")
      return lobby.tell(login.map { "\(.loginRefused, Message($0), name)" } ?? "\(.newGuest, name)", in: context)
    case .tokenRefused: return lobby.tell("\(.tokenRefused, Message(network.you?.name ?? ""))", in: context)
    case .loginNotSaved: return [.say("\(.notRemembered)")]
    case .page("games", let rows, let more): tournament.answered(rows, more: more)
    case .page(let name, let rows, _):
      lobby.hear(rows, of: name)
      return talk.hear(event, me: nil, page: board.page)
    case .registered(let name): return lobby.registered(name)
    case .draining: return [.say("\(.restarting)")]
    case .tournament(let view): return tournament.take(view)
    case .gone: break
    }
    return []
  }

  private mutating func hear(
    _ event: MatchEvent, of m: MatchID, _ view: MatchView?, _ board: Board, in context: LobbyModel.Context
  ) -> [Effect] {
    if m == match, case .abort = event.kind { onlineMatch?.calledOff() }
    if m == lobby.pendingMatch, view?.state.players == nil, view?.state.phase == .over {
      return lobby.roomClosed(in: context)
    }
    let effects = news(of: m, view, board)
    // A spectator also watches the rematch of the same players.
    if mode == .watching(m), case .rematch(let next?) = event.kind {
      return effects + lobby.watch(next, code: onlineMatch?.code)
    }
    return effects + lobby.decide(in: context)
  }

  private mutating func requestRefused(
    _ asked: ClientMessage?, _ code: ErrorCode, _ said: String, in context: LobbyModel.Context
  ) -> [Effect] {
    switch asked {
    case .host, .tournament: return tournamentRefused(asked, code, said)
    case .watch(let m, _):
      if let effects = tournament.drop(m) { return effects }
      if m == match { return leaveMatch() + [.say(code.message(said))] }
    default: break
    }
    if case .seek(let seek) = asked, seek.terms.tournament != nil {
      lobby.seekEnded()
      if tournament.seekRefused(code, at: now) { return [] }
      if code == .over { return [.say("\(.tournamentOver)")] }
    }
    return lobby.refused(asked, code.message(said), in: context)
  }

  // MARK: - The match on the board

  /// After a new login: a spectator watches the match on the board again, unless a link leads to another match; a player leaves a match
  /// that the server no longer lists, as it has ended.
  private mutating func findMatchAgain(listed: [MatchID]) -> [Effect] {
    guard let onlineMatch, onlineMatch.view == nil else { return [] }
    if onlineMatch.you == nil {
      if case .watch = lobby.destination { return leaveMatch() }
      return [.command(.watch(onlineMatch.id, code: onlineMatch.code))]
    }
    return listed.contains(onlineMatch.id) ? [] : leaveMatch()
  }

  private mutating func news(of m: MatchID, _ view: MatchView?, _ board: Board) -> [Effect] {
    if m == match { return syncBoard(board.game) }
    guard let view, view.state.players != nil else { return [] }
    // Ignore a match that is over when its first event arrives, and a match that is no longer watched.
    let isOurs = view.you != nil && view.state.phase != .over && (m == lobby.pendingMatch || !isPlaying)
    return isOurs || m == lobby.wanted ? showMatch(m, view) : []
  }

  private mutating func showMatch(_ m: MatchID, _ view: MatchView?) -> [Effect] {
    guard let view, let next = OnlineMatch(view, code: lobby.code, at: now), let joined = next.joined else {
      lobby.expect(m)
      return []
    }
    var effects: [Effect] = []
    if let old = onlineMatch, old.id != m {
      if old.you == nil { effects.append(.command(.unwatch(old.id))) }
      effects.append(.command(.forget(old.id)))
    }
    let before = setup
    (onlineMatch, letter) = (next, nil)
    lobby.matchBegan(isPlayer: next.you != nil)
    if let opponent = next.opponent {
      // Against the same opponent the series continues, with swapped sides if this player's side has changed.
      series.nextGame(
        samePlayers: opponent == talk.model.opponent, swapped: before.x.isRemote != next.setup.x.isRemote)
      talk.begin(with: opponent)
      if !lobby.server.isHosting { effects.append(.remember(.matchServer(lobby.server.address))) }
    } else {
      series.nextGame(samePlayers: false)
    }
    effects += [.join(joined), .show(.board), .attention]
    var game = Game(from: VariantState(startOf: joined.rules))
    for cell in joined.moves { try? game.play(cell) }
    return effects + syncBoard(game)
  }

  private mutating func syncBoard(_ board: Game) -> [Effect] {
    guard let effects = onlineMatch?.syncBoard(board, lostAt: lobby.lostAt, at: now) else { return [] }
    lobby.matchFollowed()
    return effects + tellAway()
  }

  private mutating func tellAway() -> [Effect] { onlineMatch?.tellAway(isOnline: lobby.connection == .online) ?? [] }
}
