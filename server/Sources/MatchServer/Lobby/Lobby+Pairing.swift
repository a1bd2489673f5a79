import MatchProtocol
import TicTacToe

/// The queue, rooms and their codes.
extension Lobby {
  // MARK: the queue

  mutating func seek(
    _ seek: ClientMessage.Seek, _ session: Session, _ account: AccountRecord, _ id: ConnectionID, _ re: String?
  ) {
    var since = now.steady
    if let key = seek.key, let use = keys["\(account.id)/\(key)"] {
      switch use.answer {
      case .seek(var known, let earlier):
        // The same wish may come back saying that a bot will do.
        known.bots = seek.bots
        guard known == seek else { return refuse(id, re, .midReused, "this key was used for another seek") }
        since = earlier
      case .paired(var known, let m):
        known?.bots = seek.bots
        guard known == nil || known == seek else {
          return refuse(id, re, .midReused, "this key was used for another seek")
        }
        if let match = matches[m], let side = match.side(of: account.id) {
          return send(.paired(m, side, confirmIn: nil), to: id, re: re)
        }
      case .room: return refuse(id, re, .midReused, "this key was used for a room")
      }
    }
    guard !isDraining else { return refuse(id, re, .draining, "the server is stopping") }
    guard maySeek(seek, session, account) else {
      return refuse(id, re, .forbidden, "rated matches are for people with a name; register one, or play unrated")
    }
    let open = tickets[session: session.record.id]
    guard open == nil || open?.seek.key == seek.key && seek.key != nil else {
      return refuse(id, re, .occupied, "one seek a session; unseek first")
    }
    guard tickets.count < 10_000 else { return refuseBusy(id, re) }
    if let key = seek.key { remember("\(account.id)/\(key)", .seek(seek, since: since)) }
    let ticket = Ticket(
      id: open?.id ?? crockford(bits: random.next(), count: 8, lowercase: true), session: session.record.id,
      account: account.id, seek: seek, isBot: session.isBot, since: since, rating: account.rating.value,
      offeredBots: open?.offeredBots ?? false)
    enqueue(ticket, id, re)
  }

  /// Whether somebody may seek on these terms.
  func maySeek(_ seek: ClientMessage.Seek, _ session: Session, _ account: AccountRecord) -> Bool {
    !seek.terms.rated || (!account.guest && !session.isBot)
  }

  /// Puts a ticket where its waiting time says, tells so, and looks for a partner at once.
  mutating func enqueue(_ ticket: Ticket, _ id: ConnectionID, _ re: String?) {
    tickets.insert(ticket)
    send(.queued(ticket: ticket.id, waited: Int(now.steady - ticket.since), bots: 0), to: id, re: re, after: 0)
    if let partner = bestPartner(of: ticket) { pair(ticket, partner) }
  }

  mutating func unseek(_ session: Session, _ id: ConnectionID, _ re: String?) {
    if let ticket = tickets.remove(session: session.record.id), let key = ticket.seek.key {
      keys["\(ticket.account)/\(key)"] = nil
    }
    send(.ok(nil, seq: nil), to: id, re: re, after: 0)
  }

  /// How far apart two ratings may be for a ticket: ±100, ten more a second, anything after twenty seconds.
  private func window(_ ticket: Ticket) -> Double {
    window(range: ticket.seek.range, waited: now.steady - ticket.since)
  }

  func window(range: Int?, waited: Int64) -> Double {
    if let range { return Double(range) }
    let seconds = Double(waited) / 1000
    return seconds >= 20 ? .infinity : 100 + 10 * seconds
  }

  private func fits(_ a: Ticket, _ b: Ticket) -> Bool {
    guard a.account != b.account, a.seek.terms == b.seek.terms else { return false }
    guard !(b.isBot && !a.seek.bots), !(a.isBot && !b.seek.bots) else { return false }
    guard let one = accounts[a.account], let other = accounts[b.account] else { return false }
    guard !one.blocked.contains(other.id), !other.blocked.contains(one.id) else { return false }
    // The one who waited longer decides how wide to look; what a player asked for himself always holds.
    let apart = abs(one.rating.value - other.rating.value)
    let limit = max(window(a), window(b))
    return apart <= min(limit, Double(a.seek.range ?? .max), Double(b.seek.range ?? .max))
  }

  /// The nearest in strength, of those the longest waiting.
  private func bestPartner(of ticket: Ticket) -> Ticket? {
    func rank(_ other: Ticket) -> (Double, Int64) { (abs(other.rating - ticket.rating), other.since) }
    return tickets.around(ticket).filter { $0.id != ticket.id && fits(ticket, $0) }.min { rank($0) < rank($1) }
  }

  /// Looks for a partner for everybody, the longest waiting first, and offers bots; O(n log n).
  mutating func pairAll() {
    guard !isDraining else { return }
    for ticket in tickets.oldestFirst {
      guard tickets[id: ticket.id] != nil else { continue }
      if let partner = bestPartner(of: ticket) {
        pair(ticket, partner)
      } else if let id = sessions[ticket.session]?.connection {
        offerBots(ticket, tickets.bots(ticket.seek.terms), to: id)
      }
    }
  }

  /// Tells somebody who has waited for long that bots would play, once.
  mutating func offerBots(_ ticket: Ticket, _ bots: Int, to id: ConnectionID) {
    let waited = now.steady - ticket.since
    guard bots > 0, !ticket.offeredBots, !ticket.isBot, !ticket.seek.terms.rated,
      waited >= Int64(configuration.botAfter)
    else { return }
    tickets.offeredBots(to: ticket.session)
    send(.queued(ticket: ticket.id, waited: Int(waited), bots: bots), to: id, after: 0)
  }

  /// Two tickets become a match, in one transaction.
  private mutating func pair(_ a: Ticket, _ b: Ticket) {
    guard !isBusy, let one = accounts[a.account], let other = accounts[b.account] else { return }
    for ticket in [a, b] { tickets.remove(id: ticket.id) }
    let aIsX = one.xBalance == other.xBalance ? random.next() & 1 == 0 : one.xBalance < other.xBalance
    let (x, o) = aIsX ? (a, b) : (b, a)
    let record = MatchRecord(id: MatchID(using: &random), x: x.account, o: o.account, created: now.wall)
    for ticket in [a, b] {
      if let key = ticket.seek.key {
        remember("\(ticket.account)/\(key)", .paired(ticket.seek, record.id))
      }
    }
    var draft = Draft()
    let waits = [x, o].map { sessions[$0.session]?.confirms ?? false }
    let confirm = waits.contains(true)
    let auto = confirm ? zip(Player.allCases, waits).filter { !$0.1 }.map(\.0) : []
    begin(
      record, Sides(x: aIsX ? one : other, o: aIsX ? other : one), a.seek.terms, confirm: confirm, previous: nil,
      keys: [x.seek.key ?? "", o.seek.key ?? ""], followers: Sides(x: [x.session], o: [o.session]),
      autoConfirmed: auto, tickets: [a, b], &draft)
    finish(draft)
    updatePresence(record.id, clean: false)
  }

  // MARK: rooms

  mutating func create(
    _ terms: MatchTerms, _ key: String?, _ session: Session, _ account: AccountRecord, _ id: ConnectionID, _ re: String?
  ) {
    if let key, let use = keys["\(account.id)/\(key)"] {
      guard case .room(let known, let m) = use.answer, known == terms else {
        return refuse(id, re, .midReused, "this key was used for something else")
      }
      if let match = matches[m], let code = match.record.code {
        return send(.room(m, code: code, expiresIn: Int((match.codeDies ?? now.steady) - now.steady)), to: id, re: re)
      }
      return refuse(id, re, .code, "this room is no more")
    }
    guard mayOpen(terms, account, id, re) else { return }
    var code: String
    repeat { code = crockford(bits: random.next(), count: Limits.code) } while codes[code] != nil
    let m = MatchID(using: &random)
    var match = Match(
      MatchRecord(id: m, x: nil, o: nil, opener: account.id, code: code, created: now.wall))
    match.codeDies = now.steady + Int64(configuration.codeLives)
    codes[code] = m
    matchesOf[account.id, default: []].append(m)
    if let key {
      remember("\(account.id)/\(key)", .room(terms, m))
    }
    var draft = Draft()
    draft.writes.append(.match(match.record))
    log([MatchEvent(at: now.wall, mid: key, .open(by: account.name, terms))], &match, &draft)
    matches[m] = match
    finish(draft)
    arm(m)
    send(.room(m, code: code, expiresIn: configuration.codeLives), to: id, re: re)
  }

  /// Whether a room may be opened now; refuses if not.
  mutating func mayOpen(_ terms: MatchTerms, _ account: AccountRecord, _ id: ConnectionID, _ re: String?) -> Bool {
    let open = matchesOf[account.id, default: []].filter { matches[$0]?.state.phase == .open }
    if isDraining {
      refuse(id, re, .draining, "the server is stopping")
    } else if terms.rated {
      refuse(id, re, .rules, "matches in rooms are not rated")
    } else if isBusy {
      refuseBusy(id, re)
    } else if open.count >= 4 {
      refuse(id, re, .occupied, "four open rooms are enough")
    } else {
      return true
    }
    return false
  }

  mutating func join(
    _ typed: String, _ session: Session, _ account: AccountRecord, _ id: ConnectionID, _ re: String?
  ) {
    if allowCode(account, id, re) { enterRoom(typed, session, account, id, re) }
  }

  /// Counts a try of a code; refuses beyond the limit.
  mutating func allowCode(_ account: AccountRecord, _ id: ConnectionID, _ re: String?) -> Bool {
    let limit = configuration.codeTriesPerMinute
    let byAccount = allow("code \(account.id)", perMinute: limit)
    let byAddress = connections[id]?.address.map { allow("code \($0)", perMinute: limit) } ?? true
    if !byAccount || !byAddress { refuse(id, re, .rate, "at most \(limit) tries of codes a minute") }
    return byAccount && byAddress
  }

  mutating func enterRoom(
    _ typed: String, _ session: Session, _ account: AccountRecord, _ id: ConnectionID, _ re: String?
  ) {
    guard let code = canonicalCode(typed), let m = codes[code], let match = matches[m], match.state.phase == .open,
      let opener = match.record.opener.flatMap({ accounts[$0] })
    else {
      // Who has joined already and asks again gets in again.
      if let mine = matchesOf[account.id, default: []].compactMap({ matches[$0] }).last(where: {
        $0.record.code == canonicalCode(typed) && !$0.isOver && $0.side(of: account.id) != nil
      }), let side = mine.side(of: account.id) {
        return send(.paired(mine.id, side, confirmIn: nil), to: id, re: re)
      }
      return refuse(id, re, .code, "no room has this code now")
    }
    guard opener.id != account.id else { return refuse(id, re, .rules, "this is your own room; give its code away") }
    guard !isDraining else { return refuse(id, re, .draining, "the server is stopping") }
    guard !isBusy else { return refuseBusy(id, re) }
    codes[code] = nil
    let joinerIsX =
      account.xBalance == opener.xBalance ? random.next() & 1 == 0 : account.xBalance < opener.xBalance
    let pair = joinerIsX ? Sides(x: account, o: opener) : Sides(x: opener, o: account)
    var record = match.record
    (record.x, record.o) = (pair.x.id, pair.o.id)
    let openers = sessionsOf[opener.id, default: []].filter { sessions[$0]?.connection != nil }
    let mine = [session.record.id]
    var draft = Draft()
    begin(
      record, pair, match.state.terms, confirm: false, previous: nil, keys: [],
      followers: joinerIsX ? Sides(x: mine, o: openers) : Sides(x: openers, o: mine), autoConfirmed: [], &draft)
    finish(draft)
    send(.ok(m, seq: matches[m]?.state.seq), to: id, re: re)
    updatePresence(m, clean: false)
  }
}
