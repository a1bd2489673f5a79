import ClientModel
import Interface
import MatchProtocol
import TicTacToe

/// The network match on the board, played or watched by this player.
struct OnlineMatch: Sendable {
  let id: MatchID
  /// `nil` for a spectator.
  let you: Player?
  /// The players as the board names them, and the variant.
  let setup: GameSetup
  /// The code of the room in which the match was made; spectators of the match need the code.
  let code: String?
  /// The state of the match; `nil` after a new connection until the server has sent the state.
  private(set) var view: MatchView?
  /// The move that this player has chosen, until `view` has it in the log. The client notes it as `view.pending` only when it sends it.
  private var sent: (ply: Int, cell: Cell)?
  /// The move to be played once the opponent has moved, and the only ply at which the move may be played.
  private var premove: (ply: Int, cell: Cell)?
  /// The number of moves whose times in the match's log were passed to the music.
  private var timesTold: Int
  /// Whether the last effect `away` said that the opponent or the server is absent.
  private var isAway = false
  /// Whether the match ended without a result because a side aborted it, not because the first move was late.
  private var isCalledOff = false
  /// When this window first saw the current turn, in seconds of the platform's clock; after the match, the last request for a rematch.
  private var turnSince: (ply: Int, at: Double)

  /// Seconds after the end of a match, or after one side has asked for a rematch, in which the server accepts a rematch.
  private static let rematchWithin = 30.0
  /// Countdowns longer than this many seconds are not shown.
  private static let longestCountdown = 60

  /// `nil` before the match's players are known.
  init?(_ view: MatchView, code: String? = nil, at now: Double) {
    guard view.state.players != nil else { return nil }
    (id, you, self.code, self.view) = (view.state.id, view.you, code, view)
    setup = GameSetup(
      x: OnlineMatch.seat(.x, view), o: OnlineMatch.seat(.o, view), variant: view.state.terms.rules)
    timesTold = view.state.times.count
    turnSince = (-1, now)
  }

  private static func seat(_ side: Player, _ view: MatchView) -> Seat {
    guard view.you != side, let player = view.state.players?[side] else { return .human }
    return .remote(name: player.guest ? player.name : "\(player.name) (\(player.rating))")
  }

  /// Whether this player plays the match and the match is not over.
  var isPlaying: Bool { you != nil && view.map { $0.state.phase != .over } ?? false }

  var opponent: String? { you.flatMap { view?.state.players?[$0.opponent].name } }

  /// `nil` before the match's players are known.
  var joined: JoinedMatch? {
    guard let state = view?.state, let players = state.players else { return nil }
    return JoinedMatch(
      match: id, you: you, rules: setup.variant, names: Sides(x: players.x.name, o: players.o.name),
      station: state.station, moves: state.moves, times: state.times)
  }

  // MARK: - Events of the server

  mutating func update(_ next: MatchView) { if next.state.id == id { view = next } }

  /// Resets the state that came from the former connection.
  mutating func forgetServer() { (view, sent) = (nil, nil) }

  mutating func calledOff() { isCalledOff = true }

  mutating func dropSentMove() { (sent, premove) = (nil, nil) }

  /// For a turn that began while the connection was lost, the countdown starts at the loss (`lostAt`).
  mutating func syncBoard(_ board: Game, lostAt: Double?, at now: Double) -> [Effect] {
    guard let view, view.state.players != nil else { return [] }
    var target = view.state.moves
    // After the end, count the requests for a rematch in `turn`: each request starts a new countdown.
    let askers = Player.allCases.count { view.state.wantsRematch[$0] }
    let turn = view.state.phase == .over ? -2 - askers : target.count
    if turnSince.ply != turn { turnSince = (turn, lostAt ?? now) }
    if let mark = sent, mark.ply < target.count || view.state.phase == .over { sent = nil }
    if let mark = sent ?? view.pending.map({ (ply: $0.ply, cell: $0.cell) }), mark.ply == target.count {
      target.append(mark.cell)
    }
    let next = playPremove(view, after: target)
    if let cell = next.cell { target.append(cell) }
    var effects: [Effect] = []
    let times = view.state.times
    if board.cells != target || times.count > timesTold {
      effects.append(.syncBoard(target, times: times))
    }
    timesTold = times.count
    if let end = view.state.end, !board.isOver || effects != [] { effects.append(.end(GameEnd(end))) }
    if view.state.phase == .over { effects.append(.remember(.matchServer(""))) }
    return effects + next.effects
  }

  /// Plays the premove if its ply comes next after `moves`. Drops the premove if the rules forbid the move or its ply has passed.
  private mutating func playPremove(_ view: MatchView, after moves: [Cell]) -> (cell: Cell?, effects: [Effect]) {
    guard let next = premove else { return (nil, []) }
    if view.state.phase == .over || moves.count > next.ply {
      premove = nil
      return (nil, [])
    }
    guard view.canMove, sent == nil, moves.count == next.ply else { return (nil, []) }
    premove = nil
    guard view.state.position.moves.contains(next.cell) else { return (nil, .refused(.premoveIllegal)) }
    sent = next
    return (next.cell, [.command(.move(id, next.cell))])
  }

  /// Returns the effect `away` if the opponent or the server has become absent or has returned.
  mutating func tellAway(isOnline: Bool) -> [Effect] {
    guard let view else { return [] }
    let isNowAway =
      view.state.phase != .over && (view.you.map { view.state.away[$0.opponent] } ?? false || !isOnline)
    guard isNowAway != isAway else { return [] }
    isAway = isNowAway
    return [.away(isNowAway)]
  }

  // MARK: - Requests of the player

  /// Shows a move at once, before the server confirms it. `view` is the match as the server last sent it; `sent` is an own move that it lacks
  /// still; `boardAcceptsMove`: the board, which shows `sent`, waits for this player.
  mutating func play(_ cell: Cell, boardAcceptsMove: Bool) -> [Effect] {
    guard let view, view.canMove, sent == nil, boardAcceptsMove else { return .refused(.notYourTurn) }
    sent = (view.state.moves.count, cell)
    return [.play(cell), .command(.move(id, cell))]
  }

  /// Chooses the premove, or cancels it if its cell is chosen again; `nil` if it is not the opponent's turn. The board decides whose turn it
  /// is, so a premove can be chosen before the server has confirmed the own move.
  mutating func choosePremove(_ cell: Cell, on board: Game) -> [Effect]? {
    guard let view, let you, view.state.phase == .live, !board.isOver, board.turn != you else { return nil }
    if premove?.cell == cell {
      premove = nil
      return [.say("\(.premoveGone)")]
    }
    guard !board.state.isMarked(cell) else { return .refused(.cellTaken) }
    premove = (board.cells.count + 1, cell)
    return [.say("\(.premoveSet, Message(board.variant.name(of: cell)))")]
  }

  func agree(_ intent: Intent) -> [Effect] {
    guard let state = view?.state, let you else { return .refused(.onlyWatching) }
    switch intent {
    case .offerDraw:
      if let offer = state.offer, offer.side != you { return [.command(.answerDraw(id, accept: true))] }
      return OnlineMatch.mayOfferDraw(you, state) ? [.command(.offerDraw(id))] : .refused(.noMoreOffers)
    case .declineDraw:
      guard let offer = state.offer, offer.side != you else { return .refused(.noOffer) }
      return [.command(.answerDraw(id, accept: false))]
    case .claimWin: return state.away[you.opponent] ? [.command(.claim(id))] : .refused(.nobodyAway)
    default: return state.bothMoved ? .refused(.tooLateToAbort) : [.command(.abort(id))]
    }
  }

  func rematch(isOnline: Bool, at now: Double) -> [Effect] {
    if isPlaying { return .refused(.gameRuns) }
    return rematchIn(isOnline: isOnline, at: now) != nil ? [.command(.rematch(id))] : .refused(.rematchTooLate)
  }

  /// The protocol allows each side two offers of a draw.
  private static func mayOfferDraw(_ side: Player, _ state: MatchState) -> Bool {
    state.phase == .live && state.offer == nil && state.offersMade[side] < 2
  }

  // MARK: - For the board page

  /// Seconds left to ask for or accept a rematch; `nil` if a rematch is impossible.
  private func rematchIn(isOnline: Bool, at seconds: Double) -> Int? {
    guard let view, view.you != nil, isOnline, view.state.phase == .over, view.state.next == nil,
      view.state.terms.tournament == nil
    else { return nil }
    let left = turnSince.at + OnlineMatch.rematchWithin - seconds
    return left > 0 ? Int(left.rounded(.up)) : nil
  }

  /// `seconds` is the time as given to `WindowState.step`, `milliseconds` the time by `MatchClient.now`.
  func model(_ connection: WindowState.ConnectionState, at seconds: Double, client milliseconds: Int64) -> OnlineModel?
  {
    guard let view, view.state.players != nil else { return nil }
    let state = view.state
    var model = OnlineModel(you: view.you)
    model.isOffline = connection != .online && state.phase != .over
    model.reconnects = connection != .none
    model.mayLeave = !isPlaying || connection != .online
    guard let you = view.you else { return model }
    model.premove = premove?.cell
    if let offer = state.offer { model.draw = offer.side == you ? .mine : .theirs }
    model.mayOfferDraw = OnlineMatch.mayOfferDraw(you, state)
    model.mayAbort = state.phase != .over && !state.bothMoved && state.terms.tournament == nil
    if state.phase == .live, !state.bothMoved {
      let within = Double(state.terms.firstMoveWithin) / 1_000
      let left = max(0, Int((turnSince.at + within - seconds).rounded(.up)))
      model.firstMoveIn = left <= OnlineMatch.longestCountdown ? left : nil
    }
    model.rematchIn = rematchIn(isOnline: connection == .online, at: seconds)
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

extension GameEnd {
  package init(_ end: MatchState.End) {
    switch end.reason {
    case .normal: self.init(outcome: end.outcome, termination: .normal)
    case .resign: self.init(outcome: end.outcome, termination: .resignation)
    case .time: self.init(outcome: end.outcome, termination: .time)
    case .agreement: self.init(outcome: end.outcome, termination: .agreement)
    case .gone: self.init(outcome: end.outcome, termination: .forfeit)
    case .aborted: self.init(outcome: nil, termination: .abandoned)
    }
  }
}
