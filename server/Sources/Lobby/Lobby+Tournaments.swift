import MatchProtocol
import MatchStore
import TicTacToe

/// Requests about tournaments, and messages to the connections that follow them.
extension Lobby {
  // MARK: requests

  /// Whether a client has stated that it knows tournaments; if not, refuses the request.
  private mutating func knowsTournaments(_ session: Session, _ id: ConnectionID, _ re: String?) -> Bool {
    if session.knowsTournaments { return true }
    refuse(id, re, .rules, "a client that knows tournaments says so in the caps of its hello")
    return false
  }

  mutating func host(_ line: ClientLine, _ session: Session, _ id: ConnectionID) {
    guard case .host(let given, let chosen) = line.message, knowsTournaments(session, id, line.id) else { return }
    var record = TournamentRecord()
    record.terms = given
    record.terms.name = ChatText.cleaned(given.name)
    guard !record.terms.name.isEmpty else { return refuse(id, line.id, .name, "the tournament needs a name") }
    guard !isDraining else { return refuse(id, line.id, .draining, "the server is stopping") }
    let address = connections[id]?.address
    if let address, tournaments.open(from: address, now.wall) >= configuration.tournamentsPerAddress {
      return refuse(
        id, line.id, .occupied, "at most \(configuration.tournamentsPerAddress) open tournaments from one address")
    }
    let secret = chosen ?? crockford(bits: random.next(), count: 12, lowercase: true)
    record.secret = Lobby.digest(secret)
    record.code = crockford(bits: random.next(), count: Limits.code)
    ask(.host(record, most: configuration.maxTournaments), for: id) { lobby, answer in
      switch answer {
      case .tournament(.found(let found)):
        if let address { lobby.tournaments.hasMade(found.record, from: address, lobby.now.wall) }
        lobby.follow(found, session, id, line.id, isOrganiser: true, secret: secret)
      case .tournament(.taken): lobby.host(line, session, id)
      case .tournament:
        lobby.refuse(id, line.id, .occupied, "at most \(lobby.configuration.maxTournaments) open tournaments")
      default: lobby.refuseBusy(id, line.id)
      }
    }
  }

  mutating func performTournamentOrder(_ order: TournamentOrder, _ session: Session, _ id: ConnectionID, _ re: String?)
  {
    guard knowsTournaments(session, id, re) else { return }
    guard let code = canonicalCode(order.code) else { return refuseTournamentCode(id, re) }
    if order.operation == .unfollow {
      tournaments.unfollow(id, code)
      return send(.ok(nil, seq: nil), to: id, re: re)
    }
    withTournament(code, id, re) { $0.carryOut(order, $1, session, id, re) }
  }

  /// Calls `then` with the tournament, reading it first if necessary. A wrong code counts as a try of the account and of the address.
  private mutating func withTournament(
    _ code: String, _ id: ConnectionID, _ re: String?, _ then: @escaping @Sendable (inout Lobby, Tournament) -> Void
  ) {
    if let known = tournaments[code]?.known { return then(&self, known) }
    let triers =
      ["code \(session(of: id)?.account ?? 0)"] + [connections[id]?.address.map { "code \($0)" }].compactMap(\.self)
    let most = configuration.codeTriesPerMinute
    guard triers.allSatisfy({ tries.count($0, now.monotonic) < most }) else {
      return refuse(id, re, .rate, "at most \(most) tries of codes a minute")
    }
    ask(.tournament(code), for: id) { lobby, answer in
      switch answer {
      case .tournament(.found(let found)): then(&lobby, found)
      case .tournament:
        for what in triers { _ = lobby.tries.allow(what, atMost: most, lobby.now.monotonic) }
        lobby.refuseTournamentCode(id, re)
      default: lobby.refuseBusy(id, re)
      }
    }
  }

  private mutating func refuseTournamentCode(_ id: ConnectionID, _ re: String?) {
    refuse(id, re, .code, "no tournament has this code")
  }

  private mutating func carryOut(
    _ order: TournamentOrder, _ found: Tournament, _ session: Session, _ id: ConnectionID, _ re: String?
  ) {
    let record = found.record
    let isOrganiser = order.secret.map { Lobby.digest($0) == record.secret } ?? false
    guard isOrganiser || order.secret == nil && !order.isOrganisers else {
      return refuse(id, re, .forbidden, "this is not the organiser's secret")
    }
    let change: TournamentChange
    switch order.operation {
    case .follow, .unfollow: return follow(found, session, id, re, isOrganiser: isOrganiser, needsTable: true)
    case .enter:
      guard knowsGame(record.terms.rules, session, id, re) else { return }
      guard !session.isBot || record.terms.bots else {
        return refuse(id, re, .forbidden, "the organiser lets no programs play")
      }
      change = .enter(account: session.account)
    case .pause: change = .status(account: session.account, .paused)
    case .play: change = .status(account: session.account, .playing)
    case .leave: change = .status(account: session.account, .left)
    case .start: change = .begin(delay: Int64(order.delay ?? 0))
    case .end: change = .end
    case .remove, .admit: change = .remove(name: order.name ?? "", order.operation == .remove)
    case .games: return sendGames(order, found, session, id, re)
    }
    if order.operation == .leave { tournaments.unfollow(id, record.code) }
    if [.pause, .leave].contains(order.operation), seeks[id]?.ticket.seek.terms.tournament == record.code {
      withdrawSeek(id)
    }
    ask(.changeTournament(record.code, change), for: id) { lobby, answer in
      switch answer {
      case .tournament(.found(let changed)):
        lobby.tournaments.closes(changed.record)
        lobby.tournaments.markBehind(record.code)
        lobby.publish(lobby.otherNodes.map(\.id), .tournament(record.code))
        guard order.operation == .leave else {
          return lobby.follow(changed, session, id, re, isOrganiser: isOrganiser)
        }
        lobby.send(.ok(nil, seq: nil), to: id, re: re)
      case .tournament(.full):
        lobby.refuse(id, re, .occupied, "at most \(Tournament.mostEntrants) players in a tournament")
      case .tournament(.removed): lobby.refuse(id, re, .forbidden, "the organiser has removed you from the tournament")
      case .tournament(.noEntrant): lobby.refuse(id, re, .notFound, "the tournament has no such player")
      case .tournament(.hasStarted): lobby.refuse(id, re, .over, "the tournament has started")
      case .tournament(.isOver): lobby.refuse(id, re, .over, "the tournament is over")
      case .tournament: lobby.refuseTournamentCode(id, re)
      default: lobby.refuseBusy(id, re)
      }
    }
  }

  /// Makes a connection follow a tournament, and answers with the tournament's state (its notice) and table.
  private mutating func follow(
    _ found: Tournament, _ session: Session, _ id: ConnectionID, _ re: String?, isOrganiser: Bool,
    needsTable: Bool = false,
    secret: String? = nil
  ) {
    guard connections[id] != nil else { return }
    let (code, account) = (found.record.code, session.account)
    let before = tournaments[code]?.followers[id]
    // At most 60 whole tables a minute, because a table has up to 40 KiB.
    let isWhole = needsTable || before == nil
    guard !isWhole || tries.allow("table \(account)", atMost: 60, now.monotonic) else {
      return refuse(id, re, .rate, "at most 60 tables a minute")
    }
    tournaments.unfollow(id)
    tournaments.take(found, now.monotonic)
    tournaments[code]?.followers[id] = .init(account: account, isOrganiser: isOrganiser || before?.isOrganiser == true)
    // The answer will say that the tournament is over: first send the rows that this connection's table lacks.
    if before != nil, tournaments[code]?.phase(now) == .over { tellChanges(of: code) }
    // Use the tournament in memory, which may be newer than `found`.
    guard let entry = tournaments[code], let known = entry.known else { return }
    tell(entry.notice(now), of: entry, to: id, re: re, secret: secret)
    // A connection that has the table already gets only its own player's row.
    let rows = known.entrants.filter { isWhole || $0.account == account }.map(\.row)
    tournaments[code]?.partlySent.formUnion(rows.filter(entry.isNews).map(\.number))
    for line in Lobby.lines(of: code, rows, isWhole: isWhole) { replies.add(.send(id, line, .essential)) }
  }

  /// Sends the finished games in which a player had X, the latest first. The games with O come in the answers about the opponents.
  private mutating func sendGames(
    _ order: TournamentOrder, _ found: Tournament, _ session: Session, _ id: ConnectionID, _ re: String?
  ) {
    let (record, number) = (found.record, order.number ?? 0)
    guard knowsGame(record.terms.rules, session, id, re) else { return }
    guard let account = found.entrants.first(where: { $0.row.number == number })?.account else {
      return refuse(id, re, .notFound, "the tournament has no such player")
    }
    guard pages.beginHistory() else { return refuseBusy(id, re) }
    let limit = Lobby.historyPage
    ask(.history(account, before: order.before ?? .max, limit: limit), for: id) { lobby, answer in
      lobby.pages.endHistory()
      guard case .summaries(let matches, let count) = answer else { return lobby.refuseBusy(id, re) }
      for match in matches
      where match.terms.tournament == record.code && match.record.x == account
        && match.end?.outcome != nil
      {
        lobby.send(.state(match.state, left: nil, you: nil), to: id)
      }
      let oldest = matches.last?.record.ended ?? 0
      let isLast = count < limit || oldest < record.begins ?? .max
      lobby.send(.page("games", rows: [["n": .int(number)]], more: isLast ? nil : oldest), to: id, re: re)
    }
  }

  // MARK: messages to followers

  private mutating func tell(
    _ notice: TournamentNotice, of entry: TournamentDesk.Entry, to id: ConnectionID, re: String? = nil,
    secret: String? = nil
  ) {
    guard let follower = entry.followers[id] else { return }
    var notice = notice
    notice.you = entry.entrants[follower.account]?.row.number
    notice.isOrganiser = follower.isOrganiser
    notice.secret = secret
    send(.tournament(notice), to: id, re: re)
  }

  /// The most rows of a table in one line to a client: with the longest names they fill two thirds of `Limits.lineOut`.
  private static let rowsPerLine = 100

  private static func lines(of code: String, _ rows: [TournamentRow], isWhole: Bool) -> [[UInt8]] {
    stride(from: 0, to: isWhole ? max(1, rows.count) : rows.count, by: rowsPerLine).map { start in
      let some = Array(rows[start..<min(start + rowsPerLine, rows.count)])
      return ServerMessage.standings(code, some, isWhole: isWhole && start == 0).bytes()
    }
  }

  /// Called once a second: reads each tournament that is due; for any other, sends the followers what time has changed, such as the phase.
  mutating func refreshTournaments() {
    if membership.isLeader {
      for code in matchmaker.queue.tournaments { tournaments.need(code, until: now.monotonic + 10_000) }
    }
    for (code, entry) in tournaments.entries.sorted(by: { $0.key < $1.key }) {
      guard entry.isDue(now, every: configuration.compareEvery) else {
        tellChanges(of: code)
        continue
      }
      tournaments[code]?.isBeingRead = true
      tournaments[code]?.isBehind = false
      ask(.tournament(code)) { lobby, answer in
        lobby.tournaments[code]?.isBeingRead = false
        guard case .tournament(.found(let found)) = answer else { return lobby.tournaments.markBehind(code) }
        guard lobby.tournaments[code] != nil else { return }
        lobby.tournaments.take(found, lobby.now.monotonic)
        lobby.tellChanges(of: code)
      }
    }
    tournaments.dropUnneeded(now.monotonic)
  }

  /// Sends the followers the rows that have changed and, if it has changed, the notice (the tournament's state).
  private mutating func tellChanges(of code: String) {
    guard var entry = tournaments[code], let known = entry.known else { return }
    endSeeks(in: code)
    guard entry.mayTell(now) else { return }
    let rows = known.entrants.map(\.row)
    var changed: [TournamentRow] = []
    for (i, row) in rows.enumerated() where entry.isNews(row) {
      changed.append(row)
      // Omit a name that the followers have already.
      if i < entry.rows.count, entry.rows[i].name == row.name { changed[changed.count - 1].name = "" }
    }
    let notice = entry.notice(now)
    var compared = notice
    (compared.remaining, compared.running) = (entry.notice.remaining, entry.notice.running)
    let isNews = compared != entry.notice
    (entry.rows, entry.partlySent, entry.notice, entry.toldAt) = (rows, [], notice, now.monotonic)
    tournaments[code] = entry
    let lines = Lobby.lines(of: code, changed, isWhole: false)
    for id in entry.followers.keys.sorted() {
      // The notice comes after the rows, so that the table is complete when the notice has the phase `over`.
      for line in lines { replies.add(.send(id, line, .essential)) }
      if isNews { tell(notice, of: entry, to: id) }
    }
  }

  // MARK: seeks

  /// Handles a seek in a tournament: the tournament's terms replace the seek's terms.
  mutating func takeTournamentSeek(
    _ seek: ClientMessage.Seek, _ session: Session, _ account: AccountRecord, _ id: ConnectionID, _ re: String?
  ) {
    guard knowsTournaments(session, id, re) else { return }
    guard let code = seek.terms.tournament.flatMap(canonicalCode) else { return refuseTournamentCode(id, re) }
    withTournament(code, id, re) { lobby, found in
      if let why = lobby.refusal(of: account.id, in: found) { return lobby.refuse(id, re, .over, why) }
      var seek = ClientMessage.Seek(found.record.matchTerms, bots: true, key: seek.key)
      seek.range = nil
      lobby.queueSeek(seek, session, account, id, re)
    }
  }

  /// Returns why a player cannot be paired in a tournament now; `nil` if nothing prevents it.
  private func refusal(of account: Int64, in found: Tournament) -> String? {
    switch found.record.phase(at: now.wall, isFinal: true) {
    case .waiting: return "the tournament has not started"
    case .ending, .over: return "the tournament is over"
    case .running: break
    }
    switch found.entrants.first(where: { $0.account == account })?.row.status {
    case .playing: return nil
    case .paused: return "you have paused; send play to go on"
    case .left, nil: return "enter the tournament first"
    case .removed: return "the organiser has removed you from the tournament"
    }
  }

  /// Ends the seeks of players who can no longer be paired in a tournament.
  private mutating func endSeeks(in code: String) {
    guard let known = tournaments[code]?.known else { return }
    for (id, open) in seeks.open.sorted(by: { $0.key < $1.key }) where open.ticket.seek.terms.tournament == code {
      guard open.isStored, let why = refusal(of: open.ticket.account, in: known) else { continue }
      withdrawSeek(id)
      refuse(id, nil, .over, why)
    }
  }
}
