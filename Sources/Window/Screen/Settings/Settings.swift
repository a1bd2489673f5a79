import Interface
import TicTacToe

/// The time at which an opponent's move sounds.
package enum Reply: String, Sendable, Hashable, CaseIterable, SettingValue {
  /// The move sounds in time with the music.
  case musical
  /// The move sounds as soon as it is known.
  case immediate
}

/// The sound while the window is hidden.
package enum BackgroundSound: String, Sendable, Hashable, CaseIterable, SettingValue {
  case full, drone, silent
}

package enum PianoKind: String, Sendable, Hashable, CaseIterable, SettingValue {
  case modal, grand
}

/// The difference in loudness between quiet and loud passages.
package enum Loudness: String, Sendable, Hashable, CaseIterable, SettingValue {
  /// Quiet and loud passages differ little, for music in the background of a game.
  case even
  /// Quiet and loud passages differ as played, for listening.
  case concert
}

/// The aspect ratio of films.
package enum FilmShape: String, Sendable, Hashable, CaseIterable, SettingValue {
  case wide, square, upright

  /// The size of a film in pixels.
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

/// The player's settings, each with its type, as stored in the settings file.
package final class Settings {
  /// The file with the values.
  package let store: SettingsStore

  /// The name of the theme: `light`, `dark`, `contrast`.
  @Setting package var theme: String
  @Setting package var language: Language
  /// The size of text relative to the usual size, 0.75…2.
  @Setting package var textScale: Double
  /// Whether motion is replaced by jumps.
  @Setting package var reducedMotion: Bool
  /// Whether the score is shown on the board page.
  @Setting package var showsStrip: Bool
  /// Whether a musical sign (such as the sign of a threat) is explained when it first sounds.
  @Setting package var explains: Bool
  /// The musical signs explained so far, as spelled in rule files.
  @Setting package var explained: String
  /// Whether coordinates are shown.
  @Setting package var coordinates: Bool
  /// The master volume, 0…1.
  @Setting package var volume: Double
  /// Whether all sound is off.
  @Setting package var muted: Bool
  /// The volume of the drone, 0 (off)…1.
  @Setting package var drone: Double
  /// The volume of the tone that previews the cell under pointer or focus, 0 (off)…1.
  @Setting package var preview: Double
  @Setting package var reply: Reply
  /// The tempo of the music relative to that of the score rules, 0.7 (slow) … 1.3.
  @Setting package var pace: Double
  /// The tuning of A4 in hertz, 415…466.
  @Setting package var a4: Double
  @Setting package var piano: PianoKind
  @Setting package var loudness: Loudness
  @Setting package var filmShape: FilmShape
  /// Whether moves, turns and controls are spoken by speech-dispatcher.
  @Setting package var speech: Bool
  /// The sounds played while the window is hidden.
  @Setting package var background: BackgroundSound
  /// The name of the audio device; empty for the system's default.
  @Setting package var device: String
  /// The name or path of the score rules.
  @Setting package var scoreRules: String
  /// The code (`OwnMusic.word`) of the player's own music that was edited last; empty before the player has edited any.
  @Setting package var ownMusic: String
  /// Whether the window fills the screen.
  @Setting package var fullScreen: Bool
  /// The player's name on the network.
  @Setting package var name: String
  /// The server's address, `HOST[:PORT]`.
  @Setting package var server: String
  /// The address of the web page to which the last opened link of a game played by links leads; the links of the player's answers lead to
  /// the same page. Empty until a link was opened.
  @Setting package var letterPage: String
  /// The clock for network matches: `none`, or such as `180+2`: seconds for the game, and seconds added for each move. `60+2` stands for
  /// the game's default clock.
  @Setting package var networkClock: String
  /// The clock of a room that the player opens, spelled like `networkClock`.
  @Setting package var roomClock: String
  /// Whether network matches are rated.
  @Setting package var networkRated: Bool
  /// The player's side in a room that the player opens: `x`, `o`, or empty for the server's choice.
  @Setting package var roomSide: String
  /// The address of the server of this player's unfinished match, which can be resumed there; empty if no match is unfinished.
  @Setting package var matchServer: String
  /// The game chosen last.
  @Setting package var game: Variant
  /// The games whose rules were shown.
  @Setting package var shownRules: String
  /// The opponent of the last game, as `--level` spells it.
  @Setting package var opponent: String
  /// The player's side in the last game: `x` or `o`.
  @Setting package var side: String
  /// The day of the last solved daily puzzle in days since 1970.
  @Setting package var solvedDay: Int
  /// The number of days in a row with a solved puzzle, of which `solvedDay` is the last.
  @Setting package var streak: Int
  /// The first day of the streak. 0 in files of older versions, where a streak has no skipped date.
  @Setting package var streakStart: Int
  /// The length of the streak before `streak`, if exactly one missed day separates the two streaks, else 0.
  @Setting package var streakBefore: Int
  /// The time zone in which the last daily puzzle was solved, in minutes ahead of UTC.
  @Setting package var solvedZone: Int

  /// The window's geometry when it was last closed, `WIDTHxHEIGHT+X+Y`; empty before the first time.
  @Setting package var window: String

  /// Reads again the settings that another window may have written: the explained signs, the shown rules, the solved daily puzzles.
  package func refreshMarks() {
    store.readAgain(["explained", "shown-rules", "solved-day", "streak", "streak-start", "streak-before", "solved-zone"])
  }

  /// Opens the settings of a platform. If the settings file does not set the language, the theme or the text size, the system's preference
  /// is used.
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
    _loudness = Setting(store, "loudness", Loudness.even)
    _filmShape = Setting(store, "film-shape", FilmShape.wide)
    _speech = Setting(store, "speech", false)
    _background = Setting(store, "background", BackgroundSound.full)
    _device = Setting(store, "device", "")
    _scoreRules = Setting(store, "score-rules", "score")
    _ownMusic = Setting(store, "own-music", "")
    _fullScreen = Setting(store, "full-screen", false)
    _name = Setting(store, "name", "")
    _server = Setting(store, "server", "")
    _letterPage = Setting(store, "letter-page", "")
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
    _streakStart = Setting(store, "streak-start", 0)
    _streakBefore = Setting(store, "streak-before", 0)
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
