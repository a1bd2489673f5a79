import Base
import MatchProtocol
import MatchStore
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
  case work(ConnectionID, PlayerRequest, MatchID, roundTrip: Int)
  case detach(ConnectionID, clean: Bool)
  case hint
  case evict(session: String, generation: Int64)
  case refresh(account: Int64)
  case ping
  // From the node it was opened to.
  case pong
  case send(ConnectionID, LineKind, [UInt8])
  case end(ConnectionID, ByeCode, String, retry: Int?)
  case notHere(ConnectionID, PlayerRequest, MatchID, at: Int64?)
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
    if case .send(let c, let kind, let line) = self { return NodeFrame.bytes(of: line, kind, to: c) }
    return FieldCoder.bytes(isLine: true) { coder throws(FieldError) in
      coder.tell("n", name)
      _ = try coded(by: &coder)
    }
  }

  private static func bytes(of line: [UInt8], _ kind: LineKind, to c: ConnectionID) -> [UInt8] {
    let mark =
      switch kind {
      case .essential: "e"
      case .droppable: "d"
      case .spectator(let m): m.rawValue + "/"
      }
    return FieldCoder.bytes(capacity: line.count + 64, isLine: true) { coder throws(FieldError) in
      coder.tell("n", "send")
      coder.tell("c", c)
      coder.tell("k", mark)
      coder.tell("line", json: line.dropLast())
    }
  }

  /// Reads a frame without its line end; O(n).
  package init(_ line: UnsafeRawBufferPointer) throws(ProtocolError) {
    if let frame = NodeFrame(sent: line) ?? NodeFrame(forwarded: line) {
      self = frame
      return
    }
    var coder = FieldCoder(reading: try JSONObject(line: line, with: "n"))
    let name = try ProtocolError.fields { () throws(FieldError) in try coder.field("n", "") }
    guard let blank = NodeFrame.blanks.first(where: { $0.name == name }) else {
      throw .unknownType(String(name.prefix(20)))
    }
    self = try ProtocolError.fields { () throws(FieldError) in try blank.coded(by: &coder) }
  }

  private var name: String {
    switch self {
    case .hello: "hello"
    case .attach: "attach"
    case .work: "work"
    case .detach: "detach"
    case .hint: "hint"
    case .evict: "evict"
    case .refresh: "refresh"
    case .ping: "ping"
    case .pong: "pong"
    case .send: "send"
    case .end: "end"
    case .notHere: "nothere"
    case .here: "here"
    case .played: "played"
    }
  }

  /// A frame of each kind but `send`, whose values reading replaces.
  private static let blanks: [NodeFrame] = {
    let account = AccountRecord()
    let nobody = Attachment(session: "", generation: 0, account: account, isBot: false, confirms: false)
    return [
      .hello(epoch: 0, to: 0), .attach(0, nobody), .work(0, .leave(""), .blank, roundTrip: 0), .detach(0, clean: false),
      .hint, .evict(session: "", generation: 0), .refresh(account: 0), .ping, .pong, .end(0, .bye, "", retry: nil),
      .notHere(0, .leave(""), .blank, at: nil), .here(0, .blank, ticket: nil), .played(0, account),
    ]
  }()

  /// The frame with its fields written, or read.
  private func coded(by c: inout FieldCoder) throws(FieldError) -> NodeFrame {
    switch self {
    case .hello(let epoch, let to):
      let version = try c.field("v", NodeFrame.version)
      try c.require(version == NodeFrame.version, "v", "\(NodeFrame.version)")
      return .hello(epoch: try c.field("epoch", epoch), to: try c.field("to", to))
    case .attach(let id, var attachment):
      let id = try c.field("c", id)
      try attachment.code(&c)
      return .attach(id, attachment)
    case .work(let id, let work, let m, let roundTrip):
      let (id, roundTrip) = (try c.field("c", id), try c.field("rt", roundTrip))
      let (read, match) = try c.work(work, m)
      return .work(id, read, match, roundTrip: roundTrip)
    case .notHere(let id, let work, let m, let home):
      let (id, home) = (try c.field("c", id), try c.field("at", home))
      let (read, match) = try c.work(work, m)
      return .notHere(id, read, match, at: home)
    case .here(let id, let m, let ticket):
      return .here(try c.field("c", id), try c.field("m", m), ticket: try c.field("ticket", ticket))
    case .played(let id, let account): return .played(try c.field("c", id), try c.account(account))
    case .detach(let id, let clean): return .detach(try c.field("c", id), clean: try c.field("clean", clean))
    case .evict(let session, let generation):
      return .evict(session: try c.field("session", session), generation: try c.field("generation", generation))
    case .refresh(let account): return .refresh(account: try c.field("account", account))
    case .end(let id, let code, let text, let retry):
      let (id, code) = (try c.field("c", id), ByeCode(rawValue: try c.field("code", code.rawValue)) ?? .restart)
      return .end(id, code, try c.field("msg", text, or: ""), retry: try c.field("retry_ms", retry))
    case .hint, .ping, .pong, .send: return self
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

extension Attachment {
  fileprivate mutating func code(_ c: inout FieldCoder) throws(FieldError) {
    try c.code("session", &session)
    try c.code("generation", &generation)
    account = try c.account(account)
    try c.code("bot", &isBot, or: false)
    try c.code("confirms", &confirms, or: false)
    games = try c.field("games", games, unless: [.classic])
    try c.code("speaks", &version, or: 1)
  }
}

extension Ticket: FieldObject {
  package init() {
    self.init(id: "", session: "", player: AccountRecord(), seek: .init(key: nil), isBot: false, since: 0)
  }

  package mutating func code(_ c: inout FieldCoder) throws(FieldError) {
    try c.code("ticket", &id)
    try c.code("session", &session)
    try c.code("bot", &isBot, or: false)
    try c.code("age", &since, or: 0)
    try c.code("lost", &lost)
    player = try c.account(player)
    if case .seek(let seek) = try c.field("seek", ClientLine(.seek(seek))).message { self.seek = seek }
  }
}

extension PlayerRequest {
  /// What stands in `do`; a line has none.
  private var name: String {
    switch self {
    case .line: "line"
    case .wait: "wait"
    case .leave: "leave"
    case .refused: "refused"
    case .begin: "begin"
    case .found: "found"
    case .follow: "follow"
    case .room: "room"
    case .caughtUp: "caughtup"
    }
  }

  /// Work of each kind, whose values reading replaces.
  private static let blanks: [PlayerRequest] = [
    .line(ClientLine(.help), at: 0), .wait(Ticket()), .leave(""), .refused("", .busy),
    .begin(Pairing(m: .blank, seats: Sides(x: Ticket(), o: Ticket()))), .found("", .blank),
    .follow(.blank, re: nil, isNew: false), .room(.blank, re: nil), .caughtUp(.blank),
  ]

  /// Work on a match with its fields written, or read.
  fileprivate func coded(by c: inout FieldCoder, _ m: MatchID) throws(FieldError) -> PlayerRequest {
    let name = try c.field("do", name, unless: "line")
    guard let work = c.isReading ? PlayerRequest.blanks.first(where: { $0.name == name }) : self else {
      throw .missing("do")
    }
    switch work {
    case .line(let line, let age):
      let age = try c.field("age", age, or: 0)
      return .line(try c.field("line", line), at: age)
    case .wait(let ticket): return .wait(try c.field("with", ticket))
    case .leave(let ticket): return .leave(try c.field("ticket", ticket))
    case .refused(let ticket, let code):
      return .refused(
        try c.field("ticket", ticket), ErrorCode(rawValue: try c.field("code", code.rawValue)) ?? .busy)
    case .begin(let pairing):
      return .begin(
        Pairing(m: m, seats: Sides(x: try c.field("x", pairing.seats.x), o: try c.field("o", pairing.seats.o))))
    case .found(let ticket, let found): return .found(try c.field("ticket", ticket), try c.field("is", found))
    case .follow(_, let re, let isNew):
      return .follow(m, re: try c.field("re", re), isNew: try c.field("new", isNew, or: false))
    case .room(_, let re): return .room(m, re: try c.field("re", re))
    case .caughtUp: return .caughtUp(m)
    }
  }
}

extension FieldCoder {
  fileprivate mutating func work(_ work: PlayerRequest, _ m: MatchID) throws(FieldError) -> (PlayerRequest, MatchID) {
    let m = try field("m", m)
    return (try work.coded(by: &self, m), m)
  }

  /// An account without its token: no node needs another's players' secrets.
  fileprivate mutating func account(_ account: AccountRecord) throws(FieldError) -> AccountRecord {
    var told = account
    told.token = nil
    told = try field("account", told)
    told.guest = try field("guest", account.guest, or: false)
    return told
  }
}

/// A line as its client sent it.
extension ClientLine: FieldValue {
  package init(_ json: JSON, _ name: StaticString) throws(FieldError) {
    guard let object = json.object, let line = try? ClientLine(object, isRelayed: true) else {
      throw .missing("\(name)")
    }
    self = line
  }
  package func append(to bytes: inout [UInt8]) { bytes.append(contentsOf: source ?? self.bytes.dropLast()) }
}

extension ConnectionID: FieldValue {
  package init(_ json: JSON, _ name: StaticString) throws(FieldError) { self.init(try Int64(json, name)) }
  package func append(to bytes: inout [UInt8]) { Int64(self).append(to: &bytes) }
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
