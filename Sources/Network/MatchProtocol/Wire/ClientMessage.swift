import Base
import TicTacToe

/// A command to a match in which the client plays.
package enum MatchAction: Sendable, Hashable {
  /// `ply` is the number of moves before this one; without it the cell is marked at the current ply.
  case move(ply: Int?, cell: CellName)
  case resign
  /// An answer names the `seq` of the offer; without this number it answers the open offer.
  case draw(MatchEvent.DrawAction, offer: Int?)
  /// Ask for, or agree to, another match with sides swapped.
  case rematch
  /// End the match without a result, before both sides have moved.
  case abort
  /// Claim the win over a side that has been away too long.
  case claim
}

package enum ClientMessage: Sendable, Hashable {
  /// A login: with a token, with a resume token, or with neither for a new guest.
  package struct Hello: Sendable, Hashable {
    package var versions: [Int] = protocolVersions
    /// The program, for the server's log.
    package var client: String?
    /// `bot` (plays without a person), `event` (knows tournaments), and the games known besides classic (`Variant.capabilities`).
    package var caps: [String] = []
    /// An account or guest token.
    package var token: String?
    /// A guest name that the client would like.
    package var guest: String?
    /// The resume token of an interrupted session.
    package var resume: String?
    package init(
      client: String? = nil, caps: [String] = [], token: String? = nil, guest: String? = nil, resume: String? = nil
    ) {
      (self.client, self.caps, self.token, self.guest, self.resume) = (client, caps, token, guest, resume)
    }

    /// The games that the client knows; it receives no messages about other games.
    package var games: [Variant] { Variant.allCases.filter { $0.isImplied || caps.contains($0.rawValue) } }

    /// Clients without this capability receive no messages about tournaments.
    package static let tournaments = "event"
    /// For a client that understands all games of this build, and tournaments.
    package static let allCaps = Variant.capabilities + [tournaments]

    /// The highest version of the protocol that both ends speak.
    package func common(with spoken: [Int]) -> Int? { versions.filter(spoken.contains).max() }
  }

  package struct Seek: Sendable, Hashable {
    package var terms: MatchTerms
    /// The largest accepted difference of the ratings; if `nil`, the range widens while the player waits.
    package var range: Int?
    package var bots: Bool
    /// Makes the seek safe to send again.
    package var key: String?
    package init(_ terms: MatchTerms = MatchTerms(), range: Int? = nil, bots: Bool = false, key: String?) {
      (self.terms, self.range, self.bots, self.key) = (terms, range, bots, key)
    }
  }

  package enum TokenAction: String, FieldText, Sendable, Hashable, CaseIterable {
    case rotate, revoke
  }

  case hello(Hello)
  case register(name: String)
  case token(TokenAction)
  case seek(Seek)
  case unseek
  /// Answered by `ok` without effect. Clients of older versions send it to confirm a pairing.
  case confirm(MatchID)
  case create(MatchTerms, key: String?)
  case join(code: String)
  case sync(MatchID, seq: Int)
  case watch(MatchID, code: String?)
  case unwatch(MatchID)
  /// Without a match id the command is for the player's only live match. Without a `mid` the command is not safe to send again.
  case act(MatchID?, MatchAction, mid: String?)
  case emote(MatchID?, String)
  case say(MatchID?, String)
  case mute(on: Bool)
  case block(name: String, on: Bool)
  case report(MatchID?, text: String)
  /// The strongest players of a game.
  case top(Variant)
  case me
  /// Finished matches, of all games or of one, that ended before the time `before` (milliseconds since 1970).
  case history(Variant?, before: Int64?)
  /// The log of a match after event `seq`, up to `Limits.events` events.
  case export(MatchID, seq: Int)
  case list
  /// The client draws the secret, which makes the message safe to send again.
  case host(TournamentTerms, secret: String?)
  case tournament(TournamentOrder)
  case ping(Int64)
  case pong(Int64)
  case bye
  case help
}

/// The server's answer repeats `id` as `re`.
package struct ClientLine: Sendable, Hashable {
  package var id: String?
  package var message: ClientMessage

  package init(id: String? = nil, _ message: ClientMessage) {
    self.id = id
    self.message = message
  }

  /// The texts that `emote` can send; `say` sends any other text.
  package static let emotes = ["gl", "gg", "thx", "wow", "oops", "hi"]
}

extension ClientLine {
  /// Whether a line is a bare command, as a person types it, and not JSON.
  static func isBare(_ line: UnsafeRawBufferPointer) -> Bool {
    line.first { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") } != UInt8(ascii: "{")
  }

  /// Reads a JSON object, or a bare command as a person types it.
  package init(_ line: UnsafeRawBufferPointer) throws(ProtocolError) {
    guard !ClientLine.isBare(line) else {
      self = try ClientLine(bare: line)
      return
    }
    try self.init(JSONObject(line: line, with: "t"), isRelayed: false)
  }

  /// Reads a client's line that one node has stored for another node. A line that was a bare command may lack required fields.
  package init(relayed line: UnsafeRawBufferPointer) throws(ProtocolError) {
    try self.init(JSONObject(line: line, with: "t"), isRelayed: true)
  }

  private init(_ fields: JSONObject, isRelayed: Bool) throws(ProtocolError) {
    var coder = FieldCoder(reading: fields)
    let type: String
    do throws(FieldError) {
      id = try coder.text("id", String?.none, max: Limits.id)
      type = try coder.field("t", "")
    } catch { throw .field(error) }
    guard let blank = ClientMessage.blanks.first(where: { $0.name == type }) else {
      throw .unknownType(String(type.prefix(20)))
    }
    do throws(FieldError) { message = try blank.coded(by: &coder, isRelayed: isRelayed) } catch { throw .field(error) }
  }

  /// The line with its line end.
  package var bytes: [UInt8] {
    FieldCoder.bytes(isLine: true) { coder throws(FieldError) in
      coder.tell("t", message.name)
      _ = try coder.field("id", id)
      _ = try message.coded(by: &coder, isRelayed: false)
    }
  }
}

extension ClientMessage {
  /// The field `t` of the message's line.
  var name: String {
    switch self {
    case .hello: "hello"
    case .register: "register"
    case .token: "token"
    case .seek: "seek"
    case .unseek: "unseek"
    case .confirm: "confirm"
    case .create: "create"
    case .join: "join"
    case .sync: "sync"
    case .watch: "watch"
    case .unwatch: "unwatch"
    case .act(_, let action, _): action.name
    case .emote: "emote"
    case .say: "say"
    case .mute: "mute"
    case .block: "block"
    case .report: "report"
    case .top: "top"
    case .me: "me"
    case .history: "history"
    case .export: "export"
    case .list: "list"
    case .host: "host"
    case .tournament: "tournament"
    case .ping: "ping"
    case .pong: "pong"
    case .bye: "bye"
    case .help: "help"
    }
  }

  /// One message of each kind, the most frequent kinds first. A reader copies the message named by the field `t`, and replaces its values.
  fileprivate static let blanks: [ClientMessage] = {
    let actions: [MatchAction] = [
      .move(ply: nil, cell: CellName(Cell(0), in: .classic)), .resign, .draw(.offer, offer: nil), .rematch, .abort,
      .claim,
    ]
    let m = MatchID.blank
    return actions.map { .act(nil, $0, mid: nil) } + [
      .pong(0), .ping(0), .hello(Hello()), .seek(Seek(key: nil)), .unseek, .confirm(m), .sync(m, seq: 0),
      .create(MatchTerms(), key: nil), .join(code: ""), .watch(m, code: nil), .unwatch(m), .emote(nil, ""),
      .say(nil, ""),
      .register(name: ""), .token(.rotate), .mute(on: true), .block(name: "", on: true), .report(nil, text: ""),
      .top(.classic),
      .me,
      .history(nil, before: nil), .export(m, seq: 0), .list, .host(TournamentTerms(), secret: nil),
      .tournament(TournamentOrder(.follow, "")), .bye, .help,
    ]
  }()

  /// Reads or writes the fields. A relayed line (stored by one node for another) may lack fields that bare commands do not have.
  fileprivate func coded(by c: inout FieldCoder, isRelayed: Bool) throws(FieldError) -> ClientMessage {
    switch self {
    case .hello(var hello):
      try c.code("v", &hello.versions)
      try c.require(!hello.versions.isEmpty, "v", "a list of versions")
      hello.client = try c.text("client", hello.client, max: 64)
      hello.caps = try c.field("caps", hello.caps, unless: [])
      hello.token = try c.text("token", hello.token, max: 128)
      hello.guest = try c.text("guest", hello.guest, max: 64)
      hello.resume = try c.text("resume", hello.resume, max: 128)
      return .hello(hello)
    case .register(let name): return .register(name: try c.text("name", name, max: 64))
    case .token(let action): return .token(try c.field("op", action))
    case .seek(var seek):
      seek.terms = try c.matchTerms(seek.terms)
      try c.require(seek.terms.opener == nil, "opener", "left out: only a room has one")
      try c.code("range", &seek.range)
      try c.require(seek.range.map { (0...3000).contains($0) } ?? true, "range", "0–3000")
      seek.bots = try c.field("bots", seek.bots, unless: false)
      seek.key = try c.token("key", seek.key, isRequired: !isRelayed)
      return .seek(seek)
    case .confirm(let m): return .confirm(try c.field("m", m))
    case .create(let terms, let key):
      return .create(try c.terms(terms), key: try c.token("key", key, isRequired: true))
    case .join(let code): return .join(code: try c.text("code", code, max: 16))
    case .sync(let m, let seq):
      let sync = (m: try c.field("m", m), seq: try c.field("seq", seq, or: 0))
      try c.require(sync.seq >= 0, "seq", "0 or more")
      return .sync(sync.m, seq: sync.seq)
    case .watch(let m, let code): return .watch(try c.field("m", m), code: try c.text("code", code, max: 16))
    case .unwatch(let m): return .unwatch(try c.field("m", m))
    case .act(let m, let action, let mid):
      return .act(
        try c.field("m", m, isRequired: true), try action.coded(by: &c, isRelayed: isRelayed),
        mid: try c.token("mid", mid, isRequired: !isRelayed))
    case .emote(let m, let emote):
      return .emote(try c.field("m", m, isRequired: true), try c.text("e", emote, max: 16))
    case .say(let m, let text):
      return .say(try c.field("m", m, isRequired: true), try c.text("text", text, max: Limits.say))
    case .mute(let on): return .mute(on: try c.field("on", on, or: true))
    case .block(let name, let on):
      return .block(name: try c.text("name", name, max: 64), on: try c.field("on", on, or: true))
    case .report(let m, let text):
      return .report(try c.field("m", m, isRequired: true), text: try c.text("text", text, max: Limits.say))
    case .top(let rules): return .top(try c.field("rules", rules, unless: .classic))
    case .history(let rules, let before):
      return .history(try c.field("rules", rules), before: try c.field("before", before))
    case .export(let m, let seq):
      let (m, seq) = (try c.field("m", m), try c.field("seq", seq, unless: 0))
      try c.require(seq >= 0, "seq", "0 or more")
      return .export(m, seq: seq)
    case .host(var terms, let secret):
      try terms.code(&c)
      return .host(terms, secret: try c.token("secret", secret, isRequired: true))
    case .tournament(var order):
      try order.code(&c)
      return .tournament(order)
    case .ping(let ts): return .ping(try c.field("ts", ts))
    case .pong(let ts): return .pong(try c.field("ts", ts))
    case .unseek, .me, .list, .bye, .help: return self
    }
  }
}

extension MatchAction {
  fileprivate func coded(by c: inout FieldCoder, isRelayed: Bool) throws(FieldError) -> MatchAction {
    switch self {
    case .move(let ply, let cell):
      let ply = try c.field("ply", ply, isRequired: !isRelayed)
      try c.require(ply.map { (0...Limits.ply).contains($0) } ?? true, "ply", "0–\(Limits.ply)")
      return .move(ply: ply, cell: try c.field("cell", cell))
    case .draw(let action, let offer):
      let action = try c.field("a", action)
      return .draw(action, offer: action == .offer ? nil : try c.field("offer", offer, isRequired: !isRelayed))
    case .resign, .rematch, .abort, .claim: return self
    }
  }
}

extension MatchAction {
  /// The field `t` of the command's line.
  package var name: String {
    switch self {
    case .move: "move"
    case .resign: "resign"
    case .draw: "draw"
    case .rematch: "rematch"
    case .abort: "abort"
    case .claim: "claim"
    }
  }
}
