import Testing
import TicTacToe

@testable import ClientModel
@testable import MatchProtocol

/// A bot with its real client; the test plays the server.
private struct WiredBot {
  static let m = MatchID(rawValue: "0123456789ab").unsafelyUnwrapped

  var client = ClientModel(.init(guest: "bot", isBot: true), seed: 1)
  var bot: BotModel
  var now: Int64 = 0
  /// Messages since the connection was made.
  private(set) var sent: [ClientLine] = []
  private(set) var isClosed = false
  private(set) var actions: [BotModel.Action] = []
  /// Each move that the bot chooses is dropped instead of sent, and the bot is told so.
  var dropsMoves = false
  private var state = MatchState(id: WiredBot.m)

  init(room: String? = nil, games: Int = 1) throws {
    bot = BotModel(room: room)
    bot.play(games)
    try connect()
  }

  mutating func connect() throws {
    (sent, isClosed) = ([], false)
    try carryOut(client.connected())
    let you = PlayerInfo(name: "guest-bot", rating: 1_500, guest: true)
    let mine = client.matches.values.filter { $0.state.phase != .over }.map(\.state.id)
    try say(
      .welcome(
        .init(session: "s", resume: "r", you: you, deviation: 350, token: nil, rate: [10, 20], matches: mine, now: 0)),
      re: sent.last?.id)
  }

  mutating func lose() { client.disconnected() }

  mutating func say(_ message: ServerMessage, re: String? = nil) throws {
    let line = Array(message.bytes(re: re).dropLast())
    try carryOut(line.withUnsafeBytes { client.receive($0, now: now) })
  }

  private mutating func carryOut(_ output: ClientModel.Output) throws {
    for line in output.lines { sent.append(try Array(line.dropLast()).withUnsafeBytes { try ClientLine($0) }) }
    isClosed = isClosed || output.close
    for (event, match) in output.events { try bot.receive(event, you: match?.you, at: now) }
  }

  /// The bot's moves mark the first free cell.
  mutating func pass(_ milliseconds: Int64 = 0) throws {
    now += milliseconds
    guard client.welcome != nil else { return }
    for action in bot.next(client.matches.values, at: now) {
      actions.append(action)
      switch action {
      case .seek: try carryOut(client.ask(.seek(.init(MatchTerms(), bots: true, key: nil))))
      case .join(let code): try carryOut(client.perform(.join(code)))
      case .enter(let code): try carryOut(client.perform(.tournament(.init(.enter, code))))
      case .play(let code): try carryOut(client.perform(.tournament(.init(.play, code))))
      case .nextGame: try carryOut(client.perform(.nextGame))
      case .think(let m) where dropsMoves: bot.moveDropped(in: m)
      case .think(let m):
        if let cell = client.matches[m]?.position.moves.first(where: { _ in true }) {
          try carryOut(client.perform(.move(m, cell)))
        }
      case .decline(let m): try carryOut(client.perform(.answerDraw(m, accept: false)))
      case .resign(let m): try carryOut(client.perform(.resign(m)))
      case .begin, .report: break
      }
    }
  }

  mutating func log(_ kind: MatchEvent.Kind, _ side: Player? = nil) throws {
    let event = MatchEvent(at: 0, side: side, mid: nil, kind)
    try state.append(event, body: event.body)
    try say(.event(state.id, seq: state.seq, hash: state.hash.short, body: event.body))
  }

  /// The bot is X.
  mutating func begin() throws {
    try pass()
    let guest = PlayerInfo(name: "guest-bot", rating: 1_500, guest: true)
    let players = Sides(x: guest, o: PlayerInfo(name: "Ida", rating: 1_518, guest: false))
    try say(.paired(WiredBot.m, .x))
    try log(.start(players, MatchTerms(clock: .standard), confirm: false, previous: nil, keys: []))
    try pass()
  }

  /// `re` is the id of the request that the state answers, if any.
  mutating func tellState(re: String?) throws { try say(.state(state, left: nil, you: .x), re: re) }
}

@Suite struct BotModelTests {
  @Test(arguments: ErrorCode.allCases)
  func `after a refused seek the bot seeks again, later each time, or stops with the reason`(code: ErrorCode) throws {
    for room in [nil, "ABC234"] {
      var wired = try WiredBot(room: room)
      let name = room == nil ? "seek" : "join"
      do {
        var pauses: [Int64] = []
        for _ in 1...7 {
          let before = wired.now
          while wired.sent.last?.message.name != name { try wired.pass(100) }
          pauses.append(wired.now - before)
          let asked = try #require(wired.sent.last)
          try wired.say(.err(code, "no"), re: asked.id)
          if code == .draining {
            // A stopping server refuses the request, and then closes the connection.
            try wired.say(.bye(.restart, "restart", retry: 0))
            wired.lose()
            try wired.connect()
            #expect(wired.sent.contains { $0.message.name == name })
            return
          }
          try wired.say(.ping(1))
        }
        #expect(code.isPassing || code == .occupied || code == .midReused)
        #expect(pauses == pauses.sorted() && pauses.last == BotModel.longestPause, "\(pauses)")
      } catch let stopped as BotModel.Stopped {
        #expect(stopped.reason == "not paired: no")
      }
    }
  }

  @Test(arguments: ErrorCode.allCases)
  func `after a refused move the bot moves again, resigns or stops; it never asks without a pause`(
    code: ErrorCode
  ) throws {
    var wired = try WiredBot()
    try wired.begin()
    do {
      var moves = 0
      for _ in 1...4 {
        let asked = try #require(wired.sent.last { ["move", "resign"].contains($0.message.name) })
        moves += asked.message.name == "move" ? 1 : 0
        let count = wired.sent.count
        try wired.say(.err(code, "no"), re: asked.id)
        if let sync = wired.sent.dropFirst(count).last(where: { $0.message.name == "sync" }) {
          try wired.tellState(re: sync.id)
        }
        try wired.pass(BotModel.firstPause - 1)
        #expect(!wired.sent.dropFirst(count).contains { ["move", "resign"].contains($0.message.name) })
        try wired.pass(1)
        #expect(wired.sent.dropFirst(count).contains { ["move", "resign"].contains($0.message.name) })
      }
      #expect(code.isPassing && moves == 4)
    } catch let stopped as BotModel.Stopped {
      #expect(
        !code.isPassing && stopped.reason.hasSuffix("cannot go on: no") && wired.actions.last == .resign(WiredBot.m))
    }
  }

  @Test(arguments: ErrorCode.allCases)
  func `a refused answer to a draw offer does not delay the next move`(code: ErrorCode) throws {
    var wired = try WiredBot()
    try wired.begin()
    try wired.log(.move(ply: 0, cell: CellName(Cell(0), in: .classic), spent: 1), .x)
    try wired.log(.draw(.offer, offer: nil), .o)
    try wired.pass()
    let asked = try #require(wired.sent.last { $0.message.name == "draw" })
    try wired.say(.err(code, "no"), re: asked.id)
    try wired.log(.move(ply: 1, cell: CellName(Cell(8), in: .classic), spent: 1), .o)
    try wired.pass()
    #expect(wired.sent.last?.message.name == "move")
  }

  @Test func `after its last game the bot does not seek another`() throws {
    for games in 1...2 {
      var wired = try WiredBot(games: games)
      try wired.begin()
      try wired.log(.resign, .o)
      try wired.log(.end(.win(.x), .resign, ratings: nil))
      try wired.pass()
      #expect(wired.actions.last == (games == 1 ? .report(WiredBot.m) : .seek))
      #expect(wired.bot.remaining == games - 1)
    }
  }

  @Test func `a match that is aborted is reported and does not count`() throws {
    var wired = try WiredBot()
    try wired.begin()
    try wired.log(.end(nil, .aborted, ratings: nil))
    try wired.pass()
    #expect(wired.actions.contains(.report(WiredBot.m)) && wired.actions.last == .seek && wired.bot.remaining == 1)
  }

  @Test func `a move that was chosen but could not be sent is chosen again`() throws {
    var wired = try WiredBot()
    wired.dropsMoves = true
    try wired.begin()
    #expect(wired.actions.last == .think(WiredBot.m) && wired.sent.last?.message.name == "seek")
    wired.dropsMoves = false
    try wired.pass()
    #expect(wired.sent.last?.message.name == "move")
  }

  @Test func `after the server no longer has its match, the bot seeks the next one`() throws {
    var wired = try WiredBot()
    try wired.begin()
    try wired.say(.event(WiredBot.m, seq: 9, hash: "00", body: Array(#"{"k":"gone","at":1,"side":"o"}"#.utf8)))
    let asked = try #require(wired.sent.last { $0.message.name == "sync" })
    try wired.say(.err(.notFound, "no"), re: asked.id)
    try wired.pass()
    #expect(wired.sent.last?.message.name == "seek")
  }

  @Test func `a match is continued after a lost connection, and a seek is sent only once`() throws {
    var wired = try WiredBot()
    try wired.pass()
    wired.lose()
    try wired.connect()
    try wired.pass()
    #expect(wired.sent.count { $0.message.name == "seek" } == 1)
    try wired.begin()
    wired.lose()
    try wired.connect()
    try wired.pass(BotModel.firstPause)
    #expect(wired.sent.contains { $0.message.name == "move" } && !wired.sent.contains { $0.message.name == "seek" })
  }

  @Test(arguments: ByeCode.allCases)
  func `after each reason for a bye the bot reconnects, or stops with a message`(code: ByeCode) throws {
    var wired = try WiredBot()
    try wired.begin()
    try wired.say(.bye(code, "bye", retry: 1_000))
    #expect(wired.isClosed)
    if let failure = wired.client.failure {
      #expect(throws: BotModel.Stopped(reason: failure.advice)) {
        try wired.bot.receive(.status(.failed(failure)), you: nil, at: 0)
      }
    } else {
      wired.lose()
      try wired.connect()
      #expect(wired.client.welcome != nil)
    }
  }

  @Test func `a tournament that is full stops a bot that enters, with the server's words`() throws {
    var bot = BotModel(tournament: "ABC234")
    let full = "at most 512 players in a tournament"
    #expect(throws: BotModel.Stopped(reason: "no player of the tournament ABC234: \(full)")) {
      try bot.receive(.refused(.occupied, full, .tournament(.init(.enter, "ABC234"))), you: nil, at: 0)
    }
  }

  @Test func `a tournament that is over stops a bot that enters, but not a bot that has played in it`() throws {
    let code = "ABC234"
    func isOver(_ operation: TournamentOrder.Operation) -> ClientEvent {
      .refused(.over, "the tournament is over", .tournament(.init(operation, code)))
    }
    var late = BotModel(tournament: code)
    #expect(throws: BotModel.Stopped(reason: "no player of the tournament ABC234: the tournament is over")) {
      try late.receive(isOver(.enter), you: nil, at: 0)
    }
    var (view, notice, row) = (TournamentView(code: code), TournamentNotice(), TournamentRow())
    (notice.code, notice.phase, notice.you, row.number, row.status) = (code, .running, 1, 1, .paused)
    view.take(notice, 0)
    view.take([row], isWhole: true)
    var bot = BotModel(tournament: code)
    bot.play(1)
    try bot.receive(.tournament(view), you: nil, at: 0)
    #expect(bot.next([], at: 0) == [.play(code)])
    try bot.receive(isOver(.play), you: nil, at: 1)
    notice.phase = .over
    view.take(notice, 2)
    try bot.receive(.tournament(view), you: nil, at: 2)
    #expect(bot.isTournamentOver && bot.next([], at: 9_000).isEmpty)
  }
}
