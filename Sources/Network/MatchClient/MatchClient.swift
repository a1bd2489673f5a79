@_exported import ClientModel
import MatchProtocol
import Synchronization
import TicTacToe

/// A connection to a match server that heals itself: call commands from any thread, take what happens with `poll()`
/// from a main loop or with `events` from a task.
///
/// ```swift
/// let client = MatchClient(.init(host: "127.0.0.1", port: 4664))
/// client.connect()
/// client.seek(MatchTerms())
/// for event in client.poll() { … }            // each frame
/// client.move(match, Square(4))               // shows at once in client.match(match)?.position
/// ```
package final class MatchClient: Sendable {
  /// Where and how to connect.
  package struct Configuration: Sendable {
    /// How the connection is protected.
    package enum Security: Sendable, Hashable {
      /// TLS, unless the host is this machine.
      case automatic
      /// TLS always.
      case tls
      /// None; account tokens are then never sent beyond this machine.
      case plain
    }
    /// Where a server, or a node of a cluster, listens.
    package struct Endpoint: Sendable, Hashable {
      /// The host's name or address.
      package var host: String
      /// The port.
      package var port: Int

      /// Makes an endpoint.
      package init(host: String, port: Int) { (self.host, self.port) = (host, port) }

      /// Whether the host is this machine.
      package var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }

      /// Reads `HOST:PORT`; `nil` if it is none.
      package init?(_ text: some StringProtocol) {
        guard let colon = text.lastIndex(of: ":"), let port = Int(String(text[text.index(after: colon)...])),
          (1...65_535).contains(port)
        else { return nil }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        guard !host.isEmpty else { return nil }
        (self.host, self.port) = (host, port)
      }
    }

    /// The host's name or address.
    package var host: String
    /// The port.
    package var port: Int
    /// Other nodes of the same cluster, tried in turn when this one cannot be reached; those a server tells of are added.
    package var others: [Endpoint] = []
    /// How the connection is protected.
    package var security = Security.automatic
    /// Who to be; what the credentials file knows is added.
    package var identity: ClientModel.Identity
    /// The folder of `known_servers` and of the credentials; `nil` keeps nothing.
    package var folder: String?

    /// Makes a configuration.
    package init(
      host: String, port: Int = 4664, security: Security = .automatic,
      identity: ClientModel.Identity = .init(), folder: String? = nil
    ) {
      (self.host, self.port, self.security, self.identity, self.folder) = (host, port, security, identity, folder)
    }

    /// Whether the host is this machine.
    package var isLoopback: Bool { Endpoint(host: host, port: port).isLoopback }
    /// Whether TLS is used.
    package var usesTLS: Bool { usesTLS(to: Endpoint(host: host, port: port)) }

    /// Whether TLS is used to a node.
    func usesTLS(to endpoint: Endpoint) -> Bool { security == .tls || (security == .automatic && !endpoint.isLoopback) }

    /// Whether what belongs to this server may be shown to a node: protected as well as here.
    func mayKnow(_ endpoint: Endpoint) -> Bool {
      usesTLS(to: endpoint) || endpoint.isLoopback || (!usesTLS && !isLoopback)
    }
  }

  private struct Shared {
    var inbox: [ClientEvent] = []
    var matches: [MatchID: MatchView] = [:]
    var status = ConnectionStatus.closed
    var wake: (@Sendable () -> Void)?
    var streams: [AsyncStream<ClientEvent>.Continuation] = []
  }

  /// Where and how it connects.
  package let configuration: Configuration
  private let shared = Mutex(Shared())
  private let runner: ClientRunner

  /// Makes a client; nothing happens before `connect`.
  package init(_ configuration: Configuration) {
    self.configuration = configuration
    runner = ClientRunner(configuration)
    runner.deliver = { [weak self] events, matches in self?.take(events, matches) }
  }

  deinit { runner.close() }

  private func take(_ events: [ClientEvent], _ matches: [MatchID: MatchView]) {
    let (wake, streams) = shared.withLock { shared in
      shared.matches = matches
      for case .status(let status) in events { shared.status = status }
      if shared.streams.isEmpty { shared.inbox += events }
      return (shared.wake, shared.streams)
    }
    for stream in streams { for event in events { stream.yield(event) } }
    if !events.isEmpty { wake?() }
  }

  /// A steady clock in milliseconds, the one of `MatchView`.
  package static var now: Int64 { PollLoop.now }

  // MARK: what happened

  /// What happened since the last call, in order. Never blocks.
  package func poll() -> [ClientEvent] {
    shared.withLock { shared in
      defer { shared.inbox.removeAll(keepingCapacity: true) }
      return shared.inbox
    }
  }

  /// What happens from now on, for a task; `poll` returns nothing meanwhile.
  package var events: AsyncStream<ClientEvent> {
    let (stream, continuation) = AsyncStream<ClientEvent>.makeStream()
    shared.withLock { shared in
      for event in shared.inbox { continuation.yield(event) }
      shared.inbox = []
      shared.streams.append(continuation)
    }
    return stream
  }

  /// Calls back, on the client's thread, whenever `poll` would return something; for waking a sleeping main loop.
  package func onWake(_ body: @escaping @Sendable () -> Void) { shared.withLock { $0.wake = body } }

  /// A match as it is known now.
  package func match(_ m: MatchID) -> MatchView? { shared.withLock { $0.matches[m] } }

  /// All matches known, by id.
  package var matches: [MatchID: MatchView] { shared.withLock { $0.matches } }

  /// How the connection stands.
  package var status: ConnectionStatus { shared.withLock { $0.status } }

  // MARK: commands

  /// Connects, and from then on keeps connected until `disconnect` or a failure.
  package func connect() { runner.open() }

  /// Says good bye and closes.
  package func disconnect() { runner.close() }

  /// Loses the connection without a word, as a broken network does; it then heals. For tests and demonstrations.
  package func drop() { runner.drop() }

  /// Looks for an opponent.
  package func seek(_ terms: MatchTerms = MatchTerms(), range: Int? = nil, bots: Bool = false) {
    runner.ask(.seek(.init(terms, range: range, bots: bots, key: nil)))
  }

  /// Goes on looking for the same, but takes a bot as well.
  package func acceptBots() { perform(.acceptBots) }

  /// Stops looking.
  package func unseek() { perform(.unseek) }

  /// Opens a room; `room` tells its code.
  package func create(_ terms: MatchTerms = MatchTerms()) { perform(.create(terms)) }

  /// Joins the room of a code.
  package func join(_ code: String) { perform(.join(code)) }

  /// Watches a match; a private one needs its code.
  package func watch(_ m: MatchID, code: String? = nil) { perform(.watch(m, code: code)) }

  /// Stops watching.
  package func unwatch(_ m: MatchID) { perform(.unwatch(m)) }

  /// Marks a cell, at the current ply; shown at once, put right if refused. Ignored when it is not your turn.
  package func move(_ m: MatchID, _ cell: Square) { perform(.move(m, cell)) }

  /// Gives up.
  package func resign(_ m: MatchID) { perform(.resign(m)) }

  /// Offers a draw.
  package func offerDraw(_ m: MatchID) { perform(.offerDraw(m)) }

  /// Accepts or declines the draw offer that stands.
  package func answerDraw(_ m: MatchID, accept: Bool) { perform(.answerDraw(m, accept: accept)) }

  /// Asks for, or agrees to, a rematch.
  package func rematch(_ m: MatchID) { perform(.rematch(m)) }

  /// Gives up a match before both have moved.
  package func abort(_ m: MatchID) { perform(.abort(m)) }

  /// Takes the win over an opponent who is away too long.
  package func claim(_ m: MatchID) { perform(.claim(m)) }

  /// Says something to the opponent.
  package func say(_ m: MatchID, _ text: String) { perform(.say(m, text)) }

  /// Sends one of `ClientLine.emotes`.
  package func emote(_ m: MatchID, _ emote: String) { perform(.emote(m, emote)) }

  /// Hears no chat, or hears it again; the server remembers.
  package func mute(_ on: Bool) { perform(.mute(on)) }

  /// Will not meet or hear a player any more, or will again.
  package func block(_ name: String, _ on: Bool = true) { perform(.block(name, on)) }

  /// Tells the administrators of something said.
  package func report(_ m: MatchID, _ text: String) { perform(.report(m, text)) }

  /// Takes a name for good; the token is saved.
  package func register(_ name: String) { perform(.register(name)) }

  /// Asks what a command says.
  package func perform(_ command: ClientModel.Command) { runner.perform(command) }

  /// Sends any message; its answer comes as an event.
  package func ask(_ message: ClientMessage) { runner.ask(message) }

  /// Forgets a match that is over.
  package func forget(_ m: MatchID) { perform(.forget(m)) }
}
