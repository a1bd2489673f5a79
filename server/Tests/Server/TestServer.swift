import Foundation
import MatchClient
import MatchProtocol
import NIOCore
import NIOPosix
import ServerTestSupport
import Synchronization
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore
@testable import ServerTransport

/// A server in this process, on a free port of this computer.
final class TestServer: Sendable {
  let port: Int
  let page: HTTPServer
  let host: LobbyHost
  let group: MultiThreadedEventLoopGroup
  private let lobbyGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  let listener: GameListener

  init(
    store: any MatchStore = MemoryStore(), lobby: LobbyConfiguration = .init(), port: Int = 0, threads: Int = 1,
    adjust: (inout ListenerConfiguration) -> Void = { _ in }
  ) async throws {
    let logger = Logger(from: nil)
    group = MultiThreadedEventLoopGroup(numberOfThreads: threads)
    host = LobbyHost(loop: lobbyGroup.next(), store: store, configuration: lobby, logger: logger)
    var configuration = ListenerConfiguration()
    configuration.port = port
    adjust(&configuration)
    listener = GameListener(configuration, host: host, group: group, logger: logger)
    self.port = try await listener.start().split(separator: ":").last.flatMap { Int($0) } ?? 0
    let people = PeoplePage(host: host, listener: listener, origins: ["https://elsewhere.example"])
    page = try people.serve(at: .tcp(host: "127.0.0.1", port: 0), loop: group.next(), mostConnections: 100, tls: nil)
  }

  func port(web: Bool) -> Int { web ? page.port : port }

  func stop() async throws {
    await listener.stop()
    await page.stop()
    try await host.finish()
    try await group.shutdownGracefully()
    try await lobbyGroup.shutdownGracefully()
  }

  func client(_ guest: String? = nil, folder: String? = nil) -> MatchClient {
    let client = MatchClient(
      .init(.init(.init(host: "127.0.0.1", port: port)), identity: .init(client: "test", guest: guest), folder: folder))
    client.connect()
    return client
  }
}

/// A client and its events, which tests await instead of sleeping.
final class Watcher {
  let client: MatchClient
  private(set) var seen: [ClientEvent] = []
  private var unseen: ArraySlice<ClientEvent> = []
  private var wakes: AsyncStream<Void>.Iterator

  init(_ client: MatchClient) {
    self.client = client
    let (stream, wake) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    wakes = stream.makeAsyncIterator()
    client.onWake { wake.yield() }
  }

  /// Waits for an event for which `pick` returns a value; fails the test after `seconds`.
  func wait<T>(
    _ what: String, seconds: Double = 20, location: SourceLocation = #_sourceLocation,
    _ pick: (ClientEvent) -> T?
  ) async throws -> T {
    let timeout = Task { [client] in
      try await Task.sleep(for: .seconds(seconds))
      client.disconnect()
    }
    defer { timeout.cancel() }
    waiting: repeat {
      unseen += client.poll().map { $0.event }
      while let event = unseen.popFirst() {
        seen.append(event)
        if let result = pick(event) { return result }
        if case .status(.closed) = event { break waiting }
      }
    } while await wakes.next() != nil
    Issue.record("waited for \(what); saw \(seen.suffix(12))", sourceLocation: location)
    throw CancellationError()
  }

  func online() async throws -> ServerMessage.Welcome {
    try await wait("being online") { if case .status(.online(let welcome)) = $0 { welcome } else { nil } }
  }

  func paired() async throws -> (MatchID, Player) {
    try await wait("being paired") { if case .paired(let m, let side) = $0 { (m, side) } else { nil } }
  }

  func event(_ what: String, _ matches: @escaping (MatchEvent.Kind) -> Bool) async throws -> MatchEvent {
    try await wait(what) { if case .event(_, _, let event) = $0, matches(event.kind) { event } else { nil } }
  }

  func move(ply: Int) async throws {
    _ = try await event("ply \(ply)") { if case .move(ply, _, _) = $0 { true } else { false } }
  }
}

extension TestServer {
  /// Pairs two guests and waits until both see the live match; X first.
  func pair(_ terms: MatchTerms = MatchTerms()) async throws -> (x: Watcher, o: Watcher, m: MatchID) {
    let one = Watcher(client("one"))
    let other = Watcher(client("two"))
    _ = try await one.online()
    _ = try await other.online()
    one.client.perform(.seek(terms))
    other.client.perform(.seek(terms))
    let (m, side) = try await one.paired()
    _ = try await other.paired()
    for watcher in [one, other] {
      _ = try await watcher.wait("the start") {
        if case .event(m, _, _) = $0, watcher.client.match(m)?.state.phase == .live { true } else { nil }
      }
    }
    return side == .x ? (one, other, m) : (other, one, m)
  }
}
