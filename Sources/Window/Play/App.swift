import Base
import Interface
import ClientModel
import WindowLogic
import MatchProtocol
import Oracle
import ScoreModel
import Records
import Screen
import Session
import TicTacToe
import Tintinnabuli

/// Connects the parts of the window: passes inputs to the screen and the screen's intents to `state`, and executes the effects of `state`.
/// Decides nothing that `state` can decide.
package final class App: PlatformGame {
  let machine: AppEnvironment
  let session: GameSession
  package let screen: RootScreen
  package let library: Library
  let music: Music
  private let analyzer: Analyzer
  package let files: Files
  private let letters: Letters
  private let puzzles: PuzzleStore
  private let musicEditor: MusicEditor
  private var audioSettings: AudioSettingsBinding?
  private(set) var state: WindowState
  package private(set) var wantsToQuit = false
  /// Called at each move of a local person, with the audio frame at which the move sounds.
  package var onMove: ((_ frame: Int64) -> Void)?
  /// Whether to search the local network for rooms while the network page is open.
  package var looksAround = true
  /// Whether sound starts only after a first touch, as in browsers.
  package var soundWaits = false
  private var connection: Connection?
  /// The last known state of the match on the board, for its clocks while no connection knows the match.
  private var lastView: MatchView?
  private var resuming: Record?
  private var hasOpened = false
  package private(set) var isHidden = false
  private var hasFocus = true
  private var isScreenKept = false
  private var previewSince: Double?
  private var near: (own: String?, page: String?, rooms: [NetworkModel.Nearby]) = (nil, nil, [])
  /// The fault that keeps the settings from being saved, and of which the player was told; `nil` while saving succeeds.
  private var toldFault: WriteFault?
  /// Whether musical signs are explained: not in a run for a screenshot, which saves no games and whose picture shall show no explanation.
  private let teaches: Bool
  /// The index of the last bar that was checked for musical signs to be explained.
  private var explainedBar = -1
  /// When the tournament's table beside the board is updated again, in seconds of the platform's clock.
  private var tournamentDue = -Double.infinity

  /// The longest time between two updates in seconds. An update polls the rule file, room announcements and time-outs.
  private static let lookInterval = 0.5
  /// The longest time between two updates in seconds, while a search runs, or music other than the running game's plays or will soon begin.
  private static let interludeInterval = 0.05
  /// Seconds after which the preview tone of a cell ends, even if the pointer stays on the cell.
  private static let previewSeconds = 4.0

  /// `rulesName`: the name of the score rules that `session` already has. `overrides`: sets settings for this run.
  init(
    _ machine: AppEnvironment, _ session: GameSession, setup: GameSetup, store: GameStore?, rulesName: String,
    seed: UInt64,
    resuming unfinished: (name: String, record: Record)? = nil, overrides: (Settings) -> Void = { _ in }
  ) {
    (self.machine, self.session) = (machine, session)
    resuming = unfinished?.record
    teaches = store != nil
    state = WindowState(setup)
    screen = RootScreen(services: machine.services)
    let (read, services) = (machine.readAsset, machine.services)
    library = Library(
      services: services, screen: screen, knowledge: UltimateKnowledge { read("ultimate.values") })
    analyzer = Analyzer(services, library.knowledge, screen)
    music = Music(machine.sound, session, screen)
    files = Files(machine, session, screen, library, music, store: store, resuming: unfinished)
    letters = Letters(services, screen, seed: seed)
    puzzles = PuzzleStore(services, screen, seed: seed)
    musicEditor = MusicEditor(machine, screen, music, files)
    screen.settings.store.forThisRun { overrides(screen.settings) }
    Pages.fill(screen, machine.rules)
    audioSettings = AudioSettingsBinding(machine, session, screen, rulesName: rulesName)
    files.openLetter = { [unowned(unsafe) self] in want(.letter(.open($0))) }
    files.openMusic = { [unowned(unsafe) self] in want(.ownMusic(.open($0))) }
    screen.onIntent = { [unowned(unsafe) self] in step(.intent($0)) }
    screen.onPageChange = { [unowned(unsafe) self] in step(.pageChanged) }
    showSession()
    for trouble in screen.settings.store.troubles {
      let message: Message =
        switch trouble {
        case .setAside(let path, let aside): "\(.setAside, Message(path), Message(aside))"
        case .line(let line): "\(.unreadableLine, "\(.settings)", "\(line)")"
        }
      screen.say(screen.notice.map { "\($0)\n\(message)" } ?? message)
    }
  }

  /// The title signals the player's turn while the window is in the background.
  package var windowTitle: String {
    if let title = state.letterTitle { return "\(title.text(in: screen.settings.language)) · Alina" }
    return isAway && isYourMove ? screen.text(.yourMoveTitle) : "Alina"
  }
  package var services: PlatformServices { machine.services }
  private var now: Double { machine.services.now() }

  package func connect(to address: ServerAddress, destination: Destination?, isHosting: Bool = false) {
    for effect in state.connect(to: address, destination: destination, isHosting: isHosting) { perform(effect) }
  }

  package func soundChanged(to state: SoundState) {
    switch state {
    case .playing: screen.say("\(.soundBack)")
    case .none: screen.say("\(.soundNone)")
    case .impossible: screen.say("\(.soundImpossible)")
    case .lost: screen.say("\(.soundLost)")
    }
  }

  // MARK: - PlatformGame

  package func update(input: [InputEvent], at now: Double) {
    take(input, at: now)
    music.carryOn()
    musicEditor.carryOn(at: now)
    analyzer.carryOn()
    audioSettings?.watchRules(at: now)
    // If the number of moves grows below, the network or a computer opponent has moved.
    let plies = session.game.cells.count
    if let connection {
      for (event, view) in connection.poll() { step(.network(event, view)) }
    }
    near = machine.neighbours(state.network, looksAround && screen.currentScene == .network, now)
    endLongPreview(at: now)
    session.advance()
    if isHidden && session.game.cells.count > plies && isYourMove { machine.services.requestAttention() }
    step(.tick)
    let fault = screen.settings.store.fault
    if let fault, fault != toldFault { screen.say("\(.settingsFailed)\(fault.reason)") }
    toldFault = fault
    files.keepGame(at: now, isResumable: state.match == nil, isWanted: state.isBoardKept)
    showSession()
    screen.advance(to: now)
  }

  /// Handles inputs without advancing time; the first call opens the session.
  package func take(_ input: [InputEvent], at now: Double) {
    if !hasOpened {
      hasOpened = true
      audioSettings?.hasOpened = true
      session.open(resuming: resuming)
    }
    for event in input {
      if case .focus(let gained) = event {
        hasFocus = gained
        // While the window had no focus, another window may have explained musical signs or solved puzzles.
        if gained { screen.settings.refreshMarks() }
        if gained, screen.currentScene == .letters { want(.letter(.list)) }
      }
      if case .visible(let visible) = event {
        isHidden = !visible
        audioSettings?.applyBackground(hidden: isHidden)
      }
    }
    screen.handle(input, at: now)
    // Several tabs may show the same match, but the server serves only the newest connection: the tab that becomes visible connects again.
    if services.isPage, state.isReplaced, !isAway { resumeMatch() }
  }

  private var isAway: Bool { isHidden || !hasFocus }

  /// Whether exactly one local person plays and has the turn, in a match or in a game that has begun.
  private var isYourMove: Bool {
    guard session.acceptsMove, let side = session.participants.loneHuman, session.game.turn == side else {
      return false
    }
    return state.match != nil || !session.game.cells.isEmpty
  }

  package var isListening: Bool { state.mode == .listening }

  /// The path in the page's address.
  package var place: String {
    switch screen.currentScene {
    case .review: files.reviewedPlace
    case .music: musicEditor.place
    default: state.place
    }
  }

  /// How many presses of the browser's *Back* stay in Alina; in a match one more, which asks before the match is left. A lost connection
  /// does not change the number: a reload closes the connection, and for a smaller number the page would go back in the browser's history,
  /// which would cancel the reload.
  package var stepsBack: Int { screen.depth + (state.isPlaying ? 1 : 0) }

  package func goBack() { want(screen.depth > 0 ? .back : .leavePage) }

  /// Reconnects to the server of this player's unfinished match, if there is one and a link has not connected already.
  package func resumeMatch() {
    guard !state.isConnected, let address = ServerAddress(screen.settings.matchServer) else { return }
    connect(to: address, destination: .resume)
  }

  package var variant: Variant { session.game.variant }

  /// Handles an intent as if a button had sent it.
  package func want(_ intent: Intent) { step(.intent(intent)) }

  package func nextFrame(after now: Double) -> Double { screen.nextFrame(after: now) }

  package func nextUpdate(after now: Double) -> Double {
    let interval =
      music.isPlaying || analyzer.isThinking || musicEditor.isDue ? App.interludeInterval : App.lookInterval
    return now + min(interval, session.wake ?? .infinity)
  }

  package func draw(into surface: Surface, isNew: Bool, at now: Double) -> [PixelRect] {
    screen.draw(into: surface, isNew: isNew, at: now)
  }

  /// To be called before the program ends.
  package func finish() {
    files.flush()
    screen.settings.store.save()
    connection?.disconnect()
  }

  // MARK: - Steps

  private func step(_ event: WindowState.Event) {
    let settings = screen.settings
    state.preferences.name = settings.name
    state.preferences.game = settings.game
    (state.preferences.clock, state.preferences.roomClock) = (settings.networkClock, settings.roomClock)
    state.preferences.roomSide = Player(text: settings.roomSide)
    (state.preferences.isRated, state.preferences.isMusical) = (settings.networkRated, settings.reply == .musical)
    state.preferences.solvedDay = settings.solvedDay
    state.preferences.shownRules = Set(
      [.classic] + settings.shownRules.split(separator: " ").compactMap { Variant(rawValue: String($0)) })
    state.preferences.date = String(services.timeStamp().prefix(10))
    // A page in a browser always connects to its own server. `localhost` only stands for that server where an address is needed.
    state.preferences.server = services.isPage ? "localhost" : settings.server
    state.preferences.matchServer = settings.matchServer
    let board = WindowState.Board(
      game: session.game, acceptsMove: session.acceptsMove, canUndo: session.canUndo,
      canRedo: !session.undone.isEmpty && !session.game.isOver, isClosing: session.isClosing,
      page: screen.currentScene)
    for effect in state.step(event, board, at: now) { perform(effect) }
  }

  private func perform(_ effect: Effect) {
    switch effect {
    case .play(let cell):
      music.stop()
      if session.play(cell), let frame = session.times.last?.frame { onMove?(frame) }
    case .beginFreePlay:
      music.stop()
      files.newName()
      session.beginFreePlay()
    case .touch(let square, let side):
      music.stop()
      if session.isFreePlayOver {
        files.newName()
        session.beginFreePlay()
      }
      session.touch(square, as: side)
    case .refuse: session.refuse()
    case .preview(let cell):
      previewSince = cell == nil ? nil : now
      session.preview(cell)
    case .undo:
      // The finished game keeps its file; the continued game gets a new file.
      if session.game.isOver { files.newName() }
      session.undo()
    case .redo: session.redo()
    case .end(let end): session.end(with: end)
    case .begin(let setup, let start):
      music.stop()
      // Learning opponents read all saved games, so write the last game first.
      if [setup.x, setup.o].contains(where: { [.menace, .adaptive].contains($0) }) { files.flush() }
      files.newName()
      session.newGame(library.participants(of: setup), from: start, clockSeconds: setup.clockSeconds)
    case .join(let joined): join(joined)
    case .syncBoard(let moves, let times): session.syncBoard(moves, times: times)
    case .away(let isAway): session.connection(lost: isAway)
    case .connect(let address, let token): openConnection(to: address, newToken: token)
    case .hangUp:
      connection?.disconnect()
      connection = nil
    case .host(let destination):
      if let address = machine.host() {
        connect(to: address, destination: destination, isHosting: true)
      } else {
        screen.say("\(.hostFailed)")
      }
    case .share(let path): files.share(path)
    case .shareToday(let board): files.share(board)
    case .command(let command): connection?.perform(command)
    case .show(let page): screen.show(page)
    case .screen(let intent): screen.perform(intent)
    case .say(let message): screen.say(message)
    case .attention:
      machine.services.expectAttention()
      if isHidden { machine.services.requestAttention() }
    case .remember(let memory): screen.settings.remember(memory, services)
    case .judge: analyzer.judge(session.game)
    case .letter(let request): if let news = letters.answer(request) { step(.letter(news)) }
    case .puzzle(let request): if let puzzle = puzzles.answer(request) { step(.puzzle(puzzle)) }
    case .review:
      files.letterPiece = state.letterPiece
      files.review()
    case .file(let intent):
      files.letterPiece = state.letterPiece
      files.answer(intent)
    case .saveGames(let games, let code, let name): files.saveGames(games, code: code, name: name)
    case .mottos(let mottos): music.play(mottos)
    case .music(.reloadRules): audioSettings?.loadRules(screen.settings.scoreRules)
    case .music(.ownMusic(let intent)): musicEditor.answer(intent)
    case .music(let intent): music.answer(intent)
    case .fade(let decibels): audioSettings?.fade = decibels
    case .mute(let isMuted): screen.settings.muted = isMuted
    case .screenshot: files.takePicture()
    case .quit: if services.isPage { services.leavePage() } else { wantsToQuit = true }
    }
  }

  private func join(_ joined: JoinedMatch) {
    music.stop()
    files.newName()
    func participant(_ side: Player) -> Participant {
      joined.you == side ? .human(name: joined.names[side]) : .remote(name: joined.names[side])
    }
    let players = Participants(x: participant(.x), o: participant(.o))
    session.join(
      players, variant: joined.rules, seed: joined.match.seed, station: joined.station, moves: joined.moves,
      times: joined.times
    ) { [unowned(unsafe) self] side in
      // The connection may be another one by then, or there is none: a tab that gets its match back connects again.
      if let view = connection?.match(joined.match) { lastView = view }
      return lastView?.state.id == joined.match ? lastView?.remaining(side, at: machine.milliseconds()) : nil
    }
  }

  private func openConnection(to address: ServerAddress, newToken token: String) {
    connection?.disconnect()
    let name = screen.settings.name
    connection = machine.connect(address, name.isEmpty ? nil : name, token.isEmpty ? nil : token)
  }

  /// Ends a preview tone after `previewSeconds`: a longer tone would disturb the music.
  private func endLongPreview(at now: Double) {
    guard let since = previewSince, now - since > App.previewSeconds else { return }
    previewSince = nil
    session.preview(nil)
  }

  // MARK: - The content of the screen

  /// The explanation of a musical sign (such as the sign of a threat) that sounds for the first time.
  private func explanation(_ bars: [Bar], at soundNow: Tick) -> Message? {
    let settings = screen.settings
    guard teaches, settings.explains, state.mode != .free,
      let bar = bars.last(where: { $0.kind == .move && $0.start <= soundNow }),
      bar.index != explainedBar
    else { return nil }
    explainedBar = bar.index
    let named = settings.explained.split(separator: " ").map { String($0) }
    for name in bar.signs where name != "calm" && !named.contains(name) {
      guard let phrases = MusicSign(ruleName: name)?.phrases else { continue }
      settings.refreshMarks()
      settings.explained += settings.explained.isEmpty ? name : " \(name)"
      let side = session.game.mover(ofMove: bar.ply - 1)
      let who = state.setup.isPair ? "\(side.letter)" : screen.name(of: side == .x ? state.setup.x : state.setup.o)
      return "\(phrases.title) (\(who)): \(phrases.meaning)"
    }
    return nil
  }

  private func showSession() {
    var model = screen.model
    model.game = session.game
    model.setup = state.setup
    model.acceptsMove = session.acceptsMove && !state.awaitsMatch
    model.isThinking = session.isThinking
    if let x = session.milliseconds(left: .x), let o = session.milliseconds(left: .o) {
      model.clocks = .init(x: x, o: o)
    } else {
      model.clocks = nil
    }
    let isTimed = model.clocks != nil && !session.game.isOver
    if isTimed != isScreenKept {
      isScreenKept = isTimed
      machine.services.inhibitScreenSaver(isTimed)
    }
    model.analysis = analyzer.analysis(of: session.game)
    model.score = state.score == .init() ? nil : state.score
    model.beads = session.beads
    model.online = state.online(at: now, client: machine.milliseconds())
    model.tournament = state.standing
    model.letter = state.letterModel
    if let path = model.letter?.path, !path.isEmpty { model.letter?.address = letters.address(of: path) }
    model.canUndo = session.canUndo
    model.canRedo = !session.undone.isEmpty && !session.game.isOver
    let bars = session.bars
    if model.bars != bars { model.bars = bars }
    if let audioSettings { model.tonality = audioSettings.tonality }
    model.soundNow = machine.sound.port.now()
    model.soundWaits = soundWaits && !screen.settings.muted
    model.resuming = state.resuming
    model.today = state.today.map { today(on: $0) }
    model.puzzle = state.puzzle(at: now)
    model.puzzle?.rating = puzzles.rating
    // After the player's answer the window plays the rest of the solution; meanwhile the player cannot move.
    if model.puzzle?.isSolved != nil { model.acceptsMove = false }
    model.isFree = state.mode == .free
    model.isMuted = screen.settings.muted
    model.sleepMinutes = state.sleepMinutes(at: now)
    if screen.notice == nil, let message = explanation(bars, at: model.soundNow) { screen.say(message) }
    screen.model = model
    showNetwork()
  }

  private func today(on board: DailyBoard) -> TodayModel {
    var moves: Int?
    if case .win(let count) = board.goal {
      let made = session.game.cells.indices.count { session.game.mover(ofMove: $0) == board.state.turn }
      moves = max(0, count - made)
    }
    let isSolved = board.isReached(by: session.game.end?.outcome)
    return TodayModel(moves: moves, isSolved: isSolved, streak: screen.settings.streak)
  }

  /// Shows the content of the network page, the talk, the tournament's table and the players proposed for a new game.
  private func showNetwork() {
    var network = state.network
    (network.hostAddress, network.hostPage, network.nearby) = (near.own, near.page, near.rooms)
    (network.usualClock, network.waited) = (state.usualClock, state.waited(at: now))
    (network.tournamentClock, network.tournamentMinutes) = state.usualTournament
    (screen.pages.network, screen.pages.talk) = (network, state.chat)
    // The tournament's page and the board page show the tournament's table; on the board page two updates a second are enough.
    if screen.currentScene == .tournament || screen.currentScene == .board && now >= tournamentDue {
      tournamentDue = now + App.lookInterval
      screen.pages.linkedTournament = state.linkedTournament
      var tournament = state.tournament(client: machine.milliseconds())
      if let place = music.soundingPlace, tournament?.rows.count ?? 0 >= place {
        tournament?.rows[place - 1].isSounding = true
      }
      screen.pages.tournament = tournament
    }
    screen.pages.offered = state.offered
  }
}
