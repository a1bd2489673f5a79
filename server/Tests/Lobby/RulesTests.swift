import Base
import MatchProtocol
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore

private let allGames = #"["infinite","ultimate"]"#

extension SteppedLobby {
  fileprivate mutating func seek(_ id: Int, _ rules: String, rated: Bool = false) {
    type(id, #"{"t":"seek","id":"s","rules":"\#(rules)","rated":\#(rated),"key":"k\#(id)\#(now)"}"#)
  }
}

@Suite struct LobbyRulesTests {
  @Test func `only seeks for the same game are paired`() throws {
    var world = try SteppedLobby()
    let a = world.login("a", caps: allGames), b = world.login("b", caps: allGames)
    world.seek(a, "infinite")
    world.seek(b, "ultimate")
    world.wait(30_000)
    #expect(!world.heardAny(a, "paired") && !world.heardAny(b, "paired"))
    let c = world.login("c", caps: allGames)
    world.seek(c, "ultimate")
    #expect(world.heardAny(b, "paired") && world.heardAny(c, "paired") && !world.heardAny(a, "paired"))
    #expect(world.heardAny(c, #""rules":"ultimate","clock":"300+3""#))
    #expect(world.lobby.matches.values.map(\.state.terms.rules) == [.ultimate])
  }

  @Test func `a client that lacks at most 16 events is sent these, and otherwise the state`() throws {
    var world = try SteppedLobby()
    let a = world.login("a", caps: allGames), b = world.login("b", caps: allGames)
    world.seek(a, "infinite")
    world.seek(b, "infinite")
    let m = try #require(world.field("m", of: a, in: "paired"))
    let players = world.field("side", of: a, in: "paired") == "x" ? [a, b] : [b, a]
    var game = VariantState(startOf: .infinite)
    for ply in 0..<18 {
      let cell = try #require(game.moves.first { VariantMove($0, in: game).outcome == nil })
      world.move(players[ply % 2], m, ply, Variant.infinite.name(of: cell))
      game.play(cell)
    }
    let last = try world.state(m).seq
    for (lacking, isEvents) in [(1, true), (16, true), (17, false)] {
      world.said = []
      world.type(a, #"{"t":"sync","id":"s","m":"\#(m)","seq":\#(last - lacking)}"#)
      let heard = world.heard(a)
      #expect(heard.filter { $0.contains(#""t":"event""#) }.count == (isEvents ? lacking : 0))
      #expect(heard.contains { $0.contains(#""t":"state""#) } != isEvents)
    }
  }

  @Test func `a client without a game's capability is refused that game and gets no messages about it`() throws {
    var world = try SteppedLobby()
    let a = world.login("a", caps: allGames), b = world.login("b", caps: allGames), old = world.login("old")
    world.seek(old, "ultimate")
    #expect(world.heardAny(old, #""code":"rules","msg":"this is a game of ultimate; a client that knows it says so"#))
    world.type(old, #"{"t":"create","id":"c","rules":"infinite","key":"c"}"#)
    #expect(world.heardAny(old, #""re":"c","code":"rules""#))
    world.seek(a, "ultimate")
    world.seek(b, "ultimate")
    let m = try #require(world.field("m", of: a, in: "paired"))
    for viewer in [old, a] { world.type(viewer, #"{"t":"list","id":"l"}"#) }
    #expect(world.heardAny(old, #""of":"list","rows":[]"#))
    #expect(world.heardAny(a, #""rules":"ultimate""#))
    world.type(old, #"{"t":"watch","id":"w","m":"\#(m)"}"#)
    #expect(world.heardAny(old, #""re":"w","code":"rules""#))
    #expect(!world.heardAny(old, #""t":"state""#) && !world.heardAny(old, #""t":"event""#))
  }

  @Test func `a client that knows only older games sees nothing of misère`() throws {
    var world = try SteppedLobby()
    let caps = #"["infinite","misere","ultimate"]"#
    let a = world.login("a", caps: caps), b = world.login("b", caps: caps), old = world.login("old", caps: allGames)
    for id in [a, b, old] { world.seek(id, "misere") }
    #expect(world.heardAny(old, #""code":"rules","msg":"this is a game of misere;"#))
    let m = try #require(world.field("m", of: a, in: "paired"))
    #expect(try world.state(m).terms.rules == .misere)
    for id in [a, old] { world.type(id, #"{"t":"list","id":"l"}"#) }
    #expect(world.heardAny(a, #""rules":"misere""#) && world.heardAny(old, #""of":"list","rows":[]"#))
    world.type(old, #"{"t":"watch","id":"w","m":"\#(m)"}"#)
    #expect(world.heardAny(old, #""re":"w","code":"rules""#) && !world.heardAny(old, #""t":"state""#))
  }

  @Test func `a room and its rematch keep their game and refuse clients without its capability`() throws {
    var world = try SteppedLobby()
    let host = world.login("host", caps: allGames), old = world.login("old"), guest = world.login("g", caps: allGames)
    world.type(host, #"{"t":"create","rules":"infinite","key":"r"}"#)
    let code = try #require(world.field("code", of: host, in: "room"))
    world.type(old, #"{"t":"join","id":"j","code":"\#(code)"}"#)
    #expect(world.heardAny(old, #""re":"j","code":"rules","msg":"this is a game of infinite;"#))
    world.type(guest, #"{"t":"join","code":"\#(code)"}"#)
    let m = try #require(world.field("m", of: guest, in: "paired"))
    #expect(try world.state(m).terms.rules == .infinite)
    world.type(guest, #"{"t":"resign","m":"\#(m)","mid":"x"}"#)
    for id in [guest, host] { world.type(id, #"{"t":"rematch","m":"\#(m)","mid":"r"}"#) }
    let next = try #require(try world.state(m).next)
    #expect(try world.state(next.rawValue).terms == MatchTerms(rules: .infinite))
  }

  @Test func `of a player's two clients the one that does not know the game gets no messages about the match`() throws {
    var world = try SteppedLobby()
    let a = world.named("Ann", caps: allGames), b = world.named("Bob", caps: allGames)
    let token = try #require(world.field("token", of: a, in: "token"))
    world.seek(a, "ultimate")
    world.seek(b, "ultimate")
    let old = world.login("Ann", token: token)
    #expect(world.heardAny(old, #""matches":[]"#) && !world.heardAny(old, #""t":"state""#))
    let new = world.login("Ann", caps: allGames, token: token)
    #expect(!world.heardAny(new, #""matches":[]"#) && world.heardAny(new, #""rules":"ultimate""#))
    world.type(old, #"{"t":"me"}"#)
    #expect(world.heardAny(old, #""of":"me""#) && !world.heardAny(old, "ultimate"))
  }

  @Test func `a refused move is explained by the rules of its game`() throws {
    var world = try SteppedLobby()
    let a = world.login("a", caps: allGames), b = world.login("b", caps: allGames)
    world.seek(a, "ultimate")
    world.seek(b, "ultimate")
    let m = try #require(world.field("m", of: a, in: "paired"))
    let (x, o) = world.field("side", of: a, in: "paired") == "x" ? (a, b) : (b, a)
    world.move(x, m, 0, "e5")
    world.move(o, m, 1, "a1")
    #expect(world.heardAny(o, #""code":"rules","msg":"a1 is not on board b2, to which the last move sends""#))
    let (p, q, classic) = world.pair()
    _ = q
    world.move(p, classic, 0, "i9")
    #expect(world.heardAny(p, #""code":"rules","msg":"i9 is not a cell of classic, which has a1–c3""#))
  }

  @Test func `ratings, results and rankings are kept per game`() throws {
    var world = try SteppedLobby()
    let a = world.named("Ann", caps: allGames), b = world.named("Bob", caps: allGames)
    world.seek(a, "infinite", rated: true)
    world.seek(b, "infinite", rated: true)
    let m = try #require(world.field("m", of: a, in: "paired"))
    for (ply, cell) in ["b2", "a1"].enumerated() {
      let mover = (world.field("side", of: a, in: "paired") == "x") == (ply == 0) ? a : b
      world.move(mover, m, ply, cell)
    }
    world.type(b, #"{"t":"resign","m":"\#(m)","mid":"x"}"#)
    let accounts = try world.store.accounts()
    let ann = try #require(accounts.first { $0.name == "Ann" })
    #expect(ann[.infinite].won == 1 && ann[.infinite].rating.value > 1600 && ann[.infinite].ratedAt > 0)
    #expect(ann[.classic] == Standing() && ann[.ultimate] == Standing())
    world.type(b, #"{"t":"top","id":"c"}"#)
    #expect(world.heardAny(b, #""re":"c","of":"top","rows":[]"#))
    world.type(a, #"{"t":"top","id":"t","rules":"infinite"}"#)
    #expect(world.heardAny(a, #""re":"t","of":"top","rows":[{"name":"Ann""#) && world.heardAny(a, #""name":"Bob""#))
    world.type(a, #"{"t":"me","id":"m"}"#)
    #expect(world.heardAny(a, #"{"rules":"infinite","name":"Ann""#))
    world.type(a, #"{"t":"history","id":"h"}"#)
    #expect(world.heardAny(a, #""rules":"infinite""#))
    world.type(a, #"{"t":"history","id":"i","rules":"infinite"}"#)
    #expect(world.heardAny(a, #""re":"i","of":"history","rows":[{"m":"\#(m)""#))
    world.type(a, #"{"t":"history","id":"u","rules":"ultimate"}"#)
    #expect(world.heardAny(a, #""re":"u","of":"history","rows":[]"#))
  }
}
