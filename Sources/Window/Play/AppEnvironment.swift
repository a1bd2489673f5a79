import Base
import Interface
import ClientModel
import WindowLogic
import MatchProtocol
import ScoreFormats
import ScoreModel
import Records
import Screen
import Session
import TicTacToe
import Tintinnabuli

/// The sound output as functions. The engine may be in this process or elsewhere, as on the web page.
package struct SoundOutput {
  package let port: SoundPort
  package var setVolume: (_ decibels: Double) -> Void = { _ in }
  /// Sets the volume of the cells' preview tones; `nil` is silence.
  package var setPreviewLevel: (_ decibels: Double?) -> Void = { _ in }
  /// Sets the volume of the drone; `nil` is silence.
  package var setDroneLevel: (_ decibels: Double?) -> Void = { _ in }
  package var setMuted: (Bool) -> Void = { _ in }
  /// While the window is hidden and silent, the engine may stop computing samples.
  package var setUnheard: (Bool) -> Void = { _ in }
  /// Selects whether quiet passages are made louder.
  package var setEven: (Bool) -> Void = { _ in }
  package var setTuning: (_ a4: Double) -> Void = { _ in }
  package var load: (ScoreRules) -> Void = { _ in }
  /// Selects the sampled grand (`true`) or the modal piano; `nil` if no grand is installed.
  package var setGrand: ((Bool) -> Void)?
  /// Selects the output device; an empty name is the system's default.
  package var setDevice: (String) -> Void = { _ in }

  package init(_ port: SoundPort) { self.port = port }
}

package enum SoundState: Sendable, Hashable {
  case playing
  case none
  /// The browser cannot play sound, for example because the browser is old.
  case impossible
  case lost
}

package struct ScoreRulesProvider {
  /// Valid score rules, and the name and hash by which records identify these rules.
  package typealias Loaded = (rules: ScoreRules, reference: Record.ScoreRules)

  /// The reasons why rules could not be loaded, one line each.
  package struct Refusal: Error, Sendable {
    package let description: String

    package init(_ description: String) { self.description = description }
  }

  /// The names of the shipped rules, standard first.
  package var names: [String] = []
  /// Returns the path of the rule file `name`, whose content may change while the program runs; `nil` for shipped rules.
  package var path: (_ name: String) -> String? = { _ in nil }
  /// Returns the keys and values of the shipped rules `name`; `nil` for a rule file.
  package var tree: (_ name: String) -> RuleTree? = { _ in nil }
  private let loadNamed: (_ name: String) throws(Refusal) -> Loaded

  /// `load` loads shipped rules by name and a rule file by path.
  package init(load: @escaping (_ name: String) throws(Refusal) -> Loaded) { loadNamed = load }

  /// Loads shipped rules by name, a rule file by path, or a player's own music by its code (`OwnMusic.word`).
  package func load(_ name: String) throws(Refusal) -> Loaded {
    guard let own = try? OwnMusic(name, bases: names), let base = tree(own.base) else { return try loadNamed(name) }
    let tree = own.changing(base)
    do throws(RuleErrors) {
      let reference = Record.ScoreRules(name: ScoreRulesProvider.fileName(own), hash: fnv1aText(tree.yaml.utf8))
      return (try RuleReader.rules(tree), reference)
    } catch {
      throw Refusal(error.description)
    }
  }

  static func fileName(_ own: OwnMusic) -> String { "\(own.word).yaml" }
}

/// A connection to a match server, as functions.
package struct Connection {
  /// Returns the events since the last call, each with the state of the event's match right after the event.
  package var poll: () -> [(event: ClientEvent, match: MatchView?)]
  package var match: (MatchID) -> MatchView?
  package var perform: (ClientModel.Command) -> Void
  package var disconnect: () -> Void

  package init(
    poll: @escaping () -> [(event: ClientEvent, match: MatchView?)],
    match: @escaping (MatchID) -> MatchView?, perform: @escaping (ClientModel.Command) -> Void,
    disconnect: @escaping () -> Void
  ) {
    (self.poll, self.match, self.perform, self.disconnect) = (poll, match, perform, disconnect)
  }
}

/// The music of a game, for export and film.
package struct Piece: Sendable {
  /// The name of the exported files, without the extension.
  package var name: String
  package var record: Record
  package var rules: ScoreRules
  /// The side of the only local person; `nil` if no local person or two local people played.
  package var human: Player?
  /// The names that the window shows for the players of `record`. For free play, `x` is the name of free play and `o` is empty.
  package var names: (x: String, o: String)
  /// Whether the sampled grand plays the piece.
  package var isGrand: Bool
  /// The tuning of A4 in Hz.
  package var a4: Double
  /// Whether quiet passages are made louder.
  package var isEven: Bool

  package var title: String { Library.title(names) }
}

/// The progress of an export or film.
package enum MakingNews: Sendable, Hashable {
  case percent(Int)
  /// The work is finished; the text is the path or name of the result.
  case kept(String)
  case failed(MakingFault)
  case stopped
}

package enum MakingFault: Error, Sendable, Hashable {
  case noFFmpeg
  case write(path: String, WriteFault)
  /// `path`: the folder or the name of the piece. The second text: the error's message in English.
  case other(path: String, String)
}

/// The parts of the window that desktop program, page and tests provide differently.
package struct AppEnvironment {
  package var services: PlatformServices
  package var sound: SoundOutput
  package var rules: ScoreRulesProvider
  /// Reads a file of `Assets` by name.
  package var readAsset: (_ name: String) -> [UInt8]? = { _ in nil }
  /// Connects to a match server with the guest name and the token that the player entered; `nil` for a name or token not entered.
  package var connect: (ServerAddress, _ name: String?, _ newToken: String?) -> Connection
  /// The monotonic clock for matches, in milliseconds.
  package var milliseconds: () -> Int64
  /// Starts a server on this machine and returns its address; `nil` on failure.
  package var host: () -> ServerAddress? = { nil }
  /// Announces the player's room on the local network. While `isLooking`, receives the announcements of other rooms and returns them as
  /// `rooms`. `own` and `page` are the addresses of this machine's server and of that server's page.
  package var neighbours:
    (NetworkModel, _ isLooking: Bool, _ now: Double) -> (own: String?, page: String?, rooms: [NetworkModel.Nearby]) =
      { _, _, _ in (nil, nil, []) }
  /// Exports a piece; `told` is called from any thread.
  package var keep: (Piece, _ told: @escaping @Sendable (MakingNews) -> Void) -> Void
  /// Makes a film of a piece and returns a function that cancels it; `told` is called from any thread. `nil` if films are not possible.
  package var film: ((Piece, FilmShape, _ told: @escaping @Sendable (MakingNews) -> Void) -> () -> Void)?
  package var takePicture: (_ path: String) -> Void = { _ in }
  /// Shares the picture of a solved daily puzzle and returns `nil`, or writes a file and returns its path and whether it was written.
  package var giveCard: (DayCard, _ draw: (Surface) -> Void) -> (path: String, isWritten: Bool)? = { _, _ in nil }

  package init(
    services: PlatformServices, sound: SoundOutput, rules: ScoreRulesProvider,
    connect: @escaping (ServerAddress, _ name: String?, _ newToken: String?) -> Connection,
    milliseconds: @escaping () -> Int64,
    keep: @escaping (Piece, _ told: @escaping @Sendable (MakingNews) -> Void) -> Void
  ) {
    (self.services, self.sound, self.rules) = (services, sound, rules)
    (self.connect, self.milliseconds, self.keep) = (connect, milliseconds, keep)
  }
}
