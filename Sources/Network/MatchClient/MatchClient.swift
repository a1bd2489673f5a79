@_exported import ClientModel
import MatchProtocol
import Synchronization
import TicTacToe

/// A connection to a match server that reconnects by itself. Commands may come from any thread.
///
/// ```swift
/// let client = MatchClient(.init(ServerAddress(.init(host: "127.0.0.1"))))
/// client.connect()
/// client.perform(.seek(MatchTerms()))
/// for (event, match) in client.poll() { … }   // each frame
/// client.perform(.move(match, Cell(4)))       // shows at once in client.match(match)?.position
/// ```
package final class MatchClient: Sendable {
  package struct Configuration: Sendable {
    package enum Security: Sendable, Hashable {
      /// TLS, unless the host is this machine.
      case automatic
      case tls
      /// No TLS. Account tokens are then never sent beyond this machine.
      case plain
    }
    /// The client also tries the nodes that a server names.
    package var server: ServerAddress
    package var security = Security.automatic
    /// Missing parts come from the credentials file.
    package var identity: ClientModel.Identity
    /// The folder of `known_servers` and the credentials; with `nil` nothing is kept.
    package var folder: String?

    package init(
      _ server: ServerAddress, security: Security = .automatic, identity: ClientModel.Identity = .init(),
      folder: String? = nil
    ) {
      (self.server, self.security, self.identity, self.folder) = (server, security, identity, folder)
    }

    func usesTLS(to node: ServerAddress.Node) -> Bool {
      security == .tls || (security == .automatic && !node.isLoopback)
    }

    /// Whether the connection is encrypted, or does not leave this machine.
    func protects(_ node: ServerAddress.Node) -> Bool { usesTLS(to: node) || node.isLoopback }

    /// Whether the client may send a node the secrets of the configured server: the connection to the node is protected, or the one to the
    /// configured server is not protected either.
    func mayKnow(_ node: ServerAddress.Node) -> Bool { protects(node) || !protects(server.first) }
  }

  /// An event with its match as it was after the event.
  package typealias Event = (event: ClientEvent, match: MatchView?)

  private struct Shared {
    var inbox: [Event] = []
    var matches: [MatchID: MatchView] = [:]
    var status = ConnectionStatus.closed
    var wake: (@Sendable () -> Void)?
  }

  package let configuration: Configuration
  private let shared = Mutex(Shared())
  private let runner: ClientRunner

  package init(_ configuration: Configuration) {
    self.configuration = configuration
    runner = ClientRunner(configuration)
    runner.deliver = { [weak self] events, matches in self?.take(events, matches) }
  }

  deinit { runner.close() }

  private func take(_ events: [Event], _ matches: [MatchID: MatchView]) {
    let wake = shared.withLock { shared in
      shared.matches = matches
      for case (.status(let status), _) in events { shared.status = status }
      shared.inbox += events
      return shared.wake
    }
    if !events.isEmpty { wake?() }
  }

  /// A monotonic clock in milliseconds.
  package static var now: Int64 { PollLoop.now }

  // MARK: events

  /// The events since the last call, in order. Never blocks.
  package func poll() -> [Event] {
    shared.withLock { shared in
      defer { shared.inbox.removeAll(keepingCapacity: true) }
      return shared.inbox
    }
  }

  /// Calls `body` on the client's thread whenever there are new events for `poll`.
  package func onWake(_ body: @escaping @Sendable () -> Void) { shared.withLock { $0.wake = body } }

  package func match(_ m: MatchID) -> MatchView? { shared.withLock { $0.matches[m] } }

  package var matches: [MatchID: MatchView] { shared.withLock { $0.matches } }

  package var status: ConnectionStatus { shared.withLock { $0.status } }

  // MARK: commands

  /// Stays connected until `disconnect` or a failure.
  package func connect() { runner.open() }

  /// Sends `bye`, closes, and leaves the saved login to the next client.
  package func disconnect() { runner.close() }

  /// Drops the connection as a broken network does, for tests and demonstrations. The client then reconnects.
  package func drop() { runner.drop() }

  package func perform(_ command: ClientModel.Command) { runner.perform(command) }

  /// Sends any message. The answer comes as an event.
  package func ask(_ message: ClientMessage) { runner.ask(message) }
}
