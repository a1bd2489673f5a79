import ClientModel
import Interface
import Testing
import TicTacToe

@testable import ClientModel
@testable import MatchProtocol
@testable import WindowLogic

/// A window with its real client; the test plays the server.
private struct WiredWindow {
  var window = TestWindow()
  var model = ClientModel(.init(guest: "Vera"), seed: 1)
  /// Messages since the client connected.
  private(set) var sent: [ClientLine] = []
  private(set) var isClosed = false
  /// Notices since they were last cleared.
  var words: [Message] = []

  static let m = TestWindow.m

  init() throws {
    want(.connect(address: "127.0.0.1:4664"))
    window.turn(to: .network)
    try connect()
  }

  mutating func connect() throws {
    isClosed = false
    try carryOut(model.connected())
    let you = PlayerInfo(name: "guest-Vera", rating: 1_500, guest: true)
    try say(
      .welcome(
        .init(
          session: "s", resume: "r", you: you, deviation: 350, token: nil, rate: [10, 20],
          matches: Array(model.matches.keys), now: 0)), re: sent.last?.id)
  }

  mutating func lose() {
    model.disconnected()
    sent = []
    step(.status(.waiting(milliseconds: 900, reason: .lost)))
  }

  mutating func say(_ message: ServerMessage, re: String? = nil) throws {
    let line = Array(message.bytes(re: re).dropLast())
    try carryOut(line.withUnsafeBytes { model.receive($0, now: 0) })
  }

  private mutating func carryOut(_ output: ClientModel.Output) throws {
    for line in output.lines { sent.append(try Array(line.dropLast()).withUnsafeBytes { try ClientLine($0) }) }
    isClosed = isClosed || output.close
    for (event, match) in output.events { step(event, match) }
  }

  mutating func step(_ event: ClientEvent, _ match: MatchView? = nil) { follow(window.step(.network(event, match))) }
  mutating func want(_ intent: Intent) { follow(window.want(intent)) }

  private mutating func follow(_ effects: [Effect]) {
    words += TestWindow.words(effects)
    for case .command(let command) in effects { try? carryOut(model.perform(command)) }
  }

  /// A match against Ida in which both sides have moved.
  mutating func begin() throws {
    let players = Sides(
      x: PlayerInfo(name: "guest-Vera", rating: 1_500, guest: true),
      o: PlayerInfo(name: "Ida", rating: 1_518, guest: false)
    )
    try say(.paired(WiredWindow.m, .x))
    var state = MatchState(id: WiredWindow.m)
    func log(_ kind: MatchEvent.Kind, _ side: Player? = nil) throws {
      let event = MatchEvent(at: 0, side: side, mid: nil, kind)
      try state.append(event, body: event.body)
      try say(.event(state.id, seq: state.seq, hash: state.hash.short, body: event.body))
    }
    try log(.start(players, MatchTerms(clock: .standard), confirm: false, previous: nil, keys: []))
    for (ply, cell) in [4, 0].enumerated() {
      try log(.move(ply: ply, cell: CellName(Cell(cell), in: .classic), spent: 100), ply == 0 ? .x : .o)
    }
  }
}

@Suite("The window after a refused command") struct RefusalTests {
  private struct Row {
    var intent: Intent
    /// The type (`t`) of the refused message.
    var name: String
    var isInMatch = true
    /// The client repeats the message with the next heartbeat after a temporary refusal.
    var isPostponed = false
    /// The client keeps the message for the next server if the connected server stops.
    var isKept = true
  }

  private static let rows: [Row] = [
    Row(intent: .quickMatch, name: "seek", isInMatch: false),
    Row(intent: .openRoom, name: "create", isInMatch: false),
    Row(intent: .joinRoom(code: "ABC234"), name: "join", isInMatch: false),
    Row(intent: .watch(id: "ba9876543210"), name: "watch", isInMatch: false, isPostponed: true),
    Row(intent: .registerName("Vera"), name: "register", isInMatch: false),
    Row(intent: .play(Cell(8)), name: "move", isKept: false),
    Row(intent: .resign, name: "resign", isKept: false),
    Row(intent: .offerDraw, name: "draw", isKept: false),
    Row(intent: .say("hello"), name: "say"),
    Row(intent: .emote(.gg), name: "emote"),
    Row(intent: .setTalkMuted(true), name: "mute"),
    Row(intent: .setBlocked(true), name: "block"),
    Row(intent: .reportOpponent, name: "report"),
  ]

  @Test("every refusal of every command is shown, ends the waiting, and leaves a correct screen")
  func walk() throws {
    for row in RefusalTests.rows {
      for code in ErrorCode.allCases {
        var wired = try WiredWindow()
        if row.isInMatch { try wired.begin() }
        wired.words = []
        wired.want(row.intent)
        if row.intent == .resign { wired.want(.resign) }
        let asked = try #require(wired.sent.last, "\(row.name)")
        try #require(asked.message.name == row.name)
        wired.words = []
        try wired.say(.err(code, "no"), re: asked.id)
        let context = Comment(rawValue: "\(row.name) refused by \(code.rawValue)")
        let network = wired.window.state.network
        let isWaiting = code == .draining && row.isKept
        let isPostponed = code.isPassing && row.isPostponed
        // The refusal is shown, unless the client still tries to have the command accepted.
        #expect((wired.words + [network.message].compactMap(\.self)).isEmpty == (isWaiting || isPostponed), context)
        #expect(wired.model.outstanding.contains { $0.id == asked.id } == isWaiting, context)
        // The screen shows nothing that the server has not confirmed.
        let talk = wired.window.state.chat
        #expect(!talk.isMuted && !talk.isBlocked && talk.lines.isEmpty, context)
        #expect(talk.unsent.isEmpty || isWaiting, context)
        #expect(!wired.words.contains { $0.text(in: .english).contains("was reported") }, context)
        #expect(network.phase != .queued(bots: 0) || isWaiting, context)
        #expect(!wired.window.board.game.cells.contains(Cell(8)), context)
        if row.intent == .registerName("Vera") { #expect(network.you?.isGuest == true, context) }
        // A postponed command is sent again with the next heartbeat. A command that a stopping server refused is sent to the next server.
        if isPostponed {
          // A stopping server (`draining`) closes the connection before its next heartbeat. So the first sending counts, too.
          let before = code == .draining ? 0 : wired.sent.count
          try wired.say(.ping(1))
          #expect(wired.sent[before...].contains { $0.message.name == row.name }, context)
        }
        wired.lose()
        try wired.connect()
        #expect(wired.sent.contains { $0.message.name == row.name } == (isWaiting || isPostponed), context)
      }
    }
  }

  @Test("after every bye the client reconnects by itself, or stops with advice")
  func byes() throws {
    for code in ByeCode.allCases {
      var wired = try WiredWindow()
      try wired.say(.bye(code, "bye", retry: 1_000))
      let ends: [ByeCode: ClientFailure] = [
        .replaced: .replaced, .banned: .banned, .malformed: .malformed, .flood: .flood,
      ]
      #expect(wired.isClosed && wired.model.failure == ends[code], "\(code)")
      for language in Language.allCases {
        guard let failure = wired.model.failure else { continue }
        var other = wired
        other.step(.status(.failed(failure)))
        #expect(
          other.window.state.network.message?.text(in: language).isEmpty == false
            && other.window.state.network.phase == .offline)
        #expect(other.window.want(.connect(address: "127.0.0.1:4664")).contains { "\($0)".hasPrefix("connect") })
      }
      guard ends[code] == nil else { continue }
      wired.lose()
      #expect(wired.window.state.network.message != nil, "\(code)")
      try wired.connect()
      #expect(wired.window.state.network.phase == .lobby && wired.window.state.network.message == nil, "\(code)")
    }
  }

  @Test("a match unknown to the server is removed from the board with a notice")
  func lostMatch() throws {
    for code in ErrorCode.allCases where code != .draining {
      var wired = try WiredWindow()
      try wired.begin()
      #expect(wired.window.state.match == WiredWindow.m)
      // Events before number 9 are missing, so the client requests the state.
      try wired.say(.event(WiredWindow.m, seq: 9, hash: "00", body: Array(#"{"k":"gone","at":1,"side":"o"}"#.utf8)))
      let asked = try #require(wired.sent.last)
      #expect(asked.message.name == "sync")
      wired.words = []
      try wired.say(.err(code, "no"), re: asked.id)
      if code.isPassing {
        #expect(wired.window.state.match == WiredWindow.m && wired.words.isEmpty)
        try wired.say(.ping(1))
        #expect(wired.sent.last?.message.name == "sync")
      } else {
        #expect(wired.window.state.match == nil && wired.model.matches.isEmpty && wired.words.count == 1, "\(code)")
      }
    }
  }

  @Test("a seek ended by the server is not repeated, and the screen shows the lobby")
  func endedSeek() throws {
    for code in [ErrorCode.midReused, .occupied] {
      var wired = try WiredWindow()
      wired.want(.quickMatch)
      try wired.say(.queued(ticket: "t", waited: 0, bots: 0), re: wired.sent.last?.id)
      #expect(wired.window.state.network.phase == .queued(bots: 0))
      try wired.say(.err(code, "no"))
      #expect(wired.window.state.network.phase == .lobby && wired.window.state.network.message != nil)
      wired.lose()
      try wired.connect()
      #expect(!wired.sent.contains { $0.message.name == "seek" })
    }
  }

  @Test("while the client seeks, the screen says so before and after a reconnect")
  func queueAfterLoss() throws {
    var wired = try WiredWindow()
    wired.want(.quickMatch)
    try wired.say(.queued(ticket: "t", waited: 0, bots: 0), re: wired.sent.last?.id)
    wired.lose()
    try wired.connect()
    #expect(wired.sent.contains { $0.message.name == "seek" } && wired.window.state.network.phase == .queued(bots: 0))
    // A cancelled seek stays cancelled even if the connection is lost before the server's answer.
    wired.want(.leave)
    wired.lose()
    try wired.connect()
    #expect(!wired.sent.contains { $0.message.name == "seek" } && wired.sent.contains { $0.message.name == "unseek" })
    #expect(wired.window.state.network.phase == .lobby)
    let asked = try #require(wired.sent.last { $0.message.name == "unseek" })
    try wired.say(.err(.busy, "later"), re: asked.id)
    try wired.say(.ping(1))
    #expect(wired.sent.last?.message.name == "unseek", "a busy server is asked again to end the seek")
  }

  @Test("mute, block and report take effect when the server confirms them, also for the next opponent")
  func done() throws {
    var wired = try WiredWindow()
    try wired.begin()
    for (intent, check) in [
      (Intent.setTalkMuted(true), { $0.isMuted }), (.setBlocked(true), { $0.isBlocked }),
    ] as [(Intent, (TalkModel) -> Bool)] {
      wired.want(intent)
      #expect(!check(wired.window.state.chat))
      try wired.say(.ok(nil, seq: nil), re: wired.sent.last?.id)
      #expect(check(wired.window.state.chat))
    }
    wired.lose()
    wired.words = []
    wired.want(.reportOpponent)
    #expect(wired.words == ["\(.sentLater)"])
    try wired.connect()
    let report = try #require(wired.sent.first { $0.message.name == "report" })
    wired.words = []
    try wired.say(.ok(nil, seq: nil), re: report.id)
    #expect(wired.words == ["\(.wasReported, "Ida")"])

    // The server tells a new window who is muted and blocked.
    var fresh = try WiredWindow()
    let rows = #"[{"name":"Vera","rating":1500,"quiet":true,"blocked":["Ida"]}]"#
    let line = Array(#"{"t":"page","of":"me","rows":\#(rows)}"#.utf8)
    let out = line.withUnsafeBytes { fresh.model.receive($0, now: 0) }
    for (event, match) in out.events { fresh.step(event, match) }
    try fresh.begin()
    #expect(fresh.window.state.chat.isMuted && fresh.window.state.chat.isBlocked)
  }
}
