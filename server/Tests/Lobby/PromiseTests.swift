import Base
import MatchProtocol
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore

@Suite struct PromiseTests {
  private func field(_ name: String, _ line: String) -> String {
    guard let start = line.firstRange(of: "\"\(name)\":")?.upperBound else { return "" }
    return String(line[start...].prefix { $0 != "," && $0 != "}" }.filter { $0 != "\"" })
  }

  @Test func `an abandoned match with a long clock causes no wake-ups before its deadline`() throws {
    var world = try SteppedLobby()
    let (x, o, m) = world.pair(#""clock":"600+0","rated":false"#)
    world.move(x, m, 0, "b2")
    world.move(o, m, 1, "a1")
    world.drop(x)
    world.drop(o)
    world.wait(41_000)
    let looks = world.ticks
    world.wait(60_000)
    // Each minute 60 wake-ups for the queue, 60 for the heartbeat, 30 to compare memory and store, and one to clean up.
    #expect(world.ticks - looks < 200)
    world.wait(600_000)
    #expect(try world.stored(m).phase == .over, "the clock has ended the match")
  }

  @Test func `both players see a room's log from its first event, and a returning player gets the state first`()
    throws
  {
    var world = try SteppedLobby()
    let host = world.login("host"), friend = world.login("friend")
    world.type(host, "create")
    let code = try #require(world.field("code", of: host, in: "room"))
    for id in [host, friend] { _ = world.heard(id) }
    world.type(friend, "join \(code)")
    for id in [host, friend] {
      let events = world.said.filter { $0.connection == id && $0.line.contains(#""t":"event""#) }
      #expect(events.map { field("seq", $0.line) } == ["1", "2"])
    }
    world = try SteppedLobby(seed: 2)
    let x = world.pair().x
    let token = try #require(world.field("resume", of: x, in: "welcome"))
    world.drop(x)
    let back = world.login("", resume: token)
    let types = world.heard(back).map { field("t", $0) }
    #expect(types == ["hello", "welcome", "state", "event"])
  }

  @Test func `registering a name again after a lost answer gives a valid token`() throws {
    var world = try SteppedLobby()
    let first = world.named("Ann")
    let resume = try #require(world.field("resume", of: first, in: "welcome"))
    world.drop(first)
    let back = world.login("", resume: resume)
    world.said = []
    world.type(back, #"{"t":"register","id":"5","name":"Ann"}"#)
    let token = try #require(world.field("token", of: back, in: "token"))
    let other = world.login("", token: token)
    #expect(world.heardAny(other, #""name":"Ann""#))
    world.type(back, #"{"t":"register","id":"6","name":"Bob"}"#)
    #expect(world.heardAny(back, "you are Ann already"))
  }

  @Test func `an account has at most sixteen sessions, and none once deleted`() throws {
    var world = try SteppedLobby()
    let first = world.login("Ann")
    world.type(first, #"{"t":"register","name":"Ann"}"#)
    let token = try #require(world.field("token", of: first, in: "token"))
    let resume = try #require(world.field("resume", of: first, in: "welcome"))
    let others = (0..<SessionRecord.mostPerAccount).map { _ in world.login("", token: token) }
    #expect(world.lobby.people.sessions.count == SessionRecord.mostPerAccount && world.closed[first] == .revoked)
    let again = world.login("", resume: resume)
    #expect(world.heardAny(again, #""code":"auth""#))
    let last = try #require(world.field("resume", of: others[3], in: "welcome"))
    world.step(.administer(1, .player("Ann", .forget)))
    #expect(others.allSatisfy { world.closed[$0] == .revoked })
    #expect(world.lobby.people.sessions.count == 0)
    let gone = world.login("", resume: last)
    #expect(world.heardAny(gone, #""code":"auth""#))
  }

  @Test func `the abort of a match puts neither player back into the queue`() throws {
    var world = try SteppedLobby()
    let a = world.login("a"), b = world.login("b")
    for id in [a, b] { world.type(id, #"{"t":"seek","clock":"60+0","rated":false,"key":"\#(id)"}"#) }
    let m = try #require(world.field("m", of: a, in: "paired"))
    world.said = []
    world.type(b, #"{"t":"abort","m":"\#(m)","mid":"q"}"#)
    #expect(try world.state(m).end?.reason == .aborted)
    #expect(
      !world.heardAny(a, #""t":"queued""#) && !world.heardAny(b, #""t":"queued""#)
        && world.lobby.matchmaker.queue.isEmpty)
  }

  @Test func `a repeated seek keeps its ticket`() throws {
    var world = try SteppedLobby()
    let id = world.login("Ann")
    world.type(id, #"{"t":"seek","key":"k"}"#)
    let ticket = try #require(world.field("ticket", of: id))
    world.said = []
    world.type(id, #"{"t":"seek","key":"k","bots":true}"#)
    #expect(world.field("ticket", of: id) == ticket && world.lobby.matchmaker.queue[id: ticket]?.seek.bots == true)
  }

  @Test func `the queue keeps its order through every change`() {
    var random = SplitMix64(seed: 3)
    var queue = TicketQueue()
    var tickets: [String: Ticket] = [:]
    func player(rated rating: Int) -> AccountRecord {
      var account = AccountRecord(id: 1, name: "Ann", guest: false, token: nil, tokenExpires: 0)
      account.rating.value = Double(rating)
      return account
    }
    for n in 0..<2000 {
      let session = "s\(random.below(100))"
      if random.below(3) == 0 {
        #expect(queue.remove(session: session)?.id == tickets.removeValue(forKey: session)?.id)
      } else {
        let ticket = Ticket(
          id: "t\(n)", session: session, node: "n", player: player(rated: random.below(10)),
          seek: .init(MatchTerms(), bots: random.below(2) == 0, key: nil), isBot: random.below(4) == 0,
          since: Int64(random.below(50)))
        queue.insert(ticket)
        tickets[session] = ticket
        let near = queue.around(ticket).map(\.id)
        let all = tickets.values.filter { ticket.seek.bots || !$0.isBot }
        #expect(Set(near) == Set(all.map(\.id)), "all tickets of a short queue are compared")
      }
    }
    #expect(queue.oldestFirst.map(\.id) == tickets.values.sorted { ($0.since, $0.id) < ($1.since, $1.id) }.map(\.id))
    func ticket(_ n: Int) -> Ticket {
      let seek = ClientMessage.Seek(MatchTerms(), bots: true, key: nil)
      return Ticket(
        id: "q\(n)", session: "q\(n)", node: "n", player: player(rated: n), seek: seek, isBot: n % 2 == 0,
        since: 0)
    }
    for n in 0..<2000 { queue.insert(ticket(n)) }
    let near = queue.around(ticket(1000))
    #expect(near.count <= 256 && near.contains { $0.id == "q999" }, "only the nearest tickets are compared")
  }

  @Test func `an absent guest is deleted on expiry, a connected one is not`() throws {
    var world = try SteppedLobby()
    _ = world.login("here")
    let gone = world.login("gone")
    world.drop(gone)
    world.wallAhead += 31 * 86_400_000
    world.wait(125_000)
    #expect(try world.store.accounts().map(\.name) == ["guest-here"])
    #expect(world.lobby.people.accounts.count == 1 && world.lobby.people.sessions.count == 1)
  }

  @Test func `a bot may send 200 messages at once, as the message welcome announces`() throws {
    var world = try SteppedLobby()
    let bot = world.login("bot", caps: #"["bot"]"#)
    #expect(world.heardAny(bot, #""limits":[200,200]"#))
    world.said = []
    for _ in 0..<150 { world.type(bot, "top") }
    #expect(world.heard(bot).count == 150 && !world.heardAny(bot, "rate"))
  }
}
