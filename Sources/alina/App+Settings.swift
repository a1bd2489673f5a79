import Composer
import Glibc
import Opponents
import ScoreFiles
import ScoreModel
import Screen
import Synth

/// The player's settings, wherever they have an effect outside the screen.
extension App {
  private static let settingKeys = [
    "volume", "muted", "drone", "preview", "reply", "pace", "a4", "piano", "score-rules", "device",
  ]

  /// Applies all settings, at the start.
  func applySettings() { for key in App.settingKeys { applySetting(key) } }

  /// Applies one setting at once.
  func applySetting(_ key: String) {
    let settings = screen.settings
    let (engine, session) = (parts.engine, parts.session)
    switch key {
    case "volume": engine.setVolume(decibels: App.decibels(settings.volume, reference: 0.8) ?? -90)
    case "muted":
      isMuted = settings.muted
      engine.setMuted(isMuted)
    case "drone": engine.setDroneLevel(decibels: App.decibels(settings.drone, reference: 0.7))
    case "preview": engine.setPreviewLevel(decibels: App.decibels(settings.preview, reference: 0.5))
    case "reply": session.reply = settings.reply == .musical ? .musical : .immediate
    case "pace": session.pace = settings.pace
    case "a4": if settings.a4 != 440 || hasTuned { tune(settings.a4) }
    case "piano": choosePiano()
    case "score-rules": loadRules(settings.scoreRules, isFirst: !hasOpened)
    case "device": parts.setDevice(settings.device)
    default: break
    }
  }

  /// A slider's position as a level: its default is the level the score was balanced at, silence is its end.
  private static func decibels(_ position: Double, reference: Double) -> Double? {
    position <= 0 ? nil : 40 * log10(position / reference)
  }

  private func tune(_ a4: Double) {
    hasTuned = true
    parts.engine.setTuning(a4: a4)
  }

  /// The grand where it is installed, unless the player or the command line wants the other one.
  private func choosePiano() {
    let stored = screen.settings.store.value("piano", as: PianoKind.self)
    let wanted = parts.loadGrand == nil ? .modal : stored ?? .grand
    screen.pianos = (all: parts.loadGrand == nil ? [.modal] : PianoKind.allCases, playing: wanted)
    guard wanted == .grand, let load = parts.loadGrand else {
      parts.engine.setPiano(.modal)
      return
    }
    if !hasGrand {
      hasGrand = true
      load()
    }
    parts.engine.setPiano(.grand)
  }

  /// What goes on sounding while the window is hidden.
  func applyBackground(hidden: Bool) {
    let background = screen.settings.background
    parts.engine.setHidden(hidden && background == .silent)
    let hasVoices = !(hidden && background == .drone)
    // What the score had posted ahead is dropped as the voices go; its next bar brings them back.
    if !hasVoices && parts.session.hasVoices { Interlude.cut(parts.engine) }
    parts.session.hasVoices = hasVoices
  }

  /// Reads score rules; what is wrong with them is shown, and the last good ones go on.
  func loadRules(_ name: String, isFirst: Bool = false) {
    // What is written while it is read changes the stamp again, and is read again.
    let path = RuleLibrary.path(of: name)
    rulesWatch.watch(path, stamp: path.flatMap { parts.services.fileStamp($0) })
    // What the session was made with needs no loading.
    if isFirst && name == parts.rulesName { return }
    do throws(ScoreFileError) {
      let loaded = try RuleLibrary.load(name)
      parts.session.rules = loaded.rules
      parts.session.rulesReference = loaded.reference
      parts.engine.load(Patch(loaded.rules))
      tonality = Tonality(loaded.rules)
      if !isFirst { show(notice: "\(screen.text(.rulesRead)) \(loaded.rules.name)", at: parts.services.now()) }
    } catch {
      show(notice: error.description, at: parts.services.now())
    }
  }

  /// Services that neither read nor write the player's settings: pictures are the same on every machine.
  static func withoutSettings(_ services: PlatformServices) -> PlatformServices {
    var services = services
    let folder = services.configFolder()
    let (read, write) = (services.readFile, services.writeFile)
    services.readFile = { $0.hasPrefix(folder) ? nil : read($0) }
    services.writeFile = { $0.hasPrefix(folder) || write($0, $1) }
    return services
  }

  // MARK: - What the pages show

  /// The themes beside the rule files, or the light one alone.
  static func themes(_ services: PlatformServices) -> (themes: [Theme], messages: [String]) {
    guard let rules = RuleLibrary.path(of: RuleLibrary.standard), let slash = rules.lastIndex(of: "/") else {
      return ([.light], [])
    }
    let read = Theme.read(folder: rules[..<slash] + "/themes", services: services)
    return read.themes.isEmpty ? ([.light], read.messages) : read
  }

  /// Fills the pages with what does not change.
  func fillPages() {
    screen.scoreRules = RuleLibrary.names
    screen.opponents = [.human] + Level.all.map { .level($0.number) } + [.random, .perfect, .adaptive, .menace]
    screen.levels = Level.all.map {
      LevelCard(
        number: $0.number, character: $0.character, manner: $0.manner,
        odds: $0.summary.split(separator: "\n").dropFirst().map(String.init))
    }
  }
}

extension Tonality {
  /// The key and the cells of score rules.
  init(_ rules: ScoreRules) {
    func hand(_ octaves: Int) -> [Pitch] { rules.cells.map { Pitch(min(max($0.midi + 12 * octaves, 0), 127)) } }
    self.init(scale: rules.scale, x: hand(rules.x.octaves), o: hand(rules.o.octaves))
  }
}
