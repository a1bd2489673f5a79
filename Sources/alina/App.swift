import Composer
import Glibc
import MatchClient
import SDLPlatform
import ScoreModel
import Screen
import Session
import Synchronization
import Synth
import TicTacToe

/// The window's game: joins the session, its music and the screen; knows neither SDL nor files but through services.
final class App: PlatformGame {
  /// What the app needs from outside.
  struct Parts {
    var services: PlatformServices
    var engine: Engine
    var session: GameSession
    var setup: GameSetup
    var store: GameStore?
    var script: Script?
    /// Changes the sound device while playing; an empty name is the system's own.
    var setDevice: (String) -> Void = { _ in }
    /// Brings the sampled grand, on a worker; nil where there is none.
    var loadGrand: (() -> Void)?
    /// Whether a line for a screen reader goes to standard output whenever something changes.
    var speaksLines = false
    /// What the command line says about settings, for this run alone.
    var overrides: [(key: String, value: any SettingValue)] = []
    /// How connections to match servers are protected.
    var security = MatchClient.Configuration.Security.automatic
    /// The score rules the session was made with.
    var rulesName = ""
    /// The SoundFont of the sampled grand.
    var grandFont: String?
    /// A file that says what page is open and where its controls are, for tests.
    var controlLog: String?
    /// Told the frame of each move a local person makes, for the latency log.
    var onMove: ((_ frame: Int64) -> Void)?
  }

  let screen: RootScreen
  /// A piece that sounds in place of the running game's score.
  var interlude: Interlude?
  /// Whether two opponents compose without end.
  var isListening = false
  /// When the last game listened to was over and its arch had ended.
  var listenPause: Double?
  /// How many interludes there were.
  var interludeCount: UInt32 = 0
  /// The connection to a match server, once there is one.
  var connection: Connection?
  /// The game last taken to the review page, and its music.
  var kept: (record: Record, music: Rendition)?
  /// The key of the score rules in force, for the strip.
  var tonality: Tonality
  /// What became of pieces being kept, from the workers.
  let keptPieces = Mailbox()
  /// Looks after the rule file in force.
  var rulesWatch = RulesWatch()
  var hasTuned = false
  var hasGrand = false
  private var previewSince: Double?
  private var isScreenKept = false
  private(set) var isHidden = false
  private(set) var wantsToQuit = false
  let parts: Parts
  var setup: GameSetup
  private var script: Script?
  var hasOpened = false
  var isMuted = false
  private var notice: (text: String, until: Double)?
  var savedGame: (name: String, game: Game)?
  var pendingShots: [String] = []
  private var shotCount = 0
  private var loggedControls = ""
  private var nextAdvance = 0.0
  private var resuming: Record?
  private var end: (frame: Tick, picture: String?)?
  /// Pictures that could not be written.
  private(set) var failedPictures: [String] = []

  /// Device pixels per window unit.
  var scale: Double {
    get { screen.scale }
    set { screen.scale = newValue }
  }

  /// Seconds between two looks at the score: often enough for slots, rarely enough to idle.
  private static let advanceInterval = 0.05
  private static let noticeSeconds = 6.0
  private static let previewSeconds = 4.0

  init(_ parts: Parts, resuming unfinished: (name: String, record: Record)?) {
    self.parts = parts
    setup = parts.setup
    script = parts.script
    resuming = unfinished?.record
    if let unfinished { savedGame = (unfinished.name, unfinished.record.game) }
    tonality = Tonality(parts.session.rules)
    let themes = App.themes(parts.services)
    screen = RootScreen(services: parts.services, themes: themes.themes)
    screen.onIntent = { [unowned self] intent in answer(intent) }
    if parts.speaksLines {
      screen.onSpeak = { line in
        print(line)
        // A screen reader at the other end of a pipe must hear it now.
        fflush(nil)
      }
    }
    for (key, value) in parts.overrides { screen.settings.store.setForThisRun(key, to: value) }
    fillPages()
    applySettings()
    screen.settings.store.observe { [unowned self] key in applySetting(key) }
    showSession()
    let troubles = screen.settings.store.messages + themes.messages
    if !troubles.isEmpty { show(notice: troubles.joined(separator: "\n"), at: parts.services.now()) }
  }

  var windowTitle: String { "Alina" }

  /// Shows a line for a while.
  func show(notice text: String, at now: Double) { notice = (text, now + App.noticeSeconds) }

  /// Ends the program when the script is played and a moment has come, after a last picture if one is asked for.
  func endsWithScript(after frame: Tick, picture: String?) { end = (frame, picture) }

  /// Tells the player once what became of the sound.
  func audioChanged(to state: AudioDevice.State, at now: Double) {
    switch state {
    case .playing: show(notice: screen.text(.soundBack), at: now)
    case .none: show(notice: screen.text(.soundNone), at: now)
    case .lost: show(notice: screen.text(.soundLost), at: now)
    case .off: break
    }
  }

  // MARK: - PlatformGame

  func update(input: [InputEvent], at now: Double) {
    if !hasOpened {
      hasOpened = true
      parts.session.open(resuming: resuming)
    }
    take(input, at: now)
    playScript(at: now)
    endIfDone()
    carryOnInterlude()
    if rulesWatch.wantsReading(at: now, stamp: parts.services.fileStamp) { answerMusic(.reloadRules) }
    listenOn(at: now)
    hearNetwork(at: now)
    endLongPreview(at: now)
    let plies = parts.session.game.moves.count
    parts.session.advance()
    // An opponent that moves while nobody looks asks for attention.
    if isHidden && parts.session.game.moves.count > plies { parts.services.requestAttention() }
    nextAdvance = now + App.advanceInterval
    for line in keptPieces.takeAll() { show(notice: line, at: now) }
    if let notice, now >= notice.until { self.notice = nil }
    showSession()
    save()
    logControls()
  }

  /// Writes the open page's name, and a line `X Y WIDTH HEIGHT WORDS` for each control, whenever that changes.
  private func logControls() {
    guard let path = parts.controlLog else { return }
    let lines = screen.controls.map { place, words in
      "\(place.x) \(place.y) \(place.width) \(place.height) \(words)"
    }
    let text = ([screen.currentScene.rawValue] + lines).joined(separator: "\n")
    guard text != loggedControls else { return }
    loggedControls = text
    _ = parts.services.writeFile(path, Array(text.utf8))
  }

  func nextFrame(after now: Double) -> Double {
    pendingShots.isEmpty ? screen.nextFrame(after: now) : now
  }

  func nextUpdate(after now: Double) -> Double {
    min(nextAdvance, parts.session.wake.map { now + $0 } ?? .infinity)
  }

  func draw(into bitmap: Bitmap, isNew: Bool, at now: Double) -> [PixelRect] {
    let damage = screen.draw(into: bitmap, isNew: isNew, at: now)
    for path in pendingShots {
      let isWritten = parts.services.writeFile(path, bitmap.png())
      if !isWritten { failedPictures.append(path) }
      show(notice: "\(screen.text(isWritten ? .pictureAs : .pictureFailed)) \(path)", at: now)
    }
    pendingShots = []
    return damage
  }

  /// Whether a picture is waiting to be written.
  var wantsPicture: Bool { !pendingShots.isEmpty }

  /// Writes what must not be lost and takes leave; call before the program ends.
  func finish() {
    save()
    connection?.client.disconnect()
  }

  /// A name for the files of a game that begins now: the local time, so that a folder of them reads as a diary.
  var gameName: String {
    var now = time(nil)
    var local = tm()
    localtime_r(&now, &local)
    var buffer = [CChar](repeating: 0, count: 64)
    strftime(&buffer, buffer.count, "%Y-%m-%d-%H%M%S", &local)
    let stamp = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return "\(stamp)-\(parts.session.gameNumber + 1)"
  }

  // MARK: - Intents

  func answer(_ intent: Intent) {
    let session = parts.session
    if takesBoard(intent) {
      guard connection?.isPlaying != true else {
        show(notice: screen.text(.finishFirst), at: parts.services.now())
        return
      }
      stopWatching()
    }
    switch intent {
    case .play, .rematch, .resign, .offerDraw:
      if session.clocksElsewhere == nil { answerPlay(intent) } else { answerNetwork(intent) }
    case .preview(let square):
      previewSince = square == nil ? nil : parts.services.now()
      session.preview(square)
    case .newGame(let setup):
      stopInterlude()
      isListening = false
      self.setup = setup
      savedGame = nil
      remember(setup)
      session.newGame(participants(of: setup), clockSeconds: setup.clockSeconds)
    case .undo: session.undo()
    case .redo: session.redo()
    case .setMuted(let muted):
      isMuted = muted
      parts.engine.setMuted(muted)
      screen.settings.muted = muted
    case .screenshot:
      shotCount += 1
      pendingShots.append("\(parts.services.dataFolder())/pictures/\(gameName)-\(shotCount).png")
    case .quit: wantsToQuit = true
    case .saveGame, .listGames, .openGame, .copyGame, .pasteGame, .statistics: answerFiles(intent)
    case .review, .replay, .playOn, .playSign, .listen, .keepPiece, .reloadRules: answerMusic(intent)
    case .connect, .quickMatch, .acceptBot, .openRoom, .joinRoom, .watch, .disconnect, .registerName, .declineDraw,
      .claimWin, .abortMatch, .say, .emote, .setTalkMuted, .setBlocked, .reportOpponent:
      answerNetwork(intent)
    }
    showSession()
  }

  /// Answers what is done in a game of this machine.
  private func answerPlay(_ intent: Intent) {
    let session = parts.session
    switch intent {
    case .play(let square):
      stopInterlude()
      if session.play(square) == nil, let frame = session.game.moves.last?.frame { parts.onMove?(frame) }
    case .rematch:
      stopInterlude()
      setup = GameSetup(x: setup.o, o: setup.x, clockSeconds: setup.clockSeconds)
      savedGame = nil
      session.newGame(participants(of: setup), clockSeconds: setup.clockSeconds)
    case .resign: session.resign(session.participants.loneHuman ?? session.game.turn)
    case .offerDraw:
      // Two people at one machine agree by word of mouth; an opponent of ours plays on.
      if setup.x == .human, setup.o == .human {
        session.end(with: GameEnd(outcome: .draw, termination: .agreement))
      }
    default: break
    }
  }

  /// Whether something puts another game on the board.
  private func takesBoard(_ intent: Intent) -> Bool {
    switch intent {
    case .newGame, .playOn, .listen, .connect, .quickMatch, .joinRoom, .openRoom, .watch: true
    default: false
    }
  }

  private func playScript(at now: Double) {
    guard var script else { return }
    // Not score time: that stands still in a hidden window that is to be silent, and `show` would never come.
    for action in script.take(upTo: parts.engine.framesAsked) {
      switch action {
      case .input(let events): take(events, at: now)
      case .play(let square): answer(.play(square))
      case .shot(let path): pendingShots.append(path)
      case .quit: wantsToQuit = true
      }
    }
    self.script = script
  }

  /// Hands inputs to the screen, and keeps what the program itself must know of them.
  private func take(_ input: [InputEvent], at now: Double) {
    for case .visible(let visible) in input {
      isHidden = !visible
      applyBackground(hidden: isHidden)
    }
    screen.handle(input, at: now)
  }

  /// The next start offers the same again.
  private func remember(_ setup: GameSetup) {
    let other = setup.x == .human ? setup.o : setup.x
    if let argument = other.argument { screen.settings.opponent = argument }
    if setup.x != setup.o { screen.settings.side = setup.x == .human ? "x" : "o" }
  }

  /// A hand that rests on a cell has heard its pitch; a tone that never ended would be in the way of the music.
  private func endLongPreview(at now: Double) {
    guard let since = previewSince, now - since > App.previewSeconds else { return }
    previewSince = nil
    parts.session.preview(nil)
  }

  private func endIfDone() {
    guard let end, script?.isDone ?? true, parts.engine.framesAsked >= end.frame else { return }
    if let picture = end.picture {
      pendingShots.append(picture)
      self.end = (end.frame, nil)
    } else if pendingShots.isEmpty {
      wantsToQuit = true
    }
  }

  // MARK: - Model and files

  func showSession() {
    let session = parts.session
    var model = screen.model
    model.game = session.game
    model.setup = setup
    model.acceptsMove = session.acceptsMove
    model.isThinking = session.isThinking
    if let x = session.milliseconds(left: .x), let o = session.milliseconds(left: .o) {
      model.clocks = .init(x: x, o: o)
    } else {
      model.clocks = nil
    }
    let isTimed = model.clocks != nil && !session.game.isOver
    if isTimed != isScreenKept {
      isScreenKept = isTimed
      parts.services.inhibitScreenSaver(isTimed)
    }
    model.beads = beads
    model.online = online
    model.canUndo = session.canUndo
    model.canRedo = !session.undone.isEmpty && !session.game.isOver
    if model.bars != session.bars { model.bars = session.bars }
    model.tonality = tonality
    model.soundNow = parts.engine.framesBegun
    model.isMuted = isMuted
    model.notice = notice?.text
    screen.model = model
  }

  /// Saves the game after every change, so that a kill at any moment loses nothing.
  private func save() {
    guard let store = parts.store, !isListening else { return }
    let game = parts.session.game
    if savedGame?.game == game { return }
    guard !game.moves.isEmpty else { return }
    let name = savedGame?.name ?? gameName
    savedGame = (name, game)
    store.save(dated(parts.session.record, as: name), as: name, isResumable: !parts.session.participants.areRemote)
  }
}

/// Lines from workers for the window.
final class Mailbox: Sendable {
  private let lines = Mutex<[String]>([])

  func add(_ line: String) { lines.withLock { $0.append(line) } }

  func takeAll() -> [String] {
    lines.withLock { lines in
      defer { lines = [] }
      return lines
    }
  }
}
