import Base
import MatchProtocol
import MatchStore
import TicTacToe

/// A unit to be stored, and the events of its logs as values; the unit contains them encoded.
struct Draft: Sendable {
  var unit: StoreUnit
  var events: [[MatchEvent]]

  init(_ log: StoreUnit.Log, _ events: [MatchEvent]) { (unit, self.events) = (StoreUnit(logs: [log]), [events]) }

  /// Appends events to a match. `record`: the match's row, if the unit changes it.
  init(appending events: [MatchEvent], to match: LiveMatch, record: MatchRecord? = nil) {
    self.init(StoreUnit.Log(match.id, after: match.state.seq, events.map(\.body), record: record), events)
  }

  /// Begins a match, which is new or a room: the `start` event and the rated slots. `wall`: milliseconds since 1970. `nodes`: those
  /// that follow a new match.
  init(
    starting match: LiveMatch, _ players: Sides<AccountRecord>, bots: Sides<Bool>, _ terms: MatchTerms, at wall: Int64,
    nodes: [NodeID] = [], previous: MatchID? = nil, station: Int? = nil, keys: [String] = []
  ) {
    let seats = Sides(
      x: PlayerInfo(players.x, isBot: bots.x, terms.rules), o: PlayerInfo(players.o, isBot: bots.o, terms.rules))
    let start = MatchEvent.Kind.start(
      seats, terms, confirm: false, previous: previous, station: station, keys: keys)
    self.init(appending: [MatchEvent(at: wall, start)], to: match, record: match.record)
    unit.logs[0].nodes = nodes.sorted()
    var scores = Sides(x: AccountScore(account: players.x.id), o: AccountScore(account: players.o.id))
    (scores.x.xBalance, scores.o.xBalance) = (1, -1)
    unit.scores = [scores.x, scores.o].sorted { $0.account < $1.account }
    if terms.needsSlot {
      unit.slots = [players.x, players.o].sorted { $0.id < $1.id }
        .map { .init(account: $0.id, terms.rules, $0[terms.rules].rating) }
    }
  }

  /// Ends a match, with the results and ratings of its players. `aside`: why it ends without a result. `wall`, and `ended` for the match's
  /// row: milliseconds since 1970.
  init(
    ending match: LiveMatch, _ outcome: Outcome?, _ reason: MatchEvent.Reason, first events: [MatchEvent] = [],
    aside: String? = nil, _ accounts: Accounts, at wall: Int64, ended: Int64
  ) {
    let result = MatchResult(of: match, outcome, accounts, at: wall)
    let last = aside.map { MatchEvent.Kind.aside(why: $0) } ?? .end(outcome, reason, ratings: result.changes)
    var record = match.record
    record.ended = ended
    self.init(appending: events + [MatchEvent(at: wall, last)], to: match, record: record)
    unit.scores = result.scores
    if let code = match.state.terms.tournament, let x = match.record.x, let o = match.record.o {
      // `pauses`: the side that missed the time limit of its first move, since neither a player nor an administrator ended the game. The
      // tournament pairs the side's player again only on request.
      let pauses = outcome == nil && aside == nil && events.isEmpty ? match.state.turn : nil
      unit.games = [TournamentGame(code, match.id, Sides(x: x, o: o), .ends(outcome, pauses: pauses))]
    }
  }

  /// The unit of a pairing: the match begins, and the tickets and keys of its players are used up.
  init(_ pairing: Pairing, _ table: TournamentDesk.Entry?, at wall: Int64) {
    let (seats, terms) = (pairing.seats, pairing.seats.x.seek.terms)
    let players = Sides(x: seats.x.player, o: seats.o.player)
    let record = MatchRecord(id: pairing.m, x: players.x.id, o: players.o.id, created: wall)
    self.init(
      starting: LiveMatch(record), players, bots: Sides(x: seats.x.isBot, o: seats.o.isBot), terms, at: wall,
      nodes: Array(Set(pairing.both.map(\.node))), station: table?.known?.record.station(wall), keys: pairing.keys)
    if let code = terms.tournament {
      unit.games = [TournamentGame(code, pairing.m, Sides(x: players.x.id, o: players.o.id), .begins)]
    }
    unit.tickets = pairing.both.map(\.id).sorted()
    unit.keys = pairing.both.compactMap { seat in
      seat.seek.key.map { .init(account: seat.account, $0, purpose: seat.purpose) }
    }
  }

  /// Opens a room, whose code players use to join. `key`: the client's key for the command.
  init(
    opening terms: MatchTerms, by account: AccountRecord, key: String?, at node: NodeID, _ wall: Int64,
    _ random: inout Entropy
  ) {
    let m = MatchID(using: &random)
    let code = crockford(bits: random.next(), count: Limits.code)
    let room = MatchRecord(id: m, x: nil, o: nil, opener: account.id, code: code, created: wall)
    self.init(
      appending: [MatchEvent(at: wall, mid: key, .open(by: account.name, terms))], to: LiveMatch(room), record: room)
    unit.logs[0].nodes = [node]
    if let key {
      let purpose = String(decoding: ClientLine(.create(terms, key: nil)).bytes.dropLast(), as: UTF8.self)
      unit.keys = [.init(account: account.id, key, purpose: purpose)]
    }
  }

  mutating func add(_ log: StoreUnit.Log, _ events: [MatchEvent]) {
    unit.logs.append(log)
    self.events.append(events)
  }

  /// The log that shows whether the unit was stored: one that the unit continues or, if there is none, the first.
  var decisiveLog: StoreUnit.Log { unit.logs.first { $0.after > 0 } ?? unit.logs[0] }

  /// Whether the store has the unit, judged by the match of `decisiveLog` as found there.
  func isStored(in found: FollowedMatch) -> Bool {
    let log = decisiveLog
    return log.bodies.isEmpty
      ? found.match.record == log.record : found.match.bodies.dropFirst(log.after).starts(with: log.bodies)
  }
}

extension PlayerInfo {
  /// A player's name and rating as others see them in a match of the game `rules`.
  init(_ account: AccountRecord, isBot: Bool, _ rules: Variant) {
    self.init(
      name: account.name, rating: Int(account[rules].rating.value.rounded()), guest: account.guest || isBot)
  }
}

extension MatchTerms {
  /// Whether a match occupies its players' rated slots: an account plays one such match at a time.
  var needsSlot: Bool { rated || tournament != nil }
}
