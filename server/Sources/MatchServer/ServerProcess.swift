import Foundation
import Logging
import Metrics
import NIOPosix
import ServiceLifecycle

/// Everything a server process is started with.
public struct ServerConfiguration: Sendable {
  /// The folder of the database, or `nil` to keep everything in memory.
  public var data: String?
  /// The PostgreSQL database that is used instead of one in the folder, if any.
  public var store: PGAddress?
  /// How games are listened for.
  public var listener = ListenerConfiguration()
  /// How the lobby behaves.
  public var lobby = LobbyConfiguration()
  /// Where the page for people is served, if anywhere.
  public var page: (host: String, port: Int)?
  /// Where metrics and health are served, if anywhere.
  public var admin: (host: String, port: Int)?
  /// Event loops for connections.
  public var threads = 1
  /// Days after which finished matches are dropped, if ever.
  public var keepDays: Int?
  /// Gives up durability against power cuts; for the test that shows what that costs.
  public var weakSync = false
  /// How log lines look.
  public var logFormat = LogLines.Format.text
  /// The least important lines logged.
  public var logLevel = Logger.Level.notice

  /// Makes the defaults.
  public init() {}

  /// The database in the data folder.
  public static func database(in folder: String) -> String { folder + "/matches.sqlite" }
}

/// A server process from start to stop.
public enum ServerProcess {
  /// Serves until SIGTERM or SIGINT; throws what prevents it from starting. `listening` is called with `HOST:PORT`.
  public static func run(
    _ configuration: ServerConfiguration, listening: @escaping @Sendable (String) -> Void
  ) async throws {
    let metrics = PrometheusText()
    MetricsSystem.bootstrap(metrics)
    LoggingSystem.bootstrap { label in
      var handler = LogLines(label: label, format: configuration.logFormat)
      handler.logLevel = configuration.logLevel
      return handler
    }
    let logger = Logger(label: "alina-server")
    let store: any MatchStore
    if let address = configuration.store {
      let database = try PostgresStore(address)
      logger.notice("store", metadata: ["url": "\(database.place)"])
      store = database
    } else if let data = configuration.data {
      let file = try SQLiteStore(path: ServerConfiguration.database(in: data))
      if configuration.weakSync { try file.weaken() }
      store = file
    } else {
      store = MemoryStore()
    }
    let group = MultiThreadedEventLoopGroup(numberOfThreads: configuration.threads)
    let host = try LobbyHost(
      loop: group.next(), store: store, configuration: configuration.lobby, logger: logger)
    let listener = GameListener(
      configuration.listener, host: host, group: group, logger: logger, listening: listening)
    var services: [any Service] = []
    if let page = configuration.page {
      services.append(
        PeoplePage(host: host).service(host: page.host, port: page.port, logger: logger) { port in
          logger.notice("page", metadata: ["url": "http://\(page.host):\(port)/"])
        })
    }
    if let admin = configuration.admin {
      services.append(
        AdminPage(host: host, listener: listener, metrics: metrics)
          .service(host: admin.host, port: admin.port, logger: logger) { port in
            logger.notice("admin", metadata: ["url": "http://\(admin.host):\(port)/"])
          })
    }
    if let days = configuration.keepDays { services.append(Pruner(store, days: days, logger: logger)) }
    if let tls = configuration.listener.tls {
      logger.notice("TLS", metadata: ["fingerprint": "\(tls.fingerprint)"])
      services.append(CertificateReloader(tls, logger: logger))
    }
    // Last started, first stopped: the pages outlive the games.
    services.append(listener)
    var group2 = ServiceGroupConfiguration(
      services: services.map { .init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup) },
      gracefulShutdownSignals: [.sigterm, .sigint], logger: Logger(label: "lifecycle", factory: quiet))
    group2.maximumGracefulShutdownDuration = .seconds(configuration.listener.drainSeconds + 3)
    try await ServiceGroup(configuration: group2).run()
    store.close()
    try await group.shutdownGracefully()
  }

  private static func quiet(_ label: String) -> any LogHandler {
    var handler = LogLines(label: label, format: .text)
    handler.logLevel = .error
    return handler
  }
}
