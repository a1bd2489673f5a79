import ClientModel
import Composer
import Desk
import MatchProtocol
import ScoreModel
import Records
import Screen
import Session
import TicTacToe

/// The sound as functions: of an engine in this process, or of one that runs elsewhere.
public struct Sound {
  /// The first frame whose rendering has not begun.
  public var framesBegun: () -> Tick = { .zero }
  /// Hands events over.
  public var post: ([ScoreEvent]) -> Void = { _ in }
  /// Sets the loudness of everything.
  public var setVolume: (_ decibels: Double) -> Void = { _ in }
  /// Sets the level of previews; `nil` is silence.
  public var setPreviewLevel: (_ decibels: Double?) -> Void = { _ in }
  /// Sets the level of the drone; `nil` is silence.
  public var setDroneLevel: (_ decibels: Double?) -> Void = { _ in }
  /// Silences everything, or lets it be heard again.
  public var setMuted: (Bool) -> Void = { _ in }
  /// Says that nobody hears anything for now: it need not be computed.
  public var setUnheard: (Bool) -> Void = { _ in }
  /// Tunes the instrument.
  public var setTuning: (_ a4: Double) -> Void = { _ in }
  /// Takes the instrument of score rules.
  public var load: (ScoreRules) -> Void = { _ in }
  /// Plays on the sampled grand, or on the modal piano; `nil` where there is no grand.
  public var setGrand: ((Bool) -> Void)?
  /// Changes the device; an empty name is the system's own.
  public var setDevice: (String) -> Void = { _ in }

  /// A sound that nobody hears, at the beginning of time.
  public init() {}
}

/// What has become of the sound.
public enum SoundState: Sendable, Hashable {
  /// It plays.
  case playing
  /// There is no device.
  case none
  /// What plays it is not there, as in an old browser.
  case impossible
  /// The device has gone.
  case lost
}

/// The score rules that can be had.
public struct RuleShelf {
  /// Rules that were read and found good.
  public struct Loaded: Sendable {
    /// What they say.
    public var rules: ScoreRules
    /// What records name them by.
    public var reference: Record.ScoreRules

    /// Describes rules.
    public init(rules: ScoreRules, reference: Record.ScoreRules) { (self.rules, self.reference) = (rules, reference) }
  }

  /// Why rules cannot be had, a line for each thing wrong.
  public struct Refusal: Error, Sendable {
    /// What is wrong.
    public let description: String

    /// Makes a refusal.
    public init(_ description: String) { self.description = description }
  }

  /// The names of those that come with the game, the standard ones first.
  public var names: [String] = []
  /// The file of a name, where it is one that may change.
  public var path: (_ name: String) -> String? = { _ in nil }
  /// Reads rules by their name.
  public var load: (_ name: String) throws(Refusal) -> Loaded

  /// Makes a shelf.
  public init(load: @escaping (_ name: String) throws(Refusal) -> Loaded) { self.load = load }
}

/// A connection to a match server, as functions.
public struct Connection {
  /// What happened since the last call.
  public var poll: () -> [ClientEvent]
  /// A match as it is known now.
  public var match: (MatchID) -> MatchView?
  /// Asks something of the server.
  public var perform: (ClientModel.Command) -> Void
  /// Says good bye and closes.
  public var disconnect: () -> Void

  /// Makes a connection of functions.
  public init(
    poll: @escaping () -> [ClientEvent], match: @escaping (MatchID) -> MatchView?,
    perform: @escaping (ClientModel.Command) -> Void, disconnect: @escaping () -> Void
  ) {
    (self.poll, self.match, self.perform, self.disconnect) = (poll, match, perform, disconnect)
  }
}

/// A game's piece, to be kept in every form there is.
public struct Piece: Sendable {
  /// The game.
  public var record: Record
  /// The rules of its music.
  public var rules: ScoreRules
  /// The side of the one local person.
  public var human: Player?
  /// What stands over the page.
  public var title: String
  /// The words while it is written.
  public var keeping: String
  /// Whether it is played on the sampled grand.
  public var isGrand: Bool
  /// The tuning in Hz.
  public var a4: Double
}

/// What differs between the machines the game is played on, beside the services of the window.
public struct Machine {
  /// The services of the window.
  public var services: PlatformServices
  /// The sound.
  public var sound: Sound
  /// The score rules.
  public var rules: RuleShelf
  /// The folder of themes, if there is one.
  public var themesFolder: String?
  /// Goes to a match server as a guest of that name, if any.
  public var connect: (ServerAddress, _ guest: String?) -> Connection
  /// The steady clock in milliseconds that matches are timed by.
  public var milliseconds: () -> Int64
  /// Serves on this machine; `nil` where that failed.
  public var host: () -> ServerAddress? = { nil }
  /// Tells those near of the own room, and hears of theirs while somebody looks for them.
  public var neighbours:
    (NetworkModel, _ isLooking: Bool, _ now: Double) -> (own: String?, rooms: [NetworkModel.Nearby]) =
      { _, _, _ in (nil, []) }
  /// Keeps a piece under a name; `done` is told how far it is and what became of it, in lines, from any thread.
  public var keep: (Piece, _ name: String, _ kept: String, _ done: @escaping @Sendable (String) -> Void) -> Void
  /// Writes a picture of the window.
  public var takePicture: (_ path: String) -> Void = { _ in }

  /// Makes a machine.
  public init(
    services: PlatformServices, sound: Sound, rules: RuleShelf,
    connect: @escaping (ServerAddress, _ guest: String?) -> Connection, milliseconds: @escaping () -> Int64,
    keep: @escaping (Piece, _ name: String, _ kept: String, _ done: @escaping @Sendable (String) -> Void) -> Void
  ) {
    (self.services, self.sound, self.rules) = (services, sound, rules)
    (self.connect, self.milliseconds, self.keep) = (connect, milliseconds, keep)
  }
}
