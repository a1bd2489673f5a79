import Base
import Interface
import ClientModel
import WindowLogic
import MatchProtocol
import ScoreModel
import Records
import Screen
import Session
import TicTacToe
import Tintinnabuli

/// The sound as functions: of an engine in this process, or of one that runs elsewhere.
package struct SoundOutput {
  package let port: SoundPort
  package var setVolume: (_ decibels: Double) -> Void = { _ in }
  /// Sets the level of previews; `nil` is silence.
  package var setPreviewLevel: (_ decibels: Double?) -> Void = { _ in }
  /// Sets the level of the drone; `nil` is silence.
  package var setDroneLevel: (_ decibels: Double?) -> Void = { _ in }
  /// Silences everything, or lets it be heard again.
  package var setMuted: (Bool) -> Void = { _ in }
  /// Says that nobody hears anything for now: it need not be computed.
  package var setUnheard: (Bool) -> Void = { _ in }
  package var setTuning: (_ a4: Double) -> Void = { _ in }
  package var load: (ScoreRules) -> Void = { _ in }
  /// Plays on the sampled grand, or on the modal piano; `nil` where there is no grand.
  package var setGrand: ((Bool) -> Void)?
  /// Changes the device; an empty name is the system's own.
  package var setDevice: (String) -> Void = { _ in }

  /// Events go through a port; nothing else is set.
  package init(_ port: SoundPort) { self.port = port }
}

/// What has become of the sound.
package enum SoundState: Sendable, Hashable {
  case playing
  case none
  /// What plays it is not there, as in an old browser.
  case impossible
  case lost
}

/// The score rules that can be had.
package struct RuleShelf {
  /// Rules that were read and found good, and what records name them by.
  package typealias Loaded = (rules: ScoreRules, reference: Record.ScoreRules)

  /// Why rules cannot be had, a line for each thing wrong.
  package struct Refusal: Error, Sendable {
    package let description: String

    package init(_ description: String) { self.description = description }
  }

  /// The names of those that come with the game, the standard ones first.
  package var names: [String] = []
  /// The file of a name, where it is one that may change.
  package var path: (_ name: String) -> String? = { _ in nil }
  package var load: (_ name: String) throws(Refusal) -> Loaded

  package init(load: @escaping (_ name: String) throws(Refusal) -> Loaded) { self.load = load }
}

/// A connection to a match server, as functions.
package struct Connection {
  package var poll: () -> [ClientEvent]
  package var match: (MatchID) -> MatchView?
  package var perform: (ClientModel.Command) -> Void
  package var disconnect: () -> Void

  package init(
    poll: @escaping () -> [ClientEvent], match: @escaping (MatchID) -> MatchView?,
    perform: @escaping (ClientModel.Command) -> Void, disconnect: @escaping () -> Void
  ) {
    (self.poll, self.match, self.perform, self.disconnect) = (poll, match, perform, disconnect)
  }
}

/// A game's piece, to be kept in every form there is.
package struct Piece: Sendable {
  /// What its files are called.
  package var name: String
  package var record: Record
  package var rules: ScoreRules
  /// The side of the one local person.
  package var human: Player?
  /// The players, as they are called to others.
  package var names: (x: String, o: String)
  /// Whether it is played on the sampled grand.
  package var isGrand: Bool
  /// The tuning in Hz.
  package var a4: Double

  /// What stands over the page.
  package var title: String { "\(names.x) – \(names.o)" }
}

/// How far a piece or a film is.
package enum MakingNews: Sendable, Hashable {
  case percent(Int)
  /// It is done, and lies at a path or under a name.
  case kept(String)
  case failed(MakingFault)
  case stopped
}

/// Why a piece or a film could not be made.
package enum MakingFault: Error, Sendable, Hashable {
  case noFFmpeg
  case write(path: String, WriteFault)
  /// A line of the program that refused.
  case other(String)
}

/// What differs between the machines the game is played on, beside the services of the window.
package struct Machine {
  package var services: PlatformServices
  package var sound: SoundOutput
  package var rules: RuleShelf
  package var themesFolder: String?
  /// Reads a file that comes with the game, by its name in `Assets`.
  package var readAsset: (_ name: String) -> [UInt8]? = { _ in nil }
  /// Goes to a match server as a guest of that name, or with the token of an account.
  package var connect: (ServerAddress, _ name: String?) -> Connection
  /// The steady clock in milliseconds that matches are timed by.
  package var milliseconds: () -> Int64
  /// Serves on this machine; `nil` where that failed.
  package var host: () -> ServerAddress? = { nil }
  /// Tells those near of the own room, and hears of theirs while somebody looks for them; where this machine serves, and the
  /// page of its server.
  package var neighbours:
    (NetworkModel, _ isLooking: Bool, _ now: Double) -> (own: String?, page: String?, rooms: [NetworkModel.Nearby]) =
      { _, _, _ in (nil, nil, []) }
  /// Keeps a piece; `told` is called from any thread.
  package var keep: (Piece, _ told: @escaping @Sendable (MakingNews) -> Void) -> Void
  /// Makes a film of a piece; `told` hears of it from any thread, and what is handed back stops it. `nil` where none can be
  /// made.
  package var film: ((Piece, FilmShape, _ told: @escaping @Sendable (MakingNews) -> Void) -> () -> Void)?
  package var takePicture: (_ path: String) -> Void = { _ in }
  /// Gives away the picture of today's board, which `draw` draws; tells where it lies, where that is a file.
  package var giveCard: (DayCard, _ draw: (Surface) -> Void) -> (path: String, isWritten: Bool)? = { _, _ in nil }

  package init(
    services: PlatformServices, sound: SoundOutput, rules: RuleShelf,
    connect: @escaping (ServerAddress, _ name: String?) -> Connection, milliseconds: @escaping () -> Int64,
    keep: @escaping (Piece, _ told: @escaping @Sendable (MakingNews) -> Void) -> Void
  ) {
    (self.services, self.sound, self.rules) = (services, sound, rules)
    (self.connect, self.milliseconds, self.keep) = (connect, milliseconds, keep)
  }
}
