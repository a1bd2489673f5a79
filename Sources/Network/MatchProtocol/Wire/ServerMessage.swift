import Base
import TicTacToe

/// Why a command was refused.
package enum ErrorCode: String, Sendable, Hashable, CaseIterable {
  /// The line is no message, or a field is missing or wrong.
  case bad = "bad_request"
  /// No version in common.
  case version
  /// The token is unknown, expired or revoked.
  case auth
  /// There is no such match, ticket or player, or it is not for you.
  case notFound = "not_found"
  /// A bare command, and not exactly one live match.
  case noMatch = "no_match"
  /// You do not play in this match, or may not do this as a guest.
  case forbidden
  /// The ply has been played; `state` has what is true.
  case stalePly = "stale_ply"
  /// The `mid` or `key` was used for something else.
  case midReused = "mid_reused"
  /// The rules of the game or of the match forbid it; `state` has what is true.
  case rules
  /// The match is over.
  case over
  /// A seek is open already, or you sit at a board already.
  case occupied
  /// The room code is wrong, used or expired.
  case code
  /// The name is taken, reserved or malformed.
  case name
  /// Too many messages or tries; wait.
  case rate
  /// The server has too much to do; try again.
  case busy
  /// Chat is not possible here: muted by an administrator, or not your board.
  case muted
  /// The server is stopping; reconnect later.
  case draining
}

/// Why the server ends a connection.
package enum ByeCode: String, Sendable, Hashable, CaseIterable {
  /// You asked.
  case bye
  /// The same session connected again.
  case replaced
  /// Nothing was heard for 25 s, or no `hello` in 10 s.
  case timeout
  /// Three lines that were no messages.
  case malformed
  /// Messages kept coming faster than allowed.
  case flood
  /// What was sent to you was not read.
  case slow
  /// The server stops, or starts over; come back after `retry_ms`.
  case restart
  /// Too many connections, of all or from your address.
  case full
  /// Banned by an administrator.
  case banned
  /// The session was revoked.
  case revoked
}

/// Everything a server can say.
package enum ServerMessage: Sendable, Hashable {
  /// The answer to `hello`.
  package struct Welcome: Sendable, Hashable {
    /// The version chosen.
    package var version = protocolVersions[0]
    /// The session's public number.
    package var session: String
    /// What brings the session back after a lost connection; it changes with each `hello`.
    package var resume: String
    /// Who you are.
    package var you: PlayerInfo
    /// The rating deviation, rounded.
    package var deviation: Int
    /// The guest's token, once, when the guest was made by this `hello`.
    package var token: String?
    /// Milliseconds between heartbeats.
    package var heartbeat = Limits.heartbeat
    /// Messages a second and burst allowed.
    package var rate: [Int]
    /// Addresses of other nodes; empty in embedded mode.
    package var nodes: [String] = []
    /// The live matches you sit at.
    package var matches: [MatchID]
    /// The server's clock, milliseconds since 1970.
    package var now: Int64

    /// Makes an answer.
    package init(
      session: String, resume: String, you: PlayerInfo, deviation: Int, token: String?, rate: [Int],
      matches: [MatchID], now: Int64
    ) {
      (self.session, self.resume, self.you, self.deviation) = (session, resume, you, deviation)
      (self.token, self.rate, self.matches, self.now) = (token, rate, matches, now)
    }
  }

  /// The first line: the program and the versions it speaks.
  case greeting(server: String, versions: [Int])
  case welcome(Welcome)
  case token(String, name: String)
  /// A seek waits; `bots` are ready to play if the seek says that one will do.
  case queued(ticket: String, waited: Int, bots: Int)
  case paired(MatchID, Player, confirmIn: Int?)
  case room(MatchID, code: String, expiresIn: Int)
  /// A whole match as it stands; `left` are the milliseconds the side to move has left now.
  case state(MatchState, left: Int?, you: Player?)
  case event(MatchID, seq: Int, hash: String, body: [UInt8])
  case ok(MatchID?, seq: Int?)
  case err(ErrorCode, String)
  case gone(MatchID, Player, claimIn: Int)
  case chat(MatchID, from: String, text: String?, emote: String?)
  case page(String, rows: [JSONObject], more: Int64?)
  case ping(Int64)
  case pong(Int64, now: Int64)
  case drain(retry: Int)
  /// The connection ends; `node` is where the match is that this server cannot reach, `HOST:PORT`.
  case bye(ByeCode, String, retry: Int?, node: String? = nil)
  case help(String)
}

extension ServerMessage {
  /// The line as the server sends it, with its line end; O(n).
  package func bytes(re: String? = nil) -> [UInt8] {
    // An event is its body and less than 128 bytes around it.
    let room = if case .event(_, _, _, let body) = self { body.count + 128 } else { 160 }
    var out = JSONWriter(capacity: room)
    func head(_ t: String) {
      out.field("t", t)
      out.field("re", re)
    }
    switch self {
    case .greeting(let server, let versions):
      head("hello")
      out.field("server", server)
      out.field("v", versions)
      out.field("help", "type hello, then help")
    case .welcome(let w):
      head("welcome")
      out.field("v", w.version)
      out.field("session", w.session)
      out.field("resume", w.resume)
      out.raw("you", MatchEvent.json(w.you))
      out.field("rd", w.deviation)
      out.field("token", w.token)
      out.field("hb", w.heartbeat)
      out.field("limits", w.rate)
      out.field("nodes", w.nodes)
      out.field("matches", w.matches.map { $0.rawValue })
      out.field("now", w.now)
    case .token(let token, let name):
      head("token")
      out.field("token", token)
      out.field("name", name)
    case .queued(let ticket, let waited, let bots):
      head("queued")
      out.field("ticket", ticket)
      out.field("waited", waited)
      out.field("bots", bots)
    case .paired(let m, let side, let confirmIn):
      head("paired")
      out.field("m", m.rawValue)
      out.field("side", side.wire)
      out.field("confirm_ms", confirmIn)
    case .room(let m, let code, let expiresIn):
      head("room")
      out.field("m", m.rawValue)
      out.field("code", code)
      out.field("in_ms", expiresIn)
    case .state(let state, let left, let you):
      head("state")
      state.write(to: &out)
      out.field("left", left)
      out.field("you", you?.wire)
    case .event(let m, let seq, let hash, let body):
      head("event")
      out.field("m", m.rawValue)
      out.field("seq", seq)
      out.field("hash", hash)
      out.raw("body", body)
    case .ok(let m, let seq):
      head("ok")
      out.field("m", m?.rawValue)
      out.field("seq", seq)
    case .err(let code, let message):
      head("err")
      out.field("code", code.rawValue)
      out.field("msg", message)
    case .gone(let m, let side, let claimIn):
      head("gone")
      out.field("m", m.rawValue)
      out.field("side", side.wire)
      out.field("in_ms", claimIn)
    case .chat(let m, let from, let text, let emote):
      head("chat")
      out.field("m", m.rawValue)
      out.field("from", from)
      out.field("text", text)
      out.field("e", emote)
    case .page(let of, let rows, let more):
      head("page")
      out.field("of", of)
      out.array("rows", rows) { JSONWriter.append(.object($0), to: &$1) }
      out.field("more", more)
    case .ping(let ts):
      head("ping")
      out.field("ts", ts)
    case .pong(let ts, let now):
      head("pong")
      out.field("ts", ts)
      out.field("now", now)
    case .drain(let retry):
      head("drain")
      out.field("retry_ms", retry)
    case .bye(let code, let message, let retry, let node):
      head("bye")
      out.field("code", code.rawValue)
      out.field("msg", message)
      out.field("retry_ms", retry)
      out.field("node", node)
    case .help(let text):
      head("help")
      out.field("text", text)
    }
    out.finishLine()
    return out.bytes
  }
}

/// One line from a server: a message, and which line of ours it answers.
package struct ServerLine: Sendable, Hashable {
  /// The `id` of the line it answers, if it answers one.
  package var re: String?
  /// The message.
  package var message: ServerMessage
  /// The state a refusal came with.
  package var state: ServerMessage?
}

extension ServerLine {
  /// Reads a line of a server; an unknown type throws, unknown fields are ignored; O(n).
  package init(_ line: UnsafeRawBufferPointer) throws(ProtocolError) {
    let f = try JSONObject(line: line, with: "t")
    re = f["re"]?.string
    message = try ServerMessage(f, line)
    if let fields = f["state"]?.object { state = try ServerMessage(state: fields) }
  }
}

extension ServerMessage {
  init(state f: JSONObject) throws(ProtocolError) {
    self = .state(try MatchState(f), left: try f.optionalInt("left"), you: Player(wire: f["you"]?.string))
  }

  fileprivate init(_ f: JSONObject, _ line: UnsafeRawBufferPointer) throws(ProtocolError) {
    switch try f.string("t") {
    case "hello":
      self = .greeting(server: try f.string("server"), versions: f["v"]?.array?.compactMap { $0.int } ?? [])
    case "welcome":
      var welcome = Welcome(
        session: try f.string("session"), resume: try f.string("resume"), you: try f.player("you"),
        deviation: try f.int("rd"), token: f["token"]?.string, rate: f["limits"]?.array?.compactMap { $0.int } ?? [],
        matches: (f["matches"]?.array ?? []).compactMap { $0.string.flatMap(MatchID.init(rawValue:)) },
        now: try f.int64("now"))
      welcome.version = try f.int("v")
      welcome.heartbeat = try f.int("hb")
      welcome.nodes = f["nodes"]?.array?.compactMap { $0.string } ?? []
      self = .welcome(welcome)
    case "token": self = .token(try f.string("token"), name: try f.string("name"))
    case "queued":
      self = .queued(
        ticket: try f.string("ticket"), waited: try f.optionalInt("waited") ?? 0, bots: try f.optionalInt("bots") ?? 0)
    case "paired":
      self = .paired(try f.match("m"), try f.player(side: "side"), confirmIn: try f.optionalInt("confirm_ms"))
    case "room": self = .room(try f.match("m"), code: try f.string("code"), expiresIn: try f.int("in_ms"))
    case "state": self = try ServerMessage(state: f)
    case "event":
      self = .event(
        try f.match("m"), seq: try f.int("seq"), hash: try f.string("hash"), body: try EventBody.bytes(in: line))
    case "ok": self = .ok(f["m"] == nil ? nil : try f.match("m"), seq: try f.optionalInt("seq"))
    case "err": self = .err(ErrorCode(rawValue: try f.string("code")) ?? .bad, f["msg"]?.string ?? "")
    case "gone": self = .gone(try f.match("m"), try f.player(side: "side"), claimIn: try f.int("in_ms"))
    case "chat":
      self = .chat(try f.match("m"), from: try f.string("from"), text: f["text"]?.string, emote: f["e"]?.string)
    case "page":
      self = .page(
        try f.string("of"), rows: (f["rows"]?.array ?? []).compactMap { $0.object },
        more: f["more"] == nil ? nil : try f.int64("more"))
    case "ping": self = .ping(try f.int64("ts"))
    case "pong": self = .pong(try f.int64("ts"), now: try f.int64("now"))
    case "drain": self = .drain(retry: try f.int("retry_ms"))
    case "bye":
      self = .bye(
        ByeCode(rawValue: try f.string("code")) ?? .bye, f["msg"]?.string ?? "", retry: try f.optionalInt("retry_ms"),
        node: f["node"]?.string)
    case "help": self = .help(try f.string("text"))
    case let other: throw .unknownType(String(other.prefix(20)))
    }
  }
}

extension JSONObject {
  fileprivate func player(side name: String) throws(ProtocolError) -> Player {
    guard let side = Player(wire: try string(name)) else { throw .invalid(name, "x or o") }
    return side
  }
}

/// Finds the stored bytes of an event in its line: `body` is always the last field, so they run to the last but one byte.
package enum EventBody {
  private static let key = Array(#","body":"#.utf8)

  /// The bytes of `body`; throws if the line has none where it must be. O(n).
  package static func bytes(in line: UnsafeRawBufferPointer) throws(ProtocolError) -> [UInt8] {
    guard line.last == UInt8(ascii: "}"), line.count > key.count else { throw .missing("body") }
    var i = 0
    let last = line.count - key.count
    while i < last {
      if line[i] == key[0], (0..<key.count).allSatisfy({ line[i + $0] == key[$0] }) {
        return Array(line[(i + key.count)..<(line.count - 1)])
      }
      i += 1
    }
    throw .missing("body")
  }
}

extension ServerMessage {
  /// The events of a log behind a place in it; O(log).
  package static func events(of m: MatchID, _ bodies: [[UInt8]], after seq: Int = 0) -> [ServerMessage] {
    var hash = LogHash(start: m)
    return bodies.enumerated().compactMap { i, body in
      hash = hash.adding(body)
      return i < seq ? nil : .event(m, seq: i + 1, hash: hash.short, body: body)
    }
  }

  /// A refusal with the state that is true.
  package static func refusal(
    _ code: ErrorCode, _ text: String, state: MatchState, left: Int?, you: Player?, re: String?
  ) -> [UInt8] {
    var inner = JSONWriter(capacity: 400)
    state.write(to: &inner)
    inner.field("left", left)
    inner.field("you", you?.wire)
    inner.finish()
    var out = JSONWriter(capacity: 500)
    out.field("t", "err")
    out.field("re", re)
    out.field("code", code.rawValue)
    out.field("msg", text)
    out.raw("state", inner.bytes)
    out.finishLine()
    return out.bytes
  }
}
