import Base
import Foundation
import MatchClient
import MatchProtocol
import TestSupport
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore
@testable import PostgresStore
@testable import ServerTransport

private let allGames = #"["infinite","ultimate"]"#

extension SteppedLobby {
  /// A named account whose client knows all games.
  fileprivate mutating func named(_ name: String, caps: String = allGames) -> Int {
    let id = login(name, caps: caps)
    type(id, #"{"t":"register","name":"\#(name)"}"#)
    return id
  }

  fileprivate mutating func seek(_ id: Int, _ rules: String, rated: Bool = false) {
    type(id, #"{"t":"seek","id":"s","rules":"\#(rules)","rated":\#(rated),"key":"k\#(id)\#(now)"}"#)
  }
}

/// The games in the lobby.
@Suite struct LobbyRulesTests {
  @Test func `only those who seek the same game meet`() throws {
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

  @Test func `a client that does not name a game is refused it, and sees nothing of it`() throws {
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

  @Test func `a room keeps its game, refuses who does not know it, and so does its rematch`() throws {
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

  @Test func `an old client of the same player is told nothing of the match`() throws {
    var world = try SteppedLobby()
    let a = world.named("Ann"), b = world.named("Bob")
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

  @Test func `a move is refused in the words of its game`() throws {
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
    #expect(world.heardAny(p, #""code":"rules","msg":"i9 is no cell of classic, which has a1–c3""#))
  }

  @Test func `ratings, results and leaders are those of the game`() throws {
    var world = try SteppedLobby()
    let a = world.named("Ann"), b = world.named("Bob")
    world.seek(a, "infinite", rated: true)
    world.seek(b, "infinite", rated: true)
    let m = try #require(world.field("m", of: a, in: "paired"))
    for (ply, cell) in ["b2", "a1"].enumerated() {
      let mover = (world.field("side", of: a, in: "paired") == "x") == (ply == 0) ? a : b
      world.move(mover, m, ply, cell)
    }
    world.type(b, #"{"t":"resign","m":"\#(m)","mid":"x"}"#)
    let accounts = try world.store.recover().accounts
    let ann = try #require(accounts.first { $0.name == "Ann" })
    #expect(ann[.infinite].won == 1 && ann[.infinite].rating.value > 1600 && ann[.infinite].ratedAt > 0)
    #expect(ann[.classic] == Standing() && ann[.ultimate] == Standing())
    #expect(world.lobby.leaders(.infinite, limit: 5).map(\.name) == ["Ann", "Bob"])
    #expect(world.lobby.leaders(limit: 5).isEmpty)
    world.type(a, #"{"t":"top","id":"t","rules":"infinite"}"#)
    #expect(world.heardAny(a, #""re":"t","of":"top","rows":[{"name":"Ann""#))
    world.type(a, #"{"t":"me","id":"m"}"#)
    #expect(world.heardAny(a, #"{"rules":"infinite","name":"Ann""#))
    world.type(a, #"{"t":"history","id":"h"}"#)
    #expect(world.heardAny(a, #""rules":"infinite""#))
    world.type(a, #"{"t":"history","id":"i","rules":"infinite"}"#)
    #expect(world.heardAny(a, #""re":"i","of":"history","rows":[{"m":"\#(m)""#))
    world.type(a, #"{"t":"history","id":"u","rules":"ultimate"}"#)
    #expect(world.heardAny(a, #""re":"u","of":"history","rows":[]"#))
  }

  @Test func `a server that another node cannot follow offers no other game`() throws {
    var configuration = LobbyConfiguration()
    configuration.language = 2
    var world = try SteppedLobby(configuration)
    let a = world.login("a", caps: allGames)
    world.seek(a, "ultimate")
    #expect(world.heardAny(a, "not every node of this server knows ultimate yet"))
  }
}

/// The games in the stores.
@Suite struct StoreRulesTests {
  private func players() -> [AccountRecord] {
    var ann = someAccount(1, "Ann")
    ann[.ultimate].rating = .init(value: 1601.25, deviation: 90.125, volatility: 0.0599)
    (ann[.ultimate].ratedAt, ann[.ultimate].won, ann[.ultimate].lost) = (77, 3, 1)
    return [ann, someAccount(3, "Bob")]
  }

  @Test(arguments: StoreKind.allCases) func `results of each game are kept apart and added up`(kind: StoreKind) throws {
    let folder = TemporaryFolder()
    let store = try kind.make(folder)
    var accounts = players()
    var first = AccountScore(account: 1, .ultimate), second = AccountScore(account: 3, .infinite)
    (first.drawn, first.xBalance) = (2, 1)
    (second.won, second.rating, second.ratedAt) = (1, .init(value: 1550.5, deviation: 200, volatility: 0.06), 99)
    var third = AccountScore(account: 3)
    third.lost = 1
    try store.commit([
      StoreTransaction(number: 1, writes: accounts.map(StoreWrite.account)),
      StoreTransaction(number: 2, writes: [.score(first), .score(second), .score(third), .score(first)]),
    ])
    for score in [first, second, third, first] { accounts[score.account == 1 ? 0 : 1].add(score) }
    #expect(try store.recover().accounts == accounts)
    #expect(accounts[0][.ultimate].drawn == 4 && accounts[1][.infinite].won == 1 && accounts[1][.classic].lost == 1)
    try store.commit([StoreTransaction(number: 3, writes: [.deleteAccount(1)])])
    try store.commit([StoreTransaction(number: 4, writes: [.account(someAccount(1, "New"))])])
    #expect(try store.recover().accounts.first?[.ultimate] == Standing(), "a new account has none of the old one's")
    store.close()
  }

  @Test func `an archive carries the games`() throws {
    let store = MemoryStore()
    try store.commit([StoreTransaction(number: 1, writes: players().map(StoreWrite.account))])
    let info = PlayerInfo(name: "Ann", rating: 1500, guest: false)
    var state = MatchState(id: someID(5))
    var events: [StoredEvent] = []
    for event in [
      MatchEvent(
        at: 1,
        .start(Sides(x: info, o: info), MatchTerms(rules: .ultimate), confirm: false, previous: nil, keys: [])),
      MatchEvent(at: 2, side: .x, .move(ply: 0, cell: CellName(Cell(80), in: .ultimate), spent: 1)),
      MatchEvent(at: 3, .end(nil, .aborted, ratings: nil)),
    ] {
      try state.append(event, body: event.body)
      events.append(StoredEvent(seq: state.seq, side: event.side, mid: nil, body: event.body))
    }
    let record = MatchRecord(id: someID(5), x: 1, o: 3, created: 1, ended: 3)
    try store.commit([
      StoreTransaction(number: 2, writes: [.match(record), .append(record.id, after: 0, events)])
    ])
    var text = ""
    _ = try StoreArchive.export(store) { text += String(decoding: $0, as: UTF8.self) }
    let other = MemoryStore()
    _ = try StoreArchive.load(text.split(separator: "\n"), into: other)
    #expect(try other.recover().accounts == store.recover().accounts)
    #expect(try other.match(record.id)?.folded().moves == [Cell(80)])
    #expect(try other.match(record.id)?.folded().terms.rules == .ultimate)
  }

  @Test func `a database of the version before keeps all it has`() throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/m.sqlite"
    let accounts = [someAccount(1, "Ann"), someAccount(3, "Bob")]
    let (record, events) = try SQLiteTestBed.aMatch()
    do {
      let store = try SQLiteStore(path: path)
      try store.commit([
        StoreTransaction(
          number: 1,
          writes: accounts.map(StoreWrite.account) + [.match(record), .append(record.id, after: 0, events)])
      ])
      store.close()
    }
    // As the build before left it.
    try SQLiteConnection(path).execute("DROP TABLE standing; UPDATE schema SET version = 3, min_reader = 3")
    let store = try SQLiteStore(path: path)
    #expect(try store.recover().accounts == accounts)
    #expect(try store.match(record.id)?.events == events)
    #expect(try SQLiteTestBed.schema(path) == [4, 4], "an older build would misread the moves of another game")
    var score = AccountScore(account: 1, .infinite)
    score.won = 1
    try store.commit([StoreTransaction(number: 1, writes: [.score(score)])])
    #expect(try store.recover().accounts.first?[.infinite].won == 1)
    store.close()
  }

  @Test func `a PostgreSQL database of the version before keeps all it has`() throws {
    let url = try PostgresTestBed.shared.freshURL()
    let accounts = [someAccount(1, "Ann"), someAccount(3, "Bob")]
    let before = try PostgresStore(PGAddress(url))
    try before.commit([StoreTransaction(number: 1, writes: accounts.map(StoreWrite.account))])
    before.close()
    try PostgresTestBed.shared.sql("DROP TABLE standing", at: url)
    try PostgresTestBed.shared.sql("UPDATE schema SET version = 5, min_reader = 1", at: url)
    let store = try PostgresStore(PGAddress(url))
    #expect(try store.recover().accounts == accounts)
    store.close()
  }
}

/// Whole matches of the other games over a server in this process.
@Suite(.serialized) struct RulesEndToEndTests {
  @Test(arguments: [Variant.infinite, .ultimate])
  func `a whole match is played, each side loses its connection on the way, and a third watches`(
    rules: Variant
  ) async throws {
    let folder = TemporaryFolder()
    let server = try await TestServer(store: try SQLiteStore(path: folder.path + "/m.sqlite"))
    let (x, o, m) = try await server.pair(MatchTerms(rules: rules))
    let viewer = Watcher(server.client("viewer"))
    _ = try await viewer.online()
    viewer.client.perform(.watch(m, code: nil))
    _ = try await viewer.wait("the state") { if case .state(m) = $0 { true } else { nil } }
    var (state, ply) = (VariantState(startOf: rules), 0)
    var random = SplitMix64(seed: 3)
    while state.outcome == nil {
      let (mover, other) = state.turn == .x ? (x, o) : (o, x)
      // Each side loses its line once, and sends its move while it is down.
      if ply == 2 || ply == 3 {
        mover.client.drop()
        _ = try await other.event("gone") { $0 == .gone }
      }
      let cell = state.moves.randomCell(using: &random)
      mover.client.perform(.move(m, cell))
      state.play(cell)
      try await other.move(ply: ply)
      try await viewer.move(ply: ply)
      ply += 1
    }
    _ = try await x.event("the end") { if case .end = $0 { true } else { false } }
    _ = try await o.event("the end") { if case .end = $0 { true } else { false } }
    for watcher in [x, o] {
      let told = try #require(watcher.client.match(m)?.state)
      #expect(told.position == state && told.end?.outcome == state.outcome && told.terms.rules == rules)
    }
    #expect(ply > 8, "\(ply) plies of \(rules)")
    let board = try await server.host.inspect { lobby in lobby.publicMatch(m).map(PeoplePage.json) }
    #expect(board?.contains(#""rules":"\#(rules.rawValue)""#) == true)
    try await server.stop()
  }
}
