import Interface
import Base
import WindowLogic
import Glibc
import MatchClient
import Play
import Processes
import Records
import SDLPlatform
import SampledPiano
import ScoreIO
import ScoreModel
import Screen
import Session
import Synth
import TicTacToe
import Tintinnabuli

struct Launch {
  struct Failure: Error, CustomStringConvertible {
    let description: String
    var status: Int32 = 2
  }

  let options: Alina
  private let workshop = Workshop()
  /// Whether a script's sound goes to SDL's disk driver, which has no clock, so that the script's clock drives it.
  private let isGated: Bool

  init(options: Alina) {
    self.options = options
    let driver = getenv("SDL_AUDIODRIVER").map { String(cString: $0) }
    isGated = options.script != nil && !options.noAudio && driver == "disk"
  }

  private var size: (width: Int, height: Int)? { options.size.flatMap(Alina.parse(size:)) }

  func run() throws {
    if let icon = options.icon {
      do throws(WriteFault) {
        try PlatformServices.headless().files.write(icon, Icon.png(size: size?.width ?? 256))
      } catch {
        throw Failure(description: "cannot write \(icon)", status: 1)
      }
    } else if options.screenshot != nil {
      try runHeadless()
    } else {
      try runInWindow()
    }
  }

  // MARK: - Without a window

  private func runHeadless() throws {
    let size = size ?? (1_280, 720)
    try checkGame()
    var opening = try opening()
    let engine = Engine(patch: Patch(opening.rules.rules))
    let samples = UnsafeMutablePointer<Float>.allocate(capacity: HeadlessPlatform.step * 2)
    defer { samples.deallocate() }
    let platform = HeadlessPlatform(width: size.width, height: size.height) { engine.render(into: samples, frames: $0) }
    // A picture must neither depend on the player's settings nor change them.
    var services = Pages.withoutSettings(platform.services)
    // `--as-page` leaves out what a browser lacks, so that pictures of window and page can be compared.
    services.isPage = options.asPage
    if options.asPage { services.share = { $1(.sent) } }
    if options.forFingers { services.leastTarget = 44 }
    let near = LANDiscovery()
    let pictures = Pictures(services)
    (opening.keepsGames, opening.mayResume) = (false, false)
    let machine = machine(engine, services, near, pictures, leadFrames: HeadlessPlatform.step)
    let app = App(machine, opening)
    let game = ScriptedGame(app, engine, pictures, script: try script(), controlLog: options.controlLog)
    game.endsWithScript(after: options.script == nil ? .seconds(1) : .zero, picture: options.screenshot)
    game.speak(by: nil, prints: options.speakLines)
    showFirst(app)
    platform.run(game) { pictures.areWanted }
    app.finish()
    workshop.close()
    near.stop()
    if let failed = pictures.failed.first { throw Failure(description: "cannot write \(failed)", status: 1) }
  }

  // MARK: - In a window

  private func runInWindow() throws {
    // Check files and devices before a window opens.
    let script = try script()
    try checkGame()
    try checkDevices()
    let opening = try opening()
    let engine = Engine(patch: Patch(opening.rules.rules))
    let clock = VirtualClock()
    let platform = try openWindow(clock)
    quitAtHangUp()

    let audio = AudioDevice(engine: engine, options: soundOptions)
    platform.audio = audio

    var services = platform.services
    // If `isGated`, SDL writes the sound to a file, and the computer chooses its moves on this thread, so that every run is the same.
    if isGated { services.inBackground = { $0() } }
    services.soundDevices = { AudioDevice.names }
    let speaker = SpeechDispatcher(inBackground: services.inBackground)
    services.canSpeak = { speaker != nil }
    let near = LANDiscovery()
    let pictures = Pictures(services)
    let block = Tick(rawValue: Int64(options.buffer))
    // Send MIDI one block late: the device plays a rendered block only after it has played the block before it.
    let midi = try midiPort().map { port in MIDIPlayer(port: port) { engine.framesBegun - block } }
    defer { midi?.stop() }
    var machine = machine(engine, services, near, pictures, leadFrames: options.buffer * 2 + 480, midi: midi)
    machine.sound.setDevice = { audio.use(device: $0.isEmpty ? nil : $0) }
    machine.sound.setUnheard = { audio.setUnheard($0) }
    // Loading the grand takes a varying time, but runs of a script must be reproducible: load it only if `--piano` asks for it.
    if script == nil || options.piano != nil { machine.sound.setGrand = grandSetter(engine, services) }
    let log = options.latencyLog.map { LatencyLog(path: $0) }

    let app = App(machine, opening)
    if let log { app.onMove = { frame in log.note(moveAt: frame) } }
    let game = ScriptedGame(app, engine, pictures, script: script, controlLog: options.controlLog)
    game.speak(by: speaker, prints: options.speakLines)
    if isGated { game.endsWithScript(after: .zero, picture: nil) }
    showFirst(app)
    connect(app)
    let icon = Icon.draw(size: 64)
    withExtendedLifetime(icon) { platform.setIcon(icon.bitmap) }

    drive(audio, app, by: platform, clock, log)
    platform.run(game)
    if options.size == nil, script == nil, let place = platform.place {
      app.screen.settings.window = place
      app.screen.settings.store.save()
    }
    app.finish()
    workshop.close()
    near.stop()
    audio.stop()
    log?.write(audio)
  }

  private func checkDevices() throws {
    if let device = options.device, !options.noAudio, case let names = AudioDevice.allNames, !names.contains(device) {
      let known = names.isEmpty ? "there is none" : "there are \(names.joined(separator: ", "))"
      throw Failure(description: "--device \(device): there is no such sound device; \(known)")
    }
    if options.speak, !SpeechDispatcher.isInstalled {
      throw Failure(
        description: "--speak: \(SpeechDispatcher.file) is not installed (Debian: libspeechd2, speech-dispatcher)")
    }
  }

  private func openWindow(_ clock: VirtualClock) throws -> SDLPlatform {
    var window = SDLPlatform.Options()
    if options.script == nil { window.place = Settings(services: .headless()).window }
    if let size {
      (window.width, window.height, window.place) = (size.width, size.height, "")
    }
    if isGated { window.virtualNow = { clock.seconds } }
    do throws(SDLPlatform.Failure) {
      return try SDLPlatform(title: "Alina", options: window)
    } catch {
      throw Failure(description: error.description, status: 1)
    }
  }

  private func quitAtHangUp() {
    // Handle SIGHUP (the terminal was closed) as SIGTERM, which SDL turns into a quit event, so that games are saved. Under `nohup`, SIGHUP
    // stays ignored.
    let before = signal(SIGHUP) { _ in _ = raise(SIGTERM) }
    if unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { signal(SIGHUP, SIG_IGN) }
  }

  private var soundOptions: AudioDevice.Options {
    var sound = AudioDevice.Options()
    sound.bufferFrames = options.buffer
    sound.isOff = options.noAudio
    sound.isGated = isGated
    sound.isLogging = options.latencyLog != nil
    return sound
  }

  /// Lets the window start the sound after its first frame, and poll it before each update.
  private func drive(
    _ audio: AudioDevice, _ app: App, by platform: SDLPlatform, _ clock: VirtualClock, _ log: LatencyLog?
  ) {
    platform.beforeUpdate = { now in
      log?.turn()
      if isGated {
        audio.allow(upTo: clock.tick)
        clock.advance(frames: HeadlessPlatform.step)
      }
      app.screen.scale = platform.scale
      if audio.poll(now: now), let state = SoundState(audio.state) { app.soundChanged(to: state) }
    }
    platform.afterFirstFrame = {
      log?.firstFrame()
      audio.start()
      if case .none = audio.state { app.soundChanged(to: .none) }
    }
  }

  // MARK: - Parts

  private var mayResume: Bool {
    options.level == nil && options.game == nil && options.side == nil && options.seed == nil && options.script == nil
  }

  private func showFirst(_ app: App) {
    if let file = options.gameFile { app.files.open(path: file) }
    if let scene = options.scene.flatMap(SceneName.init(rawValue:)) { app.screen.show(scene) }
  }

  private func connect(_ app: App) {
    if let address = options.connect.flatMap(ServerAddress.init) {
      var destination = options.watch.map { Destination.watch(id: $0, code: options.room) }
      if destination == nil { destination = options.room.map { .room(code: $0) } }
      app.connect(to: address, destination: destination)
    } else if mayResume {
      app.resumeMatch()
    }
  }

  private func checkGame() throws {
    guard let file = options.gameFile else { return }
    guard let bytes = PlatformServices.headless().files.read(file) else {
      throw Failure(description: "\(file): no such file can be read")
    }
    do throws(NotationError) { _ = try Library.record(from: String(decoding: bytes, as: UTF8.self)) } catch {
      throw Failure(description: "\(file): \(error.description)")
    }
  }

  private func opening() throws -> LaunchOptions {
    let loaded: RuleLibrary.Loaded
    do throws(ScoreFileError) { loaded = try RuleLibrary.load(options.scoreRules) } catch {
      throw Failure(description: error.description)
    }
    var opening = LaunchOptions(
      seed: options.seed ?? UInt64.random(in: 0...UInt64(UInt32.max)),
      rulesName: options.scoreRules ?? RuleLibrary.standard,
      rules: (loaded.rules, loaded.reference))
    opening.opponent = options.level.flatMap(Seat.init(argument:))
    opening.variant = options.game.flatMap { Variant(rawValue: $0) }
    opening.side = options.side.flatMap { Player(text: $0) }
    opening.mayResume = mayResume
    opening.overrides = apply(to:)
    return opening
  }

  private func apply(to settings: Settings) {
    if let reply = options.reply.flatMap(Reply.init(rawValue:)) { settings.reply = reply }
    if let pace = options.pace { settings.pace = pace }
    if let textScale = options.textScale { settings.textScale = textScale }
    if let rules = options.scoreRules { settings.scoreRules = rules }
    if let piano = options.piano { settings.piano = PianoKind(rawValue: piano) ?? .grand }
    if let device = options.device { settings.device = device }
    if options.fullScreen { settings.fullScreen = true }
    if options.speak { settings.speech = true }
  }

  private var grandFont: String? {
    let named = options.piano.flatMap { PianoKind(rawValue: $0) == nil ? $0 : nil }
    return named ?? (SampledPiano.isAvailable ? SampledPiano.standardFont : nil)
  }

  /// `nil` without a SoundFont. Loading the SoundFont takes a second or two, during which the modal piano plays.
  private func grandSetter(_ engine: Engine, _ services: PlatformServices) -> ((Bool) -> Void)? {
    guard let font = grandFont else { return nil }
    var isLoaded = false
    return { wanted in
      engine.setPiano(wanted ? .grand : .modal)
      guard wanted, !isLoaded else { return }
      isLoaded = true
      services.inBackground {
        guard let grand = try? SampledPiano(font: font) else { return }
        // Never release the piano: the engine uses it until the program ends.
        _ = Unmanaged.passRetained(grand)
        engine.attach(grand.instrument)
      }
    }
  }

  private func machine(
    _ engine: Engine, _ services: PlatformServices, _ near: LANDiscovery, _ pictures: Pictures, leadFrames: Int,
    midi: MIDIPlayer? = nil
  ) -> AppEnvironment {
    var sound = SoundOutput(
      SoundPort(
        now: { engine.framesBegun },
        post: {
          engine.post($0)
          midi?.post($0)
        },
        takeLate: { engine.takeLate() },
        lead: Tick(rawValue: Int64(leadFrames))))
    sound.setVolume = { engine.setVolume(decibels: $0) }
    sound.setPreviewLevel = { engine.setPreviewLevel(decibels: $0) }
    sound.setDroneLevel = { engine.setDroneLevel(decibels: $0) }
    sound.setMuted = { engine.setMuted($0) }
    sound.setEven = { engine.setEven($0) }
    sound.setTuning = { engine.setTuning(a4: $0) }
    sound.load = { engine.load(Patch($0)) }
    var rules = ScoreRulesProvider { name throws(ScoreRulesProvider.Refusal) in
      do throws(ScoreFileError) {
        let loaded = try RuleLibrary.load(name)
        return (loaded.rules, loaded.reference)
      } catch {
        throw ScoreRulesProvider.Refusal(error.description)
      }
    }
    rules.names = RuleLibrary.names
    rules.path = { RuleLibrary.path(of: $0) }
    rules.tree = { RuleLibrary.tree($0) }
    let security: MatchClient.Configuration.Security = options.tls ? .tls : options.plain ? .plain : .automatic
    let font = grandFont
    var machine = AppEnvironment(
      services: services, sound: sound, rules: rules,
      connect: { address, name, token in Connection(to: address, name: name, newToken: token, security, services) },
      milliseconds: { MatchClient.now },
      keep: { piece, told in
        let keeper = PieceKeeper(piece, services, font: font)
        _ = workshop.make(services) { keeper.keep(isWanted: $0, told: told) }
      })
    machine.film = { piece, shape, told in
      let keeper = PieceKeeper(piece, services, font: font)
      return workshop.make(services) { keeper.film(shape, isWanted: $0, told: told) }
    }
    machine.readAsset = { Installation.asset($0).flatMap(services.files.read) }
    machine.host = { near.host(in: services.dataFolder() + "/server") }
    machine.neighbours = { network, isLooking, now in
      near.meet(network, isLooking: isLooking, at: now)
      return (near.server?.address, near.server?.page, near.rooms)
    }
    machine.takePicture = { pictures.wanted.append($0) }
    machine.giveCard = { card, draw in
      let path = "\(services.dataFolder())/pictures/today-\(card.date).png"
      let buffer = PixelBuffer(width: DayCard.side, height: DayCard.side)
      draw(buffer.bitmap)
      return (path, (try? services.files.write(path, buffer.png())) != nil)
    }
    return machine
  }

  private func midiPort() throws -> MIDIPort? {
    guard options.midiPort else { return nil }
    do { return try MIDIPort(name: "Alina") } catch { throw Failure(description: error.description, status: 1) }
  }

  private func script() throws -> Script? {
    guard let path = options.script else { return nil }
    guard let bytes = PlatformServices.headless().files.read(path) else {
      throw Failure(description: "--script \(path): no such file can be read")
    }
    do throws(Script.Fault) {
      return try Script(text: String(decoding: bytes, as: UTF8.self))
    } catch {
      throw Failure(description: "--script \(path), \(error)")
    }
  }
}
