import Interface
import TicTacToe

/// When an opponent's move sounds.
package enum Reply: String, Sendable, Hashable, CaseIterable, SettingValue {
  /// In time with the music.
  case musical
  /// As soon as the move is known.
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
  /// Quiet and loud passages differ little, for music in the background.
  case even
  /// Quiet and loud passages differ as played, for listening.
  case concert
}

/// The aspect ratio of films.
package enum FilmShape: String, Sendable, Hashable, CaseIterable, SettingValue {
  case wide, square, upright

  /// In pixels.
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

package final class Settings {
  package let store: SettingsStore

  /// `light`, `dark` or `contrast`.
  @Setting package var theme: String
  @Setting package var language: Language
  /// The size of texts relative to the usual size, 0.75…2.
  @Setting package var textScale: Double
  /// Whether motion is replaced by jumps.
  @Setting package var reducedMotion: Bool
  /// Whether the board page shows the score.
  @Setting package var showsStrip: Bool
  /// Whether a musical sign is explained when it first sounds.
  @Setting package var explains: Bool
  /// The musical signs explained so far, as spelled in rule files.
  @Setting package var explained: String
  @Setting package var coordinates: Bool
  /// The master volume, 0…1.
  @Setting package var volume: Double
  @Setting package var muted: Bool
  /// The volume of the drone, 0 (off)…1.
  @Setting package var drone: Double
  /// The volume of the tone that previews the cell under pointer or focus, 0 (off)…1.
  @Setting package var preview: Double
  @Setting package var reply: Reply
  /// The tempo relative to the score rules, 0.7 (slow)…1.3.
  @Setting package var pace: Double
  /// The pitch A4 in hertz, 415…466.
  @Setting package var a4: Double
  @Setting package var piano: PianoKind
  @Setting package var loudness: Loudness
  @Setting package var filmShape: FilmShape
  /// Whether speech-dispatcher speaks moves, turns and controls.
  @Setting package var speech: Bool
  @Setting package var background: BackgroundSound
  /// The name of the audio device; empty for the system's default.
  @Setting package var device: String
  /// The name or path of the score rules.
  @Setting package var scoreRules: String
  /// The code (`OwnMusic.word`) of the player's own music; empty before the player has edited any music.
  @Setting package var ownMusic: String
  @Setting package var fullScreen: Bool
  @Setting package var name: String
  /// The server's address, `HOST[:PORT]`.
  @Setting package var server: String
  /// The web page of the last opened link of a game played by links; the player's own links lead to the same page. Empty at first.
  @Setting package var letterPage: String
  /// The clock of a match that the player seeks: `none`, or seconds for the game, `+`, seconds added for each move. `60+2` stands for the
  /// default clock of the variant.
  @Setting package var networkClock: String
  /// The clock of a room that the player opens, spelled like `networkClock`.
  @Setting package var roomClock: String
  @Setting package var networkRated: Bool
  /// The player's side in a new room: `x`, `o`, or empty for the server's choice.
  @Setting package var roomSide: String
  /// The server of the player's unfinished match, which can be resumed there; empty without an unfinished match.
  @Setting package var matchServer: String
  /// The game chosen last.
  @Setting package var game: Variant
  /// The games whose rules were shown.
  @Setting package var shownRules: String
  /// The opponent of the last game, as `--level` spells it.
  @Setting package var opponent: String
  /// The player's side in the last game: `x` or `o`.
  @Setting package var side: String
  /// The day of the last solved daily puzzle, in days since 1970.
  @Setting package var solvedDay: Int
  /// The number of consecutive days with a solved puzzle, up to `solvedDay`.
  @Setting package var streak: Int
  /// The first day of the streak. 0 in files of older versions, where a streak has no skipped date.
  @Setting package var streakStart: Int
  /// The length of the streak before `streak` if exactly one missed day separates the two streaks, else 0.
  @Setting package var streakBefore: Int
  /// The time zone of the last solved daily puzzle, in minutes ahead of UTC.
  @Setting package var solvedZone: Int

  /// The geometry of the last closed window, `WIDTHxHEIGHT+X+Y`; empty before the first time.
  @Setting package var window: String

  /// Reads again only the explained signs, the shown rules and the solved puzzles, which another window may have stored.
  package func refreshMarks() {
    store.readAgain([
      "explained", "shown-rules", "solved-day", "streak", "streak-start", "streak-before", "solved-zone",
    ])
  }

  /// The system's preferences replace a missing language, theme or text size.
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
