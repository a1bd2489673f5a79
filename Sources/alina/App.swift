import Composer
import Desk
import Glibc
import MatchClient
import MatchProtocol
import Records
import SDLPlatform
import ScoreModel
import Screen
import Session
import Synth
import TicTacToe

/// The window's game as wiring: inputs go to the screen, its intents to the table, the table's effects to whoever does
/// them. It decides nothing that can be asked of the table.
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
    var overrides: (Settings) -> Void = { _ in }
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

  let parts: Parts
  let screen: RootScreen
  let library: Library
  let music: Music
  let files: Files
  private(set) var knobs: Knobs?
  private(set) var table: Table
  private(set) var wantsToQuit = false
  private var client: MatchClient?
  private let neighbourhood = Neighbourhood()
  private var script: Script?
  private var resuming: Record?
  private var hasOpened = false
  private var isHidden = false
  private var isScreenKept = false
  private var previewSince: Double?
  private var page = SceneName.board
  private var nextAdvance = 0.0
  private var notice: (text: String, until: Double)?
  private var end: (frame: Tick, picture: String?)?
  private var controlLog: ControlLog?

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
    script = parts.script
    resuming = unfinished?.record
    table = Table(parts.setup)
    let themes = Pages.themes(parts.services)
    screen = RootScreen(services: parts.services, themes: themes.themes)
    library = Library(services: parts.services, screen: screen)
    music = Music(parts.engine, parts.session, screen)
    files = Files(parts, screen, library, music, resuming: unfinished?.name)
    if parts.speaksLines {
      screen.onSpeak = { line in
        print(line)
        // A screen reader at the other end of a pipe must hear it now.
        fflush(nil)
      }
    }
    controlLog = parts.controlLog.map { ControlLog(path: $0) }
    screen.settings.store.forThisRun { parts.overrides(screen.settings) }
    Pages.fill(screen)
    knobs = Knobs(parts, screen) { [unowned self] in show(notice: $0) }
    files.say = { [unowned self] in show(notice: $0) }
    screen.onIntent = { [unowned self] in step(.intent($0)) }
    showSession()
    let troubles = screen.settings.store.messages + themes.messages
    if !troubles.isEmpty { show(notice: troubles.joined(separator: "\n")) }
  }

  var windowTitle: String { "Alina" }
  private var now: Double { parts.services.now() }

  /// Shows a line for a while.
  func show(notice text: String) { notice = (text, now + App.noticeSeconds) }

  /// Ends the program when the script is played and a moment has come, after a last picture if one is asked for.
  func endsWithScript(after frame: Tick, picture: String?) { end = (frame, picture) }

  /// Looks for a server that the command line or the last sitting names.
  func connect(to address: ServerAddress, wish: Connect.Wish?) {
    for effect in table.connect(to: address, wish: wish) { perform(effect) }
  }

  /// Tells the player once what became of the sound.
  func audioChanged(to state: AudioDevice.State) {
    switch state {
    case .playing: show(notice: screen.text(.soundBack))
    case .none: show(notice: screen.text(.soundNone))
    case .lost: show(notice: screen.text(.soundLost))
    case .off: break
    }
  }

  // MARK: - PlatformGame

  func update(input: [InputEvent], at now: Double) {
    if !hasOpened {
      hasOpened = true
      knobs?.hasOpened = true
      parts.session.open(resuming: resuming)
    }
    take(input, at: now)
    playScript(at: now)
    endIfDone()
    music.carryOn()
    knobs?.watchRules(at: now)
    if let client {
      for event in client.poll() { step(.network(event, event.match.flatMap(client.match))) }
    }
    if page != screen.currentScene {
      page = screen.currentScene
      step(.turned(page))
    }
    neighbourhood.meet(table.network, isLooking: page == .network && script == nil, at: now)
    endLongPreview(at: now)
    let plies = parts.session.game.moves.count
    parts.session.advance()
    // An opponent that moves while nobody looks asks for attention.
    if isHidden && parts.session.game.moves.count > plies { parts.services.requestAttention() }
    nextAdvance = now + App.advanceInterval * (isHidden ? 5 : 1)
    step(.tick)
    files.keepGame(at: now, isResumable: table.match == nil, isWanted: table.mode != .listening)
    if let notice, now >= notice.until { self.notice = nil }
    showSession()
    controlLog?.write(screen, with: parts.services)
  }

  func nextFrame(after now: Double) -> Double { files.wantsPicture ? now : screen.nextFrame(after: now) }

  func nextUpdate(after now: Double) -> Double {
    min(nextAdvance, parts.session.wake.map { now + $0 } ?? .infinity)
  }

  func draw(into bitmap: Bitmap, isNew: Bool, at now: Double) -> [PixelRect] {
    let damage = screen.draw(into: bitmap, isNew: isNew, at: now)
    files.writePictures(bitmap)
    return damage
  }

  /// Writes what must not be lost and takes leave; call before the program ends.
  func finish() {
    files.flush()
    client?.disconnect()
    neighbourhood.stop()
  }

  // MARK: - Steps

  private func step(_ event: Table.Event) {
    let settings = screen.settings
    (table.wishes.language, table.wishes.clock) = (settings.language, settings.networkClock)
    (table.wishes.isRated, table.wishes.isMusical) = (settings.networkRated, settings.reply == .musical)
    let session = parts.session
    let board = Table.Board(
      game: session.game, acceptsMove: session.acceptsMove, canUndo: session.canUndo,
      canRedo: !session.undone.isEmpty && !session.game.isOver, isClosing: session.isClosing)
    for effect in table.step(event, board, at: now) { perform(effect) }
    if event != .tick { showSession() }
  }

  private func perform(_ effect: Effect) {
    let session = parts.session
    switch effect {
    case .play(let square):
      music.stop()
      if session.play(square) == nil, let frame = session.game.moves.last?.frame { parts.onMove?(frame) }
    case .refuse: session.refuse()
    case .preview(let square):
      previewSince = square == nil ? nil : now
      session.preview(square)
    case .undo:
      // A finished game stays as it was kept; what is played on is another.
      if session.game.isOver { files.newName() }
      session.undo()
    case .redo: session.redo()
    case .end(let end): session.end(with: end)
    case .begin(let setup, let start):
      music.stop()
      // Those who learn have seen the last game too.
      if [setup.x, setup.o].contains(where: { [.menace, .adaptive].contains($0) }) { files.flush() }
      files.newName()
      session.newGame(library.participants(of: setup), from: start, clockSeconds: setup.clockSeconds)
    case .join(let sitting): join(sitting)
    case .follow(let moves): session.follow(moves)
    case .away(let isAway): session.connection(lost: isAway)
    case .connect(let wanted): connect(wanted)
    case .hangUp:
      client?.disconnect()
      client = nil
    case .host:
      if let address = neighbourhood.host(in: parts.services.dataFolder() + "/server") {
        connect(to: address, wish: .open)
      } else {
        show(notice: screen.text(.hostFailed))
      }
    case .command(let command): if let client { command.perform(on: client) }
    case .show(let page): screen.show(page)
    case .screen(let intent): screen.perform(intent)
    case .notice(let text): show(notice: text)
    case .attention: if isHidden { parts.services.requestAttention() }
    case .remember(let memory): screen.settings.remember(memory)
    case .review: files.review()
    case .file(let intent): files.answer(intent)
    case .music(.reloadRules): knobs?.loadRules(screen.settings.scoreRules)
    case .music(let intent): music.answer(intent)
    case .mute(let isMuted): screen.settings.muted = isMuted
    case .screenshot: files.takePicture()
    case .quit: wantsToQuit = true
    }
  }

  private func join(_ sitting: Sitting) {
    music.stop()
    files.newName()
    var game = Game()
    for square in sitting.moves { _ = try? game.play(square) }
    func participant(_ side: Player) -> Participant {
      sitting.you == side ? .human(name: sitting.names[side]) : .remote(name: sitting.names[side])
    }
    let client = client
    parts.session.join(Participants(x: participant(.x), o: participant(.o)), at: game) { side in
      client?.match(sitting.match)?.remaining(side, at: MatchClient.now)
    }
  }

  private func connect(_ wanted: Connect) {
    client?.disconnect()
    let (name, wake) = (screen.settings.name, parts.services.wake)
    var configuration = MatchClient.Configuration(
      host: wanted.address.host, port: wanted.address.port, security: parts.security,
      identity: .init(client: "alina", guest: name.isEmpty ? nil : name), folder: parts.services.dataFolder())
    configuration.others = wanted.address.others.map { .init(host: $0.host, port: $0.port) }
    let fresh = MatchClient(configuration)
    fresh.onWake(wake)
    fresh.connect()
    client = fresh
  }

  // MARK: - Input and script

  private func playScript(at now: Double) {
    guard var script else { return }
    for action in script.take(upTo: parts.engine.framesAsked) {
      switch action {
      case .input(let events): take(events, at: now)
      case .play(let square): step(.intent(.play(square)))
      case .shot(let path): files.pictures.append(path)
      case .quit: wantsToQuit = true
      }
    }
    self.script = script
  }

  /// Hands inputs to the screen, and keeps what the program itself must know of them.
  private func take(_ input: [InputEvent], at now: Double) {
    for case .visible(let visible) in input {
      isHidden = !visible
      knobs?.applyBackground(hidden: isHidden)
    }
    screen.handle(input, at: now)
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
      files.pictures.append(picture)
      self.end = (end.frame, nil)
    } else if !files.wantsPicture {
      wantsToQuit = true
    }
  }

  // MARK: - What the screen shows

  private func showSession() {
    let session = parts.session
    var model = screen.model
    model.game = session.game
    model.setup = table.setup
    model.acceptsMove = session.acceptsMove
    model.isThinking = session.isThinking
    model.waitsForMusic = session.reply == .musical
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
    model.score = (table.score.x, table.score.o) == (0, 0) ? nil : .init(x: table.score.x, o: table.score.o)
    model.beads = session.beads
    model.online = table.online(at: now, client: MatchClient.now)
    model.canUndo = session.canUndo
    model.canRedo = !session.undone.isEmpty && !session.game.isOver
    if model.bars != session.bars { model.bars = session.bars }
    if let knobs { model.tonality = knobs.tonality }
    model.soundNow = parts.engine.framesBegun
    model.isMuted = screen.settings.muted
    model.notice = notice?.text
    screen.model = model
    var network = table.network
    (network.hostAddress, network.nearby) = (neighbourhood.server?.address, neighbourhood.rooms)
    (screen.network, screen.talk) = (network, table.talk)
    screen.chosenOpponent = Seat(argument: screen.settings.opponent) ?? .level(3)
  }
}
