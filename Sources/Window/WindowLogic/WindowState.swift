import Interface
import ClientModel
import MatchProtocol
import Oracle
import Records
import TicTacToe

/// The window's state machine: `step` takes an intent, a network event or a tick and returns effects, which the caller executes. It uses no
/// SDL, files, clocks or locks. Every intent in every state causes an effect or a message to the player.
package struct WindowState: Sendable {
  /// The kind of game on the board.
  package enum Mode: Sendable, Hashable {
    case local
    /// Computer opponents play one game after another.
    case listening
    /// Each touch of a cell sounds, without a game.
    case free
    /// A match of this player.
    case online(MatchID)
    /// A match that this player watches.
    case watching(MatchID)
    /// A game played by links.
    case letter
  }

  package enum ConnectionState: Sendable, Hashable {
    /// There is no connection, or it failed permanently.
    case none
    case connecting
    case online
    /// The connection was lost and is being made again.
    case reconnecting
  }

  /// An input of the state machine.
  package enum Event: Sendable, Hashable {
    case intent(Intent)
    /// An event of the connection, with the state of the event's match right after the event.
    case network(ClientEvent, MatchView?)
    /// Another page of the window is shown now: `Board.page`.
    case pageChanged
    case letter(LetterNews)
    /// The puzzle that was requested.
    case puzzle(Puzzle)
    case tick
  }

  /// The state of the session's game on the board, and the open page.
  package struct Board: Sendable, Hashable {
    package var game: Game
    /// Whether the game on the board is not over and a person at this machine is to move.
    package var acceptsMove: Bool
    package var canUndo: Bool
    package var canRedo: Bool
    /// Whether the music after the end of the game still plays.
    package var isClosing: Bool
    package var page: SceneName

    package init(
      game: Game = Game(), acceptsMove: Bool = true, canUndo: Bool = false, canRedo: Bool = false,
      isClosing: Bool = false, page: SceneName = .board
    ) {
      (self.game, self.acceptsMove, self.canUndo, self.canRedo) = (game, acceptsMove, canUndo, canRedo)
      (self.isClosing, self.page) = (isClosing, page)
    }
  }

  /// The player's settings that `WindowState` reads.
  package struct Preferences: Sendable, Hashable {
    /// Empty if the player has entered none.
    package var name = ""
    /// The variant for network matches.
    package var game = Variant.classic
    /// The clock for matches with strangers, as spelled in the settings.
    package var clock = "60+2"
    /// The clock for rooms, as spelled in the settings.
    package var roomClock = "none"
    /// The address of the server: in a browser the server from which the web page came, else the server used last.
    package var server = ""
    /// The address of the server of this player's unfinished match; empty if no match is unfinished.
    package var matchServer = ""
    package var isRated = false
    /// This player's side in a room; `nil` lets the server choose.
    package var roomSide: Player?
    /// Whether opponents' moves sound in time with the music.
    package var isMusical = true
    /// The local date, such as `2026-11-24`.
    package var date = ""
    /// The day of the last solved daily puzzle, in days since 1970.
    package var solvedDay = 0
    /// The variants whose rules the player has been shown; always includes Classic.
    package var shownRules: Set<Variant> = [.classic]

    package init() {}
  }

  package var preferences = Preferences()
  var local: LocalGame
  var onlineMatch: OnlineMatch?
  var letter: LetterGame?
  var sleepTimer: SleepTimer?
  /// The three-minute run that begins when the requested first puzzle arrives; `nil` at other times.
  var pendingSprint: PuzzleRun.Sprint?
  var lobby = LobbyModel()
  var tournament = OnlineTournament()
  var talk = Talk()
  var series = SeriesScore()
  var confirmation = Confirmation()
  /// The time of the current step, in seconds of the platform's clock.
  private(set) var now = 0.0

  package init(_ setup: GameSetup) { local = LocalGame(setup) }

  // MARK: - For the pages

  package var mode: Mode {
    if let onlineMatch { return onlineMatch.you == nil ? .watching(onlineMatch.id) : .online(onlineMatch.id) }
    return letter != nil ? .letter : local.isListening ? .listening : local.isFree ? .free : .local
  }

  package var match: MatchID? { onlineMatch?.id }
  package var setup: GameSetup { onlineMatch?.setup ?? letter?.setup ?? local.setup }
  /// The daily puzzle while it is played.
  package var today: DailyBoard? { onlineMatch == nil && letter == nil ? local.today : nil }
  package var score: BoardModel.Numbers { series.wins }
  package var network: NetworkModel { lobby.network }
  package var chat: TalkModel { talk.model }
  package var isReplaced: Bool { lobby.isReplaced }
  /// Whether there is a connection to a server, or one is being made.
  package var isConnected: Bool { lobby.connection != .none }

  /// The players that the page for a new game proposes: those of an ordinary local game on the board, else the players chosen last.
  package var offered: GameSetup { mode == .local && today == nil && puzzleRun == nil ? setup : local.home }

  /// Whether this player is in an unfinished match.
  package var isPlaying: Bool { onlineMatch?.isPlaying == true }

  /// Whether this player is connected and in an unfinished match: until the match is over, no other game may begin.
  package var isInLiveMatch: Bool { isPlaying && lobby.connection == .online }

  /// Whether nothing can be sent for this player's unfinished match, as the connection has ended for good.
  private var isCutOff: Bool { isPlaying && lobby.connection == .none }

  /// `seconds` is the time as given to `step`, `milliseconds` the time by `MatchClient.now`.
  package func online(at seconds: Double, client milliseconds: Int64) -> OnlineModel? {
    onlineMatch?.model(lobby.connection, at: seconds, client: milliseconds)
  }

  /// The state of the connection while the window reconnects to this player's unfinished match, else `nil`.
  package var resuming: Message? {
    lobby.isResuming(preferences.matchServer) ? network.message ?? "\(.connecting)" : nil
  }

  /// Whether a match is about to replace the local game on the board; the local game takes no moves until then.
  package var awaitsMatch: Bool { lobby.isOpeningMatch }

  package func waited(at seconds: Double) -> Int? { lobby.waited(at: seconds) }

  /// The default clock of the selected variant.
  package var usualClock: String { preferences.game.usualClock.description }

  /// The path in the web page's address: of a tournament, a watched match, a letter or a room; else empty.
  package var place: String {
    if letter == nil, let path = tournamentPath { return path }
    switch (mode, network.phase, lobby.destination) {
    case (.watching(let m), _, _): return watched(m.rawValue, onlineMatch?.code)
    case (.letter, _, _): return letter.map { "l/\($0.link)" } ?? ""
    case (.online, _, _): return isPlaying ? onlineMatch?.code.map { "r/\($0)" } ?? "" : ""
    case (_, .room(let code), _), (_, _, .room(let code)): return "r/\(code)"
    case (_, _, .watch(let id, let code)): return watched(id, code)
    default: return ""
    }
  }

  private func watched(_ id: String, _ code: String?) -> String {
    (["w", id] + (code.map { [$0] } ?? [])).joined(separator: "/")
  }

  // MARK: - Steps

  /// `board` is the session's current state, `now` a monotonic clock in seconds.
  package mutating func step(_ event: Event, _ board: Board, at now: Double) -> [Effect] {
    self.now = now
    let before = (mode, letter?.letter.id)
    defer {
      lobby.countWait(at: now)
      // An open question to the player was about the game that was on the board before.
      if before != (mode, letter?.letter.id) { confirmation = Confirmation() }
    }
    switch event {
    case .intent(let intent): return answer(intent, board)
    case .network(let event, let view): return hear(event, view, board)
    case .letter(let news): return hear(news)
    case .puzzle(let puzzle): return begin(puzzle)
    case .pageChanged:
      if board.page == .talk { talk.pageOpened() }
      if board.page != .network { lobby.cancelOpening() }
      return []
    case .tick: return tick(board)
    }
  }

  private mutating func tick(_ board: Board) -> [Effect] {
    let isListening = mode == .listening
    if !isListening, letter == nil, puzzleRun == nil, series.count(board.game), let today,
      today.isReached(by: board.game.end?.outcome),
      today.day != preferences.solvedDay
    {
      return [.remember(.solved(day: today.day))]
    }
    let effects = watchSleepTimer() + showNextMove(board) + showAnswer(board) + tickTournament(on: board.page)
    let request = lobby.tick(in: context(board.page))
    return effects + (request.isEmpty && isListening ? local.listenOn(board, at: now) : request)
  }

  // MARK: - Intents

  private func takesBoard(_ intent: Intent) -> Bool {
    switch intent {
    case .newGame, .playOn, .listen, .touchBoard, .today, .another, .sprint, .connect, .host, .playFriend, .quickMatch,
      .joinRoom,
      .joinNearby,
      .openRoom, .watch, .letter(.begin), .letter(.open), .letter(.show):
      true
    default: false
    }
  }

  private mutating func answer(_ intent: Intent, _ board: Board) -> [Effect] {
    if takesBoard(intent), isInLiveMatch { return .refused(.finishFirst) }
    if let effects = answerLetter(intent, board) ?? answerPuzzle(intent, board) { return effects }
    switch intent {
    case .letter(let intent): return answer(intent)
    case .tournament(let intent): return answer(intent)
    case .show(let page): return [.show(page)]
    case .play(let cell): return play(cell, as: .x, board)
    case .touchAlso(let cell): return play(cell, as: .o, board)
    // In free play touches sound, but previews do not.
    case .preview(let cell): return [.preview(mode == .free ? nil : cell)]
    case .newGame(let setup):
      return leaveMatch(for: true) + begin(setup, isHome: true) + [.remember(.opponent(setup)), .show(.board)]
        + teach(setup.variant)
    case .playOn(let state):
      guard state.outcome == nil else { return .refused(.gameIsOver) }
      var setup = (mode == .local ? setup : local.home).playing(state.variant)
      if ![setup.x, setup.o].contains(.human) { setup.x = .human }
      setup.clockSeconds = nil
      // Convert the state to its notation and back, as a saved record does: in Infinite this drops the counts of repeated positions.
      let start = (try? VariantState(state.variant, notation: state.notation)) ?? state
      return leaveMatch(for: true) + begin(setup, from: start) + [.show(.board)]
    case .listen:
      lobby.localGameBegan()
      series.nextGame(samePlayers: false)
      return leaveMatch(for: true) + [local.listen(), .show(.board)]
    case .touchBoard:
      lobby.localGameBegan()
      series.nextGame(samePlayers: false)
      return leaveMatch(for: true) + [local.touchBoard(), .show(.board)]
    case .today:
      let board = DailyBoard(date: preferences.date) ?? DailyBoard(day: 0)
      return leaveMatch(for: true) + begin(board) + teach(board.state.variant)
    case .another: return [.puzzle(.next(Set(Variant.allCases)))]
    case .sprint: return beginSprint()
    case .shareToday: return today.map { [.shareToday($0)] } ?? .refused(.gameRuns)
    case .sleep: return chooseSleepTimer()
    case .stopListening: return mode == .listening || mode == .free ? begin(local.home) : .refused(.notListening)
    case .rematch: return rematch(board)
    case .resign: return resign(board)
    case .offerDraw, .declineDraw, .claimWin, .abortMatch: return agree(intent, board)
    case .undo:
      guard mode == .local, board.canUndo else { return .refused(.nothingToUndo) }
      return [.undo]
    case .redo:
      guard mode == .local, board.canRedo else { return .refused(.nothingToRedo) }
      return [.redo]
    case .connect, .host, .playFriend, .quickMatch, .acceptBot, .openRoom, .joinRoom, .joinNearby, .watch, .leave,
      .registerName:
      return seek(intent, board.page)
    case .say, .emote, .setTalkMuted, .setBlocked, .reportOpponent: return speak(intent)
    case .review: return [.review]
    case .keepPiece, .makeFilm:
      return board.game.cells.isEmpty && board.page != .review && (mode != .free || intent == .makeFilm)
        ? .refused(.nothingToKeep) : [.file(intent)]
    case .deleteGame: return confirmation.confirm(intent, .reallyDelete, at: now, [.file(intent)])
    case .saveGame, .listGames, .listOlder, .openGame, .renameGame, .playGame, .shareSaved, .openPieces, .copyGame,
      .pasteGame,
      .copyText, .shareGame, .statistics, .stopFilm:
      return [.file(intent)]
    case .shareRoom(let code): return [.share("r/\(code)")]
    case .shareMatch: return onlineMatch.map { [.share(watched($0.id.rawValue, $0.code))] } ?? .refused(.notConnected)
    case .playSign, .replay, .reloadRules, .ownMusic: return [.music(intent)]
    case .judge: return board.game.isOver ? [] : [.judge]
    case .back, .hint, .analysis, .toggleStrip, .playAll, .seek, .explainAgain, .chooseGame, .nameGame:
      return [.screen(intent)]
    case .setMuted(let isMuted): return [.mute(isMuted)]
    case .screenshot: return [.screenshot]
    case .leavePage: return isInLiveMatch ? confirmation.confirm(intent, .reallyLeave, at: now, [.quit]) : [.quit]
    case .quit: return [.quit]
    }
  }

  /// Begins a local game; the counts of wins continue only if the players stay the same.
  mutating func begin(
    _ next: GameSetup, from start: VariantState? = nil, daily: DailyBoard? = nil, puzzle: PuzzleRun? = nil,
    isHome: Bool = false
  ) -> [Effect] {
    series.nextGame(samePlayers: onlineMatch == nil && letter == nil && local.isContinued(by: next))
    lobby.localGameBegan()
    letter = nil
    return [local.begin(next, from: start, daily: daily, puzzle: puzzle, isHome: isHome)]
  }

  /// Shows the rules of a variant that the player chooses for the first time.
  func teach(_ variant: Variant) -> [Effect] {
    preferences.shownRules.contains(variant) ? [] : [.remember(.shownRules(variant)), .show(.rules)]
  }

  private mutating func begin(_ board: DailyBoard) -> [Effect] {
    begin(GameSetup(for: board), from: board.state, daily: board) + [.show(.board)]
  }

  func reasonNotToPlay(_ cell: Cell, _ board: Board) -> Phrase? {
    if board.game.isOver { return .gameIsOver }
    if case .watching = mode { return .onlyWatching }
    if mode == .listening { return .onlyListening }
    let state = board.game.state
    if state.moves.contains(cell) { return nil }
    return state.isMarked(cell) ? .cellTaken : .otherBoard
  }

  private mutating func play(_ cell: Cell, as side: Player, _ board: Board) -> [Effect] {
    if mode == .free { return Square.all.indices.contains(cell.index) ? [.touch(Square(cell.index), side)] : [] }
    if isCutOff { return .refused(.notConnected) }
    if let effects = onlineMatch?.choosePremove(cell, on: board.game) { return effects }
    if awaitsMatch { return .refused(.stillConnecting) }
    if let reason = reasonNotToPlay(cell, board) { return .refused(reason) }
    lobby.cancelOpening()
    if onlineMatch != nil { return onlineMatch?.play(cell, boardAcceptsMove: board.acceptsMove) ?? [] }
    return board.acceptsMove ? [.play(cell)] : .refused(preferences.isMusical ? .answerIsDue : .notYourTurn)
  }

  private mutating func rematch(_ board: Board) -> [Effect] {
    switch mode {
    case .listening, .letter: return .refused(.onlyListening)
    case .watching: return .refused(.onlyWatching)
    case .free: return .refused(.gameRuns)
    case .local:
      guard board.game.isOver || board.game.cells.isEmpty else { return .refused(.gameRuns) }
      if let today { return begin(today) }
      series.nextGame(samePlayers: true, swapped: true)
      return [local.rematch()]
    case .online: return onlineMatch?.rematch(isOnline: lobby.connection == .online, at: now) ?? []
    }
  }

  private mutating func resign(_ board: Board) -> [Effect] {
    guard !board.game.isOver else { return .refused(.gameIsOver) }
    switch mode {
    case .listening, .letter: return .refused(.onlyListening)
    case .watching: return .refused(.onlyWatching)
    case .free: return .refused(.playsOn)
    case .local:
      let side = setup.x == .human && setup.o != .human ? Player.x : setup.x != .human ? .o : board.game.turn
      return [.end(GameEnd(outcome: .win(side.opponent), termination: .resignation))]
    case .online(let m):
      guard isPlaying else { return .refused(.gameIsOver) }
      if isCutOff { return .refused(.notConnected) }
      return confirmation.confirm(
        .resign, .reallyResign, at: now,
        [.command(.resign(m))] + (lobby.connection == .online ? [] : [.say("\(.sentLater)")]))
    }
  }

  private func agree(_ intent: Intent, _ board: Board) -> [Effect] {
    guard !board.game.isOver else { return .refused(.gameIsOver) }
    if isCutOff { return .refused(.notConnected) }
    if let onlineMatch { return onlineMatch.agree(intent) }
    // Two people at one machine have agreed on the draw in person. Computer opponents decline a draw.
    guard mode == .local, intent == .offerDraw, setup.isPair else {
      return .refused(mode == .local ? .playsOn : .onlyWatching)
    }
    return [.end(GameEnd(outcome: .draw, termination: .agreement))]
  }
}
