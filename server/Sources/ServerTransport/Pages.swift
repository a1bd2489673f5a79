import Base
import Foundation
import Lobby
import MatchProtocol
import MatchStore
import NIOCore
import NIOHTTP1

/// The public page: the game's files, if they were built, and the WebSocket by which the game connects.
package struct PeoplePage: Sendable {
  /// The most connections that load files. A WebSocket counts as a connection for games instead.
  package static let mostConnections = 1000

  private let host: LobbyHost
  private let listener: GameListener
  /// Origins of pages on other hosts that may connect here to play, such as `https://alina.example`.
  private let origins: Set<String>
  private let site: Site?

  package init(host: LobbyHost, listener: GameListener, site: Site? = nil, origins: Set<String> = []) {
    (self.host, self.listener, self.site, self.origins) = (host, listener, site, origins)
  }

  package func serve(
    at address: ListenAddress, loop: any EventLoop, mostConnections: Int, tls: ServerTLS?
  ) throws -> HTTPServer {
    // A proxy's connections belong to many clients, so they have no key. `GameListener` counts a WebSocket by its client's address.
    let key: @Sendable (SocketAddress) -> String? = { [listener] in listener.isProxy($0) ? nil : PeerAddress.key($0) }
    return try HTTPServer.start(
      at: address, loop: loop,
      limits: HTTPLimits(most: mostConnections, mostPerAddress: listener.mostPerAddress, key: key),
      tls: tls, atOnce: answer, answer: { _ in .refusal(.notFound, "there is no such page") })
  }

  /// `nil` if there is no such page.
  @Sendable func answer(_ request: HTTPRequest) -> HTTPReply? {
    guard request.isLook else { return .wrongMethod("GET, HEAD") }
    switch request.path {
    case ["play"]: return play(request)
    // For load balancers. Anyone can request this page, so it must not query the database.
    case ["readyz"]: return .readiness(host.whyNotReady)
    case [] where site?.isThere != true:
      return .refusal(.notFound, "the game page is not built: run scripts/web")
    default: return site?.answer(request)
    }
  }

  /// Refuses a WebSocket of a page on another host, unless the page's origin is allowed.
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

  /// Each trusted proxy appends its client's address to X-Forwarded-For: the client is the last one that is not a trusted proxy.
  private func client(of request: HTTPRequest) -> SocketAddress? {
    var client = request.peer
    let named = request.headers[canonicalForm: "x-forwarded-for"]
    if named.isEmpty, let proxy = client, listener.isProxy(proxy) { listener.warnOfUnnamedClients(behind: proxy) }
    for text in named.reversed() {
      // If an address is invalid, the proxy that appended it counts as the client.
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
}

/// Health, readiness and metrics; for administrators on this machine also lists and orders.
package struct AdminPage: Sendable {
  /// The most connections: a chosen number, not a measured limit.
  package static let mostConnections = 100

  let host: LobbyHost
  let listener: GameListener
  /// `nil` if the public page is not served.
  let page: HTTPServer?

  package init(host: LobbyHost, listener: GameListener, page: HTTPServer? = nil) {
    (self.host, self.listener, self.page) = (host, listener, page)
  }

  /// `onlyMetrics`: serve only health, readiness and metrics, which name no players.
  package func serve(
    at address: ListenAddress, onlyMetrics: Bool, loop: any EventLoop, mostConnections: Int
  ) throws -> HTTPServer {
    try HTTPServer.start(
      at: address, loop: loop, limits: HTTPLimits(most: mostConnections), answer: onlyMetrics ? look : answer)
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
      guard !request.headers.contains(name: "origin") else {
        return .refusal(.forbidden, "requests of web pages are refused")
      }
      return path[0] == "players" ? try await order(path[2], player: path[1]) : try await order(path[2], match: path[1])
    case ("players", 1), ("reports", 1):
      guard request.isLook else { return .wrongMethod("GET, HEAD") }
      do {
        return try await path[0] == "players" ? players(request) : reports(request)
      } catch let error as StoreError { return .refusal(.serviceUnavailable, error.description) }
    default: return try await look(request)
    }
  }

  /// Whether a Host header names this machine: `localhost`, an address in 127.0.0.0/8, or ::1.
  private static func isOwn(_ host: String) -> Bool {
    let name = host.lowercased()
    return name == "localhost" || name.hasPrefix("localhost:")
      || PeoplePage.address(name).map { PeerAddress.key($0) == nil } == true
  }

  @Sendable func look(_ request: HTTPRequest) async throws -> HTTPReply {
    guard [["healthz"], ["readyz"], ["metrics"]].contains(request.path) else {
      return .refusal(.notFound, "there is no such page")
    }
    guard request.isLook else { return .wrongMethod("GET, HEAD") }
    switch request.path[0] {
    case "healthz": return HTTPReply(text: "alive\n")
    case "readyz":
      if let why = host.whyNotReady { return .readiness(why) }
      return .readiness(try await host.reachesStore() ? nil : LobbyHost.Readiness.lost.rawValue)
    default:
      let (gauges, counts) = try await host.inspect { ($0.gauges, $0.counts) }
      var out = Exposition()
      for (name, help, value) in gauges { out.gauge("alina_\(name)", help, value) }
      out.gauge(
        "alina_ready", "1 if players can log in, else 0: /readyz has the reason.", host.whyNotReady == nil ? 1 : 0)
      out.gauge("alina_open_connections", "Connections of players that are open here.", listener.connections)
      if let page {
        out.gauge(
          "alina_page_connections", "Connections to the page for people.", try await page.connections())
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

  /// Only the reply contains the token.
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
    return try await carryOut(.annul(m), orSay: none)
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
