import Base
import MatchProtocol
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore

@Suite struct StrangerTests {
  private func terms(_ key: String) -> String { #"{"t":"seek","clock":"3600+59","rated":false,"key":"\#(key)"}"# }

  @Test func `a seek from a player's second session replaces that of the first, which is never paired`() throws {
    var world = try SteppedLobby()
    let first = world.login("Ann")
    world.type(first, #"{"t":"register","name":"Ann"}"#)
    let token = try #require(world.field("token", of: first, in: "token"))
    let second = world.login("", token: token)
    world.type(first, terms("k"))
    world.type(second, terms("k"))
    #expect(world.lobby.matchmaker.queue.count == 1 && world.heardAny(first, #""code":"mid_reused""#))
    world.type(first, #"{"t":"unseek"}"#)
    #expect(world.lobby.matchmaker.queue.count == 1, "the second session's seek is not withdrawn")
    world.type(second, #"{"t":"unseek"}"#)
    #expect(world.lobby.matchmaker.queue.isEmpty)
    let guests = (0..<2).map { world.login("g\($0)") }
    for id in guests { world.type(id, terms("g")) }
    #expect(guests.allSatisfy { world.field("m", of: $0, in: "paired") != nil })
  }

  @Test func `a player's simultaneous matches are limited`() throws {
    var world = try SteppedLobby()
    let players = [world.login("Ann"), world.login("Bob")]
    for n in 0...MatchDirectory.mostPerAccount {
      for id in players { world.type(id, terms("k\(n)")) }
      world.wait(100)
    }
    #expect(world.lobby.matches.count == MatchDirectory.mostPerAccount)
    #expect(world.heardAny(players[0], #""code":"occupied""#) && world.lobby.seeks.isEmpty)
    // Players who are in as many matches as allowed cannot accept a rematch, either.
    let old = try #require(world.field("m", of: players[0], in: "paired"))
    world.type(players[0], #"{"t":"abort","m":"\#(old)","mid":"a"}"#)
    for id in players { world.type(id, terms("more")) }
    world.said = []
    for id in players { world.type(id, #"{"t":"rematch","m":"\#(old)","mid":"r\#(id)"}"#) }
    #expect(world.said.filter { $0.line.contains(#""code":"occupied""#) }.count == 2)
    #expect(world.lobby.matches.values.filter { !$0.isOver }.count == MatchDirectory.mostPerAccount)
    // Cleo offers Dan a rematch. Then Cleo reaches the limit with matches against Eve, so Dan can no longer accept.
    let asked = ["Cleo", "Dan", "Eve"].map { world.login($0) }
    for id in asked[..<2] { world.type(id, terms("first")) }
    let m = try #require(world.field("m", of: asked[0], in: "paired"))
    world.type(asked[0], #"{"t":"abort","m":"\#(m)","mid":"a"}"#)
    world.type(asked[0], #"{"t":"rematch","m":"\#(m)","mid":"r"}"#)
    for n in 0..<MatchDirectory.mostPerAccount {
      for id in [asked[0], asked[2]] { world.type(id, terms("c\(n)")) }
      world.wait(100)
    }
    world.type(asked[1], #"{"t":"rematch","m":"\#(m)","mid":"r"}"#)
    #expect(world.heardAny(asked[1], #""code":"occupied""#))
  }

  @Test func `matches that end in the same millisecond get distinct end times`() throws {
    var world = try SteppedLobby()
    let players = [world.login("Ann"), world.login("Bob")]
    for n in 0..<3 {
      for id in players { world.type(id, terms("k\(n)")) }
      world.wait(100)
    }
    for m in world.lobby.matches.values.map(\.id).sorted() {
      world.type(players[0], #"{"t":"abort","m":"\#(m)","mid":"a"}"#)
    }
    let ends = try world.store.matchIDs().map { try world.store.match($0)?.record.ended }
    #expect(Set(ends).count == 3)
  }

  @Test func `endless seeks and withdrawals leave nothing in memory`() throws {
    var world = try SteppedLobby()
    let id = world.login("Ann")
    for n in 0..<1000 {
      world.type(id, terms("k\(n % 100)"))
      if n % 2 == 0 { world.type(id, #"{"t":"unseek"}"#) }
      world.wait(100)
    }
    #expect(world.lobby.timers.heap.count < 20)
    #expect(world.lobby.questions.count == 0 && world.lobby.units.count == 0)
    world.type(id, #"{"t":"unseek"}"#)
    world.drop(id)
    #expect(world.lobby.seeks.isEmpty && world.lobby.matchmaker.queue.isEmpty && world.lobby.people.accounts.count == 0)
    guard case .tickets(let waiting) = try world.store.answer(.tickets) else {
      Issue.record("no tickets")
      return
    }
    #expect(waiting.isEmpty)
  }

  @Test func `the names of deleted players cannot be registered`() throws {
    var world = try SteppedLobby()
    let id = world.login("Ann")
    world.type(id, #"{"t":"register","name":"Deleted-1"}"#)
    #expect(world.heardAny(id, #""code":"name""#))
  }
}
