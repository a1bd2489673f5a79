import MatchClient
import MatchProtocol
import TicTacToe

/// The window's connection to a match server, and what it wants there.
final class Connection {
  /// What to do once the server has said who we are.
  enum Wish: Hashable {
    case room(code: String)
    case watch(id: String, code: String?)
  }

  let address: ServerAddress
  let client: MatchClient
  /// What waits for the connection; carried out once.
  var wish: Wish?
  /// The match on the board.
  var match: MatchID?
  /// A mark shown here that the server's side of the client has not taken up yet, by ply.
  var shownEarly: Int?
  /// Whether the other voice, or the server, is away, as last told to the music.
  var isAlone = false
  /// When the list of matches was last asked for, in seconds of the platform's clock.
  var listedAt = -Double.infinity

  init(
    _ address: ServerAddress, security: MatchClient.Configuration.Security, name: String, folder: String?, wish: Wish?
  ) {
    self.address = address
    self.wish = wish
    var configuration = MatchClient.Configuration(
      host: address.host, port: address.port, security: security,
      identity: .init(client: "alina", guest: name.isEmpty ? nil : name), folder: folder)
    configuration.others = address.others.map { .init(host: $0.host, port: $0.port) }
    client = MatchClient(configuration)
  }

  /// The match on the board as the client knows it.
  var view: MatchView? { match.flatMap(client.match) }

  /// Whether a match is running in which we sit.
  var isPlaying: Bool { view.map { $0.you != nil && $0.state.phase != .over } ?? false }
}
