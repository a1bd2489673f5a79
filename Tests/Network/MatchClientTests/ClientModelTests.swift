import Base
import MatchProtocol
import Testing
import TicTacToe

@testable import ClientModel

@Suite struct ClientModelTests {
  private static let welcome =
    #"{"t":"welcome","v":2,"session":"s","resume":"r","you":{"name":"guest-ann","rating":1500,"guest":true},"rd":350,"#
    + #""hb":10000,"limits":[20,40],"nodes":[],"matches":[],"now":1}"#

  @Test func `a server's names and texts come without control characters, and its events keep their hashes`() throws {
    var model = ClientModel(.init(), seed: 1)
    func heard(_ line: String) -> ClientModel.Output {
      Array(line.utf8).withUnsafeBytes { model.receive($0, now: 0) }
    }
    _ = model.connected()
    _ = heard(Self.welcome.replacing("guest-ann", with: #"guest-a\u0000nn\u001b[2J"#))
    #expect(model.welcome?.you.name == "guest-ann[2J")
    let m = try #require(MatchID(rawValue: "0123456789ab"))
    let players = Sides(
      x: PlayerInfo(name: "I\u{1B}da", rating: 1_518, guest: false),
      o: PlayerInfo(name: "Ben", rating: 1_500, guest: true))
    let body = MatchEvent(at: 0, .start(players, MatchTerms(), confirm: false, previous: nil, keys: [])).body
    var state = MatchState(id: m)
    try state.append(body: body)
    let line = ServerMessage.event(m, seq: 1, hash: state.hash.short, body: body).bytes().dropLast()
    _ = heard(String(decoding: line, as: UTF8.self))
    #expect(model.matches[m]?.state.seq == 1 && model.matches[m]?.state.players?.x.name == "Ida")
    let said = heard(#"{"t":"chat","m":"\#(m)","from":"Ida","text":"\u009b31mhi\n"}"#)
    #expect(said.events.map { $0.event } == [.chat(m, from: "Ida", text: "31mhi", emote: nil)])
  }

  @Test func `a refused request for the state of a match is sent again at the next event`() throws {
    var model = ClientModel(.init(guest: "ann"), seed: 1)
    func heard(_ line: String) -> [String] {
      let out = Array(line.utf8).withUnsafeBytes { model.receive($0, now: 0) }
      return out.lines.map { String(decoding: $0, as: UTF8.self) }
    }
    _ = model.connected()
    _ = heard(Self.welcome)
    try #require(model.welcome != nil)
    func event(_ seq: Int) -> [String] {
      heard(#"{"t":"event","m":"qqdfq0qf0tgr","seq":\#(seq),"hash":"00","body":{"k":"gone","at":1,"side":"x"}}"#)
    }
    let first = try #require(event(5).first)
    #expect(first.contains(#""t":"sync""#) && event(6).isEmpty, "one request at a time")
    let id = try #require(first.split(separator: "\"").dropFirst(3).first { $0.hasPrefix("c") })
    #expect(heard(#"{"t":"err","re":"\#(id)","code":"busy","msg":"later"}"#).isEmpty)
    #expect(event(7).first?.contains(#""t":"sync""#) == true)
  }

  @Test(arguments: ["busy", "occupied", "draining"])
  func `a refused seek is repeated only if the node stops, and then on the next node`(code: String) throws {
    var model = ClientModel(.init(guest: "ann"), seed: 1)
    func heard(_ line: String) -> [String] {
      let out = Array(line.utf8).withUnsafeBytes { model.receive($0, now: 0) }
      return out.lines.map { String(decoding: $0, as: UTF8.self) }
    }
    _ = model.connected()
    _ = heard(Self.welcome)
    for _ in 0..<2 {
      let asked = try #require(model.ask(.seek(.init(key: nil))).lines.first)
      let id = try #require(String(decoding: asked, as: UTF8.self).split(separator: "\"").first { $0.hasPrefix("c") })
      _ = heard(#"{"t":"err","re":"\#(id)","code":"\#(code)","msg":"no"}"#)
      model.disconnected()
      _ = model.connected()
      #expect(heard(Self.welcome).contains { $0.contains(#""t":"seek""#) } == (code == "draining"))
    }
  }

  @Test(arguments: [TournamentOrder.Operation.leave, .unfollow])
  func `a late answer to an earlier order does not open a tournament that was left`(_ end: TournamentOrder.Operation)
    throws
  {
    var model = ClientModel(.init(guest: "ann"), seed: 1)
    func hear(_ message: ServerMessage, re: String? = nil) {
      _ = Array(message.bytes(re: re).dropLast()).withUnsafeBytes { model.receive($0, now: 0) }
    }
    func perform(_ operation: TournamentOrder.Operation) throws -> String {
      let line = try #require(model.perform(.tournament(.init(operation, "ABC234"))).lines.first)
      return try #require(
        String(decoding: line, as: UTF8.self).split(separator: "\"").map { String($0) }.first { $0.hasPrefix("c") })
    }
    _ = model.connected()
    _ = Array(Self.welcome.utf8).withUnsafeBytes { model.receive($0, now: 0) }
    var notice = TournamentNotice()
    notice.code = "ABC234"
    notice.terms = TournamentTerms(name: "Class 4", clock: TimeControl("10+0"), minutes: 20)
    let follow = try perform(.follow)
    _ = try perform(end)
    hear(.tournament(notice), re: follow)
    #expect(model.tournament == nil)
    hear(.tournament(notice), re: try perform(.follow))
    #expect(model.tournament?.code == "ABC234", "a new order opens the tournament again")
  }

  @Test func `an event has its match as it was at the event, also if it is read after later events`() throws {
    var model = ClientModel(.init(guest: "ann"), seed: 1)
    let m = MatchID(rawValue: "0123456789ab").unsafelyUnwrapped
    var state = MatchState(id: m)
    var events: [(event: ClientEvent, match: MatchView?)] = []
    func hear(_ kind: MatchEvent.Kind, _ side: Player? = nil) throws {
      let event = MatchEvent(at: 0, side: side, mid: nil, kind)
      try state.append(event, body: event.body)
      let line = ServerMessage.event(m, seq: state.seq, hash: state.hash.short, body: event.body).bytes(re: nil)
      events += Array(line.dropLast()).withUnsafeBytes { model.receive($0, now: 0) }.events
    }
    let players = Sides(
      x: PlayerInfo(name: "Vera", rating: 1_500, guest: true), o: PlayerInfo(name: "Ida", rating: 1_518, guest: false))
    try hear(.start(players, MatchTerms(), confirm: false, previous: nil, keys: []))
    for (ply, cell) in [4, 0].enumerated() {
      try hear(.move(ply: ply, cell: CellName(Cell(cell), in: .classic), spent: 0), ply == 0 ? .x : .o)
    }
    #expect(events.map { $0.match?.state.moves.count } == [0, 1, 2])
  }

  @Test func `a state with fewer events corrects the match, but is ignored as outdated after a reconnect`() throws {
    var model = ClientModel(.init(guest: "ann"), seed: 1)
    let m = MatchID(rawValue: "0123456789ab").unsafelyUnwrapped
    func receive(_ message: ServerMessage) {
      _ = Array(message.bytes(re: nil).dropLast()).withUnsafeBytes { model.receive($0, now: 0) }
    }
    let players = Sides(
      x: PlayerInfo(name: "Vera", rating: 1_500, guest: true), o: PlayerInfo(name: "Ida", rating: 1_518, guest: false))
    var states = [MatchState(id: m)]
    let kinds: [(Player?, MatchEvent.Kind)] = [
      (nil, .start(players, MatchTerms(), confirm: false, previous: nil, keys: [])),
      (.x, .move(ply: 0, cell: CellName(Cell(4), in: .classic), spent: 0)),
    ]
    for (side, kind) in kinds {
      var state = states[states.count - 1]
      let event = MatchEvent(at: 0, side: side, mid: nil, kind)
      try state.append(event, body: event.body)
      states.append(state)
      receive(.event(m, seq: state.seq, hash: state.hash.short, body: event.body))
    }
    let (start, moved) = (states[1], states[2])
    receive(.state(start, left: nil, you: .x))
    #expect(model.matches[m]?.state == start)
    receive(.state(moved, left: nil, you: .x))
    model.disconnected()
    _ = model.connected()
    receive(.state(start, left: nil, you: .x))
    #expect(model.matches[m]?.state == moved)
  }

  /// The ids that could follow `mid` if a client drew its ids from a `SplitMix64`: sixteen, because an id has 60 of the 64 bits of an
  /// output.
  private static func successors(of mid: String) -> [String] {
    func inverse(_ factor: UInt64) -> UInt64 { (0..<6).reduce(factor) { found, _ in found &* (2 &- factor &* found) } }
    func unshift(_ value: UInt64, _ bits: UInt64) -> UInt64 {
      stride(from: bits, to: 64, by: Int(bits)).reduce(value) { $0 ^ value >> $1 }
    }
    let digits = Array("0123456789abcdefghjkmnpqrstvwxyz")
    let known = mid.enumerated().reduce(UInt64(0)) { bits, digit in
      bits | UInt64(digits.firstIndex(of: digit.element) ?? 0) << UInt64(5 * digit.offset)
    }
    return (0..<16).map { (top: UInt64) in
      var state = unshift(known | top << 60, 31) &* inverse(0x94D0_49BB_1331_11EB)
      state = unshift(state, 27) &* inverse(0xBF58_476D_1CE4_E5B9)
      var generator = SplitMix64(seed: unshift(state, 30))
      return crockford(bits: generator.next(), count: 12, lowercase: true)
    }
  }

  @Test func `an organiser's secret does not follow from the ids that opponents and spectators see`() throws {
    func mid(_ model: inout ClientModel) throws -> String {
      _ = model.act(MatchID(rawValue: "0123456789ab").unsafelyUnwrapped, .resign)
      guard case .act(_, _, let mid) = try #require(model.outstanding.last).message else { return "" }
      return try #require(mid)
    }
    var seeded = ClientModel(.init(guest: "ann"), seed: 1)
    let first = try mid(&seeded)
    #expect(try Self.successors(of: first).contains(mid(&seeded)), "the ids of tests follow from each other")
    var model = ClientModel(.init(guest: "ann"))
    let seen = try mid(&model)
    #expect(try !Self.successors(of: seen).contains(mid(&model)))
  }
}
