import Base
import TicTacToe

/// What a client may ask of a match it plays in; `mid` makes each safe to send again.
package enum MatchAction: Sendable, Hashable {
  /// Mark a cell as ply `ply` (marks on the board before it); without one, at the current ply.
  case move(ply: Int?, cell: Square)
  /// Give up.
  case resign
  /// Offer, accept or decline a draw; an answer names the `seq` of the offer, or means the one that stands.
  case draw(MatchEvent.DrawAction, offer: Int?)
  /// Ask for, or agree to, another match with sides swapped.
  case rematch
  /// Give the match up before both have moved.
  case abort
  /// Take the win over a side that has been away too long.
  case claim
}

/// Everything a client can say.
package enum ClientMessage: Sendable, Hashable {
  /// Who is there: exactly one of a token, a resume token, or neither for a new guest.
  package struct Hello: Sendable, Hashable {
    /// The versions the client speaks.
    package var versions: [Int] = protocolVersions
    /// The program, for the server's log.
    package var client: String?
    /// What the client can do: `confirm` (answers `paired` itself), `bot` (plays without a person).
    package var caps: [String] = []
    /// An account or guest token, to log in.
    package var token: String?
    /// A guest name the client would like.
    package var guest: String?
    /// The resume token of an interrupted session.
    package var resume: String?
    /// Makes a greeting.
    package init(
      client: String? = nil, caps: [String] = [], token: String? = nil, guest: String? = nil, resume: String? = nil
    ) {
      (self.client, self.caps, self.token, self.guest, self.resume) = (client, caps, token, guest, resume)
    }

    /// The best version that both ends speak, `nil` if there is none.
    package func common(with spoken: [Int]) -> Int? { versions.filter(spoken.contains).max() }
  }

  /// A wish to be paired.
  package struct Seek: Sendable, Hashable {
    /// Clock, and whether it counts.
    package var terms: MatchTerms
    /// The most the ratings may differ; without one it widens with the wait.
    package var range: Int?
    /// Whether a bot will do.
    package var bots: Bool
    /// What makes the wish safe to send again.
    package var key: String?
    /// Makes a wish.
    package init(_ terms: MatchTerms = MatchTerms(), range: Int? = nil, bots: Bool = false, key: String?) {
      (self.terms, self.range, self.bots, self.key) = (terms, range, bots, key)
    }
  }

  /// What to do with the account's token.
  package enum TokenAction: String, Sendable, Hashable {
    case rotate, revoke
  }

  case hello(Hello)
  case register(name: String)
  case token(TokenAction)
  case seek(Seek)
  case unseek
  case confirm(MatchID)
  case create(MatchTerms, key: String?)
  case join(code: String)
  case sync(MatchID, seq: Int)
  case watch(MatchID, code: String?)
  case unwatch(MatchID)
  /// A command to a match; without a match it means the only live one, without a `mid` it is not safe to send again.
  case act(MatchID?, MatchAction, mid: String?)
  case emote(MatchID?, String)
  case say(MatchID?, String)
  case mute(on: Bool)
  case block(name: String, on: Bool)
  case report(MatchID?, text: String)
  case top
  case me
  case history(before: Int64?)
  case export(MatchID)
  case list
  case ping(Int64)
  case pong(Int64)
  case bye
  case help
}

/// One line from a client: a message, and the `id` its answer echoes as `re`.
package struct ClientLine: Sendable, Hashable {
  /// Echoed as `re`.
  package var id: String?
  /// The message.
  package var message: ClientMessage
  /// The JSON it was read from, where it may be given on to another node.
  package var source: [UInt8]?

  /// Makes a line.
  package init(id: String? = nil, _ message: ClientMessage) {
    self.id = id
    self.message = message
  }

  /// The emotes there are; anything longer is what `say` is for.
  package static let emotes = ["gl", "gg", "thx", "wow", "oops", "hi"]
}

extension ClientLine {
  /// Whether a line is a bare command, as a person types it, and no JSON.
  package static func isBare(_ line: UnsafeRawBufferPointer) -> Bool {
    line.first { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") } != UInt8(ascii: "{")
  }

  /// Reads a line: a JSON object, or a bare command as a person types it; O(n).
  package init(_ line: UnsafeRawBufferPointer) throws(ProtocolError) {
    guard !ClientLine.isBare(line) else {
      self = try ClientLine(bare: line)
      return
    }
    let fields = try JSONObject(line: line, with: "t")
    id = try fields.optionalString("id", max: Limits.id)
    message = try ClientMessage(fields)
  }

  /// Reads a line that one server node gives to another: like a client's, but what a bare command leaves out may be missing; O(n).
  package init(relayed line: UnsafeRawBufferPointer) throws(ProtocolError) {
    try self.init(relayed: JSONObject(line: line, with: "t"))
  }

  /// The same from its fields.
  package init(relayed fields: JSONObject) throws(ProtocolError) {
    id = try fields.optionalString("id", max: Limits.id)
    message = try ClientMessage(fields, isRelayed: true)
  }
}

extension ClientMessage {
  init(_ f: JSONObject, isRelayed: Bool = false) throws(ProtocolError) {
    func act(_ action: MatchAction) throws(ProtocolError) -> ClientMessage {
      .act(try f.match("m"), action, mid: isRelayed && f["mid"] == nil ? nil : try f.token("mid"))
    }
    switch try f.string("t") {
    case "hello":
      var hello = Hello()
      hello.versions = try f.optionalArray("v", of: { $0.int })
      guard !hello.versions.isEmpty else { throw .missing("v") }
      hello.client = try f.optionalString("client", max: 64)
      hello.caps = try f.optionalArray("caps", of: { $0.string })
      hello.token = try f.optionalString("token", max: 128)
      hello.guest = try f.optionalString("guest", max: 64)
      hello.resume = try f.optionalString("resume", max: 128)
      self = .hello(hello)
    case "register": self = .register(name: try f.string("name", max: 64))
    case "token":
      guard let action = TokenAction(rawValue: try f.string("op")) else { throw .invalid("op", "rotate or revoke") }
      self = .token(action)
    case "seek":
      let range = try f.optionalInt("range")
      guard range.map({ (0...3000).contains($0) }) ?? true else { throw .invalid("range", "0–3000") }
      let key = isRelayed && f["key"] == nil ? nil : try f.token("key")
      self = .seek(Seek(try f.terms(), range: range, bots: try f.optionalBool("bots", or: false), key: key))
    case "unseek": self = .unseek
    case "confirm": self = .confirm(try f.match("m"))
    case "create": self = .create(try f.terms(), key: try f.token("key"))
    case "join": self = .join(code: try f.string("code", max: 16))
    case "sync":
      let seq = try f.optionalInt("seq") ?? 0
      guard seq >= 0 else { throw .invalid("seq", "0 or more") }
      self = .sync(try f.match("m"), seq: seq)
    case "watch": self = .watch(try f.match("m"), code: try f.optionalString("code", max: 16))
    case "unwatch": self = .unwatch(try f.match("m"))
    case "move":
      let ply = isRelayed ? try f.optionalInt("ply") : try f.int("ply")
      guard ply.map({ (0...8).contains($0) }) ?? true else { throw .invalid("ply", "0–8") }
      self = try act(.move(ply: ply, cell: try f.cell("cell")))
    case "resign": self = try act(.resign)
    case "draw":
      guard let action = MatchEvent.DrawAction(rawValue: try f.string("a")) else {
        throw .invalid("a", "offer, accept or decline")
      }
      let offer = try f.optionalInt("offer")
      guard action == .offer || offer != nil || isRelayed else { throw .missing("offer") }
      self = try act(.draw(action, offer: action == .offer ? nil : offer))
    case "rematch": self = try act(.rematch)
    case "abort": self = try act(.abort)
    case "claim": self = try act(.claim)
    case "emote": self = .emote(try f.match("m"), try f.string("e", max: 16))
    case "say": self = .say(try f.match("m"), try f.string("text", max: Limits.say))
    case "mute": self = .mute(on: try f.optionalBool("on", or: true))
    case "block": self = .block(name: try f.string("name", max: 64), on: try f.optionalBool("on", or: true))
    case "report": self = .report(try f.match("m"), text: try f.string("text", max: Limits.say))
    case "top": self = .top
    case "me": self = .me
    case "history": self = .history(before: f["before"] == nil ? nil : try f.int64("before"))
    case "export": self = .export(try f.match("m"))
    case "list": self = .list
    case "ping": self = .ping(try f.int64("ts"))
    case "pong": self = .pong(try f.int64("ts"))
    case "bye": self = .bye
    case "help": self = .help
    case let other: throw .unknownType(String(other.prefix(20)))
    }
  }
}

extension ClientLine {
  /// The line as a client sends it, with its line end.
  package var bytes: [UInt8] {
    var out = JSONWriter()
    func head(_ t: String) {
      out.field("t", t)
      out.field("id", id)
    }
    func terms(_ terms: MatchTerms) { MatchEvent.write(terms, to: &out) }
    switch message {
    case .hello(let hello):
      head("hello")
      out.field("v", hello.versions)
      out.field("client", hello.client)
      if !hello.caps.isEmpty { out.field("caps", hello.caps) }
      out.field("token", hello.token)
      out.field("guest", hello.guest)
      out.field("resume", hello.resume)
    case .register(let name):
      head("register")
      out.field("name", name)
    case .token(let action):
      head("token")
      out.field("op", action.rawValue)
    case .seek(let seek):
      head("seek")
      terms(seek.terms)
      out.field("range", seek.range)
      if seek.bots { out.field("bots", true) }
      out.field("key", seek.key)
    case .unseek: head("unseek")
    case .confirm(let m):
      head("confirm")
      out.field("m", m.rawValue)
    case .create(let t, let key):
      head("create")
      terms(t)
      out.field("key", key)
    case .join(let code):
      head("join")
      out.field("code", code)
    case .sync(let m, let seq):
      head("sync")
      out.field("m", m.rawValue)
      out.field("seq", seq)
    case .watch(let m, let code):
      head("watch")
      out.field("m", m.rawValue)
      out.field("code", code)
    case .unwatch(let m):
      head("unwatch")
      out.field("m", m.rawValue)
    case .act(let m, let action, let mid):
      head(action.name)
      out.field("m", m?.rawValue)
      switch action {
      case .move(let ply, let cell):
        out.field("ply", ply)
        out.field("cell", cell.name)
      case .draw(let a, let offer):
        out.field("a", a.rawValue)
        out.field("offer", offer)
      case .resign, .rematch, .abort, .claim: break
      }
      out.field("mid", mid)
    case .emote(let m, let e):
      head("emote")
      out.field("m", m?.rawValue)
      out.field("e", e)
    case .say(let m, let text):
      head("say")
      out.field("m", m?.rawValue)
      out.field("text", text)
    case .mute(let on):
      head("mute")
      out.field("on", on)
    case .block(let name, let on):
      head("block")
      out.field("name", name)
      out.field("on", on)
    case .report(let m, let text):
      head("report")
      out.field("m", m?.rawValue)
      out.field("text", text)
    case .top: head("top")
    case .me: head("me")
    case .history(let before):
      head("history")
      out.field("before", before)
    case .export(let m):
      head("export")
      out.field("m", m.rawValue)
    case .list: head("list")
    case .ping(let ts):
      head("ping")
      out.field("ts", ts)
    case .pong(let ts):
      head("pong")
      out.field("ts", ts)
    case .bye: head("bye")
    case .help: head("help")
    }
    out.finishLine()
    return out.bytes
  }
}

extension MatchAction {
  /// The `t` of the command.
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
