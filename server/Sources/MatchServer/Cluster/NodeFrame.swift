import Base
import MatchProtocol
import TicTacToe

/// What two nodes say to one another: JSON objects, one a line, as clients and servers do.
///
/// The node that holds a client's connection opens the link, names the connection by its own number, and gives work to the
/// node that owns the match; lines for the client come back as they are. Times go as ages, because the clocks differ.
package enum NodeFrame: Sendable, Hashable {
  // From the node that opened the link.
  /// Who opens it, and which incarnation it means to reach.
  case hello(epoch: Int64, to: Int64)
  case attach(ConnectionID, Attachment)
  /// Work, the time of a line in it as milliseconds ago.
  case work(ConnectionID, Work, MatchID, roundTrip: Int)
  case detach(ConnectionID, clean: Bool)
  case hint
  case evict(session: String, generation: Int64)
  case refresh(account: Int64)
  case ping
  // From the node it was opened to.
  case pong
  case send(ConnectionID, LineKind, [UInt8])
  case end(ConnectionID, ByeCode, String, retry: Int?)
  case notHere(ConnectionID, Work, MatchID, at: Int64?)
  case here(ConnectionID, MatchID, ticket: String?)
  case played(ConnectionID, AccountRecord)

  /// The version of this language; a link is made only where both speak the same.
  package static let version = 3
  /// Bytes of a frame: the longest line to a client and what names its receiver, or two accounts with all whom they block.
  package static let longest = 2 * Limits.lineOut + 256
}

extension NodeFrame {
  /// The frame as a line, with its end; O(n).
  package var bytes: [UInt8] {
    var out = JSONWriter()
    switch self {
    case .hello(let epoch, let to):
      out.field("n", "hello")
      out.field("v", NodeFrame.version)
      out.field("epoch", epoch)
      out.field("to", to)
    case .attach(let c, let a):
      out.field("n", "attach")
      out.field("c", c)
      out.field("session", a.session)
      out.field("generation", a.generation)
      NodeFrame.write(a.account, to: &out)
      out.field("bot", a.isBot)
      out.field("confirms", a.confirms)
      out.field("speaks", a.version)
    case .work(let c, let work, let m, let roundTrip):
      out.field("n", "work")
      out.field("c", c)
      out.field("rt", roundTrip)
      NodeFrame.write(work, m, to: &out)
    case .notHere(let c, let work, let m, let home):
      out.field("n", "nothere")
      out.field("c", c)
      out.field("at", home)
      NodeFrame.write(work, m, to: &out)
    case .here(let c, let m, let ticket):
      out.field("n", "here")
      out.field("c", c)
      out.field("m", m.rawValue)
      out.field("ticket", ticket)
    case .played(let c, let account):
      out.field("n", "played")
      out.field("c", c)
      NodeFrame.write(account, to: &out)
    case .detach(let c, let clean):
      out.field("n", "detach")
      out.field("c", c)
      out.field("clean", clean)
    case .hint: out.field("n", "hint")
    case .evict(let session, let generation):
      out.field("n", "evict")
      out.field("session", session)
      out.field("generation", generation)
    case .refresh(let account):
      out.field("n", "refresh")
      out.field("account", account)
    case .ping: out.field("n", "ping")
    case .pong: out.field("n", "pong")
    case .send(let c, let kind, let line):
      out = JSONWriter(capacity: line.count + 64)
      out.field("n", "send")
      out.field("c", c)
      switch kind {
      case .essential: out.field("k", "e")
      case .droppable: out.field("k", "d")
      case .spectator(let m): out.field("k", m.rawValue + "/")
      }
      out.raw("line", line.dropLast())
    case .end(let c, let code, let text, let retry):
      out.field("n", "end")
      out.field("c", c)
      out.field("code", code.rawValue)
      out.field("msg", text)
      out.field("retry_ms", retry)
    }
    out.finishLine()
    return out.bytes
  }

  private static func write(_ account: AccountRecord, to out: inout JSONWriter) {
    var account = account
    account.token = nil  // no node needs another's players' secrets
    out.raw("account", StoreArchive.line(account).dropLast())
    out.field("guest", account.guest)
  }

  private static func account(_ f: JSONObject) throws(ProtocolError) -> AccountRecord {
    guard let fields = f["account"]?.object, var account = StoreArchive.account(fields) else {
      throw .missing("account")
    }
    account.guest = f["guest"]?.bool ?? false
    return account
  }

  private static func line(_ ticket: Ticket) -> ArraySlice<UInt8> {
    var out = JSONWriter()
    out.field("ticket", ticket.id)
    out.field("session", ticket.session)
    out.field("bot", ticket.isBot)
    out.field("age", ticket.since)
    out.field("lost", ticket.lost?.rawValue)
    write(ticket.player, to: &out)
    out.raw("seek", ClientLine(.seek(ticket.seek)).bytes.dropLast())
    out.finishLine()
    return out.bytes.dropLast()
  }

  private static func ticket(_ f: JSONObject) throws(ProtocolError) -> Ticket {
    guard let fields = f["seek"]?.object, case .seek(let seek) = try ClientLine(relayed: fields).message else {
      throw .missing("seek")
    }
    return Ticket(
      id: try f.text("ticket"), session: try f.text("session"), player: try account(f), seek: seek,
      isBot: f["bot"]?.bool ?? false, since: Int64(f["age"]?.int ?? 0),
      lost: f["lost"]?.string.flatMap(MatchID.init(rawValue:)))
  }

  private static func write(_ work: Work, _ m: MatchID, to out: inout JSONWriter) {
    out.field("m", m.rawValue)
    switch work {
    case .line(let line, let age):
      out.field("age", age)
      out.raw("line", line.source ?? line.bytes.dropLast())
    case .wait(let ticket):
      out.field("do", "wait")
      out.raw("with", NodeFrame.line(ticket))
    case .leave(let ticket):
      out.field("do", "leave")
      out.field("ticket", ticket)
    case .refused(let ticket, let code):
      out.field("do", "refused")
      out.field("ticket", ticket)
      out.field("code", code.rawValue)
    case .begin(let pairing):
      out.field("do", "begin")
      out.raw("x", NodeFrame.line(pairing.seats.x))
      out.raw("o", NodeFrame.line(pairing.seats.o))
    case .found(let ticket, let found):
      out.field("do", "found")
      out.field("ticket", ticket)
      out.field("is", found.rawValue)
    case .follow(_, let re, let isNew):
      out.field("do", "follow")
      out.field("re", re)
      out.field("new", isNew)
    case .room(_, let re):
      out.field("do", "room")
      out.field("re", re)
    case .caughtUp: out.field("do", "caughtup")
    }
  }

  /// Reads a frame without its line end; O(n).
  package init(_ line: UnsafeRawBufferPointer) throws(ProtocolError) {
    if let frame = NodeFrame(sent: line) ?? NodeFrame(forwarded: line) {
      self = frame
      return
    }
    let f = try JSONObject(line: line, with: "n")
    func connection() throws(ProtocolError) -> ConnectionID { ConnectionID(try f.number("c")) }
    let name = try f.text("n")
    switch name {
    case "hello":
      guard f["v"]?.int == NodeFrame.version else { throw .invalid("v", "\(NodeFrame.version)") }
      self = .hello(epoch: try f.number("epoch"), to: try f.number("to"))
    case "attach":
      self = .attach(
        try connection(),
        Attachment(
          session: try f.text("session"), generation: try f.number("generation"), account: try NodeFrame.account(f),
          isBot: f["bot"]?.bool ?? false, confirms: f["confirms"]?.bool ?? false,
          version: f["speaks"]?.int ?? 1))
    case "work":
      let (work, m) = try NodeFrame.work(f)
      self = .work(try connection(), work, m, roundTrip: Int(try f.number("rt")))
    case "nothere":
      let (work, m) = try NodeFrame.work(f)
      self = .notHere(try connection(), work, m, at: f["at"]?.int.map { Int64($0) })
    case "here": self = .here(try connection(), try f.match("m"), ticket: f["ticket"]?.string)
    case "played": self = .played(try connection(), try NodeFrame.account(f))
    case "detach": self = .detach(try connection(), clean: f["clean"]?.bool ?? false)
    case "hint": self = .hint
    case "evict": self = .evict(session: try f.text("session"), generation: try f.number("generation"))
    case "refresh": self = .refresh(account: try f.number("account"))
    case "ping": self = .ping
    case "pong": self = .pong
    case "end":
      self = .end(
        try connection(), ByeCode(rawValue: try f.text("code")) ?? .restart, f["msg"]?.string ?? "",
        retry: f["retry_ms"]?.int)
    default: throw .unknownType(String(name.prefix(20)))
    }
  }

  private static func work(_ f: JSONObject) throws(ProtocolError) -> (Work, MatchID) {
    let m = try f.match("m")
    if let line = f["line"]?.object { return (.line(try ClientLine(relayed: line), at: Int64(f["age"]?.int ?? 0)), m) }
    switch f["do"]?.string {
    case "wait":
      guard let fields = f["with"]?.object else { throw .missing("with") }
      return (.wait(try ticket(fields)), m)
    case "leave": return (.leave(try f.text("ticket")), m)
    case "refused":
      return (.refused(try f.text("ticket"), f["code"]?.string.flatMap(ErrorCode.init(rawValue:)) ?? .busy), m)
    case "begin":
      guard let x = f["x"]?.object, let o = f["o"]?.object else { throw .missing("x") }
      return (.begin(Pairing(m: m, seats: Sides(x: try ticket(x), o: try ticket(o)))), m)
    case "found": return (.found(try f.text("ticket"), try f.match("is")), m)
    case "follow": return (.follow(m, re: f["re"]?.string, isNew: f["new"]?.bool ?? false), m)
    case "room": return (.room(m, re: f["re"]?.string), m)
    case "caughtup": return (.caughtUp(m), m)
    default: throw .missing("do")
    }
  }

  /// The frames that are most of all there are, taken apart by hand: the line in them stays bytes.
  private init?(sent line: UnsafeRawBufferPointer) {
    var rest = line[...]
    guard rest.take(#"{"n":"send","c":"#), let c = rest.number(), rest.take(#","k":""#), let kind = rest.word(),
      rest.take(#","line":"#), rest.popLast() == UInt8(ascii: "}")
    else { return nil }
    let m = kind.last == "/" ? MatchID(rawValue: String(kind.dropLast())) : nil
    self = .send(
      ConnectionID(c), m.map { .spectator($0) } ?? (kind == "d" ? .droppable : .essential),
      Array(rest) + [UInt8(ascii: "\n")])
  }

  /// What a client said is read as it was said, so that no fields of its make a frame that cannot be.
  private init?(forwarded line: UnsafeRawBufferPointer) {
    var rest = line[...]
    guard rest.take(#"{"n":"work","c":"#), let c = rest.number(), rest.take(#","rt":"#), let roundTrip = rest.number(),
      rest.take(#","m":""#), let m = rest.word().flatMap(MatchID.init(rawValue:)), rest.take(#","age":"#),
      let age = rest.number(), rest.take(#","line":"#), rest.popLast() == UInt8(ascii: "}"),
      let said = try? ClientLine(relayed: UnsafeRawBufferPointer(rebasing: rest))
    else { return nil }
    self = .work(ConnectionID(c), .line(said, at: age), m, roundTrip: Int(roundTrip))
  }
}

extension JSONObject {
  fileprivate func number(_ name: String) throws(ProtocolError) -> Int64 {
    guard let value = self[name]?.int else { throw .missing(name) }
    return Int64(value)
  }

  fileprivate func text(_ name: String) throws(ProtocolError) -> String {
    guard let value = self[name]?.string else { throw .missing(name) }
    return value
  }

  fileprivate func match(_ name: String) throws(ProtocolError) -> MatchID {
    guard let value = self[name]?.string.flatMap(MatchID.init(rawValue:)) else { throw .missing(name) }
    return value
  }
}

extension Slice<UnsafeRawBufferPointer> {
  /// Takes a text from the front, if it is there.
  fileprivate mutating func take(_ text: StaticString) -> Bool {
    let bytes = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    guard starts(with: bytes) else { return false }
    removeFirst(bytes.count)
    return true
  }

  fileprivate mutating func number() -> Int64? {
    let digits = prefix { (0x30...0x39).contains($0) }
    removeFirst(digits.count)
    return Int64(String(decoding: digits, as: UTF8.self))
  }

  /// Takes what comes before the next quote, and the quote.
  fileprivate mutating func word() -> String? {
    guard let quote = firstIndex(of: UInt8(ascii: "\"")) else { return nil }
    defer { self = self[(quote + 1)...] }
    return String(decoding: self[..<quote], as: UTF8.self)
  }
}
