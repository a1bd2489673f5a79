import MatchProtocol
import MatchStore

/// Rooms and their codes.
extension Lobby {
  mutating func open(
    _ terms: MatchTerms, _ key: String?, _ account: AccountRecord, _ id: ConnectionID, _ re: String?
  ) {
    if let use = use(of: key, account.id) {
      guard case .room(let known, let m) = use, known == terms else {
        return refuse(id, re, .midReused, "this key was used for something else")
      }
      return route(.room(m, re: re), m, for: id)
    }
    guard session(of: id).map({ mayPlay(terms.rules, $0, id, re) }) == true, mayOpen(terms, account, id, re) else {
      return
    }
    guard !terms.rated || session(of: id).map({ Lobby.mayBeRated(account, $0) }) == true else {
      return refuseRated(id, re)
    }
    let m = MatchID(using: &random)
    let code = crockford(bits: random.next(), count: Limits.code)
    var match = CachedMatch(MatchRecord(id: m, x: nil, o: nil, opener: account.id, code: code, created: now.wall))
    match.codeDies = now.steady + Int64(configuration.codeLives)
    var draft = Draft()
    draft.writes.append(.match(match.record))
    log([MatchEvent(at: now.wall, mid: key, .open(by: account.name, terms))], &match, &draft)
    var begin = MatchBegin(m: m, writes: draft.writes)
    begin.room = .init(opener: account.id, code: code, key: key)
    ask(.begin(begin), for: id, .opened(id, re: re, match, by: account, key: key))
  }

  mutating func opened(
    _ id: ConnectionID, _ re: String?, _ opened: CachedMatch, _ opener: AccountRecord, _ key: String?,
    _ answer: ClusterAnswer?
  ) {
    guard case .begin(let result) = answer, let code = opened.record.code else { return refuseBusy(id, re) }
    switch result {
    case .begun:
      var match = opened
      if cluster != nil { match.issued = 0 }
      matches[match.id] = match
      codes[code] = match.id
      keep(opener)
      matchesOf[opener.id, default: []].append(match.id)
      remember(key, opener.id, .room(match.state.terms, match.id))
      arm(match.id)
      send(.room(match.id, code: code, expiresIn: configuration.codeLives), to: id, re: re)
    case .known(let m): take(.room(m, re: re), for: id)
    case .codeTaken: if let account = account(of: id) { open(opened.state.terms, key, account, id, re) }
    case .playing, .stale: refuseBusy(id, re)
    }
  }

  /// Whether a room may be opened now; refuses if not.
  private mutating func mayOpen(_ terms: MatchTerms, _ account: AccountRecord, _ id: ConnectionID, _ re: String?)
    -> Bool
  {
    let open = matchesOf[account.id, default: []].filter { matches[$0]?.state.phase == .open }
    if isDraining {
      refuse(id, re, .draining, "the server is stopping")
    } else if terms.rated, cluster != nil {
      refuse(id, re, .rules, "matches in rooms of several nodes are not rated")
    } else if isBusy {
      refuseBusy(id, re)
    } else if open.count >= 4 {
      refuse(id, re, .occupied, "four open rooms are enough")
    } else {
      return mayPlay(account, id, re)
    }
    return false
  }

  /// Counts a try of a code; refuses beyond the limit.
  mutating func allowCode(_ account: AccountRecord, _ id: ConnectionID, _ re: String?) -> Bool {
    let limit = configuration.codeTriesPerMinute
    let byAccount = allow("code \(account.id)", perMinute: limit)
    let byAddress = connections[id]?.address.map { allow("code \($0)", perMinute: limit) } ?? true
    if !byAccount || !byAddress { refuse(id, re, .rate, "at most \(limit) tries of codes a minute") }
    return byAccount && byAddress
  }

  mutating func refuseCode(_ id: ConnectionID, _ re: String?) {
    refuse(id, re, .code, "no room has this code now")
  }

  mutating func enterRoom(
    _ typed: String, _ session: Session, _ account: AccountRecord, _ id: ConnectionID, _ re: String?
  ) {
    let match = canonicalCode(typed).flatMap { codes[$0] }.flatMap { matches[$0] }
    // Who has joined already and asks again gets in again.
    if let match, let side = match.side(of: account.id) {
      return answer(.paired(match.id, side, confirmIn: nil), to: id, re: re, after: match.issued)
    }
    if let match, match.state.phase == .live || match.state.phase == .confirming {
      return refuse(id, re, .code, "this room is full; its match may be watched: watch \(match.id) \(typed)")
    }
    guard let match, match.state.phase == .open, let opener = match.record.opener.flatMap({ accounts[$0] }) else {
      return refuseCode(id, re)
    }
    guard opener.id != account.id else { return refuse(id, re, .rules, "this is your own room; give its code away") }
    guard !match.state.terms.rated || Lobby.mayBeRated(account, session) else { return refuseRated(id, re) }
    guard !isDraining else { return refuse(id, re, .draining, "the server is stopping") }
    guard !isBusy else { return refuseBusy(id, re) }
    guard mayPlay(account, id, re) else { return }
    var terms = match.state.terms
    let joinerIsX =
      terms.opener.map { $0 == .o }
      ?? (account.xBalance == opener.xBalance ? random.next() & 1 == 0 : account.xBalance < opener.xBalance)
    terms.opener = nil
    let pair = joinerIsX ? Sides(x: account, o: opener) : Sides(x: opener, o: account)
    var record = match.record
    (record.x, record.o) = (pair.x.id, pair.o.id)
    let openers = sessionsOf[opener.id, default: []].filter {
      sessions[$0]?.connection != nil && sessions[$0]?.games.contains(match.state.terms.rules) == true
    }
    let mine = [session.record.id]
    var draft = Draft()
    begin(
      record, pair, terms, confirm: false, previous: nil, keys: [],
      followers: joinerIsX ? Sides(x: mine, o: openers) : Sides(x: openers, o: mine), autoConfirmed: [], &draft)
    finish(draft)
    send(.ok(record.id, seq: matches[record.id]?.state.seq), to: id, re: re)
    updatePresence(record.id, clean: false)
  }
}
