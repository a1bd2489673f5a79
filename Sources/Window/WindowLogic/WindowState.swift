import Interface
import ClientModel
import MatchProtocol
import Oracle
import TicTacToe

/// The window's game as one value: whose game is on the board, how the connection stands, what may be done.
///
/// Stepped as (intent | network event | tick) → effects. It knows no SDL, no files, no clock and no locks; what it asks
/// for is done by whoever steps it. Every intent is answered in every state, by an effect or by words for the player.
package struct WindowState: Sendable {
  /// Whose game is on the board.
  package enum Mode: Sendable, Hashable {
    case local
    /// Two opponents compose without end.
    case listening
    /// A match we play.
    case online(MatchID)
    /// A match we look on at.
    case watching(MatchID)
  }

  /// How the connection to a server stands.
  package enum Link: Sendable, Hashable {
    /// There is none, or it has failed for good.
    case none
    /// Being made for the first time.
    case connecting
    /// There.
    case online
    /// Lost, and being sought again.
    case waiting
  }

  /// What happens to the window.
  package enum Event: Sendable, Hashable {
    /// The player wants something.
    case intent(Intent)
    /// The connection has something to tell; with the match it is about, as it stands now.
    case network(ClientEvent, MatchView?)
    /// Another page is on top.
    case turned(SceneName)
    case tick
  }

  /// What the session says of the game on the board.
  package struct Board: Sendable, Hashable {
    package var game: Game
    /// Whether a local person may mark a cell.
    package var acceptsMove: Bool
    /// Whether a move can be taken back.
    package var canUndo: Bool
    /// Whether one taken back can be played again.
    package var canRedo: Bool
    /// Whether the music after a game's end is still being played.
    package var isClosing: Bool

    package init(
      game: Game = Game(), acceptsMove: Bool = true, canUndo: Bool = false, canRedo: Bool = false,
      isClosing: Bool = false
    ) {
      (self.game, self.acceptsMove, self.canUndo, self.canRedo) = (game, acceptsMove, canUndo, canRedo)
      self.isClosing = isClosing
    }
  }

  /// What the player has set, as far as it matters here.
  package struct Preferences: Sendable, Hashable {
    package var language = Language.english
    /// The game that is looked for on the network: the one that was chosen last.
    package var game = Variant.classic
    /// The clock of matches with strangers, and of those with friends, as the settings spell them.
    package var clock = "60+2"
    package var roomClock = "none"
    /// The server to play on: the page's own, or the one last looked for.
    package var server = ""
    /// The server of the match that was cut short; empty where none was.
    package var matchServer = ""
    /// Whether matches count for the rating.
    package var isRated = false
    /// The side that is played in a room of one's own; where it is `nil`, the server chooses.
    package var roomSide: Player?
    /// Whether the music plays the opponents' marks in time.
    package var isMusical = true
    /// The local date, as `2026-11-24`.
    package var date = ""
    /// The last of today's boards that was solved, by its day, and how many before it without a gap.
    package var solvedDay = 0
    package var streak = 0
    /// The games whose rules have been shown; everybody knows the first.
    package var shownRules: Set<Variant> = [.classic]

    package init() {}
  }

  package internal(set) var mode = Mode.local
  package internal(set) var setup: GameSetup
  /// How the connection stands.
  package internal(set) var link = Link.none
  package internal(set) var network = NetworkModel()
  /// What is said beside the match.
  package internal(set) var talk = TalkModel()
  /// Games won by the two who play, by the name of the side they have now, since they sat down.
  package internal(set) var score = BoardModel.Numbers()
  package var preferences = Preferences()
  /// Today's board, while it is played.
  package var today: DailyBoard? { mode == .local ? daily : nil }
  private var daily: DailyBoard?
  package internal(set) var page = SceneName.board

  /// Who plays when a match has been left.
  var home: GameSetup
  var address = ""
  /// Whether that server is this window's own.
  var isHosting = false
  var views: [MatchID: MatchView] = [:]
  /// The match that this player will play, or the own room.
  var awaited: MatchID?
  /// The match that the player wants to watch, until it comes to the board.
  var wanted: MatchID?
  /// Whether the lobby opens by itself, as the answer to a wish to connect after which nothing else was wanted.
  var opensLobby = false
  /// The rooms that the server has not opened yet. Only the newest is shown; the others are closed as they come.
  var openings = 0
  /// Whether the newest of them is closed as well, because the player has wanted something else since.
  var dropsRoom = false
  /// The queue or the room in which the player waited as the connection was lost.
  var waitedIn: NetworkModel.Phase?
  /// When the connection was lost, until the match on the board is known again.
  var lostAt: Double?
  /// Whether the player hears no talk, and whose talk not, as the server keeps it.
  var isQuiet = false
  var blocked: Set<String> = []
  /// The opponent whom the player reported last.
  var reported = ""
  /// The code of the room that the match was made in, which those who watch it need.
  var code: String?
  /// What to do once the server has said who we are.
  var destination: Destination?
  /// A mark shown here that the server has not answered.
  var pending: (ply: Int, cell: Cell)?
  /// How many of its marks' times the music has been told.
  var timesTold = 0
  /// Whether the other voice, or the server, is away, as last told to the music.
  var isAlone = false
  /// Whether a side has called the match off, rather than nobody having begun.
  var isCalledOff = false
  /// When the turn, or the end, of the match on the board was first seen.
  var turnSince = (ply: -1, at: 0.0)
  var now = 0.0
  private var listedAt = -Double.infinity
  /// Whether the server has told the ratings as they are now.
  var isRatingKnown = false
  /// The outcome of the game on the board that the score has, if that game has ended.
  var counted: Outcome??
  private var gamesHeard = 0
  private var silentSince: Double?
  /// Whether the connection was ended because the same player has come from elsewhere.
  package internal(set) var isReplaced = false
  /// What must be wanted twice, and was wanted once.
  private var asked: (intent: Intent, until: Double)?

  package init(_ setup: GameSetup) { (self.setup, home) = (setup, setup) }

  /// Seconds between two looks at a server's list of matches.
  private static let listInterval = 5.0
  /// Seconds of silence between two games that are only listened to.
  private static let pause = 12.0

  // MARK: - What follows from the state

  package var match: MatchID? {
    switch mode {
    case .online(let m), .watching(let m): m
    case .local, .listening: nil
    }
  }

  var view: MatchView? { match.flatMap { views[$0] } }

  /// Whether we sit in a match that has not ended.
  var isPlaying: Bool {
    if case .online = mode { return view.map { $0.state.phase != .over } ?? false }
    return false
  }

  /// Whether the board cannot be had for anything else: somebody at the other end waits for us, and we can answer.
  package var isBound: Bool { isPlaying && link == .online }

  /// Whether a match is looked for that was cut short: also by the address of its room.
  var isResuming: Bool {
    if case .room = destination { preferences.matchServer == address } else { destination == .resume }
  }

  /// How far the search is for a match that was cut short, in words for the board.
  package var resuming: String? { isResuming ? network.message ?? text(.connecting) : nil }

  /// What a page's address names: the match that is watched, or the room in which one plays or waits; else nothing.
  package var place: String {
    switch (mode, network.phase, destination) {
    case (.watching(let m), _, _): return watched(m.rawValue)
    case (.online, _, _): return isPlaying ? code.map { "r/\($0)" } ?? "" : ""
    case (_, .room(let code), _), (_, _, .room(let code)): return "r/\(code)"
    case (_, _, .watch(let id, _)): return watched(id)
    default: return ""
    }
  }

  /// The address of a match for those who watch it.
  private func watched(_ id: String) -> String { (["w", id] + (code.map { [$0] } ?? [])).joined(separator: "/") }

  /// Whether the game under review is meant where one is saved, copied or kept.
  package var isReviewing: Bool { page == .review }

  func text(_ phrase: Phrase, _ values: String...) -> String { phrase.text(in: preferences.language, values) }

  func refuse(_ phrase: Phrase) -> [Effect] { [.refuse, .notice(text(phrase))] }

  // MARK: - Steps

  /// Takes what happens; `board` is what the session says now, `now` any steady clock in seconds.
  package mutating func step(_ event: Event, _ board: Board, at now: Double) -> [Effect] {
    self.now = now
    let wasAsked = asked != nil
    let effects = react(to: event, board)
    // A question that is answered is not read any more.
    return wasAsked && asked == nil ? [.notice(nil)] + effects : effects
  }

  private mutating func react(to event: Event, _ board: Board) -> [Effect] {
    switch event {
    case .intent(let intent): return answer(intent, board)
    case .network(let event, let view): return hear(event, view, board)
    case .turned(let page):
      self.page = page
      if page == .talk { talk.unread = 0 }
      if page != .network { opensLobby = false }
      return []
    case .tick: return tick(board)
    }
  }

  private mutating func tick(_ board: Board) -> [Effect] {
    if count(board.game), let today, today.isReached(by: board.game.end?.outcome), today.day != preferences.solvedDay {
      return [.remember(.solved(day: today.day))]
    }
    if page == .network, link == .online, network.phase == .lobby, now - listedAt > WindowState.listInterval {
      listedAt = now
      return [.command(.list)] + (isRatingKnown ? [] : [.command(.me)])
    }
    return listenOn(board)
  }

  /// Counts how the game on the board has ended, and takes back what a move that was taken back had ended; whether the
  /// game has ended in a way that was not counted.
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
    // Not always the same two: a strong one always, so that games are long and threats are parried.
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
    if takesBoard(intent), isBound { return refuse(.finishFirst) }
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
      // As the record of the game will say it: what stood before that it cannot hold.
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
    case .shareToday: return today.map { [.shareToday(card(of: $0))] } ?? refuse(.gameRuns)
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
      return seek(intent)
    case .say, .emote, .setTalkMuted, .setBlocked, .reportOpponent: return speak(intent)
    case .review: return [.review]
    case .keepPiece, .makeFilm:
      return board.game.cells.isEmpty && !isReviewing ? refuse(.nothingToKeep) : [.file(intent)]
    case .deleteGame:
      guard confirms(intent) else { return [.notice(text(.reallyDelete))] }
      return [.file(intent)]
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
    case .leavePage: return isBound && !confirms(intent) ? [.notice(text(.reallyLeave))] : [.quit]
    case .quit: return [.quit]
    }
  }

  /// Whether an intent that needs it was wanted twice within a few seconds.
  private mutating func confirms(_ intent: Intent) -> Bool {
    let isSecond = asked.map { $0.intent == intent && now <= $0.until } ?? false
    asked = isSecond ? nil : (intent, now + 6)
    return isSecond
  }

  /// Begins a game at this machine; the score goes on only where the same two play on.
  mutating func begin(_ next: GameSetup, from start: VariantState? = nil) -> [Effect] {
    if next != setup || mode != .local || today != nil { score = .init() }
    (mode, daily, counted, opensLobby) = (.local, nil, nil, false)
    setup = next
    return [.begin(next, from: start ?? VariantState(startOf: next.variant))]
  }

  /// Shows how a game is played to whoever chooses it for the first time.
  private func teach(_ variant: Variant) -> [Effect] {
    preferences.shownRules.contains(variant) ? [] : [.remember(.shownRules(variant)), .show(.rules)]
  }

  /// Begins today's board against the best defence there is.
  private mutating func begin(_ board: DailyBoard) -> [Effect] {
    let (isX, variant) = (board.state.turn == .x, board.state.variant)
    let other = variant == .classic ? Seat.perfect : .level(6)
    let effects = begin(
      GameSetup(x: isX ? .human : other, o: isX ? other : .human, variant: variant), from: board.state)
    daily = board
    return effects + [.show(.board)]
  }

  private func card(of board: DailyBoard) -> DayCard {
    let goal: String
    switch board.goal {
    case .win(1): goal = text(.todayWinNow)
    case .win(let moves): goal = text(.todayWin, "\(moves)")
    case .hold: goal = text(.todayHold)
    }
    return DayCard(
      date: board.date, title: "Alina, \(text(.today)), \(board.date)", goal: "\(board.state.turn.letter), \(goal)",
      result: "\(text(.solved)); \(text(.daysInARow, "\(preferences.streak)"))", state: board.state)
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
      guard confirms(.resign) else { return [.notice(text(.reallyResign))] }
      return [.command(.resign(m))] + (link == .online ? [] : [.notice(text(.sentLater))])
    }
  }

  /// The protocol takes two offers of a side.
  static func mayOfferDraw(_ side: Player, _ state: MatchState) -> Bool {
    state.phase == .live && state.offer == nil && state.offersMade[side] < 2
  }

  private func agree(_ intent: Intent, _ board: Board) -> [Effect] {
    guard !board.game.isOver else { return refuse(.gameIsOver) }
    guard case .online(let m) = mode, let view, let you = view.you else {
      // Two people at one machine agree by word of mouth; an opponent of ours plays on.
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
