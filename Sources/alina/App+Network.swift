import MatchClient
import MatchProtocol
import Screen
import Session
import TicTacToe

/// Play over the network: the connection's happenings become moves of the session and lines of the pages.
extension App {
  // MARK: - What the player wants

  /// Answers the intents about the network.
  func answerNetwork(_ intent: Intent) {
    switch intent {
    case .connect(let address):
      guard let address = ServerAddress(address) else {
        screen.network.message = screen.text(.writeAddress, address)
        return
      }
      connect(to: address)
    case .disconnect: leave()
    default: if let connection { ask(intent, of: connection) }
    }
  }

  private func ask(_ intent: Intent, of connection: Connection) {
    let client = connection.client
    switch intent {
    case .quickMatch:
      client.seek(terms)
      screen.network.phase = .queued(bots: 0)
    case .acceptBot: client.acceptBots()
    case .openRoom: client.create(terms)
    case .joinRoom(let code): client.join(code)
    case .watch(let id): if let m = MatchID(rawValue: id) { client.watch(m) }
    case .registerName(let name): client.register(name)
    default: if let m = connection.match { ask(intent, of: connection, in: m) }
    }
  }

  private func ask(_ intent: Intent, of connection: Connection, in m: MatchID) {
    let client = connection.client
    switch intent {
    case .play(let square):
      guard connection.view?.canMove == true else { return parts.session.refuse() }
      guard parts.session.play(square) == nil else { return }
      connection.shownEarly = parts.session.game.moves.count - 1
      client.move(m, square)
    case .resign: client.resign(m)
    case .rematch: client.rematch(m)
    case .offerDraw:
      let isAnswer = connection.view.map { $0.state.offer != nil && $0.state.offer?.side != $0.you } ?? false
      if isAnswer { client.answerDraw(m, accept: true) } else { client.offerDraw(m) }
    case .declineDraw: client.answerDraw(m, accept: false)
    case .claimWin: client.claim(m)
    case .abortMatch: client.abort(m)
    case .say(let text):
      client.say(m, text)
      said(text)
    case .emote(let emote):
      client.emote(m, emote.rawValue)
      said(emote.text(in: screen.settings.language))
    case .setTalkMuted(let isMuted):
      client.mute(isMuted)
      screen.talk.isMuted = isMuted
    case .setBlocked(let isBlocked):
      client.block(screen.talk.opponent, isBlocked)
      screen.talk.isBlocked = isBlocked
    case .reportOpponent:
      client.report(m, screen.talk.lines.last { $0.name == screen.talk.opponent }?.text ?? "")
      show(notice: screen.text(.wasReported, screen.talk.opponent), at: parts.services.now())
    default: break
    }
  }

  /// The server tells others what is said; what this player said is written down here.
  private func said(_ text: String) {
    screen.talk.lines.append(.init(name: screen.network.you?.name ?? "", text: text))
  }

  private var terms: MatchTerms {
    let settings = screen.settings
    let clock = TimeControl(settings.networkClock)
    return MatchTerms(
      clock: clock, rated: settings.networkRated && clock != nil && screen.network.you?.isGuest == false)
  }

  // MARK: - Coming and going

  /// Looks for a server; the connection then heals itself until the player leaves.
  func connect(to address: ServerAddress, wish: Connection.Wish? = nil) {
    connection?.client.disconnect()
    let fresh = Connection(
      address, security: parts.security, name: screen.settings.name, folder: parts.services.dataFolder(), wish: wish)
    connection = fresh
    screen.settings.server = address.description
    screen.network = NetworkModel(phase: .connecting)
    fresh.client.connect()
  }

  /// Leaves the match that is over or watched, the room or the queue; from the lobby, the server.
  private func leave() {
    guard let connection else { return }
    switch screen.network.phase {
    case .queued: connection.client.unseek()
    case .room: if let m = connection.match { connection.client.abort(m) }
    case .playing:
      guard let m = connection.match, !connection.isPlaying else { break }
      stopWatching()
      connection.client.forget(m)
      connection.match = nil
      endMatch()
    case .lobby, .connecting, .offline:
      connection.client.disconnect()
      self.connection = nil
      screen.network = NetworkModel()
      return
    }
    guard !connection.isPlaying else { return }
    screen.network.phase = .lobby
    screen.show(.network)
  }

  /// Ends looking on at a match, whose next event would take the board back.
  func stopWatching() {
    guard let connection, let m = connection.match, connection.view?.you == nil, screen.network.phase == .playing else {
      return
    }
    connection.client.unwatch(m)
    connection.match = nil
    screen.network.phase = .lobby
  }

  /// The board belongs to this machine again.
  private func endMatch() {
    screen.talk = TalkModel()
    screen.settings.matchServer = ""
    setup = parts.setup
    savedGame = nil
    parts.session.newGame(participants(of: setup))
  }

  // MARK: - What happens there

  /// Takes what the connection has learned since the last look.
  func hearNetwork(at now: Double) {
    guard let connection else { return }
    for event in connection.client.poll() { take(event, from: connection, at: now) }
    if let view = connection.view { follow(view, connection) }
    if screen.currentScene == .talk, screen.talk.unread > 0 { screen.talk.unread = 0 }
    guard screen.currentScene == .network, screen.network.phase == .lobby, now - connection.listedAt > 5 else { return }
    connection.listedAt = now
    connection.client.ask(.list)
  }

  private func take(_ event: ClientEvent, from connection: Connection, at now: Double) {
    switch event {
    case .status(let status): take(status, from: connection)
    case .queued(_, let bots): screen.network.phase = .queued(bots: bots)
    case .room(let m, let code, _):
      connection.match = m
      screen.network.phase = .room(code: code)
    case .paired(let m, _): adopt(m, connection)
    case .state(let m), .event(let m, _, _): seeNews(of: m, connection)
    case .movePutRight(_, let cell, let code, let text):
      connection.shownEarly = nil
      show(notice: "\(cell.name): \(words(for: code, text))", at: now)
    case .refused(let code, let said, _):
      let text = words(for: code, said)
      if screen.currentScene == .network { screen.network.message = text } else { show(notice: text, at: now) }
      if case .queued = screen.network.phase, !connection.isPlaying { screen.network.phase = .lobby }
    case .chat(let m, let name, let text, let emote): hear(name, text, emote, m, connection, now)
    case .page("list", let rows, _): screen.network.matches = rows.compactMap(App.match(of:))
    case .registered(let name): screen.network.you = .init(name: name, rating: 1_500, isGuest: false)
    case .draining: show(notice: screen.text(.restarting), at: now)
    case .page, .gone: break
    }
  }

  private func take(_ status: ConnectionStatus, from connection: Connection) {
    switch status {
    case .connecting: if connection.match == nil { screen.network.phase = .connecting }
    case .online(let welcome):
      let you = welcome.you
      screen.network.you = .init(name: you.name, rating: you.rating, isGuest: you.guest)
      screen.network.message = nil
      if connection.match == nil, connection.client.status == status { screen.network.phase = .lobby }
      switch connection.wish {
      case .room(let code): connection.client.join(code)
      case .watch(let id, let code): if let m = MatchID(rawValue: id) { connection.client.watch(m, code: code) }
      case nil:
        // A match that was running when the window went away comes by itself; else there is something to choose.
        if welcome.matches.isEmpty {
          screen.settings.matchServer = ""
          if connection.match == nil, screen.currentScene == .board { screen.show(.network) }
        }
      }
      connection.wish = nil
    case .waiting(let milliseconds, let reason):
      screen.network.message = screen.text(.nextTry, words(for: reason), "\((milliseconds + 999) / 1000)")
      if connection.match == nil { screen.show(.network) }
    case .failed(let failure):
      screen.network.phase = .offline
      screen.network.message = words(for: failure)
      screen.show(.network)
    case .closed: screen.network.phase = .offline
    }
  }

  /// A line of the list of matches.
  private static func match(of row: JSONObject) -> NetworkModel.Match? {
    guard let id = row["m"]?.string, let x = row["x"]?.string, let o = row["o"]?.string else { return nil }
    return .init(id: id, title: "\(x) – \(o)")
  }

  private func hear(
    _ name: String, _ text: String?, _ emote: String?, _ m: MatchID, _ connection: Connection, _ now: Double
  ) {
    guard m == connection.match else { return }
    let word = emote.map { code in Emote(rawValue: code).map { $0.text(in: screen.settings.language) } ?? code }
    guard let said = text ?? word else { return }
    screen.talk.lines.append(.init(name: name, text: said))
    guard screen.currentScene != .talk else { return }
    screen.talk.unread += 1
    show(notice: "\(name): \(said)", at: now)
  }

  // MARK: - The match on the board

  private func seeNews(of m: MatchID, _ connection: Connection) {
    guard let view = connection.client.match(m), view.state.players != nil else { return }
    let isNew = m != connection.match || parts.session.clocksElsewhere == nil
    // A match that was over before this window knew of it has nothing to show.
    guard isNew, view.state.phase != .over || view.you == nil else { return }
    adopt(m, connection)
  }

  /// Puts a match on the board as it stands.
  private func adopt(_ m: MatchID, _ connection: Connection) {
    guard let view = connection.client.match(m), let players = view.state.players else {
      connection.match = m
      return
    }
    stopInterlude()
    isListening = false
    if let old = connection.match, old != m { connection.client.forget(old) }
    (connection.match, connection.shownEarly, connection.isAlone) = (m, nil, false)
    let seats = Sides(x: App.seat(.x, view), o: App.seat(.o, view))
    setup = GameSetup(x: seats.x, o: seats.o)
    var game = Game()
    for square in view.state.moves { _ = try? game.play(square) }
    savedGame = nil
    func participant(_ side: Player) -> Participant {
      view.you == side ? .human(name: players[side].name) : .remote(name: players[side].name)
    }
    let client = connection.client
    parts.session.join(Participants(x: participant(.x), o: participant(.o)), at: game) { side in
      client.match(m)?.remaining(side, at: MatchClient.now)
    }
    if let you = view.you {
      if players[you.opponent].name != screen.talk.opponent { screen.talk = TalkModel() }
      screen.talk.opponent = players[you.opponent].name
      screen.settings.matchServer = connection.address.description
    }
    screen.network.phase = .playing
    screen.show(.board)
    if isHidden { parts.services.requestAttention() }
    follow(view, connection)
  }

  private static func seat(_ side: Player, _ view: MatchView) -> Seat {
    guard view.you != side, let player = view.state.players?[side] else { return .human }
    return .remote(name: player.guest ? player.name : "\(player.name) (\(player.rating))")
  }

  /// Brings the session to where the match is: missing marks are made, marks shown too early are taken back.
  private func follow(_ view: MatchView, _ connection: Connection) {
    let session = parts.session
    guard session.clocksElsewhere != nil, view.state.players != nil else { return }
    var target = view.state.moves
    if let pending = view.pending, pending.ply == target.count { target.append(pending.cell) }
    let shown = session.game.moves.map(\.square)
    // A mark made a moment ago may still be on its way to the client's own thread.
    let isOnItsWay = connection.shownEarly == target.count && shown.count == target.count + 1
    if !(isOnItsWay && shown.dropLast() == target[...]) {
      connection.shownEarly = nil
      let common = zip(shown, target).prefix { $0 == $1 }.count
      if common < shown.count { session.putRight(to: common) }
      for square in target[common...] { session.receive(square) }
    }
    if let end = view.state.end, !session.game.isOver { session.end(with: App.end(end)) }
    if view.state.phase == .over { screen.settings.matchServer = "" }
    let isAlone = view.state.phase != .over && (view.you.map { view.state.away[$0.opponent] } ?? false || isOffline)
    if isAlone != connection.isAlone {
      connection.isAlone = isAlone
      session.connection(lost: isAlone)
    }
  }

  private var isOffline: Bool {
    if case .online = connection?.client.status { return false }
    return true
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

  /// What the board page shows of the match; nil in a game of this machine.
  var online: OnlineModel? {
    guard let connection, let view = connection.view, view.state.players != nil,
      parts.session.clocksElsewhere != nil
    else { return nil }
    let state = view.state
    var model = OnlineModel(you: view.you)
    model.isOffline = isOffline && state.phase != .over
    guard let you = view.you else { return model }
    if let offer = state.offer { model.draw = offer.side == you ? .mine : .theirs }
    model.mayOfferDraw = state.phase == .live && state.offer == nil && state.offersMade[you] < 2
    model.mayAbort = state.phase != .over && !state.bothMoved
    if state.next == nil {
      model.rematch = state.wantsRematch[you] ? .mine : state.wantsRematch[you.opponent] ? .theirs : .nobody
    }
    if state.phase == .live, state.away[you.opponent] {
      model.isAlone = true
      model.claimIn = view.claimableAt.map { max(0, Int(($0 - MatchClient.now + 999) / 1000)) }
    }
    if let rating = state.end?.ratings?[you] { model.rating = (rating.before, rating.after) }
    return model
  }
}
