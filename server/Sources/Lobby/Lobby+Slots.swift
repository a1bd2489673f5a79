import MatchProtocol
import MatchStore
import TicTacToe

/// Rated matches of a cluster: they take a slot of both accounts, so that nobody's rating changes under a match that will change
/// it, and other nodes may want the same slots. So the store begins them, before anything of them is in memory.
extension Lobby {
  private mutating func take(slots players: Sides<AccountRecord>, of rules: Variant, in begin: inout MatchBegin) {
    let both = [players.x, players.o].sorted { $0.id < $1.id }
    begin.rated = both.map(\.id)
    (begin.rules, begin.ratings) = (rules, both.map { $0[rules].rating })
  }

  /// Two who were paired: their match begins if the store lets it.
  mutating func beginRated(
    _ pairing: Pairing, _ record: MatchRecord, _ players: Sides<AccountRecord>, _ confirms: Sides<Bool>
  ) {
    var match = CachedMatch(record)
    let seats = pairing.seats
    match.followers = Sides(x: [seats.x.session], o: [seats.o.session])
    match.tickets = [seats.x, seats.o]
    var draft = Draft()
    prepare(
      &match, players, bots: bots(in: match), seats.x.seek.terms, confirm: confirms.x || confirms.o, previous: nil,
      keys: pairing.keys, autoConfirmed: Lobby.autoConfirmed(confirms), &draft)
    var begin = MatchBegin(m: record.id, writes: draft.writes)
    take(slots: players, of: seats.x.seek.terms.rules, in: &begin)
    ask(.begin(begin), .paired(pairing, match))
  }

  mutating func paired(_ pairing: Pairing, _ match: CachedMatch, _ answer: ClusterAnswer?) {
    if case .begin(.begun) = answer {
      for seat in [pairing.seats.x, pairing.seats.o] { keep(seat.player) }
      began(match)
      return led(pairing)
    }
    // They are looked at again within a second, known anew.
    for seat in [pairing.seats.x, pairing.seats.o] {
      if answer == .begin(.stale) { ask(.profile(seat.account), .refreshed(seat.account)) }
      giveBack(seat, refused: answer == .begin(.playing(seat.account)) ? .occupied : nil, after: pairing.m)
    }
  }

  /// A match has begun in the store: it is this node's from now on.
  private mutating func began(_ started: CachedMatch) {
    var match = started
    // Not in a transaction of this lobby's: it is durable already.
    match.issued = 0
    install(match)
    for id in connectionsFollowing(match) { serve(.follow(match.id, re: nil, isNew: true), match.id, id) }
    if match.record.opener == nil { list(match.id) }
    updatePresence(match.id, clean: false)
    startClock(match.id)
  }

  // MARK: rematches

  /// Both want a rematch: it begins if the store lets it. `old` has the agreement logged already, but only here.
  mutating func rematch(
    _ old: CachedMatch, next m: MatchID, _ draft: Draft, _ line: ClientLine, _ id: ConnectionID, _ at: Int64
  ) {
    guard let x = old.record.o.flatMap({ accounts[$0] }), let o = old.record.x.flatMap({ accounts[$0] }) else { return }
    var draft = draft
    var record = MatchRecord(id: m, x: x.id, o: o.id, created: now.wall)
    (record.opener, record.code) = (old.record.opener, old.record.code)
    var next = CachedMatch(record)
    next.followers = Sides(x: old.followers.o, o: old.followers.x)
    let players = Sides(x: x, o: o)
    prepare(
      &next, players, bots: bots(in: next), old.state.terms, confirm: false, previous: old.state, keys: [],
      autoConfirmed: [], &draft)
    var begin = MatchBegin(m: m, writes: draft.writes)
    take(slots: players, of: old.state.terms.rules, in: &begin)
    cluster?.beginning[old.id] = []
    ask(.begin(begin), gated: true, .rematched(old.id, line, id, at: at, old: old, next: next))
  }

  mutating func rematched(
    _ m: MatchID, _ line: ClientLine, _ id: ConnectionID, _ at: Int64, _ old: CachedMatch, _ next: CachedMatch,
    _ answer: ClusterAnswer?
  ) {
    let waiting = cluster?.beginning.removeValue(forKey: m) ?? []
    switch answer {
    case .begin(.begun): agreed(m, line, id, old, next)
    case .begin(.stale):
      // One of them has played elsewhere since: known anew, they may ask again.
      for account in [old.record.x, old.record.o] { if let account { ask(.profile(account), .refreshed(account)) } }
      refuseBusy(id, line.id)
    case .begin(.playing(let account)):
      let who = accounts[account]?.name ?? "one of you"
      refuse(id, line.id, .occupied, "\(who) is in another rated match")
    default: refuseBusy(id, line.id)
    }
    for (other, work) in waiting { serve(work, m, other) }
  }

  private mutating func agreed(
    _ m: MatchID, _ line: ClientLine, _ id: ConnectionID, _ old: CachedMatch, _ next: CachedMatch
  ) {
    // Who follows and watches may have changed meanwhile.
    matches[m]?.take(log: old)
    guard let match = matches[m], let body = old.bodies.last else { return }
    let event = ServerMessage.event(m, seq: old.state.seq, hash: old.state.hash.short, body: body).bytes()
    let players = connectionsFollowing(match)
    for player in players { emit(.send(player, event, .essential)) }
    for watcher in match.watchers where !players.contains(watcher) { emit(.send(watcher, event, .spectator(m))) }
    send(.ok(m, seq: old.state.seq), to: id, re: line.id)
    var fresh = next
    fresh.followers = Sides(x: match.followers.o, o: match.followers.x)
    began(fresh)
  }
}
