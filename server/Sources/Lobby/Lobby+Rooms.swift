import MatchProtocol
import MatchStore

extension Lobby {
  mutating func open(
    _ line: ClientLine, _ session: Session, _ account: AccountRecord, _ id: ConnectionID, at: Int64
  ) {
    guard case .create(let terms, let key) = line.message, knowsGame(terms.rules, session, id, line.id),
      mayOpen(account, id, line.id)
    else { return }
    guard !terms.rated || Lobby.mayBeRated(account, session) else { return refuseRated(id, line.id) }
    if let key, sessions.of(account.id).contains(where: { seeks[$0.connection]?.ticket.seek.key == key }) {
      return refuse(id, line.id, .midReused, "a seek of yours waits with this key")
    }
    let m = MatchID(using: &random)
    let code = crockford(bits: random.next(), count: Limits.code)
    let room = LiveMatch(MatchRecord(id: m, x: nil, o: nil, opener: account.id, code: code, created: now.wall))
    var draft = draft(room, [MatchEvent(at: now.wall, mid: key, .open(by: account.name, terms))], record: room.record)
    draft.unit.logs[0].nodes = [node]
    if let key { draft.unit.keys = [.init(account: account.id, key, purpose: Lobby.purpose(ofRoom: terms))] }
    connections[id]?.outstanding += 1
    submit(draft, .opened(id, line, at: at))
  }

  private static func purpose(ofRoom terms: MatchTerms) -> String {
    String(decoding: ClientLine(.create(terms, key: nil)).bytes.dropLast(), as: UTF8.self)
  }

  /// Whether a room may be opened now; if not, refuses the request.
  private mutating func mayOpen(_ account: AccountRecord, _ id: ConnectionID, _ re: String?) -> Bool {
    let open = matches.of(account.id).filter { matches[$0]?.state.phase == .open }
    if isDraining {
      refuse(id, re, .draining, "the server is stopping")
    } else if isBusy {
      refuseBusy(id, re)
    } else if open.count >= 4 {
      refuse(id, re, .occupied, "you can have at most four open rooms")
    } else {
      return hasRoomForMatch(account, id, re)
    }
    return false
  }

  /// Counts an attempt with a room code; refuses an attempt beyond `codeTriesPerMinute`.
  mutating func allowCode(_ account: AccountRecord, _ id: ConnectionID, _ re: String?) -> Bool {
    let most = configuration.codeTriesPerMinute
    let byAccount = tries.allow("code \(account.id)", atMost: most, now.monotonic)
    let byAddress =
      connections[id]?.address.map { tries.allow("code \($0)", atMost: most, now.monotonic) } ?? true
    if !byAccount || !byAddress { refuse(id, re, .rate, "at most \(most) tries of codes a minute") }
    return byAccount && byAddress
  }

  mutating func refuseCode(_ id: ConnectionID, _ re: String?) {
    refuse(id, re, .code, "no room has this code now")
  }

  mutating func tellRoom(_ m: MatchID, _ id: ConnectionID, _ re: String?) {
    guard let match = matches[m], let code = match.record.code else {
      return refuse(id, re, .code, "this room no longer exists")
    }
    let left = Int(max(0, (match.codeDies ?? now.monotonic) - now.monotonic))
    send(.room(m, code: code, expiresIn: left), to: id, re: re)
  }

  mutating func join(
    _ line: ClientLine, _ m: MatchID, _ session: Session, _ account: AccountRecord, _ id: ConnectionID, _ at: Int64
  ) {
    guard case .join(let typed) = line.message, let match = matches[m] else { return }
    // A repeated `join` of a player who has joined succeeds.
    if let side = match.side(of: account.id), !match.isOver {
      return send(.paired(m, side), to: id, re: line.id)
    }
    if match.state.phase == .live || match.state.phase == .confirming {
      return refuse(id, line.id, .code, "this room is full; you can watch its match: watch \(match.id) \(typed)")
    }
    guard match.state.phase == .open, let opener = match.record.opener.flatMap({ accounts[$0] }) else {
      return refuseCode(id, line.id)
    }
    guard opener.id != account.id else {
      return refuse(id, line.id, .rules, "this is your own room; give its code to somebody else")
    }
    guard !match.state.terms.rated || Lobby.mayBeRated(account, session) else { return refuseRated(id, line.id) }
    guard !isDraining else { return refuse(id, line.id, .draining, "the server is stopping") }
    guard !isBusy else { return refuseBusy(id, line.id) }
    guard hasRoomForMatch(account, id, line.id) else { return }
    guard match.isSettled else { return wait(.line(line, at: at), m, id) }
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
    submit(begin(room, pair, bots: bots, terms), of: line, match, id, at)
  }
}
