import MatchProtocol
import Testing
import TicTacToe

@testable import ClientModel

/// A server with one player, whose session, guest account and token expire.
private struct Server {
  var player: PlayerInfo
  /// Hours since the player's last visit.
  var hours: Int
  private(set) var hellos: [ClientMessage.Hello] = []

  init(_ player: PlayerInfo, hours: Int) { (self.player, self.hours) = (player, hours) }

  /// After a refusal the server closes the connection.
  mutating func answer(_ hello: ClientMessage.Hello, re: String?) -> [[UInt8]] {
    hellos.append(hello)
    func refused(_ text: String) -> [[UInt8]] {
      [ServerMessage.err(.auth, text).bytes(re: re), ServerMessage.bye(.revoked, text, retry: nil).bytes()]
    }
    var (you, token) = (player, String?.none)
    if hello.resume != nil {
      guard hello.resume == "resume", hours < 24 else { return refused("unknown session") }
    } else if hello.token != nil {
      guard hello.token == "token", hours < (player.guest ? 24 : 90 * 24) else { return refused("unknown token") }
    } else {
      you = PlayerInfo(name: "guest-\(hello.guest ?? "x1y2z3")", rating: 1500, guest: true)
      token = "fresh"
    }
    let welcome = ServerMessage.Welcome(
      session: "s", resume: "fresh resume", you: you, deviation: 350, token: token, rate: [20, 40], matches: [], now: 0)
    return [ServerMessage.welcome(welcome).bytes(re: re)]
  }
}

/// Time passes at the server only; the client has no clock of its own.
@Suite struct ReturningTests {
  private func login(_ model: inout ClientModel, _ server: inout Server) throws -> [ClientEvent] {
    var events: [ClientEvent] = []
    for _ in 0..<5 where model.welcome == nil && model.failure == nil {
      let line = try #require(model.connected().lines.first)
      let hello = try line.withUnsafeBytes { try ClientLine($0) }
      guard case .hello(let said) = hello.message else { continue }
      for answer in server.answer(said, re: hello.id) {
        let out = Array(answer.dropLast()).withUnsafeBytes { model.receive($0, now: 0) }
        events += out.events.map { $0.event }
        if out.close {
          model.disconnected()
          break
        }
      }
    }
    return events
  }

  private func isGuest(_ event: ClientEvent) -> Bool { if case .becameGuest = event { true } else { false } }

  @Test(arguments: [1, 25, 91 * 24, 365 * 24])
  func `a returning guest gets the old account, or a new one of the same name with one notice`(
    hours: Int
  ) throws {
    var server = Server(PlayerInfo(name: "guest-ann", rating: 1500, guest: true), hours: hours)
    var identity = ClientModel.Identity(token: "token", guest: "ann", resume: "resume")
    for isFirst in [true, false] {
      var model = ClientModel(identity, seed: 1)
      let events = try login(&model, &server)
      #expect(model.welcome?.you.name == "guest-ann" && model.failure == nil)
      #expect(events.contains(.becameGuest(login: nil)) == (isFirst && hours > 24))
      #expect(model.identity.token == (hours > 24 ? "fresh" : "token"), "a stale token is not kept")
      // The next start uses the saved identity, which has a session now.
      identity = model.identity
      #expect(identity.resume == "fresh resume")
      if isFirst { identity.resume = "resume" }
      server.hours = 0
    }
  }

  @Test(arguments: [1, 25, 89 * 24, 91 * 24, 365 * 24])
  func `a player whose token is refused plays as a guest, is told the account's name, and keeps the token`(
    hours: Int
  ) throws {
    var server = Server(PlayerInfo(name: "Vera", rating: 1600, guest: false), hours: hours)
    var identity = ClientModel.Identity(token: "token", resume: "resume")
    identity.account = "Vera"
    var model = ClientModel(identity, seed: 1)
    let events = try login(&model, &server)
    let isRefused = hours > 90 * 24
    #expect(model.failure == nil && model.welcome?.you.guest == isRefused)
    #expect(events.contains(.becameGuest(login: "Vera")) == isRefused)
    #expect(events.contains(where: isGuest) == isRefused)
    #expect(model.identity.token == "token" && model.identity.account == "Vera")
    // A client that reconnects does not send the refused token again.
    model.disconnected()
    server.hours = 1_000_000
    let again = try login(&model, &server)
    #expect(model.welcome != nil && server.hellos.count { $0.token == "token" } <= 1 + (isRefused ? 0 : 1))
    #expect(again.contains(where: isGuest))
    // An administrator may have restored the login, so the next start sends the token again.
    server.hours = 24
    var later = ClientModel(model.identity, seed: 2)
    _ = try login(&later, &server)
    #expect(later.welcome?.you.name == "Vera")
  }

  @Test func `a guest whose account ends during a match loses the match and its unsent commands`() throws {
    var server = Server(PlayerInfo(name: "guest-ann", rating: 1500, guest: true), hours: 0)
    var model = ClientModel(.init(token: "token", guest: "ann", resume: "resume"), seed: 1)
    _ = try login(&model, &server)
    let m = try #require(MatchID(rawValue: "0123456789ab"))
    let line = ServerMessage.paired(m, .x).bytes()
    _ = Array(line.dropLast()).withUnsafeBytes { model.receive($0, now: 0) }
    _ = model.perform(.resign(m))
    _ = model.perform(.mute(true))
    model.disconnected()
    server.hours = 25
    let events = try login(&model, &server)
    let ends = events.suffix(2)
    #expect(Array(ends) == [.lost(m), .becameGuest(login: nil)])
    #expect(model.matches.isEmpty && model.outstanding.map(\.message) == [.mute(on: true)])
  }

  @Test func `a move made while disconnected is sent once per connection until it is answered`() throws {
    var server = Server(PlayerInfo(name: "guest-ann", rating: 1500, guest: true), hours: 0)
    var model = ClientModel(.init(guest: "ann"), seed: 1)
    _ = try login(&model, &server)
    let m = try #require(MatchID(rawValue: "0123456789ab"))
    var state = MatchState(id: m)
    let info = PlayerInfo(name: "guest-ann", rating: 1500, guest: true)
    let other = PlayerInfo(name: "guest-ben", rating: 1500, guest: true)
    let start = MatchEvent(
      at: 0, side: nil, mid: nil,
      .start(Sides(x: info, o: other), MatchTerms(), confirm: false, previous: nil, keys: []))
    try state.append(start, body: start.body)
    func hear(_ message: ServerMessage) -> ClientModel.Output {
      Array(message.bytes().dropLast()).withUnsafeBytes { model.receive($0, now: 0) }
    }
    _ = hear(.state(state, left: nil, you: .x))
    model.disconnected()
    #expect(model.perform(.move(m, Cell(4))).lines.isEmpty && model.perform(.move(m, Cell(4))).lines.isEmpty)
    var moves: [String] = []
    for _ in 0..<2 {
      let line = try #require(model.connected().lines.first)
      let hello = try line.withUnsafeBytes { try ClientLine($0) }
      let answers = server.answer(.init(resume: "resume"), re: hello.id)
      for answer in answers {
        let out = Array(answer.dropLast()).withUnsafeBytes { model.receive($0, now: 0) }
        moves += out.lines.map { String(decoding: $0, as: UTF8.self) }.filter { $0.contains(#""t":"move""#) }
      }
      model.disconnected()
    }
    #expect(moves.count == 2 && moves[0] == moves[1])
  }

  @Test func `a server that accepts no guests is not retried for ever`() throws {
    var model = ClientModel(.init(guest: "ann"), seed: 1)
    let line = try #require(model.connected().lines.first)
    let id = try line.withUnsafeBytes { try ClientLine($0) }.id
    let refusal = Array(ServerMessage.err(.auth, "no").bytes(re: id).dropLast())
    #expect(refusal.withUnsafeBytes { model.receive($0, now: 0) }.close)
    #expect(model.failure == .notAccepted)
  }

  @Test(arguments: [true, false])
  func `a token entered by the player replaces the login if the server accepts it; else one notice says so`(
    isTaken: Bool
  ) throws {
    let player = PlayerInfo(name: "Vera", rating: 1600, guest: false)
    var server = Server(player, hours: 0)
    var identity = ClientModel.Identity(
      token: isTaken ? "old" : "token", newToken: isTaken ? "token" : "typo", resume: isTaken ? "of another" : "resume")
    identity.account = isTaken ? "Ida" : "Vera"
    var model = ClientModel(identity, seed: 1)
    let events = try login(&model, &server)
    #expect(server.hellos.first?.resume == nil && model.welcome?.you.name == "Vera")
    #expect(events.contains(.tokenRefused) == !isTaken && !events.contains(where: isGuest))
    #expect(model.identity.token == "token" && model.identity.account == "Vera" && model.identity.newToken == nil)
    model.disconnected()
    #expect(try !login(&model, &server).contains(.tokenRefused))
  }
}
