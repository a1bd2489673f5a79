import Base
import Interface
import WindowLogic
import Glibc
import Opponents
import ScoreModel
import Screen
import Session
import TicTacToe
import Tintinnabuli

/// Applies the player's settings to the sound.
final class AudioSettingsBinding {
  private let machine: AppEnvironment
  private let session: GameSession
  private let screen: RootScreen
  private let rulesName: String
  /// The tonality of the current score rules, for the score view.
  private(set) var tonality: Tonality
  private var rulesWatch = RulesWatch()
  private var hasTuned = false
  private var isHidden = false
  var hasOpened = false
  /// Decibels to add to the volume of the settings, for example while the sleep timer fades the music out.
  var fade = 0.0 {
    didSet { if fade != oldValue { applyVolume() } }
  }

  init(_ machine: AppEnvironment, _ session: GameSession, _ screen: RootScreen, rulesName: String) {
    (self.machine, self.session, self.screen, self.rulesName) = (machine, session, screen, rulesName)
    tonality = Tonality(session.rules)
    let (sound, settings) = (machine.sound, screen.settings)
    settings.$volume.observe { [unowned(unsafe) self] _ in applyVolume() }
    settings.$muted.observe { [unowned(unsafe) self] _ in applyBackground(hidden: isHidden) }
    settings.$drone.observe { [unowned(unsafe) self] _ in applyBackground(hidden: isHidden) }
    settings.$loudness.observe { sound.setEven($0 == .even) }
    settings.$preview.observe { sound.setPreviewLevel(AudioSettingsBinding.decibels($0, reference: 0.5)) }
    settings.$reply.observe { session.reply = $0 == .musical ? .musical : .immediate }
    settings.$pace.observe { session.pace = $0 }
    settings.$a4.observe { [unowned(unsafe) self] a4 in if a4 != 440 || hasTuned { tune(a4) } }
    settings.$piano.observe { [unowned(unsafe) self] _ in choosePiano() }
    settings.$scoreRules.observe { [unowned(unsafe) self] in loadRules($0, isFirst: !hasOpened) }
    settings.$device.observe { sound.setDevice($0) }
  }

  func watchRules(at now: Double) {
    if rulesWatch.wantsReading(at: now, stamp: machine.services.fileStamp) { loadRules(screen.settings.scoreRules) }
    if session.rulesInForce.scale != tonality.scale { retune() }
  }

  /// Transposes the displayed staff, the pitches of the cells and the sympathetic strings to the tonic of the running game.
  private func retune() {
    machine.sound.load(session.rulesInForce)
    tonality = Tonality(session.rulesInForce)
  }

  /// Converts a slider's position to a level in decibels: 0 at the position `reference`, `nil` (silence) at the lower end.
  private static func decibels(_ position: Double, reference: Double) -> Double? {
    position <= 0 ? nil : 40 * log10(position / reference)
  }

  private func applyVolume() {
    let volume = AudioSettingsBinding.decibels(screen.settings.volume, reference: 0.8) ?? -90
    machine.sound.setVolume(volume + fade)
  }

  private func tune(_ a4: Double) {
    hasTuned = true
    machine.sound.setTuning(a4)
  }

  private func choosePiano() {
    let setGrand = machine.sound.setGrand
    let wanted = setGrand == nil ? .modal : screen.settings.piano
    screen.pianos = (all: setGrand == nil ? [.modal] : PianoKind.allCases, playing: wanted)
    setGrand?(wanted == .grand)
  }

  /// Only the sound changes in a hidden window: clocks and opponents continue.
  func applyBackground(hidden: Bool) {
    isHidden = hidden
    let settings = screen.settings
    let isSilent = hidden && settings.background == .silent
    machine.sound.setMuted(settings.muted || isSilent)
    machine.sound.setUnheard(isSilent || hidden && settings.muted)
    machine.sound.setDroneLevel(isSilent ? nil : AudioSettingsBinding.decibels(settings.drone, reference: 0.7))
    let voices: GameSession.Voices = isSilent ? .none : hidden && settings.background == .drone ? .bass : .all
    // The posted events are for the previous voices: discard the events only if some voice must be silent now.
    if voices != .all, session.voices != voices { PiecePlayback.cut(machine.sound.port) }
    session.voices = voices
  }

  /// On an error, shows the error and keeps the previous rules.
  func loadRules(_ name: String, isFirst: Bool = false) {
    // Take the file's stamp, which each write changes, before reading the file: if the file is written meanwhile, it is read again.
    let path = machine.rules.path(name)
    rulesWatch.watch(path, stamp: path.flatMap(machine.services.fileStamp))
    // At the start the session already has the score rules named `rulesName`.
    if isFirst && name == rulesName { return }
    do throws(ScoreRulesProvider.Refusal) {
      let loaded = try machine.rules.load(name)
      session.rules = loaded.rules
      session.rulesReference = loaded.reference
      retune()
      if !isFirst, name != screen.settings.ownMusic { screen.say("\(.rulesRead) \(loaded.rules.name)") }
    } catch {
      screen.say(Message(error.description))
    }
  }
}

/// The content of pages that does not change while the program runs.
package enum Pages {
  /// Services that neither read nor write the player's settings, so that pictures are the same on every machine.
  package static func withoutSettings(_ services: PlatformServices) -> PlatformServices {
    var services = services
    let folder = services.configFolder()
    let (read, write) = (services.files.read, services.files.write)
    services.files.read = { $0.hasPrefix(folder) ? nil : read($0) }
    services.files.write = { (path, bytes) throws(WriteFault) in if !path.hasPrefix(folder) { try write(path, bytes) } }
    (services.systemLanguage, services.prefersDark) = ({ "" }, { false })
    return services
  }

  static func fill(_ screen: RootScreen, _ rules: ScoreRulesProvider) {
    screen.pages.scoreRules = rules.names
    screen.pages.opponents = [.human] + Level.all.map { .level($0.number) } + [.random, .perfect, .adaptive, .menace]
    screen.pages.levels = Level.all.map {
      LevelCard(
        number: $0.number, character: $0.character, againstRandom: $0.oddsAgainstRandom,
        againstPerfect: $0.oddsAgainstPerfect)
    }
  }
}

extension Tonality {
  init(_ rules: ScoreRules) {
    func hand(_ octaves: Int) -> [Pitch] { rules.cells.map { Pitch(min(max($0.midi + 12 * octaves, 0), 127)) } }
    self.init(scale: rules.scale, x: hand(rules.first.octaves), o: hand(rules.second.octaves))
  }
}

extension Settings {
  func remember(_ memory: Memory, _ services: PlatformServices) {
    // Read the stored marks again first: another window may have stored explained signs, shown rules or solved puzzles since.
    refreshMarks()
    switch memory {
    case .server(let address): server = address
    case .name(let name): self.name = name
    case .game(let variant): game = variant
    case .shownRules(let variant):
      shownRules = (shownRules.split(separator: " ").map { String($0) } + [variant.rawValue]).joined(separator: " ")
    case .matchServer(let address): matchServer = address
    case .solved(let day):
      // A puzzle left open over midnight is solved late: its day joins the current streak to the streak before that day (`streakBefore`).
      let start = streakStart > 0 ? streakStart : solvedDay - streak + 1
      if streak > 0, day == start - 1 {
        (streak, streakStart, streakBefore) = (streak + 1 + streakBefore, day - streakBefore, 0)
      }
      // Another window may have solved this puzzle or a later one meanwhile.
      guard day > solvedDay else { return }
      // A flight from Los Angeles to Sydney skips a date: in the last solution's zone it may still be the day after `solvedDay`.
      let (zone, clock) = (services.zoneMinutes(), Int(services.timeStamp().dropFirst(11).prefix(4)) ?? 0)
      let isSkipped = day == solvedDay + 2 && clock / 100 * 60 + clock % 100 < zone - solvedZone
      let goesOn = day == solvedDay + 1 || isSkipped
      if !goesOn { streakBefore = day == solvedDay + 2 ? streak : 0 }
      (streak, streakStart) = goesOn ? (streak + 1, start) : (1, day)
      (solvedDay, solvedZone) = (day, zone)
    case .opponent(let setup):
      let other = setup.x == .human ? setup.o : setup.x
      if let argument = other.argument { opponent = argument }
      game = setup.variant
      if setup.x != setup.o { side = setup.x == .human ? "x" : "o" }
    }
  }
}
