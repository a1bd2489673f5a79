import Foundation
import Lobby
import MatchStore
import SQLiteStore
import NIOPosix
import PostgresStore
import ServerTransport

struct ServerConfiguration: Sendable {
  /// The folder of the database; `nil` keeps everything in memory.
  var data: String?
  /// A PostgreSQL database that replaces the file.
  var store: PGAddress?
  var listener = ListenerConfiguration()
  var lobby = LobbyConfiguration()
  /// The address of the public page; `nil` if the page is not served.
  var page: ListenAddress?
  /// Pages of other hosts that may connect to play, such as `https://alina.example`.
  var pageOrigins: Set<String> = []
  var site: Site?
  /// The page's certificate; `nil` if the page is not encrypted.
  var pageTLS: ServerTLS?
  /// The address of the administrators' port; `nil` if the port is not served.
  var admin: ListenAddress?
  /// The address of the port for metrics and health alone; `nil` if the port is not served.
  var metrics: ListenAddress?
  /// The number of event loops for connections.
  var threads = 1
  /// Days after which finished matches are deleted; `nil` keeps them.
  var keepDays: Int?
  /// Gives up durability against power cuts, for the test that shows the loss.
  var weakSync = false
  var logFormat = Logger.Format.text
  var logLevel = Logger.Level.notice

  /// The most connections of the public page, and of each port for administrators or metrics.
  private(set) var mostOnPages = (page: PeoplePage.mostConnections, admin: AdminPage.mostConnections)

  /// Divides connections among pages and games, so that visitors of the page cannot displace players. Returns the share for games.
  mutating func share(_ connections: Int) -> Int {
    mostOnPages.page = page == nil ? 0 : min(mostOnPages.page, connections / 4)
    let ports = [admin, metrics].count { $0 != nil }
    mostOnPages.admin = min(mostOnPages.admin, connections / 16 + 1)
    return max(1, connections - mostOnPages.page - ports * mostOnPages.admin)
  }

  static func database(in folder: String) -> String { folder + "/matches.sqlite" }
}

enum ServerProcess {
  /// Throws the error that prevents the start. Calls `listening` with `HOST:PORT` for games and with the page's URL, if there is one.
  static func run(
    _ configuration: ServerConfiguration,
    listening: @escaping @Sendable (String, _ page: String?) -> Void
  ) async throws {
    let logger = Logger(format: configuration.logFormat, from: configuration.logLevel)
    // Writing to a closed log or port must not end the process.
    signal(SIGPIPE, SIG_IGN)
    let group = MultiThreadedEventLoopGroup(numberOfThreads: configuration.threads)
    let lobbyGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let store = try openStore(configuration, logger)
    let host = LobbyHost(
      loop: lobbyGroup.next(), store: store, configuration: configuration.lobby, logger: logger)
    let signals = Signals([SIGTERM, SIGINT, SIGHUP])
    let listener = GameListener(configuration.listener, host: host, group: group, logger: logger)
    let pageGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let page = try await servePage(configuration, host, listener, pageGroup, logger)
    let adminPage = AdminPage(host: host, listener: listener, page: page?.server)
    let adminServers = try await serve(adminPage, configuration, pageGroup, logger)
    let tls = configuration.listener.tls
    if let tls { logger.notice("TLS", metadata: ["fingerprint": tls.fingerprint]) }
    listening(try await naming("--listen") { try await listener.start() }, page?.url)
    Systemd.notify("READY=1")
    let pruner = configuration.keepDays.map { days in
      Pruner(logger: logger) { () throws(StoreError) -> Int in
        try store.prune(olderThan: Int64(days) * 86_400_000)
      }
    }
    pruner?.start()
    await wait(signals, tls, configuration.site, logger)
    // systemd then waits for the exit below, even if the unit's TimeoutStopSec is shorter than the drain. It never waits less for this.
    let stopSeconds = configuration.listener.drainSeconds + 10
    Systemd.notify("STOPPING=1\nEXTEND_TIMEOUT_USEC=\(stopSeconds * 1_000_000)")
    pruner?.stop()
    endAnyway(after: configuration.listener.drainSeconds + 3, logger)
    await listener.stop()
    // Stop the pages last: their `/readyz` and metrics show the drain while games end.
    await page?.server.stop()
    for server in adminServers { await server.stop() }
    try await host.finish()
    await pruner?.finish()
    store.close()
    try await pageGroup.shutdownGracefully()
    try await group.shutdownGracefully()
    try await lobbyGroup.shutdownGracefully()
  }

  private static func openStore(_ configuration: ServerConfiguration, _ logger: Logger) throws -> any MatchStore {
    if let address = configuration.store {
      let database = try PostgresStore(address)
      logger.notice("store", metadata: ["url": "\(database.place)"])
      return database
    }
    guard let data = configuration.data else { return try SQLiteStore(path: SQLiteStore.inMemory) }
    let file = try SQLiteStore(path: ServerConfiguration.database(in: data))
    if configuration.weakSync { try file.weaken() }
    return file
  }

  /// Serves the page for people; `nil` if it has no address.
  private static func servePage(
    _ configuration: ServerConfiguration, _ host: LobbyHost, _ listener: GameListener,
    _ group: MultiThreadedEventLoopGroup, _ logger: Logger
  ) async throws -> (server: HTTPServer, url: String)? {
    guard let address = configuration.page else { return nil }
    let page = PeoplePage(host: host, listener: listener, site: configuration.site, origins: configuration.pageOrigins)
    let server = try await naming("--page") {
      try page.serve(
        at: address, loop: group.next(), mostConnections: configuration.mostOnPages.page, tls: configuration.pageTLS)
    }
    let url = "http\(configuration.pageTLS == nil ? "" : "s")://\(server.address)/"
    logger.notice("page", metadata: ["url": url])
    if configuration.site?.isThere != true {
      logger.notice("the game page is not built: run scripts/web, or name its folder with --web")
    }
    return (server: server, url: url)
  }

  /// Serves the administrators' port and the port for metrics, each if it has an address.
  private static func serve(
    _ page: AdminPage, _ configuration: ServerConfiguration, _ group: MultiThreadedEventLoopGroup, _ logger: Logger
  ) async throws -> [HTTPServer] {
    var servers: [HTTPServer] = []
    for (name, address) in [("admin", configuration.admin), ("metrics", configuration.metrics)] {
      guard let address else { continue }
      let server = try await naming("--\(name)") {
        try page.serve(
          at: address, onlyMetrics: name == "metrics", loop: group.next(),
          mostConnections: configuration.mostOnPages.admin)
      }
      servers.append(server)
      let isTCP = if case .tcp = address { true } else { false }
      logger.notice(name, metadata: ["url": isTCP ? "http://\(server.address)/" : "\(server.address)"])
    }
    return servers
  }

  /// A hanging store must not prevent the exit. The units that it has not stored were not sent to any client.
  private static func endAnyway(after seconds: Int, _ logger: Logger) {
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds)) {
      logger.critical("the store does not answer; the server ends without waiting for it")
      LineWriter.errors.flush()
      exit(1)
    }
  }

  private static func naming<T>(_ flag: String, _ listen: () async throws -> T) async throws -> T {
    do { return try await listen() } catch let error as StoreError { throw StoreError.unusable("\(flag): \(error)") }
  }

  /// Returns on a signal to stop; reloads certificates and page on SIGHUP.
  private static func wait(_ signals: Signals, _ tls: ServerTLS?, _ site: Site?, _ logger: Logger) async {
    defer { withExtendedLifetime(signals) {} }
    for await signal in signals.sequence {
      guard signal == SIGHUP else { return }
      tls?.reload(logger)
      do throws(StoreError) {
        try site?.reload()
        logger.notice("page reloaded")
      } catch { logger.notice("\(error.description)") }
    }
  }
}
