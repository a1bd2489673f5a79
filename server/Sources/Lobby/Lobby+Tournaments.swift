import MatchProtocol
import MatchStore
import TicTacToe

/// Requests about tournaments, and messages to the connections that follow them.
extension Lobby {
  // MARK: requests

  mutating func host(_ given: TournamentTerms, _ chosen: String?, _ command: ClientCommand) throws(Refusal) {
    try command.requireTournaments()
    var record = TournamentRecord()
    record.terms = given
    record.terms.name = ChatText.cleaned(given.name)
    guard !record.terms.name.isEmpty else { throw Refusal(.name, "the tournament needs a name") }
    guard !isDraining else { throw .draining }
    let address = connections[command.id]?.address
    if let address, tournaments.open(from: address, now.wall) >= configuration.tournamentsPerAddress {
      throw Refusal(.occupied, "at most \(configuration.tournamentsPerAddress) open tournaments from one address")
    }
    let secret = chosen ?? crockford(bits: random.next(), count: 12, lowercase: true)
    record.secret = Lobby.digest(secret)
    record.code = crockford(bits: random.next(), count: Limits.code)
    ask(.host(record, most: configuration.maxTournaments), for: command) { lobby, answer throws(Refusal) in
      switch answer {
      case .tournament(.found(let found)):
        if let address { lobby.tournaments.hasMade(found.record, from: address, lobby.now.wall) }
        try lobby.follow(found, command, isOrganiser: true, secret: secret)
      case .tournament(.taken): try lobby.host(given, chosen, command)
      case .tournament: throw Refusal(.occupied, "at most \(lobby.configuration.maxTournaments) open tournaments")
      default: throw .busy
      }
    }
  }

  mutating func performTournamentOrder(_ order: TournamentOrder, _ command: ClientCommand) throws(Refusal) {
    try command.requireTournaments()
    guard let code = canonicalCode(order.code) else { throw .tournamentCode }
    if order.operation == .unfollow {
      tournaments.unfollow(command.id, code)
      return send(.ok(nil, seq: nil), to: command.id, re: command.re)
    }
    try withTournament(code, command) { lobby, found throws(Refusal) in try lobby.carryOut(order, found, command) }
  }

  /// Calls `then` with the tournament, reading it first if necessary. A wrong code counts as a try of the account and of the address.
  private mutating func withTournament(
    _ code: String, _ command: ClientCommand,
    _ then: @escaping @Sendable (inout Lobby, Tournament) throws(Refusal) -> Void
  ) throws(Refusal) {
    if let known = tournaments[code]?.known { return try then(&self, known) }
    let triers = codeTriers(command)
    let most = configuration.codeTriesPerMinute
    guard triers.allSatisfy({ tries.count($0, now.monotonic) < most }) else { throw .tooManyCodeTries(most) }
    ask(.tournament(code), for: command) { lobby, answer throws(Refusal) in
      switch answer {
      case .tournament(.found(let found)): try then(&lobby, found)
      case .tournament:
        for what in triers { _ = lobby.tries.allow(what, atMost: most, lobby.now.monotonic) }
        throw .tournamentCode
      default: throw .busy
      }
    }
  }

  private mutating func carryOut(_ order: TournamentOrder, _ found: Tournament, _ command: ClientCommand)
    throws(Refusal)
  {
    let (record, id) = (found.record, command.id)
    let isOrganiser = order.secret.map { Lobby.digest($0) == record.secret } ?? false
    guard isOrganiser || order.secret == nil && !order.isOrganisers else {
      throw Refusal(.forbidden, "this is not the organiser's secret")
    }
    if order.operation == .games { return try sendGames(order, found, command) }
    guard let change = try order.change(of: record, by: command) else {
      return try follow(found, command, isOrganiser: isOrganiser, needsTable: true)
    }
    if order.operation == .leave { tournaments.unfollow(id, record.code) }
    if [.pause, .leave].contains(order.operation), seeks[id]?.ticket.seek.terms.tournament == record.code {
      withdrawSeek(id)
    }
    ask(.changeTournament(record.code, change), for: command) { lobby, answer throws(Refusal) in
      guard case .tournament(let result) = answer else { throw .busy }
      let changed = try result.changed
      lobby.tournaments.closes(changed.record)
      lobby.tournaments.markBehind(record.code)
      lobby.publish(lobby.otherNodes.map(\.id), .tournament(record.code))
      guard order.operation == .leave else { return try lobby.follow(changed, command, isOrganiser: isOrganiser) }
      lobby.send(.ok(nil, seq: nil), to: id, re: command.re)
    }
  }

  /// Makes a connection follow a tournament, and answers with the tournament's state (its notice) and table.
  private mutating func follow(
    _ found: Tournament, _ command: ClientCommand, isOrganiser: Bool, needsTable: Bool = false, secret: String? = nil
  ) throws(Refusal) {
    let (code, account, id) = (found.record.code, command.session.account, command.id)
    guard connections[id] != nil else { return }
    let before = tournaments[code]?.followers[id]
    // At most 60 whole tables a minute, because a table has up to 40 KiB.
    let isWhole = needsTable || before == nil
    guard !isWhole || tries.allow("table \(account)", atMost: 60, now.monotonic) else {
      throw Refusal(.rate, "at most 60 tables a minute")
    }
    tournaments.unfollow(id)
    tournaments.take(found, now.monotonic)
    tournaments[code]?.followers[id] = .init(account: account, isOrganiser: isOrganiser || before?.isOrganiser == true)
    // The answer will say that the tournament is over: first send the rows that this connection's table lacks.
    if before != nil, tournaments[code]?.phase(now) == .over { tellChanges(of: code) }
    // Use the tournament in memory, which may be newer than `found`.
    guard let entry = tournaments[code], let known = entry.known else { return }
    tell(entry.notice(now), of: entry, to: id, re: command.re, secret: secret)
    // A connection that has the table already gets only its own player's row.
    let rows = known.entrants.filter { isWhole || $0.account == account }.map(\.row)
    tournaments[code]?.partlySent.formUnion(rows.filter(entry.isNews).map(\.number))
    for line in ServerMessage.table(of: code, rows, isWhole: isWhole) { replies.add(.send(id, line, .essential)) }
  }

  /// Sends the finished games in which a player had X, the latest first. The games with O come in the answers about the opponents.
  private mutating func sendGames(
    _ order: TournamentOrder, _ found: Tournament, _ command: ClientCommand
  ) throws(Refusal) {
    let (record, number) = (found.record, order.number ?? 0)
    try command.requireGame(record.terms.rules)
    guard let account = found.entrants.first(where: { $0.row.number == number })?.account else {
      throw Refusal(.notFound, "the tournament has no such player")
    }
    try pages.beginHistory()
    let limit = Lobby.historyPage
    ask(.history(account, before: order.before ?? .max, limit: limit), for: command) {
      lobby, answer throws(Refusal) in
      lobby.pages.endHistory()
      guard case .summaries(let matches, let count) = answer else { throw .busy }
      for match in matches
      where match.terms.tournament == record.code && match.record.x == account && match.end?.outcome != nil {
        lobby.send(.state(match.state, left: nil, you: nil), to: command.id)
      }
      let oldest = matches.last?.record.ended ?? 0
      let isLast = count < limit || oldest < record.begins ?? .max
      let page = ServerMessage.page("games", rows: [["n": .int(number)]], more: isLast ? nil : oldest)
      lobby.send(page, to: command.id, re: command.re)
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
    endSeeks(in: code)
    guard let changes = tournaments[code]?.takeChanges(membership.now), let entry = tournaments[code] else { return }
    let lines = ServerMessage.table(of: code, changes.rows, isWhole: false)
    for id in entry.followers.keys.sorted() {
      // The notice comes after the rows, so that the table is complete when the notice has the phase `over`.
      for line in lines { replies.add(.send(id, line, .essential)) }
      if let notice = changes.notice { tell(notice, of: entry, to: id) }
    }
  }

  // MARK: seeks

  /// Handles a seek in a tournament: the tournament's terms replace the seek's terms.
  mutating func takeTournamentSeek(_ seek: ClientMessage.Seek, _ command: ClientCommand) throws(Refusal) {
    try command.requireTournaments()
    guard let code = seek.terms.tournament.flatMap(canonicalCode) else { throw .tournamentCode }
    try withTournament(code, command) { lobby, found throws(Refusal) in
      if let refusal = found.refusal(ofSeekBy: command.account.id, at: lobby.now.wall) { throw refusal }
      var seek = ClientMessage.Seek(found.record.matchTerms, bots: true, key: seek.key)
      seek.range = nil
      try lobby.queueSeek(seek, command)
    }
  }

  /// Ends the seeks of players who can no longer be paired in a tournament.
  private mutating func endSeeks(in code: String) {
    guard let known = tournaments[code]?.known else { return }
    for (id, open) in seeks.open.sorted(by: { $0.key < $1.key }) where open.ticket.seek.terms.tournament == code {
      guard open.isStored, let refusal = known.refusal(ofSeekBy: open.ticket.account, at: now.wall) else { continue }
      withdrawSeek(id)
      refuse(id, nil, refusal)
    }
  }
}
