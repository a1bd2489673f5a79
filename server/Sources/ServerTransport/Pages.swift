import Base
import Foundation
import Lobby
import MatchProtocol
import MatchStore
import NIOCore
import NIOHTTP1
import Synchronization
import TicTacToe

/// The public pages: the game page, if it was built, with its WebSocket; live boards, updated by Server-Sent Events; and the leaderboard.
package struct PeoplePage: Sendable {
  /// The most simultaneous watchers of the live boards; further ones are told to come back later.
  static let mostWatchers = 1000
  /// The most connections: watchers and those that load the page's files.
  package static let mostConnections = mostWatchers + 100

  private let host: LobbyHost
  private let listener: GameListener
  /// Origins of other hosts' pages that may connect to play.
  private let origins: Set<String>
  private let site: Site?
  private let feed = BoardFeed()

  /// Creates the pages and subscribes them to public matches.
  package init(host: LobbyHost, listener: GameListener, site: Site? = nil, origins: Set<String> = []) {
    (self.host, self.listener, self.site, self.origins) = (host, listener, site, origins)
    let feed = feed
    host.onPublish { feed.changed($0) }
  }

  var watchers: Int { feed.watchers }

  /// Serves the pages at an address; throws a one-line error if it cannot listen there.
  package func serve(
    at address: (host: String, port: Int), loop: any EventLoop, mostConnections: Int, tls: ServerTLS?
  ) throws -> HTTPServer {
    feed.run(on: loop)
    // A proxy's connections belong to many clients, which are counted where their addresses are known.
    let key: @Sendable (SocketAddress) -> String? = { [listener] in listener.isProxy($0) ? nil : PeerAddress.key($0) }
    return try HTTPServer.start(
      address, loop: loop, limits: HTTPLimits(most: mostConnections, mostPerAddress: listener.mostPerAddress, key: key),
      tls: tls,
      atOnce: answerAtOnce, answer: answer)
  }

  /// Answers a request that does not need the lobby's state.
  @Sendable func answerAtOnce(_ request: HTTPRequest) -> HTTPReply? {
    guard request.isLook else { return .wrongMethod("GET, HEAD") }
    switch request.path {
    case ["play"]: return play(request)
    // For load balancers. Anyone can request this, so it must not query the database.
    case ["readyz"]: return .readiness(host.whyNotReady)
    default: return site?.answer(request)
    }
  }

  @Sendable func answer(_ request: HTTPRequest) async throws -> HTTPReply {
    var reply = HTTPReply()
    switch request.path {
    case [], ["boards"]: (reply.type, reply.text) = ("text/html; charset=utf-8", PageAssets.html)
    case ["page.js"]: (reply.type, reply.text) = ("text/javascript; charset=utf-8", PageAssets.script)
    case ["page.css"]: (reply.type, reply.text) = ("text/css; charset=utf-8", PageAssets.style)
    // The page contains the current boards, so that it is not empty at first; `/live` sends changes.
    case ["now.js"]:
      let now = try await feed.boards(of: host)
      (reply.type, reply.text) = (
        "text/javascript; charset=utf-8",
        """
        const now = [\(now.joined(separator: ","))], canWatch = \(site?.isThere == true);

        """
      )
    case ["top.json"]:
      var rows: [String] = []
      for rules in Variant.allCases {
        for account in try await host.leaders(rules, limit: 20) {
          var row = JSONWriter()
          if !rules.isImplied { row.field("rules", rules.rawValue) }
          row.field("name", account.name)
          row.field("rating", Int(account[rules].rating.value.rounded()))
          row.finish()
          rows.append(String(decoding: row.bytes, as: UTF8.self))
        }
      }
      (reply.type, reply.text) = ("application/json", "[\(rows.joined(separator: ","))]")
    case ["live"]:
      let key = client(of: request).flatMap(PeerAddress.key)
      guard feed.admits(key, listener.mostPerAddress) else { return .refusal(.serviceUnavailable, "too many watchers") }
      (reply.type, reply.headers) = ("text/event-stream", ["cache-control": "no-store", "x-accel-buffering": "no"])
      reply.stream = { [host, feed] stream in
        feed.add(stream, key)
        Task {
          // On the lobby's loop, so that no change is lost between the snapshot and the stream.
          try await host.inspect { feed.begin(stream, $0.publicMatches(limit: Lobby.boards)) }
        }
      }
    default: return .refusal(.notFound, "there is no such page")
    }
    // Only our own scripts and styles may run, and no page may embed this one.
    reply.headers.add(
      name: "content-security-policy",
      value: "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-ancestors 'none'; "
        + "base-uri 'none'")
    return reply
  }

  /// Upgrades a WebSocket to a session unless its Origin header shows a page of a foreign host.
  private func play(_ request: HTTPRequest) -> HTTPReply {
    let headers = request.headers
    if let origin = headers.first(name: "origin"), !origins.contains(origin) {
      guard let host = headers.first(name: "host"), ["http://", "https://"].contains(where: { $0 + host == origin })
      else { return .refusal(.forbidden, "not for a page from \(origin)") }
    }
    guard request.method == .GET, headers.first(name: "upgrade")?.lowercased() == "websocket" else {
      var reply = HTTPReply.refusal(.upgradeRequired, "a WebSocket is spoken here")
      reply.headers = ["upgrade": "websocket"]
      return reply
    }
    guard listener.isListening else { return .refusal(.serviceUnavailable, "come back in a moment") }
    return HTTPReply(socket: { [listener] in try listener.takeIn($0, from: client(of: request)) })
  }

  /// The client's address. Each trusted proxy appends the address of its client to X-Forwarded-For.
  private func client(of request: HTTPRequest) -> SocketAddress? {
    var client = request.peer
    let named = request.headers[canonicalForm: "x-forwarded-for"]
    if named.isEmpty, let proxy = client, listener.isProxy(proxy) { listener.warnOfUnnamedClients(behind: proxy) }
    for text in named.reversed() {
      // After an invalid address the proxy itself counts as the client.
      guard let proxy = client, listener.isProxy(proxy), let next = Self.address(text) else { break }
      client = next
    }
    return client
  }

  /// Parses an address of X-Forwarded-For, to which some proxies append the port: `1.2.3.4:567`, `[::1]:567`, `[::1]`.
  static func address(_ text: some StringProtocol) -> SocketAddress? {
    var host = String(text).trimmingCharacters(in: .whitespaces)
    if host.hasPrefix("["), let end = host.firstIndex(of: "]") {
      host = String(host[host.index(after: host.startIndex)..<end])
    } else if host.contains("."), let colon = host.firstIndex(of: ":"), !host[..<colon].isEmpty,
      host.count(where: { $0 == ":" }) == 1
    {
      host = String(host[..<colon])
    }
    return try? SocketAddress(ipAddress: host, port: 0)
  }

  @Sendable fileprivate static func boards(of lobby: Lobby) -> [String] {
    lobby.publicMatches(limit: Lobby.boards).map(json)
  }

  static func json(_ match: MatchState) -> String {
    var out = JSONWriter(capacity: 200)
    out.field("m", match.id.rawValue)
    out.field("board", match.board)
    out.field("x", match.players?.x.name)
    out.field("o", match.players?.o.name)
    out.field("rx", match.players?.x.rating)
    out.field("ro", match.players?.o.rating)
    out.field("turn", match.turn.text)
    if !match.terms.rules.isImplied {
      out.field("rules", match.terms.rules.rawValue)
      out.field("plies", match.moves.count)
    }
    out.field("last", match.lastInReadingOrder)
    out.field("clock", match.terms.clockText)
    out.field("rated", match.terms.rated)
    if let end = match.end {
      out.field("result", end.outcome?.text ?? "none")
      out.field("reason", end.reason.rawValue)
    }
    out.finish()
    return String(decoding: out.bytes, as: UTF8.self)
  }
}

/// Sends public matches to all watchers ten times a second, only the newest state of each board. The lobby's loop only
/// records changed boards.
final class BoardFeed: Sendable {
  private struct Watcher {
    let stream: EventStream
    /// The boards to send first; `nil` once they were sent.
    var beginning: [MatchState]?
    var hasBegun = false
  }
  private struct State {
    var watchers: [ObjectIdentifier: Watcher] = [:]
    var by = AddressCounts()
    var changed: [MatchID: MatchState] = [:]
  }

  private static let pause = TimeAmount.milliseconds(100)
  private let state = Mutex(State())
  private let shown = Mutex<(at: Int64, boards: Task<[String], any Error>?)>((.min, nil))

  /// The current boards, at most 0.1 s old, shared by all requests.
  func boards(of host: LobbyHost) async throws -> [String] {
    let now = Moment.currentSteady
    return try await shown.withLock { shown in
      if let boards = shown.boards, now - 100 < shown.at { return boards }
      let boards = Task { try await host.inspect(PeoplePage.boards) }
      shown = (now, boards)
      return boards
    }.value
  }

  /// Starts the periodic sending on the loop of the streams.
  func run(on loop: any EventLoop) {
    loop.scheduleRepeatedTask(initialDelay: Self.pause, delay: Self.pause) { _ in
      self.flush()
    }
    // A closed connection is noticed only by writing to it.
    loop.scheduleRepeatedTask(initialDelay: .seconds(15), delay: .seconds(15)) { _ in
      for watcher in self.state.withLock({ Array($0.watchers.values) }) {
        watcher.stream.send(ByteBuffer(string: ": still here\n\n"))
      }
    }
  }

  var watchers: Int { state.withLock { $0.watchers.count } }

  /// Whether another watcher is admitted, by the total and by its address.
  func admits(_ key: String?, _ mostPerAddress: Int) -> Bool {
    state.withLock { $0.watchers.count < PeoplePage.mostWatchers && $0.by.allow(key, most: mostPerAddress) }
  }

  func add(_ stream: EventStream, _ key: String?) {
    let id = ObjectIdentifier(stream)
    state.withLock { state in
      state.watchers[id] = Watcher(stream: stream)
      _ = state.by.count(key, most: .max)
    }
    stream.whenClosed {
      self.state.withLock { state in
        if state.watchers.removeValue(forKey: id) != nil { state.by.discount(key) }
      }
    }
  }

  /// Sends the boards to a stream, and from now on their changes; on the loop that calls `changed`.
  func begin(_ stream: EventStream, _ boards: [MatchState]) {
    state.withLock { $0.watchers[ObjectIdentifier(stream)]?.beginning = boards }
  }

  func changed(_ match: MatchState) {
    state.withLock { if !$0.watchers.isEmpty { $0.changed[match.id] = match } }
  }

  /// Sends the changes that happened since the last call.
  private func flush() {
    let (changed, watchers) = state.withLock { state in
      let now = (state.changed, Array(state.watchers.values))
      state.changed = [:]
      for (id, watcher) in state.watchers where watcher.beginning != nil {
        state.watchers[id] = Watcher(stream: watcher.stream, hasBegun: true)
      }
      return now
    }
    func text(_ boards: some Sequence<MatchState>) -> String {
      boards.reduce(into: "") { $0 += "data: \(PeoplePage.json($1))\n\n" }
    }
    let news = ByteBuffer(string: text(changed.values.sorted { $0.id < $1.id }))
    for watcher in watchers {
      if let beginning = watcher.beginning {
        watcher.stream.send(ByteBuffer(string: "retry: 2000\n\n" + text(beginning)))
      }
      if watcher.beginning != nil || watcher.hasBegun, news.readableBytes > 0 { watcher.stream.send(news) }
    }
  }
}

/// Health, readiness, metrics and orders, for administrators on the same machine.
package struct AdminPage: Sendable {
  package static let mostConnections = 100

  let host: LobbyHost
  let listener: GameListener
  /// The public page, if there is one.
  let page: (people: PeoplePage, server: HTTPServer)?

  package init(host: LobbyHost, listener: GameListener, page: (people: PeoplePage, server: HTTPServer)? = nil) {
    (self.host, self.listener, self.page) = (host, listener, page)
  }

  /// Serves the port at an address; throws a one-line error if it cannot listen there.
  package func serve(
    at address: (host: String, port: Int), loop: any EventLoop, mostConnections: Int
  ) throws -> HTTPServer {
    try HTTPServer.start(address, loop: loop, limits: HTTPLimits(most: mostConnections), answer: answer)
  }

  @Sendable func answer(_ request: HTTPRequest) async throws -> HTTPReply {
    // Against DNS rebinding: a foreign page whose name resolves to this machine sends that name as Host.
    guard request.headers[canonicalForm: "host"].allSatisfy({ Self.isOwn(String($0)) }) else {
      return .refusal(.misdirectedRequest, "ask for localhost or 127.0.0.1")
    }
    let path = request.path
    switch (path.first, path.count) {
    case ("players", 3), ("matches", 3):
      guard request.method == .POST else { return .wrongMethod("POST") }
      // A page in an administrator's browser could also post here; browsers then send an Origin header.
      guard !request.headers.contains(name: "origin") else { return .refusal(.forbidden, "not for pages") }
      return path[0] == "players" ? try await order(path[2], player: path[1]) : try await order(path[2], match: path[1])
    case ("players", 1), ("reports", 1):
      guard request.isLook else { return .wrongMethod("GET, HEAD") }
      do {
        return try await path[0] == "players" ? players(request) : reports(request)
      } catch let error as StoreError { return .refusal(.serviceUnavailable, error.description) }
    case ("healthz", 1), ("readyz", 1), ("metrics", 1):
      return request.isLook ? try await look(path[0]) : .wrongMethod("GET, HEAD")
    default: return .refusal(.notFound, "there is no such page")
    }
  }

  /// Whether a Host header names this machine: `localhost`, an address in 127.0.0.0/8, or ::1.
  private static func isOwn(_ host: String) -> Bool {
    let name = host.lowercased()
    return name == "localhost" || name.hasPrefix("localhost:")
      || PeoplePage.address(name).map { PeerAddress.key($0) == nil } == true
  }

  private func look(_ what: String) async throws -> HTTPReply {
    switch what {
    case "healthz": return HTTPReply(text: "alive\n")
    case "readyz":
      if let why = host.whyNotReady { return .readiness(why) }
      return .readiness(try await host.reachesStore() ? nil : LobbyHost.Readiness.lost.rawValue)
    default:
      let (gauges, counts) = try await host.inspect { ($0.gauges, $0.counts) }
      var out = Exposition()
      for (name, help, value) in gauges { out.gauge("alina_\(name)", help, value) }
      out.gauge("alina_ready", "1 if players are let in, 0 if not: /readyz says why.", host.whyNotReady == nil ? 1 : 0)
      out.gauge("alina_open_connections", "Connections of players that are open here.", listener.connections)
      if let page {
        out.gauge(
          "alina_page_connections", "Connections to the page for people.", try await page.server.connections())
        out.gauge("alina_watchers", "Pages that watch the live boards.", page.people.watchers)
      }
      if let tls = listener.tls {
        out.gauge(
          "alina_certificate_expires_seconds", "When the certificate in use ends, in seconds since 1970.", tls.expires)
        out.gauge(
          "alina_certificate_refused", "1 if the last reload was refused: the certificates cannot be used.",
          tls.isRefused ? 1 : 0)
      }
      out.counter("alina_moves_total", "Moves accepted.", counts.moves)
      out.counter("alina_events_total", "Events logged.", counts.events)
      out.counter("alina_matches_started_total", "Matches begun.", counts.started)
      out.counter("alina_matches_ended_total", "Matches ended.", counts.ended)
      out.counter("alina_refusals_total", "Commands refused, by the code of the error.", counts.refused)
      out.counter(
        "alina_repeats_total", "Commands answered again because their mid was known.", counts.repeated)
      host.metrics.write(to: &out)
      return HTTPReply(type: "text/plain; version=0.0.4", text: out.text)
    }
  }

  /// Issues a replacement token for a player. Only the reply contains it.
  private func issueToken(_ name: String) async throws -> HTTPReply {
    do {
      let token = IssuedToken(for: name)
      guard case .change(let result) = try await host.look(token.question) else {
        return .refusal(.serviceUnavailable, "the database cannot be reached")
      }
      if let why = token.refusal(of: result) { return .refusal(.notFound, why) }
      return HTTPReply(text: token.text + "\n")
    } catch let error as StoreError { return .refusal(.serviceUnavailable, error.description) }
  }

  private func order(_ order: String, player name: String) async throws -> HTTPReply {
    if order == "token" { return try await issueToken(name) }
    guard let order = Administration(rawValue: order) else {
      let all = (Administration.allCases.map(\.rawValue) + ["token"]).joined(separator: ", ")
      return .refusal(.badRequest, "the order is one of \(all)")
    }
    return try await carryOut(.player(name, order), orSay: "there is no player \(name)")
  }

  private func order(_ order: String, match id: String) async throws -> HTTPReply {
    guard order == "aside" else { return .refusal(.badRequest, "the order is aside") }
    let none = "no match \(id) is played"
    guard let m = MatchID(rawValue: id) else { return .refusal(.notFound, none) }
    return try await carryOut(.setAside(m), orSay: none)
  }

  private func carryOut(_ order: Order, orSay none: String) async throws -> HTTPReply {
    do {
      return try await host.administer(order) ? HTTPReply(text: "done\n") : .refusal(.notFound, none)
    } catch let error as StoreError { return .refusal(.serviceUnavailable, error.description) }
  }
}

extension HTTPRequest {
  fileprivate var isLook: Bool { method == .GET || method == .HEAD }
}

extension HTTPReply {
  fileprivate static func readiness(_ why: String?) -> HTTPReply {
    why.map { refusal(.serviceUnavailable, $0) } ?? HTTPReply(text: "ready\n")
  }

  fileprivate static func wrongMethod(_ allowed: String) -> HTTPReply {
    var reply = refusal(.methodNotAllowed, "only \(allowed)")
    reply.headers = ["allow": allowed]
    return reply
  }
}
