import Foundation
import Hummingbird
import Logging
import MatchProtocol
import NIOCore
import ServiceLifecycle
import Synchronization
import TicTacToe

/// The page for people: live boards, kept current by Server-Sent Events, and the leaderboard.
public struct PeoplePage: Sendable {
  /// Watchers of the page at once; more are asked to come back later.
  static let mostWatchers = 1000
  /// Boards shown.
  static let boards = 24

  private let host: LobbyHost
  private let feed: BoardFeed

  /// Makes the page; from now on it is told of every public match.
  public init(host: LobbyHost) {
    self.host = host
    let feed = BoardFeed(limit: PeoplePage.mostWatchers)
    self.feed = feed
    host.onPublish { if feed.count > 0 { feed.publish(PeoplePage.json($0)) } }
    // A watcher that has left is only noticed by writing to him.
    host.loop.scheduleRepeatedTask(initialDelay: .seconds(15), delay: .seconds(15)) { _ in feed.publish("") }
  }

  /// The service that serves it on an address; `listening` is called with the port.
  public func service(
    host address: String, port: Int, logger: Logger, listening: @escaping @Sendable (Int) -> Void
  ) -> some Service {
    let router = Router()
    router.get("/") { _, _ in Self.text(PageAssets.html, "text/html; charset=utf-8") }
    router.get("/page.js") { _, _ in Self.text(PageAssets.script, "text/javascript; charset=utf-8") }
    // The boards of now come with the page, so that it is not empty for a moment; what follows comes by `/boards`.
    router.get("/now.js") { _, _ in
      let now = try await host.inspect { lobby in lobby.publicMatches(limit: Self.boards).map(Self.json) }
      return Self.text("const now = [\(now.joined(separator: ","))];\n", "text/javascript; charset=utf-8")
    }
    router.get("/page.css") { _, _ in Self.text(PageAssets.style, "text/css; charset=utf-8") }
    router.get("/top.json") { _, _ in
      let rows = try await host.inspect { lobby in lobby.leaders(limit: 20) }
      var out: [UInt8] = [UInt8(ascii: "[")]
      for (i, account) in rows.enumerated() {
        if i > 0 { out.append(UInt8(ascii: ",")) }
        var row = JSONWriter()
        row.field("name", account.name)
        row.field("rating", Int(account.rating.value.rounded()))
        row.finish()
        out += row.bytes
      }
      return Self.text(String(decoding: out + [UInt8(ascii: "]")], as: UTF8.self), "application/json")
    }
    router.get("/boards") { _, _ -> Response in
      guard let stream = feed.watch() else { throw HTTPError(.serviceUnavailable, message: "too many watchers") }
      let now = try await host.inspect { lobby in lobby.publicMatches(limit: Self.boards).map(Self.json) }
      let body = ResponseBody { writer in
        try await writer.write(ByteBuffer(string: "retry: 2000\n\n"))
        for board in now { try await writer.write(ByteBuffer(string: "data: \(board)\n\n")) }
        for await board in stream.cancelOnGracefulShutdown() {
          try await writer.write(ByteBuffer(string: board.isEmpty ? ": still here\n\n" : "data: \(board)\n\n"))
        }
        try await writer.finish(nil)
      }
      var headers = Self.headers("text/event-stream")
      headers[.cacheControl] = "no-store"
      return Response(status: .ok, headers: headers, body: body)
    }
    var logger = logger
    logger.logLevel = .warning
    return Application(
      router: router, configuration: .init(address: .hostname(address, port: port), serverName: "alina-server"),
      onServerRunning: { listening($0.localAddress?.port ?? port) }, logger: logger)
  }

  /// Nothing but our own script and style may run, and nothing may frame us.
  static func headers(_ type: String) -> HTTPFields {
    var fields: HTTPFields = [.contentType: type]
    fields[.contentSecurityPolicy] =
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'"
    fields[.xContentTypeOptions] = "nosniff"
    return fields
  }

  static func text(_ text: String, _ type: String) -> Response {
    Response(status: .ok, headers: headers(type), body: .init(byteBuffer: ByteBuffer(string: text)))
  }

  static func json(_ match: MatchState) -> String {
    var out = JSONWriter(capacity: 200)
    out.field("m", match.id.rawValue)
    out.field("board", match.board)
    out.field("x", match.players?.x.name)
    out.field("o", match.players?.o.name)
    out.field("rx", match.players?.x.rating)
    out.field("ro", match.players?.o.rating)
    out.field("turn", match.turn.wire)
    out.field("last", match.moves.last.map(\.index))
    out.field("clock", match.terms.clockText)
    out.field("rated", match.terms.rated)
    if let end = match.end {
      out.field("result", end.outcome?.wire ?? "none")
      out.field("reason", end.reason.rawValue)
    }
    out.finish()
    return String(decoding: out.bytes, as: UTF8.self)
  }
}

/// Hands what is published to many streams; one that falls behind is ended rather than waited for.
final class BoardFeed: Sendable {
  private let limit: Int
  private let watchers = Mutex<(next: Int, open: [Int: AsyncStream<String>.Continuation])>((0, [:]))

  init(limit: Int) { self.limit = limit }

  /// A stream of what is published from now on, or `nil` if there are too many; it ends when its reader is 64 behind.
  func watch() -> AsyncStream<String>? {
    let (stream, continuation) = AsyncStream<String>.makeStream(bufferingPolicy: .bufferingOldest(64))
    let id = watchers.withLock { watchers -> Int? in
      guard watchers.open.count < limit else { return nil }
      watchers.next += 1
      watchers.open[watchers.next] = continuation
      return watchers.next
    }
    guard let id else { return nil }
    continuation.onTermination = { [weak self] _ in self?.watchers.withLock { $0.open[id] = nil } }
    return stream
  }

  /// The number of watchers.
  var count: Int { watchers.withLock { $0.open.count } }

  func publish(_ board: String) {
    let open = watchers.withLock { $0.open }
    for (_, continuation) in open {
      if case .dropped = continuation.yield(board) { continuation.finish() }
    }
  }
}

/// Health, readiness, metrics and orders to players, for administrators on the same machine.
public struct AdminPage: Sendable {
  private let host: LobbyHost
  private let listener: GameListener
  private let metrics: PrometheusText

  /// Makes the page.
  public init(host: LobbyHost, listener: GameListener, metrics: PrometheusText) {
    self.host = host
    self.listener = listener
    self.metrics = metrics
  }

  /// The service that serves it.
  public func service(
    host address: String, port: Int, logger: Logger, listening: @escaping @Sendable (Int) -> Void
  ) -> some Service {
    let router = Router()
    router.get("/healthz") { _, _ in PeoplePage.text("alive\n", "text/plain") }
    router.get("/readyz") { _, _ -> Response in
      let isBusy = try await host.inspect { $0.isBusy }
      guard host.isReady, !isBusy else { throw HTTPError(.serviceUnavailable, message: "not ready") }
      return PeoplePage.text("ready\n", "text/plain")
    }
    router.get("/metrics") { _, _ in
      let (gauges, counts) = try await host.inspect { ($0.gauges, $0.counts) }
      let counters = [
        ("moves", counts.moves), ("events", counts.events), ("matches_started", counts.started),
        ("matches_ended", counts.ended), ("refusals", counts.refused), ("repeats", counts.repeated),
      ]
      let open = [(name: "open_connections", value: listener.connections)]
      return PeoplePage.text(
        metrics.text(gauges: gauges + open, counters: counters.map { (name: $0.0, value: $0.1) }),
        "text/plain; version=0.0.4")
    }
    router.post("/players/:name/:order") { request, context -> Response in
      // A page in an administrator's browser can post here too, and then says where it comes from.
      guard request.headers[.origin] == nil else { throw HTTPError(.forbidden, message: "not for pages") }
      let name = context.parameters.get("name") ?? ""
      guard let order = context.parameters.get("order").flatMap(Administration.init(rawValue:)) else {
        let all = Administration.allCases.map(\.rawValue).joined(separator: ", ")
        throw HTTPError(.badRequest, message: "the order is one of \(all)")
      }
      guard try await host.administer(name, order) else {
        throw HTTPError(.notFound, message: "there is no player \(name)")
      }
      return PeoplePage.text("done\n", "text/plain")
    }
    router.post("/matches/:m/aside") { request, context -> Response in
      guard request.headers[.origin] == nil else { throw HTTPError(.forbidden, message: "not for pages") }
      guard let m = context.parameters.get("m").flatMap(MatchID.init(rawValue:)), try await host.setAside(m) else {
        throw HTTPError(.notFound, message: "there is no such match to be set aside here")
      }
      return PeoplePage.text("done\n", "text/plain")
    }
    var logger = logger
    logger.logLevel = .warning
    return Application(
      router: router, configuration: .init(address: .hostname(address, port: port), serverName: "alina-server"),
      onServerRunning: { listening($0.localAddress?.port ?? port) }, logger: logger)
  }
}
