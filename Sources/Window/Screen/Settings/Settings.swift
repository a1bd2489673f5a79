import Interface
import TicTacToe

/// When an opponent's move sounds.
package enum Reply: String, Sendable, Hashable, CaseIterable, SettingValue {
  /// On the next slot of the music.
  case musical
  /// As soon as it is known.
  case immediate
}

/// What goes on sounding while the window is hidden.
package enum BackgroundSound: String, Sendable, Hashable, CaseIterable, SettingValue {
  case full, drone, silent
}

/// Which piano plays.
package enum PianoKind: String, Sendable, Hashable, CaseIterable, SettingValue {
  case modal, grand
}

/// The shape of a film's pictures.
package enum FilmShape: String, Sendable, Hashable, CaseIterable, SettingValue {
  case wide, square, upright

  /// The size of its pictures in pixels.
  package var size: (width: Int, height: Int) {
    switch self {
    case .wide: (1_280, 720)
    case .square: (1_080, 1_080)
    case .upright: (720, 1_280)
    }
  }
}

extension Language: SettingValue {}
extension Variant: SettingValue {}

/// Everything the player can set, typed; each property keeps itself in the settings file.
package final class Settings {
  /// The file behind the properties.
  package let store: SettingsStore

  /// The name of the theme: `light`, `dark`, `contrast`.
  @Setting package var theme: String
  @Setting package var language: Language
  /// The size of text, 0.75…2.
  @Setting package var textScale: Double
  /// Whether movement is replaced by jumps.
  @Setting package var reducedMotion: Bool
  /// Whether the score strip is shown.
  @Setting package var showsStrip: Bool
  /// Whether a sign of the music is named the first time it sounds, and which have been, as rule files name them.
  @Setting package var explains: Bool
  @Setting package var explained: String
  /// Whether the board's rows and columns are named.
  @Setting package var coordinates: Bool
  /// The loudness of everything, 0…1.
  @Setting package var volume: Double
  /// Whether all sound is off.
  @Setting package var muted: Bool
  /// The level of the drone, 0 (off)…1.
  @Setting package var drone: Double
  /// The level of the focus preview, 0 (off)…1.
  @Setting package var preview: Double
  /// When an opponent's move sounds.
  @Setting package var reply: Reply
  /// The pace of the music, 0.7…1.3.
  @Setting package var pace: Double
  /// The tuning of A4 in hertz, 415…466.
  @Setting package var a4: Double
  @Setting package var piano: PianoKind
  @Setting package var filmShape: FilmShape
  /// What sounds while the window is hidden.
  @Setting package var background: BackgroundSound
  /// The name of the audio device; empty is the system's choice.
  @Setting package var device: String
  /// The name or path of the score rules.
  @Setting package var scoreRules: String
  /// Whether the window fills the screen.
  @Setting package var fullScreen: Bool
  /// The player's name on the network.
  @Setting package var name: String
  /// The server's address, `HOST[:PORT]`.
  @Setting package var server: String
  /// The clock of matches looked for on the network: `none`, or seconds and seconds a move; `60+2` is the usual one of the
  /// game, whatever that is.
  @Setting package var networkClock: String
  /// The time control of the own room, spelled like `networkClock`.
  @Setting package var roomClock: String
  /// Whether matches looked for on the network count for the rating.
  @Setting package var networkRated: Bool
  /// The side that is played in a room of one's own: `x`, `o`, or empty where the server chooses.
  @Setting package var roomSide: String
  /// The server of a match that was not over when the program last ended; empty where there is none.
  @Setting package var matchServer: String
  /// Which of the three games was chosen last, here or for the network, and the games whose rules have been shown.
  @Setting package var game: Variant
  @Setting package var shownRules: String
  /// The opponent of the last game, as `--level` spells it.
  @Setting package var opponent: String
  /// The side of the last game: `x` or `o`.
  @Setting package var side: String
  /// The last of today's boards that was solved, in days since 1970, and how many were without a gap.
  @Setting package var solvedDay: Int
  @Setting package var streak: Int
  /// The time zone in which it was solved, in minutes ahead of UTC.
  @Setting package var solvedZone: Int

  /// Where the window was: `WIDTHxHEIGHT+X+Y`; empty before it was ever closed.
  @Setting package var window: String

  /// Takes over the marks that another window has left: what was explained, shown and solved.
  package func refreshMarks() { store.readAgain(["explained", "shown-rules", "solved-day", "streak", "solved-zone"]) }

  /// Opens the settings of a platform; what was never set is as the system has it.
  package init(services: PlatformServices) {
    store = SettingsStore(services: services)
    _theme = Setting(store, "theme", "light")
    _language = Setting(store, "language", Language.english)
    _textScale = Setting(store, "text-scale", 1.0, in: 0.75...2)
    _reducedMotion = Setting(store, "reduced-motion", false)
    _showsStrip = Setting(store, "strip", true)
    _explains = Setting(store, "explain", true)
    _explained = Setting(store, "explained", "")
    _coordinates = Setting(store, "coordinates", false)
    _volume = Setting(store, "volume", 0.8, in: 0...1)
    _muted = Setting(store, "muted", false)
    _drone = Setting(store, "drone", 0.7, in: 0...1)
    _preview = Setting(store, "preview", 0.5, in: 0...1)
    _reply = Setting(store, "reply", Reply.musical)
    _pace = Setting(store, "pace", 1.0, in: 0.7...1.3)
    _a4 = Setting(store, "a4", 440.0, in: 415...466)
    _piano = Setting(store, "piano", PianoKind.grand)
    _filmShape = Setting(store, "film-shape", FilmShape.wide)
    _background = Setting(store, "background", BackgroundSound.full)
    _device = Setting(store, "device", "")
    _scoreRules = Setting(store, "score-rules", "score")
    _fullScreen = Setting(store, "full-screen", false)
    _name = Setting(store, "name", "")
    _server = Setting(store, "server", "")
    _networkClock = Setting(store, "network-clock", "60+2")
    _roomClock = Setting(store, "room-clock", "none")
    _networkRated = Setting(store, "network-rated", false)
    _roomSide = Setting(store, "room-side", "")
    _matchServer = Setting(store, "match-server", "")
    _game = Setting(store, "game", Variant.classic)
    _shownRules = Setting(store, "shown-rules", "")
    _opponent = Setting(store, "opponent", "3")
    _side = Setting(store, "side", "x")
    _solvedDay = Setting(store, "solved-day", 0)
    _streak = Setting(store, "streak", 0)
    _solvedZone = Setting(store, "solved-zone", 0)
    _window = Setting(store, "window", "")
    let system = services.systemLanguage()
    let spoken = $language.isSet ? nil : Language.allCases.first { system.hasPrefix($0.rawValue) }
    let look = services.prefersContrast() ? "contrast" : services.prefersDark() ? "dark" : theme
    let (looks, reads) = (!$theme.isSet, !$textScale.isSet)
    store.forThisRun {
      if let spoken { language = spoken }
      if looks { theme = look }
      if reads { textScale = Double(services.textPercent()) / 100 }
    }
  }
}
