import Base
import MatchProtocol
import TestSupport
import Testing
import TicTacToe

/// Collects a session's actions. The test sets the time.
struct SteppedSession {
  var session: ServerSession
  var now: Int64 = 0
  var actions: [ServerSession.Action] = []

  init(_ configuration: ServerSession.Configuration = .init()) { session = ServerSession(configuration, now: 0) }

  mutating func feed(_ text: String, cut: Int = .max) { feed(Array(text.utf8), cut: cut) }

  mutating func feed(_ bytes: [UInt8], cut: Int = .max) {
    var rest = bytes[...]
    while !rest.isEmpty {
      Array(rest.prefix(cut)).withUnsafeBytes { raw in session.receive(raw, now: now) { actions.append($0) } }
      rest = rest.dropFirst(cut)
    }
  }

  mutating func tick(_ ms: Int64) {
    now += ms
    session.tick(now: now) { actions.append($0) }
  }

  var closed: ByeCode? {
    actions.compactMap { if case .close(let code, _, _) = $0 { code } else { nil } }.first
  }
  var delivered: [ClientMessage] {
    actions.compactMap { if case .deliver(let line, _) = $0 { line.message } else { nil } }
  }
  var sent: String {
    actions.map { if case .send(let bytes) = $0 { String(decoding: bytes, as: UTF8.self) } else { "" } }.joined()
  }
}

private let hello = #"{"t":"hello","v":[1],"client":"t"}"# + "\n"

@Suite struct ServerSessionTests {
  @Test func `a conversation that arrives byte by byte has the same result as one that arrives whole`() {
    let talk = hello + "seek\r\n" + #"{"t":"ping","ts":5,"id":"p"}"# + "\n\nhelp\nmove b2\n"
    var whole = SteppedSession()
    whole.feed(talk)
    var dripped = SteppedSession()
    dripped.feed(talk, cut: 1)
    #expect(whole.actions == dripped.actions)
    #expect(whole.delivered.count == 3)
    #expect(whole.sent.contains(#""t":"pong","re":"p","ts":5"#))
  }

  @Test func `the first message must be hello, and hello comes once`() {
    var s = SteppedSession()
    s.feed("seek\n" + hello + hello)
    #expect(s.delivered.count == 1)
    #expect(s.sent.contains("say hello first") && s.sent.contains("hello was said"))
  }

  @Test func `a client of another version is told the supported versions`() {
    var s = SteppedSession()
    s.feed(#"{"t":"hello","v":[7,9]}"# + "\n")
    #expect(s.sent.contains(#""code":"version""#) && s.sent.contains("version 2, 1 only"))
    #expect(s.closed == .bye)
  }

  @Test(arguments: [
    [UInt8](repeating: 65, count: 5000), [0x7B, 0xFF, 0xFE, 0x7D], Array(#"{"a":{"b":{"c":{"d":{}}}}}"#.utf8), [0x80],
    Array("{\"t\":\"bye\"".utf8),
  ]) func `the third malformed line closes the connection, not the first or second`(line: [UInt8]) {
    var s = SteppedSession()
    s.feed(Array(hello.utf8))
    s.feed(line + [0x0A] + line + [0x0A])
    #expect(s.closed == nil)
    s.feed(line + [0x0A] + Array("seek\n".utf8))
    #expect(s.closed == .malformed)
    #expect(s.delivered.count == 1, "nothing after the close is taken")
  }

  @Test(arguments: [(32, true), (33, false)])
  func `an error repeats the id of the refused line, if the id is not too long`(length: Int, isRepeated: Bool) {
    var s = SteppedSession()
    let id = String(repeating: "i", count: length)
    s.feed(hello + #"{"t":"nonsense","id":"\#(id)"}"# + "\n")
    #expect(s.sent.contains(#""t":"err""#) && s.sent.contains(#""re":"\#(id)""#) == isRepeated)
  }

  @Test func `a flood is refused, then its connection closed; pauses reset the count`() {
    var s = SteppedSession()
    s.feed(hello)
    for _ in 0..<60 { s.feed("top\n") }
    #expect(s.delivered.count == 40)
    #expect(s.sent.contains(#""code":"rate""#))
    s.tick(1000)
    s.feed("top\n")
    #expect(s.delivered.count == 41)
    for _ in 0..<200 { s.feed("top\n") }
    #expect(s.closed == .flood)
  }

  @Test(arguments: [(40, 10, ""), (2000, 1, ""), (19_000, 1, #","caps":["bot"]"#)])
  func `a client that keeps exceeding the rate is closed, however its messages are spread`(
    rate: Int, seconds: Int, caps: String
  ) {
    var s = SteppedSession()
    s.feed(#"{"t":"hello","v":[1],"client":"t"\#(caps)}"# + "\n")
    for millisecond in 0..<seconds * 1000 {
      s.now += 1
      for _ in 0..<(millisecond + 1) * rate / 1000 - millisecond * rate / 1000 { s.feed("top\n") }
    }
    #expect(s.closed == .flood)
  }

  @Test func `long lines cost more, and are refused unparsed`() {
    var s = SteppedSession()
    s.feed(hello)
    let long = #"{"t":"top","id":"x","fill":""# + String(repeating: "y", count: 4000) + "\"}\n"
    for _ in 0..<10 { s.feed(long) }
    // A client may send 40 lines at once. `hello` was one, and a line of 4,000 bytes counts as four, so the tenth is refused.
    #expect(s.delivered.count == 1 + 9 && s.sent.contains(#""re":"x","code":"rate""#))
    s.feed("{\"t\":" + String(repeating: "[", count: 4000) + "\n")
    #expect(!s.sent.contains("nested"))
  }

  @Test(arguments: ["\n", "\r\n", "x"]) func `endless bytes without lines count as a flood`(filling: String) {
    var s = SteppedSession()
    s.feed(hello)
    for _ in 0..<1000 where s.closed == nil { s.feed(String(repeating: filling, count: 1024)) }
    #expect(s.closed == .flood)
  }

  @Test func `only whole lines reset the silence timeout`() {
    var s = SteppedSession()
    s.feed(hello)
    for _ in 0..<60 {
      s.feed(String(repeating: "x", count: 512))
      s.tick(500)
    }
    #expect(s.closed == .timeout)
  }

  @Test func `leading white space is ignored, and bye is answered like any command`() {
    var s = SteppedSession()
    s.feed(" \t" + hello)
    #expect(!s.session.isPerson && s.delivered.count == 1)
    s.feed(#" {"t":"bye","id":"b"}"# + "\n")
    #expect(s.actions.last == .close(.bye, "good bye", re: "b"))
  }

  @Test func `heartbeats measure the round trip, and silence closes the connection`() {
    var s = SteppedSession()
    s.feed(hello)
    s.tick(10_000)
    #expect(s.sent.hasSuffix(#"{"t":"ping","ts":10000}"# + "\n"))
    s.now += 70
    s.feed(#"{"t":"pong","ts":10000}"# + "\n")
    #expect(s.session.roundTrip == 70)
    s.feed(#"{"t":"pong","ts":-5}"# + "\n")
    #expect(s.session.roundTrip == 70, "a made-up time proves nothing")
    for _ in 0..<24 { s.tick(1000) }
    #expect(s.closed == nil)
    s.tick(1000)
    #expect(s.closed == .timeout)
  }

  @Test func `one late pong does not lengthen the round trip`() {
    var s = SteppedSession()
    s.feed(hello)
    for (pause, trip) in [(10_000 as Int64, 70 as Int64), (9_930, 400)] {
      s.tick(pause)
      let ts = s.now
      s.now += trip
      s.feed(#"{"t":"pong","ts":\#(ts)}"# + "\n")
      #expect(s.session.roundTrip == 70)
    }
  }

  @Test func `a person typing bare commands need not answer heartbeats`() {
    var s = SteppedSession()
    s.feed("hello Ann\n")
    for _ in 0..<100 { s.tick(1000) }
    #expect(s.closed == nil && !s.sent.contains("ping"))
    for _ in 0..<500 { s.tick(1000) }
    #expect(s.closed == .timeout)
  }

  @Test func `a connection that never says hello is closed after ten seconds`() {
    var s = SteppedSession()
    s.tick(9_999)
    #expect(s.closed == nil)
    s.tick(1)
    #expect(s.closed == .timeout)
  }

  @Test func `mutated conversations never break the session, and delivered messages are complete`() throws {
    let corpus =
      clientMessages.map { ClientLine(id: "c", $0).bytes }
      + ["move b2\n", "seek 60+2 rated\n", "say hi\n"].map { Array($0.utf8) }
    let noise = Array("{}[]\":,\\u0019-+.eE \r\n".utf8) + [0, 0x7F, 0x80, 0xC3, 0xF4, 0xFF]
    let seed = UInt64(amount("FUZZ_SEED", quick: 1, all: 1))
    var delivered = 0
    for round in 0..<UInt64(amount("FUZZ_ROUNDS", quick: 2000, all: 100_000)) {
      var random = SplitMix64(seed: seed, index: round)
      var s = SteppedSession()
      s.feed(hello)
      var stream: [UInt8] = []
      for _ in 0..<6 {
        var line = corpus[random.below(corpus.count)]
        for _ in 0..<random.below(4) {
          switch random.below(4) {
          case 0: line[random.below(line.count)] = noise[random.below(noise.count)]
          case 1: line.insert(noise[random.below(noise.count)], at: random.below(line.count))
          case 2: line.removeSubrange(random.below(line.count)..<line.count)
          default: line += corpus[random.below(corpus.count)]
          }
          if line.isEmpty { line = [0x0A] }
        }
        stream += line
      }
      s.feed(stream, cut: 1 + random.below(40))
      // Each delivered message is the same if it is written and read again.
      for message in s.delivered {
        let line = ClientLine(message)
        if case .act(nil, _, _) = message { continue }
        if case .seek(let seek) = message, seek.key == nil { continue }
        if case .create(_, nil) = message { continue }
        switch message {
        case .say(nil, _), .emote(nil, _), .report(nil, _): continue
        default: break
        }
        let again = try line.bytes.dropLast().withUnsafeBytes { raw in try ClientLine(raw) }
        #expect(again.message == message, "seed \(seed) round \(round)")
        delivered += 1
      }
    }
    #expect(delivered > 2000, "too little was understood to say anything")
  }
}
