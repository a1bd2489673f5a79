import Interface
import Base
import ClientModel
import MatchProtocol
import TicTacToe

/// The network's half of the state: what the player wants of a server, and what the server has to tell.
extension WindowState {
  /// Looks for a server as the command line or the last sitting has it.
  package mutating func connect(
    to address: ServerAddress, destination: Destination? = nil, isHosting: Bool = false
  ) -> [Effect] {
    self.address = address.description
    self.destination = destination
    isReplaced = false
    link = .connecting
    views = [:]
    (awaited, pending, code) = (nil, nil, nil)
    if case .room(let code) = destination { self.code = code }
    if case .watch(_, let code) = destination { self.code = code }
    network = NetworkModel(phase: .connecting)
    // The port of what is served here is another one next time.
    self.isHosting = isHosting
    return [.connect(address)] + (isHosting ? [] : [.remember(.server(self.address))])
  }

  // MARK: - What the player wants

  mutating func seek(_ intent: Intent) -> [Effect] {
    var chosen: [Effect] = []
    // The network page has a choice of its own; elsewhere the game on the board is meant.
    if intent == .playFriend || intent == .quickMatch, page != .network, mode == .local,
      preferences.game != setup.variant
    {
      preferences.game = setup.variant
      chosen = [.remember(.game(setup.variant))]
    }
    return chosen + carryOut(intent)
  }

  private mutating func carryOut(_ intent: Intent) -> [Effect] {
    switch intent {
    case .connect(let text):
      guard let address = ServerAddress(text) else {
        return [.refuse] + tell(text.isEmpty ? self.text(.writeSomeAddress) : self.text(.writeAddress, text))
      }
      return leaveMatch() + connect(to: address)
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
    switch intent {
    case .quickMatch, .openRoom, .playFriend:
      guard network.phase == .lobby || network.phase == .playing else { return refuse(.errOccupied) }
      let effects = leaveMatch()
      let isQuick = intent == .quickMatch
      code = nil
      if isQuick { network.phase = .queued(bots: 0) }
      return effects + [.show(.network), .command(isQuick ? .seek(terms) : .create(roomTerms))]
    case .acceptBot:
      guard case .queued = network.phase else { return refuse(.notWaiting) }
      return [.command(.acceptBots)]
    case .joinRoom(let code):
      guard let code = canonicalCode(code) else { return refuse(.writeCode) }
      self.code = code
      return leaveMatch() + [.command(.join(code))]
    case .watch(let id):
      guard let m = MatchID(rawValue: id) else { return refuse(.errNotFound) }
      code = nil
      return leaveMatch() + [.command(.watch(m, code: nil))]
    case .registerName(let name): return name.isEmpty ? refuse(.errName) : [.command(.register(name))]
    default: return []
    }
  }

  private var terms: MatchTerms {
    let usual = preferences.game.usualClock
    // The first of the clocks offered is the game's own; the settings spell it as that of the classic game.
    let isUsual = preferences.clock == TimeControl.standard.description
    let clock = preferences.clock == "none" ? nil : isUsual ? usual : TimeControl(preferences.clock) ?? usual
    return MatchTerms(
      rules: preferences.game, clock: clock,
      rated: preferences.isRated && clock != nil && network.you?.isGuest == false)
  }

  private var roomTerms: MatchTerms {
    var terms = terms
    terms.opener = preferences.roomSide
    return terms
  }

  /// The clock that the chosen game has where the player chooses none.
  package var usualClock: String { preferences.game.usualClock.description }

  /// Gives the board back to this machine, for the player's own game unless another begins at once.
  mutating func leaveMatch(for another: Bool = false) -> [Effect] {
    guard let m = match else { return [] }
    var effects: [Effect] = []
    if case .watching = mode { effects.append(.command(.unwatch(m))) }
    // A match whose server is away waits there for the next start.
    if isPlaying { effects += hangUp() } else { effects += [.command(.forget(m)), .remember(.matchServer(""))] }
    talk = TalkModel()
    (pending, isAlone) = (nil, false)
    if link != .none { network.phase = .lobby }
    return another ? effects : effects + begin(home)
  }

  private mutating func hangUp() -> [Effect] {
    link = .none
    views = [:]
    (awaited, pending, destination) = (nil, nil, nil)
    network = NetworkModel(you: nil)
    return [.hangUp]
  }

  /// Leaves the match, the room or the queue; from the lobby, the server.
  private mutating func leave() -> [Effect] {
    if isBound { return refuse(.finishFirst) }
    if match != nil { return leaveMatch() + [.show(.network)] }
    switch network.phase {
    case .queued:
      network.phase = .lobby
      return [.command(.unseek), .show(.network)]
    case .room:
      network.phase = .lobby
      defer { awaited = nil }
      return (awaited.map { [.command(.abort($0))] } ?? []) + [.show(.network)]
    case .offline where link == .none: return refuse(.notConnected)
    case .offline, .connecting, .lobby, .playing: return hangUp() + [.remember(.matchServer(""))]
    }
  }

  mutating func speak(_ intent: Intent) -> [Effect] {
    guard case .online(let m) = mode else { return refuse(.nobodyToTalkTo) }
    guard link != .none else { return refuse(.notConnected) }
    switch intent {
    case .say(let said):
      talk.unsent.append(said)
      return [.command(.say(m, said))]
    case .emote(let emote):
      talk.unsent.append(text(emote.phrase))
      return [.command(.emote(m, emote.rawValue))]
    case .setTalkMuted(let isMuted):
      talk.isMuted = isMuted
      return [.command(.mute(isMuted))]
    case .setBlocked(let isBlocked):
      talk.isBlocked = isBlocked
      return [.command(.block(talk.opponent, isBlocked))]
    default:
      let said = talk.lines.last { $0.name == talk.opponent }?.text ?? ""
      return [.command(.report(m, said)), .notice(text(.wasReported, talk.opponent))]
    }
  }

  // MARK: - What the server tells

  mutating func hear(_ event: ClientEvent, _ view: MatchView?, _ board: Board) -> [Effect] {
    if let view { views[view.state.id] = view }
    switch event {
    case .status(let status): return hear(status, board)
    case .queued(_, let bots): network.phase = .queued(bots: bots)
    case .room(let m, let code, _):
      awaited = m
      self.code = code
      network.message = nil
      network.phase = .room(code: code)
    case .paired(let m, _): return adopt(m)
    case .event(let m, _, let event):
      if m == match, case .abort = event.kind { isCalledOff = true }
      var effects = news(of: m, board)
      // Who watches goes on with the two who play.
      if mode == .watching(m), case .rematch(let next?) = event.kind {
        effects.append(.command(.watch(next, code: code)))
      }
      return effects
    case .state(let m):
      // The own room, which the address knows by its code, after the page was loaded again.
      if view?.state.phase == .open, match == nil, let code {
        awaited = m
        network.phase = .room(code: code)
        return (page == .network ? [] : [.show(.network)]) + news(of: m, board)
      }
      return news(of: m, board)
    case .movePutRight(let m, let cell, let code, let said):
      pending = nil
      return [.notice("\(cell.text): \(words(for: code, said))")] + (m == match ? follow(board) : [])
    case .refused(let code, let said, _):
      let words = words(for: code, said)
      if case .queued = network.phase, !isPlaying { network.phase = .lobby }
      return tell(words)
    case .unsaid(let code, let said):
      if !talk.unsent.isEmpty { talk.unsent.removeFirst() }
      return [.notice(words(for: code, said))]
    case .chat(let m, let name, let said, let emote): return hear(name, said, emote, m)
    case .page("list", let rows, _):
      network.matches = rows.compactMap { row in
        guard let id = row["m"]?.string, let x = row["x"]?.string, let o = row["o"]?.string else { return nil }
        let rules = Variant(rawValue: row["rules"]?.string ?? "") ?? .classic
        return .init(id: id, title: "\(x) – \(o)" + (rules == .classic ? "" : " · \(text(rules.phrase))"))
      }
    case .page("me", let rows, _):
      isRatingKnown = true
      for row in rows {
        network.you?.ratings[Variant(rawValue: row["rules"]?.string ?? "") ?? .classic] = row["rating"]?.int
      }
    case .registered(let name): network.you = .init(name: name, isGuest: false)
    case .draining: return [.notice(text(.restarting))]
    case .page, .gone: break
    }
    return []
  }

  /// Says it where the player looks: on the page of the network in its own line, elsewhere as a notice.
  private mutating func tell(_ words: String) -> [Effect] {
    guard page == .network else { return [.notice(words)] }
    network.message = words
    return []
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
      isRatingKnown = false
      network.message = nil
      if match == nil { network.phase = .lobby }
      // A match that runs comes by itself, whatever the address asks for.
      let hasMatch = !welcome.matches.isEmpty || isPlaying
      switch destination {
      case .room where hasMatch, .resume where hasMatch: break
      case .room(let code): effects.append(.command(.join(code)))
      case .resume: effects += [.remember(.matchServer("")), .notice(text(.matchEnded))]
      case .open: effects.append(.command(.create(roomTerms)))
      case .queue:
        network.phase = .queued(bots: 0)
        effects.append(.command(.seek(terms)))
      case .watch(let id, let code):
        if let m = MatchID(rawValue: id) { effects.append(.command(.watch(m, code: code))) }
      case nil where !hasMatch:
        effects.append(.remember(.matchServer("")))
        if match == nil, page == .board { effects.append(.show(.network)) }
      case nil: break
      }
      destination = nil
    case .waiting(let milliseconds, let reason):
      link = .waiting
      network.message = text(.nextTry, words(for: reason), "\((milliseconds + 999) / 1000)")
      if match == nil {
        network.phase = .connecting
        if !isResuming { effects.append(.show(.network)) }
      }
    case .failed(let failure):
      let staysOnBoard = isPlaying || isResuming
      link = .none
      isReplaced = failure == .replaced
      destination = nil
      network.phase = .offline
      network.message = words(for: failure)
      pending = nil
      effects += [.hangUp, staysOnBoard ? .notice(network.message ?? "") : .show(.network)]
    case .closed:
      link = .none
      network.phase = .offline
    }
    return effects + tellAway()
  }

  private mutating func hear(_ name: String, _ said: String?, _ emote: String?, _ m: MatchID) -> [Effect] {
    let word = emote.map { code in Emote(rawValue: code).map { text($0.phrase) } ?? code }
    guard m == match, let said = said ?? word else { return [] }
    let isMine = name == network.you?.name
    if isMine, !talk.unsent.isEmpty { talk.unsent.removeFirst() }
    talk.lines.append(.init(name: name, text: said))
    guard page != .talk, !isMine else { return [] }
    talk.unread += 1
    return [.notice("\(name): \(said)")]
  }

  // MARK: - The match on the board

  private mutating func news(of m: MatchID, _ board: Board) -> [Effect] {
    if m == match { return follow(board) }
    guard let view = views[m], view.state.players != nil else { return [] }
    // A match that was over before this window knew of it has nothing to show; nor has one that was left.
    guard view.state.phase != .over || view.you == nil, m == awaited || !isPlaying else { return [] }
    return adopt(m)
  }

  /// Puts a match on the board as it stands.
  private mutating func adopt(_ m: MatchID) -> [Effect] {
    guard let view = views[m], let players = view.state.players else {
      awaited = m
      return []
    }
    var effects: [Effect] = []
    if let old = match, old != m { effects.append(.command(.forget(old))) }
    awaited = nil
    let wasWith = talk.opponent
    mode = view.you == nil ? .watching(m) : .online(m)
    let before = setup
    let rules = view.state.terms.rules
    setup = GameSetup(x: WindowState.seat(.x, view), o: WindowState.seat(.o, view), variant: rules)
    (pending, isAlone, isCalledOff) = (nil, false, false)
    turnSince = (-1, now)
    network.message = nil
    network.phase = .playing
    isRatingKnown = false
    if let you = view.you {
      let opponent = players[you.opponent].name
      // The same two again have usually changed sides.
      if opponent != wasWith { (talk, score) = (TalkModel(), .init()) }
      if opponent == wasWith, before.x.isRemote != setup.x.isRemote { score = .init(x: score.o, o: score.x) }
      talk.opponent = opponent
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

  /// Brings the board to where the match is.
  private mutating func follow(_ board: Board) -> [Effect] {
    guard let view, view.state.players != nil else { return [] }
    var target = view.state.moves
    // A rematch that is asked for is a new turn: whoever is asked has as long as whoever asks.
    let askers = Player.allCases.count { view.state.wantsRematch[$0] }
    let turn = view.state.phase == .over ? -2 - askers : target.count
    if turnSince.ply != turn { turnSince = (turn, now) }
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

  /// Tells the music when the other voice goes and comes.
  private mutating func tellAway() -> [Effect] {
    guard let view else { return [] }
    let isAway =
      view.state.phase != .over && (view.you.map { view.state.away[$0.opponent] } ?? false || link != .online)
    guard isAway != isAlone else { return [] }
    isAlone = isAway
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

  /// Seconds of the protocol: for a side's first mark, and for a rematch after the end or the asking.
  private static let firstMoveWithin = 30.0
  private static let rematchWithin = 30.0

  /// Whether a rematch can still be had.
  var mayRematch: Bool {
    guard let view, view.you != nil, link == .online, view.state.phase == .over, view.state.next == nil else {
      return false
    }
    return now - turnSince.at < WindowState.rematchWithin
  }

  /// What the board page shows of the match; `milliseconds` is the client's clock, `seconds` that of `step`.
  package func online(at seconds: Double, client milliseconds: Int64) -> OnlineModel? {
    guard let view, view.state.players != nil else { return nil }
    let state = view.state
    var model = OnlineModel(you: view.you)
    model.isOffline = link != .online && state.phase != .over
    model.mayLeave = !isBound
    guard let you = view.you else { return model }
    if let offer = state.offer { model.draw = offer.side == you ? .mine : .theirs }
    model.mayOfferDraw = WindowState.mayOfferDraw(you, state)
    model.mayAbort = state.phase != .over && !state.bothMoved
    if state.phase == .live, !state.bothMoved {
      model.firstMoveIn = max(0, Int((turnSince.at + WindowState.firstMoveWithin - seconds).rounded(.up)))
    }
    var later = self
    later.now = seconds
    model.mayRematch = later.mayRematch
    if model.mayRematch {
      model.rematch = state.wantsRematch[you] ? .mine : state.wantsRematch[you.opponent] ? .theirs : .nobody
    }
    model.isCalledOff = isCalledOff
    if state.phase == .live, state.away[you.opponent] {
      model.isAlone = true
      model.claimIn = view.claimableAt.map { max(0, Int(clamping: ($0 - milliseconds + 999) / 1000)) }
    }
    if let rating = state.end?.ratings?[you] { model.rating = (rating.before, rating.after) }
    return model
  }
}
