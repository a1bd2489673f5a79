import MatchProtocol
import MatchStore

/// Rooms. A player opens a room; another player joins it with the room's code.
extension Lobby {
  mutating func open(_ terms: MatchTerms, _ key: String?, _ command: ClientCommand) throws(Refusal) {
    try command.requireGame(terms.rules)
    guard !isDraining else { throw .draining }
    guard !isBusy else { throw .busy }
    let open = matches.of(command.account.id).count { matches[$0]?.state.phase == .open }
    guard open < 4 else { throw Refusal(.occupied, "you can have at most four open rooms") }
    try requireFreeMatch(for: command.account.id)
    try command.requireMayPlay(terms)
    if let key, sessions.of(command.account.id).contains(where: { seeks[$0.connection]?.ticket.seek.key == key }) {
      throw Refusal(.midReused, "a seek of yours waits with this key")
    }
    let m = MatchID(using: &random)
    let code = crockford(bits: random.next(), count: Limits.code)
    let room = MatchRecord(id: m, x: nil, o: nil, opener: command.account.id, code: code, created: now.wall)
    connections.beginWait(command.id)
    submit(
      Draft(opening: room, terms, by: command.account, key: key, at: node, now.wall), .opened(command))
  }

  /// The account and the address, as which attempts with codes are counted.
  func codeTriers(_ command: ClientCommand) -> [String] {
    ["code \(command.account.id)"] + [connections[command.id]?.address.map { "code \($0)" }].compactMap(\.self)
  }

  /// Counts an attempt with a room code; throws beyond `codeTriesPerMinute`.
  mutating func countCodeTry(_ command: ClientCommand) throws(Refusal) {
    let most = configuration.codeTriesPerMinute
    let allowed = codeTriers(command).map { tries.allow($0, atMost: most, now.monotonic) }
    guard !allowed.contains(false) else { throw .tooManyCodeTries(most) }
  }

  mutating func tellRoom(_ match: LiveMatch, _ id: ConnectionID, _ re: String?) {
    guard let code = match.record.code else { return refuse(id, re, Refusal(.code, "this room no longer exists")) }
    let left = Int(max(0, (match.codeDies ?? now.monotonic) - now.monotonic))
    send(.room(match.id, code: code, expiresIn: left), to: id, re: re)
  }

  mutating func join(_ match: LiveMatch, _ typed: String, _ command: ClientCommand) throws(Refusal) {
    let (account, session) = (command.account, command.session)
    // A repeated `join` of a player who has joined succeeds.
    if let side = match.side(of: account.id), !match.isOver {
      return send(.paired(match.id, side), to: command.id, re: command.re)
    }
    if match.state.phase == .live || match.state.phase == .confirming {
      throw Refusal(.code, "this room is full; you can watch its match: watch \(match.id) \(typed)")
    }
    guard match.state.phase == .open, let opener = match.record.opener.flatMap({ accounts[$0] }) else {
      throw .roomCode
    }
    guard opener.id != account.id else {
      // A player who comes back to an own room does not guess a code.
      for what in codeTriers(command) { tries.takeBack(what) }
      return tellRoom(match, command.id, command.re)
    }
    try command.requireMayPlay(match.state.terms)
    guard !isDraining else { throw .draining }
    guard !isBusy else { throw .busy }
    try requireFreeMatch(for: account.id)
    guard match.isSettled else { return wait(command.request, match.id, command.id) }
    var terms = match.state.terms
    let joinerIsX =
      terms.opener.map { $0 == .o }
      ?? (account.xBalance == opener.xBalance ? random.next() & 1 == 0 : account.xBalance < opener.xBalance)
    terms.opener = nil
    let pair = joinerIsX ? Sides(x: account, o: opener) : Sides(x: opener, o: account)
    let openerIsBot = sessions.of(opener.id).contains(where: \.isBot)
    let bots = joinerIsX ? Sides(x: session.isBot, o: openerIsBot) : Sides(x: openerIsBot, o: session.isBot)
    var room = match
    (room.record.x, room.record.o) = (pair.x.id, pair.o.id)
    submit(Draft(starting: room, pair, bots: bots, terms, at: now.wall), match, command)
  }
}
