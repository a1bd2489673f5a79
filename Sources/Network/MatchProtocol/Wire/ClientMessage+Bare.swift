import Base
import TicTacToe

/// Commands as a person types them into `nc`. A command in a match is for the person's only live match.
extension ClientLine {
  /// The answer to `help`.
  package static let help = """
    hello [NAME] | seek [\(games)] [60+2|none] [rated] [bots] | unseek | create [\(games)] [60+2|none] [x|o] \
    | join CODE | move b2 | draw [offer|accept|decline] \
    | resign | rematch | abort | claim | say TEXT | report TEXT | emote \(emotes.joined(separator: "/")) | mute [on|off] | block NAME \
    | host NAME | enter CODE | seek CODE | pause CODE | play CODE | leave CODE | follow CODE [SECRET] | unfollow CODE \
    | start CODE SECRET | end CODE SECRET | remove CODE SECRET NAME | admit CODE SECRET NAME | games CODE SECRET N | watch M | unwatch M | sync M | top [\(games)] | me | history [\(games)] | list | export M | register NAME | bye. \
    Every line may also be a JSON object; docs/protocol.md tells all of it.
    """

  private static let games = Variant.allCases.map { $0.rawValue }.joined(separator: "|")

  init(bare line: UnsafeRawBufferPointer) throws(ProtocolError) {
    guard let text = String(validating: line.bindMemory(to: UInt8.self), as: UTF8.self) else {
      throw .malformed(JSONError(reason: .badString, offset: 0))
    }
    func isSpace(_ character: Character) -> Bool { character == " " || character == "\t" || character == "\r" }
    let words = text.split(maxSplits: 1, whereSeparator: isSpace)
    guard let verb = words.first else { throw .malformed(JSONError(reason: .truncated, offset: 0)) }
    var rest = words.count > 1 ? words[1] : ""
    while let last = rest.last, isSpace(last) { rest.removeLast() }
    let arguments = rest.split(whereSeparator: isSpace).map(String.init)
    self.init(try ClientLine.bareMessage(verb.lowercased(), String(rest), arguments))
  }

  private static func bareMessage(
    _ verb: String, _ rest: String, _ arguments: [String]
  ) throws(ProtocolError) -> ClientMessage {
    func one(_ what: String) throws(ProtocolError) -> String {
      guard let first = arguments.first, first.utf8.count <= 64 else { throw .field(.missing(what)) }
      return first
    }
    func match() throws(ProtocolError) -> MatchID {
      guard let m = MatchID(rawValue: try one("m")) else { throw .field(.invalid("m", "a match id")) }
      return m
    }
    func rules() throws(ProtocolError) -> Variant? {
      guard let name = arguments.first else { return nil }
      guard let rules = Variant(rawValue: name) else { throw .field(.invalid("rules", Variant.allowed)) }
      return rules
    }
    func terms() throws(ProtocolError) -> MatchTerms {
      var fields = JSONObject()
      for word in arguments where word != "bots" {
        if word == "rated" {
          fields.fields.append(.init(name: "rated", value: .bool(true)))
        } else if verb == "create", Player(text: word) != nil {
          fields.fields.append(.init(name: "opener", value: .string(word)))
        } else if Variant(rawValue: word) != nil {
          fields.fields.append(.init(name: "rules", value: .string(word)))
        } else {
          fields.fields.append(.init(name: "clock", value: .string(word)))
        }
      }
      var coder = FieldCoder(reading: fields)
      do throws(FieldError) { return try coder.terms(MatchTerms()) } catch { throw .field(error) }
    }
    switch verb {
    case "hello":
      // Name all capabilities: a person can read the messages of every game.
      return .hello(
        ClientMessage.Hello(
          client: "person", caps: ClientMessage.Hello.allCaps, guest: arguments.first.map { String($0.prefix(64)) }))
    case "seek":
      if let word = arguments.first, Variant(rawValue: word) == nil, let code = canonicalCode(word) {
        var terms = MatchTerms()
        terms.tournament = code
        return .seek(ClientMessage.Seek(terms, key: nil))
      }
      let bots = arguments.contains("bots")
      return .seek(ClientMessage.Seek(try terms(), bots: bots, key: nil))
    case "unseek": return .unseek
    case "create": return .create(try terms(), key: nil)
    case "join": return .join(code: try one("code"))
    case "move":
      guard let cell = CellName(text: try one("cell").lowercased()) else {
        throw .field(.invalid("cell", CellName.allowed))
      }
      return .act(nil, .move(ply: nil, cell: cell), mid: nil)
    case "draw":
      guard let action = MatchEvent.DrawAction(rawValue: arguments.first ?? "offer") else {
        throw .field(.invalid("draw", MatchEvent.DrawAction.allowed))
      }
      return .act(nil, .draw(action, offer: nil), mid: nil)
    case "resign": return .act(nil, .resign, mid: nil)
    case "rematch": return .act(nil, .rematch, mid: nil)
    case "abort": return .act(nil, .abort, mid: nil)
    case "claim": return .act(nil, .claim, mid: nil)
    case "say":
      guard !rest.isEmpty, rest.unicodeScalars.count <= Limits.say else {
        throw .field(.invalid("say", "followed by 1–\(Limits.say) characters"))
      }
      return .say(nil, rest)
    case "emote": return .emote(nil, try one("e"))
    case "mute": return .mute(on: arguments.first != "off")
    case "block": return .block(name: try one("name"), on: true)
    case "report": return .report(nil, text: String(rest.unicodeScalars.prefix(Limits.say)))
    case "watch": return .watch(try match(), code: arguments.dropFirst().first)
    case "unwatch": return .unwatch(try match())
    case "sync": return .sync(try match(), seq: 0)
    case "export": return .export(try match(), seq: 0)
    case "register": return .register(name: try one("name"))
    case "top":
      return .top(try rules() ?? .classic)
    case "me": return .me
    case "history": return .history(try rules(), before: nil)
    case "list": return .list
    case "host":
      guard TournamentTerms.nameLengths.contains(rest.unicodeScalars.count) else {
        throw .field(.invalid("host", "followed by a name of 1–40 characters"))
      }
      return .host(TournamentTerms(name: rest), secret: nil)
    case "bye", "quit", "exit": return .bye
    case "help", "?": return .help
    default:
      guard let operation = TournamentOrder.Operation(rawValue: verb) else {
        throw .unknownType(String(verb.prefix(20)))
      }
      var order = TournamentOrder(operation, try one("code"))
      if arguments.count > 1 { order.secret = arguments[1] }
      if arguments.count > 2, operation == .games {
        order.number = Int(arguments[2])
      } else if arguments.count > 2 {
        order.name = arguments[2]
      }
      guard order.secret != nil || !order.isOrganisers else { throw .field(.missing("secret")) }
      guard order.name != nil || operation != .remove && operation != .admit else { throw .field(.missing("name")) }
      guard order.number != nil || operation != .games else { throw .field(.missing("n")) }
      return .tournament(order)
    }
  }
}
