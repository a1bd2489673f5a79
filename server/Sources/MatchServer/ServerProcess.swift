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
  /// What makes it a node of a cluster, if it is one; `store` is what the nodes share.
  package var cluster: NodeConfiguration?
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

/// What the flags say about being a node of a cluster.
package struct NodeConfiguration: Sendable {
  /// Its name, which stays the same over restarts.
  package var name: String
  /// Where other nodes are listened for.
  package var listen: (host: String, port: Int)
  /// The certificates.
  package var tls: NodeTLS
  /// `HOST:PORT` by which other nodes reach it.
  package var peer: String
  /// `HOST:PORT` of which clients are told; empty for what is listened on.
  package var address: String

  /// Makes a configuration.
  package init(name: String, listen: (host: String, port: Int), tls: NodeTLS, peer: String, address: String) {
    (self.name, self.listen, self.tls, self.peer, self.address) = (name, listen, tls, peer, address)
  }
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
    let group = MultiThreadedEventLoopGroup(numberOfThreads: configuration.threads)
    let store: any MatchStore
    var seat: NodeSeat?
    let loop = group.next()
    if let cluster = configuration.cluster, let address = configuration.store {
      let database = try PostgresCluster(address, reads: configuration.lobby.language)
      logger.notice("store", metadata: ["url": "\(database.place)", "node": "\(cluster.name)"])
      store = database
      seat = NodeSeat(
        store: database,
        port: NodePort(
          host: cluster.listen.host, port: cluster.listen.port, tls: cluster.tls, loop: loop, logger: logger),
        description: NodeDescription(name: cluster.name, address: cluster.address, peer: cluster.peer))
    } else if let address = configuration.store {
      let database = try PostgresStore(address, reads: configuration.lobby.language)
      try database.raiseLanguage()
      logger.notice("store", metadata: ["url": "\(database.place)"])
      store = database
    } else if let data = configuration.data {
      let file = try SQLiteStore(path: ServerConfiguration.database(in: data))
      if configuration.weakSync { try file.weaken() }
      store = file
    } else {
      store = MemoryStore()
    }
    let host: LobbyHost
    if let seat {
      host = LobbyHost(loop: loop, seat: seat, configuration: configuration.lobby, logger: logger)
    } else {
      host = try LobbyHost(loop: loop, store: store, configuration: configuration.lobby, logger: logger)
    }
    let listener = GameListener(
      configuration.listener, host: host, group: group, logger: logger, listening: listening)
    var services: [any Service] = []
    if let page = configuration.page {
      let service = PeoplePage(host: host).service(host: page.host, port: page.port, logger: logger) { port in
        logger.notice("page", metadata: ["url": "http://\(page.host):\(port)/"])
      }
      services.append(ListeningService(inner: service, address: page))
    }
    if let admin = configuration.admin {
      let service = AdminPage(host: host, listener: listener, metrics: metrics)
        .service(host: admin.host, port: admin.port, logger: logger) { port in
          logger.notice("admin", metadata: ["url": "http://\(admin.host):\(port)/"])
        }
      services.append(ListeningService(inner: service, address: admin))
    }
    if let days = configuration.keepDays { services.append(Pruner(store, days: days, logger: logger)) }
    var certificates: [any RenewableCertificates] = []
    if let tls = configuration.listener.tls { certificates.append(tls) }
    if let tls = configuration.cluster?.tls { certificates.append(tls) }
    for one in certificates {
      logger.notice("TLS", metadata: ["fingerprint": "\(one.fingerprint)", "to": "\(one.shownTo)"])
    }
    if !certificates.isEmpty { services.append(CertificateReloader(certificates, logger: logger)) }
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
