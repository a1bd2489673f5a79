/// When an opponent's move sounds.
public enum Reply: String, Sendable, Hashable, CaseIterable, SettingValue {
  /// On the next slot of the music.
  case musical
  /// As soon as it is known.
  case immediate
}

/// What goes on sounding while the window is hidden.
public enum BackgroundSound: String, Sendable, Hashable, CaseIterable, SettingValue {
  case full, drone, silent
}

/// Which piano plays.
public enum PianoKind: String, Sendable, Hashable, CaseIterable, SettingValue {
  case modal, grand
}

extension Language: SettingValue {}

/// Everything the player can set, typed; each property keeps itself in the settings file.
public final class Settings {
  /// The file behind the properties.
  public let store: SettingsStore

  /// The name of the theme: `light`, `dark`, `contrast`.
  @Setting public var theme: String
  /// The language of all texts.
  @Setting public var language: Language
  /// The size of text, 0.75…2.
  @Setting public var textScale: Double
  /// Whether movement is replaced by jumps.
  @Setting public var reducedMotion: Bool
  /// Whether the score strip is shown.
  @Setting public var showsStrip: Bool
  /// The loudness of everything, 0…1.
  @Setting public var volume: Double
  /// Whether all sound is off.
  @Setting public var muted: Bool
  /// The level of the drone, 0 (off)…1.
  @Setting public var drone: Double
  /// The level of the focus preview, 0 (off)…1.
  @Setting public var preview: Double
  /// When an opponent's move sounds.
  @Setting public var reply: Reply
  /// The pace of the music, 0.7…1.3.
  @Setting public var pace: Double
  /// The tuning of A4 in hertz, 400…480.
  @Setting public var a4: Double
  /// Which piano plays.
  @Setting public var piano: PianoKind
  /// What sounds while the window is hidden.
  @Setting public var background: BackgroundSound
  /// The name of the audio device; empty is the system's choice.
  @Setting public var device: String
  /// The name or path of the score rules.
  @Setting public var scoreRules: String
  /// Whether the window fills the screen.
  @Setting public var fullScreen: Bool
  /// The player's name on the network.
  @Setting public var name: String
  /// The server's address, `HOST[:PORT]`.
  @Setting public var server: String
  /// The clock of matches looked for on the network: `none`, or seconds and seconds a move as in `60+2`.
  @Setting public var networkClock: String
  /// Whether matches looked for on the network count for the rating.
  @Setting public var networkRated: Bool
  /// The server of a match that was not over when the program last ended; empty where there is none.
  @Setting public var matchServer: String
  /// The opponent of the last game, as `--level` spells it.
  @Setting public var opponent: String
  /// The side of the last game: `x` or `o`.
  @Setting public var side: String

  /// Where the window was: `WIDTHxHEIGHT+X+Y`; empty before it was ever closed.
  @Setting public var window: String

  /// Opens the settings of a platform; what was never set is as the system has it.
  public init(services: PlatformServices) {
    store = SettingsStore(services: services)
    _theme = Setting(store, "theme", "light")
    _language = Setting(store, "language", Language.english)
    _textScale = Setting(store, "text-scale", 1.0, in: 0.75...2)
    _reducedMotion = Setting(store, "reduced-motion", false)
    _showsStrip = Setting(store, "strip", true)
    _volume = Setting(store, "volume", 0.8, in: 0...1)
    _muted = Setting(store, "muted", false)
    _drone = Setting(store, "drone", 0.7, in: 0...1)
    _preview = Setting(store, "preview", 0.5, in: 0...1)
    _reply = Setting(store, "reply", Reply.musical)
    _pace = Setting(store, "pace", 1.0, in: 0.7...1.3)
    _a4 = Setting(store, "a4", 440.0, in: 400...480)
    _piano = Setting(store, "piano", PianoKind.grand)
    _background = Setting(store, "background", BackgroundSound.full)
    _device = Setting(store, "device", "")
    _scoreRules = Setting(store, "score-rules", "score")
    _fullScreen = Setting(store, "full-screen", false)
    _name = Setting(store, "name", "")
    _server = Setting(store, "server", "")
    _networkClock = Setting(store, "network-clock", "60+2")
    _networkRated = Setting(store, "network-rated", false)
    _matchServer = Setting(store, "match-server", "")
    _opponent = Setting(store, "opponent", "3")
    _side = Setting(store, "side", "x")
    _window = Setting(store, "window", "")
    let speaks = services.systemLanguage().hasPrefix("de") && !$language.isSet
    let look = services.prefersContrast() ? "contrast" : services.prefersDark() ? "dark" : theme
    let (looks, reads) = (!$theme.isSet, !$textScale.isSet)
    store.forThisRun {
      if speaks { language = .german }
      if looks { theme = look }
      if reads { textScale = Double(services.textPercent()) / 100 }
    }
  }
}
