import Base
import MatchProtocol
import Testing
import TicTacToe

let someMatch = MatchID(rawValue: "0123456789ab") ?? MatchID(using: &seeded)
nonisolated(unsafe) private var seeded = SplitMix64(seed: 1)

private func parse(_ text: String) throws -> ClientLine {
  try Array(text.utf8).withUnsafeBytes { raw in try ClientLine(raw) }
}

func parseServer(_ bytes: [UInt8]) throws -> ServerLine {
  try bytes.dropLast().withUnsafeBytes { raw in try ServerLine(raw) }
}

/// With and without the optional fields.
let clientMessages: [ClientMessage] =
  [
    .hello(.init(client: "test 1.0", caps: ["confirm"], token: "t0k", guest: nil, resume: nil)),
    .hello(.init(guest: "Ann")), .hello(.init(resume: "abc")), .register(name: "Ann"), .token(.rotate), .token(.revoke),
    .seek(.init(MatchTerms(clock: .standard, rated: true), range: 100, bots: true, key: "k1")),
    .seek(.init(MatchTerms(clock: nil), key: "k2")), .unseek, .confirm(someMatch), .create(MatchTerms(), key: "k3"),
    .join(code: "ABC123"), .sync(someMatch, seq: 4), .watch(someMatch, code: nil), .watch(someMatch, code: "ABC123"),
    .unwatch(someMatch), .act(someMatch, .move(ply: 3, cell: CellName(Cell(4), in: .classic)), mid: "m1"),
    .act(someMatch, .resign, mid: "m2"),
    .act(someMatch, .draw(.offer, offer: nil), mid: "m3"), .act(someMatch, .draw(.accept, offer: 7), mid: "m4"),
    .act(someMatch, .draw(.decline, offer: 7), mid: "m5"), .act(someMatch, .rematch, mid: "m6"),
    .act(someMatch, .abort, mid: "m7"), .act(someMatch, .claim, mid: "m8"), .emote(someMatch, "gg"),
    .say(someMatch, "well \"played\" ☺"), .mute(on: false), .block(name: "Bob", on: true),
    .report(someMatch, text: "rude"),
    .top(.classic), .top(.ultimate), .me, .history(nil, before: nil), .history(.ultimate, before: 12),
    .export(someMatch, seq: 0),
    .export(someMatch, seq: 500),
    .list, .ping(1), .pong(2), .bye, .help, .seek(tournamentSeek),
    .host(TournamentTerms(name: "Class 4", rules: .ultimate, minutes: 25, bots: true), secret: "s3cret"),
  ] + tournamentOrders.map { .tournament($0) }

private let tournamentSeek: ClientMessage.Seek = {
  var terms = MatchTerms()
  terms.tournament = "K3X9QF"
  return .init(terms, key: "k4")
}()

private let tournamentOrders: [TournamentOrder] = TournamentOrder.Operation.allCases.map {
  .init($0, "K3X9QF", secret: "s3cret", delay: 5000, name: "Ann", number: 3, before: 1_700_000_000_000)
}

/// Every field has a value.
private let tournamentRow: TournamentRow = {
  var row = TournamentRow()
  (row.number, row.name) = (3, "Ann")
  for outcome in [1, 1, 1, 0, -1] { row.add(outcome, against: 5) }
  row.status = .paused
  return row
}()
private let tournamentNotice: TournamentNotice = {
  var (notice, winner) = (TournamentNotice(), TournamentNotice.Winner())
  (notice.code, notice.terms, notice.phase) = ("K3X9QF", TournamentTerms(name: "Class 4"), .over)
  (notice.remaining, notice.entrants, notice.running, notice.you) = (5000, 30, 12, 3)
  (notice.isOrganiser, notice.top, notice.secret) = (true, someMatch, "s3cret")
  (winner.number, winner.name, winner.won) = (3, "Ann", someMatch)
  notice.winners = [winner]
  return notice
}()

@Suite struct MessageTests {
  @Test(arguments: [
    #"{"t":"mute","on":"no"}"#, #"{"t":"seek","key":"k","bots":"no"}"#, #"{"t":"block","name":"Bob","on":1}"#,
    #"{"t":"hello","v":["1"]}"#, #"{"t":"hello","v":[1],"caps":"bot"}"#, #"{"t":"hello","v":[1],"caps":[1]}"#,
    #"{"t":"seek","key":"k","rated":"no"}"#, #"{"t":"move","m":"0123456789ab","ply":0,"cell":"b2","mid":".srv"}"#,
  ]) func `a field of the wrong type is refused`(line: String) {
    #expect(throws: ProtocolError.self) { try parse(line) }
  }

  @Test func `every client message is read back as it was written`() throws {
    for message in clientMessages {
      for id in [nil, "c17"] {
        let line = ClientLine(id: id, message)
        #expect(try line.bytes.dropLast().withUnsafeBytes { raw in try ClientLine(raw) } == line)
        #expect(line.bytes.last == 0x0A && line.bytes.count < 400)
      }
    }
  }

  @Test func `every server message is read back as it was written`() throws {
    let body = MatchEvent(
      at: 5, side: .x, mid: "m1", clocks: Sides(x: 1, o: 2),
      .move(ply: 0, cell: CellName(Cell(4), in: .classic), spent: 9)
    ).body
    var row = JSONObject()
    row.add("name", .string("Ann"))
    let you = PlayerInfo(name: "Ann", rating: 1500, guest: true)
    let messages: [ServerMessage] = [
      .greeting(server: "s", versions: [1]),
      .welcome(
        .init(
          session: "s1", resume: "r", you: you, deviation: 350, token: "t", rate: [20, 40], matches: [someMatch], now: 9
        )),
      .token("t", name: "Ann"), .queued(ticket: "q", waited: 20_000, bots: 1), .paired(someMatch, .o),
      .paired(someMatch, .x), .room(someMatch, code: "ABC123", expiresIn: 600_000),
      .state(try playedMatch().0, left: 500, you: .x), .event(someMatch, seq: 3, hash: "ab", body: body),
      .ok(someMatch, seq: 3), .ok(nil, seq: nil), .err(.busy, "later"), .gone(someMatch, .o, claimIn: 40_000),
      .chat(someMatch, from: "Ann", text: "hi", emote: nil), .chat(someMatch, from: "Ann", text: nil, emote: "gg"),
      .page("top", rows: [row, row], more: 5), .page("me", rows: [], more: nil), .ping(1), .pong(1, now: 2),
      .nodes(["a:1", "b:2"]), .drain(retry: 1000), .bye(.replaced, "again", retry: nil), .bye(.restart, "", retry: 50),
      .help("h"), .tournament(tournamentNotice), .standings("K3X9QF", [tournamentRow], isWhole: true),
      .standings("K3X9QF", [], isWhole: false),
    ]
    for message in messages {
      for re in [nil, "c17"] {
        let line = try parseServer(message.bytes(re: re))
        #expect(line.message == message && line.re == re)
      }
    }
    let (state, _) = try playedMatch()
    let refusal = try parseServer(
      ServerMessage.refusal(.stalePly, "no", state: state, left: nil, you: .o, re: "c1"))
    #expect(refusal.message == .err(.stalePly, "no"))
    #expect(refusal.state == .state(state, left: nil, you: .o))
  }

  @Test(arguments: ["-1", "9007199254740993", "-9223372036854775808", "9223372036854775807"])
  func `a time before 1970 or after 2^53 milliseconds is refused in an event and in a state`(time: String) throws {
    let (state, bodies) = try playedMatch()
    let text = String(decoding: bodies[3], as: UTF8.self)
    #expect(throws: Never.self) { try MatchEvent(body: Array(text.utf8)) }
    let event = text.replacing(#""at":2000"#, with: #""at":\#(time)"#)
    #expect(throws: ProtocolError.self) { try MatchEvent(body: Array(event.utf8)) }
    let line = String(decoding: ServerMessage.state(state, left: nil, you: nil).bytes(), as: UTF8.self)
    let changed = line.replacing(#""times":[2000,3000]"#, with: #""times":[2000,\#(time)]"#)
    #expect(changed != line)
    #expect(throws: ProtocolError.self) { try parseServer(Array(changed.utf8)) }
  }

  @Test func `numbers of the server are clamped, so that sums of two of them fit 32 bits`() throws {
    func read(_ line: String) throws -> ServerMessage { try parseServer(Array((line + "\n").utf8)).message }
    for (number, clamped) in [("9223372036854775807", 1_073_741_823), ("-9223372036854775808", -1_073_741_823)] {
      let gone = try read(#"{"t":"gone","m":"\#(someMatch)","side":"x","in_ms":\#(number)}"#)
      #expect(gone == .gone(someMatch, .x, claimIn: clamped))
      let line = String(decoding: ServerMessage.tournament(tournamentNotice).bytes().dropLast(), as: UTF8.self)
      let changed = line.replacing(#""in_ms":5000"#, with: #""in_ms":\#(number)"#)
      guard case .tournament(let notice) = try read(changed) else {
        Issue.record("\(changed)")
        continue
      }
      #expect(notice.remaining == (clamped < 0 ? 0 : TournamentOrder.longestDelay))
    }
  }

  @Test(arguments: ["a/../../../x", "../abc", "ABC12", "ABC12U", "ABC\\u002f12", ""])
  func `a server's room or tournament whose code is none is refused`(code: String) throws {
    let lines: [ServerMessage] = [
      .room(someMatch, code: "K3X9QF", expiresIn: 1), .tournament(tournamentNotice),
      .standings("K3X9QF", [tournamentRow], isWhole: true),
    ]
    for message in lines {
      let line = String(decoding: message.bytes(), as: UTF8.self)
      #expect(throws: Never.self) { try parseServer(Array(line.replacing("K3X9QF", with: "k3x-9qf").utf8)) }
      #expect(throws: ProtocolError.self) { try parseServer(Array(line.replacing("K3X9QF", with: code).utf8)) }
    }
  }

  @Test func `the help of bare commands names each game and each command that has a game`() {
    for command in ["seek", "create", "top", "history"] {
      let games = Variant.allCases.map(\.rawValue).joined(separator: "|")
      #expect(ClientLine.help.contains("\(command) [\(games)]"), "\(command)")
    }
    #expect(ClientLine.help.contains("| report TEXT |"))
  }

  @Test(arguments: [
    ("move b2", ClientMessage.act(nil, .move(ply: nil, cell: CellName(Cell(4), in: .classic)), mid: nil)),
    ("MOVE 5 ", .act(nil, .move(ply: nil, cell: CellName(Cell(4), in: .classic)), mid: nil)),
    ("resign", .act(nil, .resign, mid: nil)),
    ("seek", .seek(.init(key: nil))),
    ("seek 30+0 rated", .seek(.init(MatchTerms(clock: TimeControl("30+0"), rated: true), key: nil))),
    ("seek none bots", .seek(.init(MatchTerms(clock: nil), bots: true, key: nil))),
    ("draw", .act(nil, .draw(.offer, offer: nil), mid: nil)),
    ("draw accept", .act(nil, .draw(.accept, offer: nil), mid: nil)), ("say  good luck", .say(nil, " good luck")),
    ("join abc-123", .join(code: "abc-123")), ("quit", .bye), ("?", .help),
    ("seek misere", .seek(.init(MatchTerms(rules: .misere), key: nil))),
    ("unseek", .unseek), ("rematch", .act(nil, .rematch, mid: nil)), ("abort", .act(nil, .abort, mid: nil)),
    ("claim", .act(nil, .claim, mid: nil)), ("block Ann", .block(name: "Ann", on: true)),
    ("mute", .mute(on: true)), ("mute off", .mute(on: false)), ("register Ann", .register(name: "Ann")),
    ("me", .me), ("list", .list), ("top", .top(.classic)), ("top infinite", .top(.infinite)),
    ("history", .history(nil, before: nil)), ("history ultimate", .history(.ultimate, before: nil)),
    ("host Class  4", .host(TournamentTerms(name: "Class  4"), secret: nil)),
    ("enter k3x9qf", .tournament(.init(.enter, "k3x9qf"))),
    ("follow k3x9qf s3", .tournament(.init(.follow, "k3x9qf", secret: "s3"))),
    ("games k3x9qf s3 12", .tournament(.init(.games, "k3x9qf", secret: "s3", number: 12))),
    ("remove k3x9qf s3 Ann", .tournament(.init(.remove, "k3x9qf", secret: "s3", name: "Ann"))),
  ]) func `bare commands, as a person types them, are read as messages`(text: String, message: ClientMessage) throws {
    var expected = message
    if case .say = message { expected = .say(nil, "good luck") }
    let parsed = try parse(text).message
    if case .say(nil, let words) = parsed {
      #expect(words.trimmingSpaces == "good luck")
    } else {
      #expect(parsed == expected)
    }
  }

  @Test(arguments: [
    #"{"t":"move","m":"abc","ply":0,"cell":"b2"}"#, #"{"t":"move","m":"abc","ply":100,"cell":"b2","mid":"a"}"#,
    #"{"t":"move","m":"abc","ply":0,"cell":"j4","mid":"a"}"#, #"{"t":"move","m":"a b","ply":0,"cell":"b2","mid":"a"}"#,
    #"{"t":"move","m":"abc","ply":0,"cell":"b2","mid":"white space"}"#, #"{"t":"seek","clock":"5+0","key":"k"}"#,
    #"{"t":"seek","clock":"none","rated":true,"key":"k"}"#, #"{"t":"seek","clock":"60+61","key":"k"}"#,
    #"{"t":"hello"}"#, #"{"t":"draw","m":"abc","a":"accept","mid":"a"}"#, #"{"t":7}"#, #"{"x":1}"#, "{}", "move",
    "move d0", "dance",
    #"{"t":"say","m":"abc","text":7}"#, "join", "watch !", "host", "enter", "start K3X9QF", "remove K3X9QF s3",
    "games K3X9QF s3", "games K3X9QF s3 x",
    #"{"t":"host","name":"A","minutes":4,"secret":"s"}"#,
    #"{"t":"host","name":"","secret":"s"}"#, #"{"t":"host","name":"A","clock":"none","secret":"s"}"#,
    #"{"t":"tournament","op":"end","code":"K3X9QF"}"#, #"{"t":"tournament","op":"dance","code":"K3X9QF"}"#,
  ]) func `a message with a wrong or missing field is refused without counting as malformed`(text: String) {
    #expect { try parse(text) } throws: { ($0 as? ProtocolError)?.isMalformed == false }
  }

  @Test func `a token has only letters and digits of ASCII, low lines and hyphens, and a length within its range`() {
    let allowed = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
    #expect(String((0..<128).map { Character(Unicode.Scalar($0)) }.filter { isToken("\($0)", 1...1) }) == allowed)
    #expect((0...5).filter { isToken(String(repeating: "a", count: $0), 2...4) } == [2, 3, 4] && !isToken("é", 1...9))
  }

  @Test func `unknown fields are ignored`() throws {
    #expect(try parse(#"{"t":"bye","later":[1,{"a":2}]}"#).message == .bye)
  }

  @Test func `room codes are accepted in other spellings`() {
    #expect(canonicalCode("abl-o1i") == "AB1011")
    #expect(canonicalCode("ABC12") == nil)
    #expect(canonicalCode("ABCU12") == nil)
  }
}

extension String {
  fileprivate var trimmingSpaces: String { String(drop { $0 == " " }) }
}

/// A short match with an open draw offer, and the bodies of its events.
func playedMatch() throws -> (MatchState, [[UInt8]]) {
  let ann = PlayerInfo(name: "Ann", rating: 1500, guest: false)
  let bob = PlayerInfo(name: "Bob", rating: 1612, guest: false)
  let clocks = Sides(x: 60_000, o: 60_000)
  let events = [
    MatchEvent(
      at: 1000,
      .start(Sides(x: ann, o: bob), MatchTerms(rated: true), confirm: true, previous: nil, keys: ["k1", "k2"])),
    MatchEvent(at: 1100, side: .x, .confirm), MatchEvent(at: 1200, side: .o, .confirm),
    MatchEvent(
      at: 2000, side: .x, mid: "a", clocks: clocks, .move(ply: 0, cell: CellName(Cell(4), in: .classic), spent: 800)),
    MatchEvent(
      at: 3000, side: .o, mid: "a", clocks: clocks, .move(ply: 1, cell: CellName(Cell(0), in: .classic), spent: 900)),
    MatchEvent(at: 4000, side: .x, mid: "b", .draw(.offer, offer: nil)),
  ]
  var state = MatchState(id: someMatch)
  for event in events { try state.append(event, body: event.body) }
  return (state, events.map(\.body))
}
