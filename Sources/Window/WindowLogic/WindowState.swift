import Interface
import ClientModel
import MatchProtocol
import Oracle
import TicTacToe

/// The state of the window as a value: the game on the board, the connection, and the permitted actions.
///
/// A state machine of (intent | network event | tick) → effects, without SDL, files, clock and locks; the caller
/// executes the effects. Every intent in every state causes an effect or a message to the player.
package struct WindowState: Sendable {
  /// The kind of game on the board.
  package enum Mode: Sendable, Hashable {
    case local
    /// Two computer opponents play endlessly.
    case listening
    /// A match of this player.
    case online(MatchID)
    /// A match being watched.
    case watching(MatchID)
  }

  /// The state of the connection to a server.
  package enum Link: Sendable, Hashable {
    /// There is no connection, or it failed permanently.
    case none
    /// The first connection is being made.
    case connecting
    /// The connection works.
    case online
    /// The connection was lost and is being made again.
    case waiting
  }

  /// An input of the state machine.
  package enum Event: Sendable, Hashable {
    /// An action of the player.
    case intent(Intent)
    /// An event of the connection, with the current state of its match.
    case network(ClientEvent, MatchView?)
    /// Another page is open: `Board.page`.
    case turned
    case tick
  }

  /// The session's view of the game on the board, and the open page.
  package struct Board: Sendable, Hashable {
    package var game: Game
    /// Whether a local person may move.
    package var acceptsMove: Bool
    /// Whether a move can be taken back.
    package var canUndo: Bool
    /// Whether a move taken back can be played again.
    package var canRedo: Bool
    /// Whether the closing music still plays.
    package var isClosing: Bool
    /// The open page.
    package var page: SceneName

    package init(
      game: Game = Game(), acceptsMove: Bool = true, canUndo: Bool = false, canRedo: Bool = false,
      isClosing: Bool = false, page: SceneName = .board
    ) {
      (self.game, self.acceptsMove, self.canUndo, self.canRedo) = (game, acceptsMove, canUndo, canRedo)
      (self.isClosing, self.page) = (isClosing, page)
    }
  }

  /// The player's settings that matter here.
  package struct Preferences: Sendable, Hashable {
    /// The game for network matches: the one chosen last.
    package var game = Variant.classic
    /// The clocks for matches with strangers and friends, as spelled in the settings.
    package var clock = "60+2"
    package var roomClock = "none"
    /// The server: the page's own, or the last one.
    package var server = ""
    /// The server of the interrupted match; empty without one.
    package var matchServer = ""
    /// Whether matches are rated.
    package var isRated = false
    /// The own side in a room; `nil` lets the server choose.
    package var roomSide: Player?
    /// Whether opponents' moves sound in time with the music.
    package var isMusical = true
    /// The local date, such as `2026-11-24`.
    package var date = ""
    /// The day of the last solved daily puzzle.
    package var solvedDay = 0
    /// The games whose rules were shown; Classic counts as known.
    package var shownRules: Set<Variant> = [.classic]

    package init() {}
  }

  package internal(set) var mode = Mode.local
  package internal(set) var setup: GameSetup
  /// The state of the connection.
  package internal(set) var link = Link.none
  package internal(set) var network = NetworkModel()
  /// The chat of the match.
  package internal(set) var talk = TalkModel()
  /// Wins of the current players since they began, by the side each has now.
  package internal(set) var score = BoardModel.Numbers()
  package var preferences = Preferences()
  /// The daily puzzle while it is played.
  package var today: DailyBoard? { mode == .local ? daily : nil }
  private var daily: DailyBoard?

  /// The players to return to after a match.
  var home: GameSetup
  var address = ""
  /// Whether that server runs on this machine.
  var isHosting = false
  var views: [MatchID: MatchView] = [:]
  /// The match that this player is about to play, or the own room.
  var pendingMatch: MatchID?
  /// The match to watch, until it is on the board.
  var wanted: MatchID?
  /// Whether the lobby opens after connecting, which any later action cancels.
  var opensLobby = false
  /// The number of rooms not yet confirmed by the server. Only the newest is shown; the others are closed when confirmed.
  var openings = 0
  /// Whether the newest of them is closed as well, because the player has done something else since.
  var dropsRoom = false
  /// The queue or room of the player when the connection was lost.
  var waitedIn: NetworkModel.Phase?
  /// When the connection was lost; `nil` once the match is up to date again.
  var lostAt: Double?
  /// Whether chat is muted, and the blocked players, as stored by the server.
  var isQuiet = false
  var blocked: Set<String> = []
  /// The last reported opponent.
  var reported = ""
  /// The code of the match's room, which spectators need.
  var code: String?
  /// The next step after logging in.
  var destination: Destination?
  /// A move shown here without confirmation by the server.
  var pending: (ply: Int, cell: Cell)?
  /// The number of moves whose times were passed to the music.
  var timesTold = 0
  /// Whether the music was last told that the other side or the server is absent.
  var isOpponentAway = false
  /// Whether a side aborted the match, rather than missing its first move.
  var isCalledOff = false
  /// When the current turn or the end of the match was first seen.
  var turnSince = (ply: -1, at: 0.0)
  var now = 0.0
  private var listedAt = -Double.infinity
  /// When the player began to wait for an opponent; `nil` if the player does not wait.
  var queuedAt: Double?
  /// Whether the ratings shown are up to date.
  var isRatingKnown = false
  /// The outcome that `score` counts for the game on the board, if it has ended.
  var counted: Outcome??
  private var gamesHeard = 0
  private var silentSince: Double?
  /// Whether the server closed the connection because the player connected elsewhere.
  package internal(set) var isReplaced = false
  /// An intent that must be repeated for confirmation, and until when.
  private var asked: (intent: Intent, until: Double)?

  package init(_ setup: GameSetup) { (self.setup, home) = (setup, setup) }

  /// Seconds between two requests for the list of matches.
  private static let listInterval = 5.0
  /// Seconds of silence between two games of the listening mode.
  private static let pause = 12.0

  // MARK: - Derived properties

  package var match: MatchID? {
    switch mode {
    case .online(let m), .watching(let m): m
    case .local, .listening: nil
    }
  }

  /// The first choice on the page for a new game: the local game on the board, or the last one if the board has another kind.
  package var offered: GameSetup { mode == .local && today == nil ? setup : home }

  var view: MatchView? { match.flatMap { views[$0] } }

  /// Whether this player is in an unfinished match.
  var isPlaying: Bool {
    if case .online = mode { return view.map { $0.state.phase != .over } ?? false }
    return false
  }

  /// Whether the board is occupied: the opponent waits for us and we are connected.
  package var isInLiveMatch: Bool { isPlaying && link == .online }

  /// Whether an interrupted match is being resumed, possibly by its room's URL.
  var isResuming: Bool {
    if case .room = destination { preferences.matchServer == address } else { destination == .resume }
  }

  /// The progress of resuming an interrupted match.
  package var resuming: Message? { isResuming ? network.message ?? "\(.connecting)" : nil }

  /// The page's path: the watched match, or the room of the player; else empty.
  package var place: String {
    switch (mode, network.phase, destination) {
    case (.watching(let m), _, _): return watched(m.rawValue)
    case (.online, _, _): return isPlaying ? code.map { "r/\($0)" } ?? "" : ""
    case (_, .room(let code), _), (_, _, .room(let code)): return "r/\(code)"
    case (_, _, .watch(let id, _)): return watched(id)
    default: return ""
    }
  }

  /// The path of a match for spectators.
  private func watched(_ id: String) -> String { (["w", id] + (code.map { [$0] } ?? [])).joined(separator: "/") }

  func refuse(_ phrase: Phrase) -> [Effect] { [.refuse, .say("\(phrase)")] }

  // MARK: - Steps

  /// Handles an event; `board` is the session's current state, `now` a steady clock in seconds.
  package mutating func step(_ event: Event, _ board: Board, at now: Double) -> [Effect] {
    self.now = now
    let effects = react(to: event, board)
    if case .queued = network.phase { queuedAt = queuedAt ?? now } else { queuedAt = nil }
    return effects
  }

  private mutating func react(to event: Event, _ board: Board) -> [Effect] {
    switch event {
    case .intent(let intent): return answer(intent, board)
    case .network(let event, let view): return hear(event, view, board)
    case .turned:
      if board.page == .talk { talk.unread = 0 }
      if board.page != .network { opensLobby = false }
      return []
    case .tick: return tick(board)
    }
  }

  private mutating func tick(_ board: Board) -> [Effect] {
    if count(board.game), let today, today.isReached(by: board.game.end?.outcome), today.day != preferences.solvedDay {
      return [.remember(.solved(day: today.day))]
    }
    if board.page == .network, link == .online, network.phase == .lobby || queuedAt != nil,
      now - listedAt > WindowState.listInterval
    {
      listedAt = now
      return [.command(.list)] + (isRatingKnown ? [] : [.command(.me)])
    }
    return listenOn(board)
  }

  /// Updates the score for the end of the game, or its undo; returns whether the game has ended and was not counted before.
  private mutating func count(_ game: Game) -> Bool {
    let outcome = game.end.map { $0.outcome }
    guard mode != .listening, outcome != counted else { return false }
    for (end, points) in [(counted, -1), (outcome, 1)] {
      if case .win(.x)?? = end { score.x += points }
      if case .win(.o)?? = end { score.o += points }
    }
    counted = outcome
    return outcome != nil
  }

  private mutating func listenOn(_ board: Board) -> [Effect] {
    guard mode == .listening, board.game.isOver, !board.isClosing else {
      silentSince = nil
      return []
    }
    guard let since = silentSince else {
      silentSince = now
      return []
    }
    guard now - since > WindowState.pause else { return [] }
    silentSince = nil
    gamesHeard += 1
    // The opponents change; one is always strong, for long games and blocked threats.
    let levels = [3, 4, 5, 6]
    setup = GameSetup(x: .level(levels[gamesHeard % 4]), o: .level(levels[(gamesHeard / 4 + 3) % 4]))
    return [.begin(setup, from: .classic(.start))]
  }

  // MARK: - Intents

  private func takesBoard(_ intent: Intent) -> Bool {
    switch intent {
    case .newGame, .playOn, .listen, .today, .connect, .host, .playFriend, .quickMatch, .joinRoom, .joinNearby,
      .openRoom, .watch:
      true
    default: false
    }
  }

  private mutating func answer(_ intent: Intent, _ board: Board) -> [Effect] {
    if takesBoard(intent), isInLiveMatch { return refuse(.finishFirst) }
    switch intent {
    case .show(let page): return [.show(page)]
    case .play(let cell): return play(cell, board)
    case .preview(let cell): return [.preview(cell)]
    case .newGame(let setup):
      home = setup
      return leaveMatch(for: true) + begin(setup) + [.remember(.opponent(setup)), .show(.board)] + teach(setup.variant)
    case .playOn(let state):
      guard state.outcome == nil else { return refuse(.gameIsOver) }
      var setup = (mode == .local ? setup : home).playing(state.variant)
      if ![setup.x, setup.o].contains(.human) { setup.x = .human }
      setup.clockSeconds = nil
      // Keep only the part of the position that a record can represent.
      let start = (try? VariantState(state.variant, notation: state.notation)) ?? state
      return leaveMatch(for: true) + begin(setup, from: start) + [.show(.board)]
    case .listen:
      let effects = leaveMatch(for: true)
      (mode, score, counted, opensLobby) = (.listening, .init(), nil, false)
      gamesHeard = 0
      setup = GameSetup(x: .level(5), o: .level(6))
      return effects + [.begin(setup, from: .classic(.start)), .show(.board)]
    case .today:
      let board = DailyBoard(date: preferences.date) ?? DailyBoard(day: 0)
      return leaveMatch(for: true) + begin(board) + teach(board.state.variant)
    case .shareToday: return today.map { [.shareToday($0)] } ?? refuse(.gameRuns)
    case .stopListening: return mode == .listening ? begin(home) : refuse(.notListening)
    case .rematch: return rematch(board)
    case .resign: return resign(board)
    case .offerDraw, .declineDraw, .claimWin, .abortMatch: return agree(intent, board)
    case .undo:
      guard mode == .local, board.canUndo else { return refuse(.nothingToUndo) }
      return [.undo]
    case .redo:
      guard mode == .local, board.canRedo else { return refuse(.nothingToRedo) }
      return [.redo]
    case .connect, .host, .playFriend, .quickMatch, .acceptBot, .openRoom, .joinRoom, .joinNearby, .watch, .leave,
      .registerName:
      return seek(intent, board.page)
    case .say, .emote, .setTalkMuted, .setBlocked, .reportOpponent: return speak(intent)
    case .review: return [.review]
    case .keepPiece, .makeFilm:
      return board.game.cells.isEmpty && board.page != .review ? refuse(.nothingToKeep) : [.file(intent)]
    case .deleteGame: return confirm(intent, .reallyDelete, [.file(intent)])
    case .saveGame, .listGames, .listOlder, .openGame, .renameGame, .playGame, .shareSaved, .openPieces, .copyGame,
      .pasteGame,
      .copyText, .shareGame, .statistics, .stopFilm:
      return [.file(intent)]
    case .shareRoom(let code): return [.share("r/\(code)")]
    case .shareMatch: return match.map { [.share(watched($0.rawValue))] } ?? refuse(.notConnected)
    case .playSign, .replay, .reloadRules: return [.music(intent)]
    case .judge: return board.game.isOver ? [] : [.judge]
    case .back, .hint, .analysis, .toggleStrip, .playAll, .seek, .explainAgain, .chooseGame, .nameGame:
      return [.screen(intent)]
    case .setMuted(let isMuted): return [.mute(isMuted)]
    case .screenshot: return [.screenshot]
    case .leavePage: return isInLiveMatch ? confirm(intent, .reallyLeave, [.quit]) : [.quit]
    case .quit: return [.quit]
    }
  }

  /// Carries out an intent that needs confirmation if it is repeated within 6 seconds, else asks.
  private mutating func confirm(_ intent: Intent, _ question: Phrase, _ effects: [Effect]) -> [Effect] {
    let isSecond = asked.map { $0.intent == intent && now <= $0.until } ?? false
    asked = isSecond ? nil : (intent, now + 6)
    return isSecond ? [.say(nil)] + effects : [.say("\(question)")]
  }

  /// Begins a local game; the score continues only for the same players.
  mutating func begin(_ next: GameSetup, from start: VariantState? = nil) -> [Effect] {
    if next != setup || mode != .local || today != nil { score = .init() }
    (mode, daily, counted, opensLobby) = (.local, nil, nil, false)
    setup = next
    return [.begin(next, from: start ?? VariantState(startOf: next.variant))]
  }

  /// Shows the rules of a game chosen for the first time.
  private func teach(_ variant: Variant) -> [Effect] {
    preferences.shownRules.contains(variant) ? [] : [.remember(.shownRules(variant)), .show(.rules)]
  }

  /// Begins the daily puzzle against the best available defence.
  private mutating func begin(_ board: DailyBoard) -> [Effect] {
    let (isX, variant) = (board.state.turn == .x, board.state.variant)
    let other = variant.isLong ? Seat.level(6) : .perfect
    let effects = begin(
      GameSetup(x: isX ? .human : other, o: isX ? other : .human, variant: variant), from: board.state)
    daily = board
    return effects + [.show(.board)]
  }

  private func mayPlay(_ cell: Cell, _ board: Board) -> Phrase? {
    if board.game.isOver { return .gameIsOver }
    if match != nil, setup.x.isRemote, setup.o.isRemote { return .onlyWatching }
    if mode == .listening { return .onlyListening }
    let state = board.game.state
    if state.moves.contains(cell) { return nil }
    return state.isMarked(cell) ? .cellTaken : .otherBoard
  }

  private mutating func play(_ cell: Cell, _ board: Board) -> [Effect] {
    if let phrase = mayPlay(cell, board) { return refuse(phrase) }
    opensLobby = false
    guard case .online(let m) = mode else {
      return board.acceptsMove ? [.play(cell)] : refuse(preferences.isMusical ? .answerIsDue : .notYourTurn)
    }
    guard let view, view.canMove, pending == nil, board.acceptsMove else { return refuse(.notYourTurn) }
    pending = (view.state.moves.count, cell)
    return [.play(cell), .command(.move(m, cell))]
  }

  private mutating func rematch(_ board: Board) -> [Effect] {
    switch mode {
    case .listening: return refuse(.onlyListening)
    case .watching: return refuse(.onlyWatching)
    case .local:
      guard board.game.isOver || board.game.cells.isEmpty else { return refuse(.gameRuns) }
      if let today { return begin(today) }
      (score, counted) = (.init(x: score.o, o: score.x), nil)
      (setup.x, setup.o) = (setup.o, setup.x)
      return [.begin(setup, from: VariantState(startOf: setup.variant))]
    case .online(let m):
      guard !isPlaying else { return refuse(.gameRuns) }
      return rematchIn(at: now) != nil ? [.command(.rematch(m))] : refuse(.rematchTooLate)
    }
  }

  private mutating func resign(_ board: Board) -> [Effect] {
    guard !board.game.isOver else { return refuse(.gameIsOver) }
    switch mode {
    case .listening: return refuse(.onlyListening)
    case .watching: return refuse(.onlyWatching)
    case .local:
      let side = setup.x == .human && setup.o != .human ? Player.x : setup.x != .human ? .o : board.game.turn
      return [.end(GameEnd(outcome: .win(side.opponent), termination: .resignation))]
    case .online(let m):
      guard let view, view.state.phase != .over else { return refuse(.gameIsOver) }
      return confirm(
        .resign, .reallyResign, [.command(.resign(m))] + (link == .online ? [] : [.say("\(.sentLater)")]))
    }
  }

  /// The protocol allows each side two offers.
  static func mayOfferDraw(_ side: Player, _ state: MatchState) -> Bool {
    state.phase == .live && state.offer == nil && state.offersMade[side] < 2
  }

  private func agree(_ intent: Intent, _ board: Board) -> [Effect] {
    guard !board.game.isOver else { return refuse(.gameIsOver) }
    guard case .online(let m) = mode, let view, let you = view.you else {
      // Two people at one machine agree in person; computer opponents decline.
      guard mode == .local, intent == .offerDraw, setup.isPair else {
        return refuse(mode == .local ? .playsOn : .onlyWatching)
      }
      return [.end(GameEnd(outcome: .draw, termination: .agreement))]
    }
    let state = view.state
    switch intent {
    case .offerDraw:
      if let offer = state.offer, offer.side != you { return [.command(.answerDraw(m, accept: true))] }
      guard WindowState.mayOfferDraw(you, state) else { return refuse(.noMoreOffers) }
      return [.command(.offerDraw(m))]
    case .declineDraw:
      guard let offer = state.offer, offer.side != you else { return refuse(.noOffer) }
      return [.command(.answerDraw(m, accept: false))]
    case .claimWin: return state.away[you.opponent] ? [.command(.claim(m))] : refuse(.nobodyAway)
    default: return state.bothMoved ? refuse(.tooLateToAbort) : [.command(.abort(m))]
    }
  }
}
