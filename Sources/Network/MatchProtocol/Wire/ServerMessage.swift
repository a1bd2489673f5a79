import Base
import TicTacToe

/// The reason a command was refused.
package enum ErrorCode: String, Sendable, Hashable, CaseIterable {
  /// The line is no message, or a field is missing or wrong.
  case bad = "bad_request"
  /// Client and server have no version of the protocol in common.
  case version
  /// The token is unknown, expired or revoked.
  case auth
  /// There is no such match, player or ticket (the name of a seek), or the client may not see it.
  case notFound = "not_found"
  /// A command names no match, and the player has no live match or several.
  case noMatch = "no_match"
  /// The client does not play in this match, or is a guest and may not do this.
  case forbidden
  /// The move's ply has been played already. The refusal's field `state` has the state of the match.
  case stalePly = "stale_ply"
  /// An earlier command had the same `mid` or `key` and another content.
  case midReused = "mid_reused"
  /// The rules of the game or of the match forbid the command.
  case rules
  case over
  /// The player already has an open seek or plays a match.
  case occupied
  /// The code of a room or tournament is wrong, used or expired.
  case code
  /// The name is taken, reserved or malformed.
  case name
  /// Too many messages or tries.
  case rate
  /// The server has too much to do; try again.
  case busy
  /// An administrator has muted the player, or the player does not play in this match.
  case muted
  /// The server is stopping; reconnect later.
  case draining
}

/// The reason the server ends a connection.
package enum ByeCode: String, Sendable, Hashable, CaseIterable {
  /// The client sent `bye`, or has no version in common with the server.
  case bye
  /// The same session connected again.
  case replaced
  /// No `hello` came within 10 s of connecting, or later no line for 25 s (for 10 min if a person typed `hello` as a bare command).
  case timeout
  /// The client sent three lines that were no messages.
  case malformed
  /// Messages kept coming faster than allowed, or too much came before `hello`.
  case flood
  /// The client did not read the lines sent to it.
  case slow
  /// The server stops or restarts, cannot reach its database, or has found a match to be broken. The client connects again after `retry_ms`.
  case restart
  /// Too many connections or guests in total, or connections or logins from the client's address.
  case full
  case banned
  /// The session or token is unknown, expired or revoked, or the account is gone.
  case revoked
}

package enum ServerMessage: Sendable, Hashable {
  /// The answer to `hello`.
  package struct Welcome: Sendable, Hashable {
    package var version = protocolVersions[0]
    /// The session's public id.
    package var session: String
    /// The secret that brings the session back after a lost connection. It changes with each `hello`.
    package var resume: String
    package var you: PlayerInfo
    /// The rating deviation, rounded.
    package var deviation: Int
    /// The guest's token, given only if this `hello` made the guest.
    package var token: String?
    /// Milliseconds between heartbeats.
    package var heartbeat = Limits.heartbeat
    /// The allowed messages a second, and the allowed messages at once after a pause.
    package var rate: [Int]
    /// The addresses of other nodes; empty for a server on its own.
    package var nodes: [String] = []
    /// The player's live matches.
    package var matches: [MatchID]
    /// Milliseconds since 1970.
    package var now: Int64

    package init(
      session: String, resume: String, you: PlayerInfo, deviation: Int, token: String?, rate: [Int],
      matches: [MatchID], now: Int64
    ) {
      (self.session, self.resume, self.you, self.deviation) = (session, resume, you, deviation)
      (self.token, self.rate, self.matches, self.now) = (token, rate, matches, now)
    }

    fileprivate mutating func code(_ c: inout FieldCoder) throws(FieldError) {
      try c.code("v", &version)
      try c.code("session", &session)
      try c.code("resume", &resume)
      try c.code("you", &you)
      try c.code("rd", &deviation)
      try c.code("token", &token)
      try c.code("hb", &heartbeat)
      try c.code("limits", &rate, or: [])
      try c.code("nodes", &nodes, or: [])
      try c.code("matches", &matches, or: [])
      try c.code("now", &now)
    }
  }

  /// The first line: the program and the versions it speaks.
  case greeting(server: String, versions: [Int])
  case welcome(Welcome)
  case token(String, name: String)
  /// A seek waits. `bots` is the number of bots that would play if the seek accepted a bot.
  case queued(ticket: String, waited: Int, bots: Int)
  case paired(MatchID, Player)
  case room(MatchID, code: String, expiresIn: Int)
  /// `left` are the milliseconds that the side to move has left now.
  case state(MatchState, left: Int?, you: Player?)
  case event(MatchID, seq: Int, hash: String, body: [UInt8])
  case ok(MatchID?, seq: Int?)
  case err(ErrorCode, String)
  case gone(MatchID, Player, claimIn: Int)
  case chat(MatchID, from: String, text: String?, emote: String?)
  case page(String, rows: [JSONObject], more: Int64?)
  /// Sent when a client begins to follow a tournament, and after each change except those of the table.
  case tournament(TournamentNotice)
  /// New or changed rows of a tournament's table. With `isWhole` the server sends the whole table anew, beginning with these rows.
  case standings(String, [TournamentRow], isWhole: Bool)
  case ping(Int64)
  case pong(Int64, now: Int64)
  /// A node was added: the addresses of all other nodes.
  case nodes([String])
  case drain(retry: Int)
  case bye(ByeCode, String, retry: Int?)
  case help(String)
}

package struct ServerLine: Sendable, Hashable {
  /// The `id` of the client's line that this line answers.
  package var re: String?
  package var message: ServerMessage
  /// The match's state, which some refusals of a command in a match include.
  package var state: ServerMessage?

  /// An unknown type throws. Unknown fields are ignored. Control characters are left out of all texts, because a client prints and stores
  /// them; but the body of an event keeps its bytes, of which the hash is computed.
  package init(_ line: UnsafeRawBufferPointer) throws(ProtocolError) {
    var coder = FieldCoder(reading: try JSONObject(line: line, with: "t").withoutControls)
    let type: String
    do throws(FieldError) {
      type = try coder.field("t", "")
      re = try coder.field("re", String?.none)
    } catch { throw .field(error) }
    guard var blank = ServerMessage.blanks.first(where: { $0.name == type }) else {
      throw .unknownType(String(type.prefix(20)))
    }
    do throws(FieldError) {
      // The event's hash is computed from the bytes of the body as they were sent.
      if case .event(let m, let seq, let hash, _) = blank {
        blank = .event(m, seq: seq, hash: hash, body: try ServerLine.body(in: line))
      }
      message = try blank.coded(by: &coder)
      if let object = try coder.field("state", JSONObject?.none) {
        var inner = FieldCoder(reading: object)
        state = try ServerMessage.blankState.coded(by: &inner)
      }
    } catch { throw .field(error) }
  }

  private static let bodyKey = Array(#","body":"#.utf8)

  /// `body` is always the last field, so its bytes end before the closing brace.
  private static func body(in line: UnsafeRawBufferPointer) throws(FieldError) -> [UInt8] {
    let places = line.indices.dropLast(bodyKey.count)
    let start = places.first { line[$0] == bodyKey[0] && line[$0...].starts(with: bodyKey) }
    guard let start, line.last == UInt8(ascii: "}") else { throw .missing("body") }
    return Array(line[(start + bodyKey.count)..<(line.count - 1)])
  }
}

extension ServerMessage {
  /// The field `t` of the message's line.
  fileprivate var name: String {
    switch self {
    case .greeting: "hello"
    case .welcome: "welcome"
    case .token: "token"
    case .queued: "queued"
    case .paired: "paired"
    case .room: "room"
    case .state: "state"
    case .event: "event"
    case .ok: "ok"
    case .err: "err"
    case .gone: "gone"
    case .chat: "chat"
    case .page: "page"
    case .tournament: "tournament"
    case .standings: "standings"
    case .ping: "ping"
    case .pong: "pong"
    case .nodes: "nodes"
    case .drain: "drain"
    case .bye: "bye"
    case .help: "help"
    }
  }

  fileprivate static let blankState = ServerMessage.state(MatchState(), left: nil, you: nil)

  /// One message of each kind, the most frequent kinds first. A reader copies the message named by the field `t`, and replaces its values.
  fileprivate static let blanks: [ServerMessage] = {
    let m = MatchID.blank
    let welcome = Welcome(
      session: "", resume: "", you: PlayerInfo(), deviation: 0, token: nil, rate: [], matches: [], now: 0)
    return [
      .event(m, seq: 0, hash: "", body: []), .ok(nil, seq: nil), blankState, .ping(0), .pong(0, now: 0),
      .greeting(server: "", versions: []), .welcome(welcome), .token("", name: ""),
      .queued(ticket: "", waited: 0, bots: 0), .paired(m, .x), .room(m, code: "", expiresIn: 0),
      .err(.bad, ""), .gone(m, .x, claimIn: 0), .chat(m, from: "", text: nil, emote: nil),
      .page("", rows: [], more: nil), .tournament(TournamentNotice()), .standings("", [], isWhole: false),
      .nodes([]), .drain(retry: 0), .bye(.bye, "", retry: nil), .help(""),
    ]
  }()

  /// The line with its line end.
  package func bytes(re: String? = nil) -> [UInt8] {
    // An event line is at most 128 bytes longer than its body.
    let room = if case .event(_, _, _, let body) = self { body.count + 128 } else { 160 }
    return FieldCoder.bytes(capacity: room, isLine: true) { coder throws(FieldError) in
      coder.tell("t", name)
      _ = try coder.field("re", re)
      _ = try coded(by: &coder)
    }
  }

  fileprivate func coded(by c: inout FieldCoder) throws(FieldError) -> ServerMessage {
    switch self {
    case .greeting(let server, let versions):
      let greeting = (try c.field("server", server), try c.field("v", versions, or: []))
      c.tell("help", "type hello, then help")
      return .greeting(server: greeting.0, versions: greeting.1)
    case .welcome(var welcome):
      try welcome.code(&c)
      return .welcome(welcome)
    case .token(let token, let name): return .token(try c.field("token", token), name: try c.field("name", name))
    case .queued(let ticket, let waited, let bots):
      return .queued(
        ticket: try c.field("ticket", ticket), waited: try c.field("waited", waited, or: 0),
        bots: try c.field("bots", bots, or: 0))
    case .paired(let m, let side): return .paired(try c.field("m", m), try c.field("side", side))
    case .room(let m, let code, let expiresIn):
      return .room(
        try c.field("m", m), code: try c.canonical("code", code), expiresIn: try c.field("in_ms", expiresIn))
    case .state(var state, let left, let you):
      try state.code(&c)
      return .state(state, left: try c.field("left", left), you: try c.field("you", you))
    case .event(let m, let seq, let hash, let body):
      let event = (try c.field("m", m), try c.field("seq", seq), try c.field("hash", hash))
      c.tell("body", json: body)
      return .event(event.0, seq: event.1, hash: event.2, body: body)
    case .ok(let m, let seq): return .ok(try c.field("m", m), seq: try c.field("seq", seq))
    case .err(let code, let text):
      let code = ErrorCode(rawValue: try c.field("code", code.rawValue)) ?? .bad
      return .err(code, try c.field("msg", text, or: ""))
    case .gone(let m, let side, let claimIn):
      return .gone(try c.field("m", m), try c.field("side", side), claimIn: try c.field("in_ms", claimIn))
    case .chat(let m, let from, let text, let emote):
      return .chat(
        try c.field("m", m), from: try c.field("from", from), text: try c.field("text", text),
        emote: try c.field("e", emote))
    case .page(let of, let rows, let more):
      return .page(try c.field("of", of), rows: try c.field("rows", rows, or: []), more: try c.field("more", more))
    case .tournament(var notice):
      try notice.code(&c)
      return .tournament(notice)
    case .standings(let code, let rows, let isWhole):
      return .standings(
        try c.canonical("code", code), try c.field("rows", rows), isWhole: try c.field("whole", isWhole, unless: false))
    case .ping(let ts): return .ping(try c.field("ts", ts))
    case .pong(let ts, let now): return .pong(try c.field("ts", ts), now: try c.field("now", now))
    case .nodes(let addresses): return .nodes(try c.field("nodes", addresses))
    case .drain(let retry): return .drain(retry: try c.field("retry_ms", retry))
    case .bye(let code, let text, let retry):
      let code = ByeCode(rawValue: try c.field("code", code.rawValue)) ?? .bye
      return .bye(code, try c.field("msg", text, or: ""), retry: try c.field("retry_ms", retry))
    case .help(let text): return .help(try c.field("text", text))
    }
  }
}

extension ServerMessage {
  /// The messages with the events of a log after event `seq`; O(n) in the bytes of the whole log.
  package static func events(of m: MatchID, _ bodies: [[UInt8]], after seq: Int = 0) -> [ServerMessage] {
    var hash = LogHash(start: m)
    return bodies.enumerated().compactMap { i, body in
      hash = hash.adding(body)
      return i < seq ? nil : .event(m, seq: i + 1, hash: hash.short, body: body)
    }
  }

  /// The line of a page whose rows are already encoded as JSON.
  package static func page(_ of: String, rows: [[UInt8]], more: Int64?, re: String?) -> [UInt8] {
    // `joined` copies the rows byte by byte, which took 4 % of a node's time at 200 requests for a list a second.
    var list = Array("[".utf8)
    list.reserveCapacity(rows.reduce(2) { $0 + $1.count + 1 })
    for row in rows {
      if list.count > 1 { list.append(UInt8(ascii: ",")) }
      list += row
    }
    list.append(UInt8(ascii: "]"))
    return FieldCoder.bytes(capacity: list.count + 160, isLine: true) { coder throws(FieldError) in
      coder.tell("t", "page")
      _ = try coder.field("re", re)
      coder.tell("of", of)
      coder.tell("rows", json: list)
      _ = try coder.field("more", more)
    }
  }

  /// The line of a refusal that contains the match's current state.
  package static func refusal(
    _ code: ErrorCode, _ text: String, state: MatchState, left: Int?, you: Player?, re: String?
  ) -> [UInt8] {
    let state = FieldCoder.bytes(capacity: 400) { coder throws(FieldError) in
      _ = try ServerMessage.state(state, left: left, you: you).coded(by: &coder)
    }
    return FieldCoder.bytes(capacity: 500, isLine: true) { coder throws(FieldError) in
      coder.tell("t", "err")
      _ = try coder.field("re", re)
      _ = try ServerMessage.err(code, text).coded(by: &coder)
      coder.tell("state", json: state)
    }
  }
}
