import MatchProtocol
import MatchStore

/// Rooms: matches that a player opens, and that whoever knows the code joins.
extension Lobby {
  mutating func open(_ terms: MatchTerms, _ key: String?, _ call: Call) throws(Refusal) {
    try call.requireGame(terms.rules)
    guard !isDraining else { throw .draining }
    guard !isBusy else { throw .busy }
    let open = matches.of(call.account.id).count { matches[$0]?.state.phase == .open }
    guard open < 4 else { throw Refusal(.occupied, "you can have at most four open rooms") }
    try requireRoom(for: call.account.id)
    try call.requireRating(terms)
    if let key, sessions.of(call.account.id).contains(where: { seeks[$0.connection]?.ticket.seek.key == key }) {
      throw Refusal(.midReused, "a seek of yours waits with this key")
    }
    let m = MatchID(using: &random)
    let code = crockford(bits: random.next(), count: Limits.code)
    let room = MatchRecord(id: m, x: nil, o: nil, opener: call.account.id, code: code, created: now.wall)
    var draft = Draft(opening: room, terms, by: call.account, key: key, at: now.wall)
    draft.unit.logs[0].nodes = [node]
    connections.beginWait(call.id)
    submit(draft, .opened(call.id, call.line, at: call.at))
  }

  /// Counts an attempt with a room code; throws beyond `codeTriesPerMinute`.
  mutating func countCodeTry(_ call: Call) throws(Refusal) {
    let most = configuration.codeTriesPerMinute
    let byAccount = tries.allow("code \(call.account.id)", atMost: most, now.monotonic)
    let byAddress =
      connections[call.id]?.address.map { tries.allow("code \($0)", atMost: most, now.monotonic) } ?? true
    guard byAccount, byAddress else { throw .codeTries(most) }
  }

  mutating func tellRoom(_ match: LiveMatch, _ id: ConnectionID, _ re: String?) throws(Refusal) {
    guard let code = match.record.code else { throw Refusal(.code, "this room no longer exists") }
    let left = Int(max(0, (match.codeDies ?? now.monotonic) - now.monotonic))
    send(.room(match.id, code: code, expiresIn: left), to: id, re: re)
  }

  mutating func join(_ match: LiveMatch, _ typed: String, _ call: Call) throws(Refusal) {
    let (account, session) = (call.account, call.session)
    // A repeated `join` of a player who has joined succeeds.
    if let side = match.side(of: account.id), !match.isOver {
      return send(.paired(match.id, side), to: call.id, re: call.re)
    }
    if match.state.phase == .live || match.state.phase == .confirming {
      throw Refusal(.code, "this room is full; you can watch its match: watch \(match.id) \(typed)")
    }
    guard match.state.phase == .open, let opener = match.record.opener.flatMap({ accounts[$0] }) else {
      throw .roomCode
    }
    guard opener.id != account.id else {
      throw Refusal(.rules, "this is your own room; give its code to somebody else")
    }
    try call.requireRating(match.state.terms)
    guard !isDraining else { throw .draining }
    guard !isBusy else { throw .busy }
    try requireRoom(for: account.id)
    guard match.isSettled else { return wait(call.request, match.id, call.id) }
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
    submit(Draft(starting: room, pair, bots: bots, terms, at: now.wall), match, call)
  }
}
