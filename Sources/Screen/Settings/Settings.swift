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
public final class Settings: SettingsOwner {
  /// The file behind the properties.
  public let store: SettingsStore

  /// The name of the theme: `light`, `dark`, `contrast`.
  @Setting("theme") public var theme = "light"
  /// The language of all texts.
  @Setting("language") public var language = Language.english
  /// The size of text, 0.75…2.
  @Setting("text-scale", in: 0.75...2) public var textScale = 1.0
  /// Whether movement is replaced by jumps.
  @Setting("reduced-motion") public var reducedMotion = false
  /// Whether the score strip is shown.
  @Setting("strip") public var showsStrip = true
  /// The loudness of everything, 0…1.
  @Setting("volume", in: 0...1) public var volume = 0.8
  /// Whether all sound is off.
  @Setting("muted") public var muted = false
  /// The level of the drone, 0 (off)…1.
  @Setting("drone", in: 0...1) public var drone = 0.7
  /// The level of the focus preview, 0 (off)…1.
  @Setting("preview", in: 0...1) public var preview = 0.5
  /// When an opponent's move sounds.
  @Setting("reply") public var reply = Reply.musical
  /// The pace of the music, 0.7…1.3.
  @Setting("pace", in: 0.7...1.3) public var pace = 1.0
  /// The tuning of A4 in hertz, 400…480.
  @Setting("a4", in: 400...480) public var a4 = 440.0
  /// Which piano plays.
  @Setting("piano") public var piano = PianoKind.grand
  /// What sounds while the window is hidden.
  @Setting("background") public var background = BackgroundSound.full
  /// The name of the audio device; empty is the system's choice.
  @Setting("device") public var device = ""
  /// The name or path of the score rules.
  @Setting("score-rules") public var scoreRules = "score"
  /// Whether the window fills the screen.
  @Setting("full-screen") public var fullScreen = false
  /// The player's name on the network.
  @Setting("name") public var name = ""
  /// The server's address, `HOST[:PORT]`.
  @Setting("server") public var server = ""
  /// The clock of matches looked for on the network: `none`, or seconds and seconds a move as in `60+2`.
  @Setting("network-clock") public var networkClock = "60+2"
  /// Whether matches looked for on the network count for the rating.
  @Setting("network-rated") public var networkRated = false
  /// The server of a match that was not over when the program last ended; empty where there is none.
  @Setting("match-server") public var matchServer = ""
  /// The opponent of the last game, as `--level` spells it.
  @Setting("opponent") public var opponent = "3"
  /// The side of the last game: `x` or `o`.
  @Setting("side") public var side = "x"

  /// Where the window was: `WIDTHxHEIGHT+X+Y`; empty before it was ever closed.
  @Setting("window") public var window = ""

  /// Opens the settings of a platform; what was never set is as the system has it.
  public init(services: PlatformServices) {
    store = SettingsStore(services: services)
    let (isGerman, isDark) = (services.systemLanguage().hasPrefix("de"), services.prefersDark())
    let (speaks, looks) = (isGerman && !$language.isSet, isDark && !$theme.isSet)
    store.forThisRun {
      if speaks { language = .german }
      if looks { theme = "dark" }
    }
  }
}
