import MatchProtocol
import MatchStore

/// Requests about tournaments, and messages to the connections that follow them.
extension Lobby {
  mutating func host(_ given: TournamentTerms, _ chosen: String?, _ command: ClientCommand) throws(Refusal) {
    try command.requireTournaments()
    let secret = chosen ?? crockford(bits: random.next(), count: 12, lowercase: true)
    let record = try TournamentRecord(given, code: crockford(bits: random.next(), count: Limits.code), secret: secret)
    guard !isDraining else { throw .draining }
    try tournaments.requireMayMake(from: command.address, atMost: configuration.tournamentsPerAddress, now.wall)
    ask(.host(record, most: configuration.maxTournaments), for: command) { lobby, answer throws(Refusal) in
      switch answer {
      case .tournament(.found(let found)):
        lobby.tournaments.hasMade(found.record, from: command.address, lobby.now.wall)
        try lobby.follow(found, command, isOrganiser: true, secret: secret)
      case .tournament(.taken): try lobby.host(given, chosen, command)
      case .tournament: throw Refusal(.occupied, "at most \(lobby.configuration.maxTournaments) open tournaments")
      default: throw .busy
      }
    }
  }

  mutating func perform(_ order: TournamentOrder, _ command: ClientCommand) throws(Refusal) {
    try command.requireTournaments()
    guard let code = canonicalCode(order.code) else { throw .tournamentCode }
    if order.operation == .unfollow {
      tournaments.unfollow(command.id, code)
      return send(.ok(nil, seq: nil), to: command.id, re: command.re)
    }
    try withTournament(code, command) { lobby, found throws(Refusal) in try lobby.perform(order, on: found, command) }
  }

  /// Calls `then` with the tournament, reading it first if necessary. A wrong code counts as a try of the account and of the address.
  private mutating func withTournament(
    _ code: String, _ command: ClientCommand,
    _ then: @escaping @Sendable (inout Lobby, Tournament) throws(Refusal) -> Void
  ) throws(Refusal) {
    if let known = tournaments[code]?.known { return try then(&self, known) }
    let most = configuration.codeTriesPerMinute
    try people.tries.requireCode(command, atMost: most, now.monotonic)
    ask(.tournament(code), for: command) { lobby, answer throws(Refusal) in
      switch answer {
      case .tournament(.found(let found)): try then(&lobby, found)
      case .tournament:
        try? lobby.people.tries.countCode(command, atMost: most, lobby.now.monotonic)
        throw .tournamentCode
      default: throw .busy
      }
    }
  }

  private mutating func perform(
    _ order: TournamentOrder, on found: Tournament, _ command: ClientCommand
  ) throws(Refusal) {
    let (record, id) = (found.record, command.id)
    let isOrganiser = try order.isOrganiser(of: record)
    if order.operation == .games { return try sendGames(order, found, command) }
    guard let change = try order.change(of: record, by: command) else {
      return try follow(found, command, isOrganiser: isOrganiser, needsTable: true)
    }
    if order.operation == .leave { tournaments.unfollow(id, record.code) }
    if [.pause, .leave].contains(order.operation), seeks[id]?.seek.terms.tournament == record.code {
      carryOut(seeks: seeks.withdraw(id))
    }
    ask(.changeTournament(record.code, change), for: command) { lobby, answer throws(Refusal) in
      guard case .tournament(let result) = answer else { throw .busy }
      let changed = try result.changed
      lobby.tournaments.closes(changed.record)
      lobby.tournamentChanged(record.code)
      guard order.operation == .leave else { return try lobby.follow(changed, command, isOrganiser: isOrganiser) }
      lobby.send(.ok(nil, seq: nil), to: id, re: command.re)
    }
  }

  /// The store has a later version of a tournament or its table than the nodes.
  mutating func tournamentChanged(_ code: String) {
    tournaments.markBehind(code)
    publish(otherNodes.map(\.id), .tournament(code))
  }

  /// Makes a connection follow a tournament, and answers with the tournament's state, and its table or the player's row.
  private mutating func follow(
    _ found: Tournament, _ command: ClientCommand, isOrganiser: Bool, needsTable: Bool = false, secret: String? = nil
  ) throws(Refusal) {
    guard people.connections[command.id] != nil else { return }
    let code = found.record.code
    let hadTable = tournaments.isFollowed(code, by: command.id)
    if needsTable || !hadTable { try people.tries.countTable(command, now.monotonic) }
    tournaments.follow(found, command, isOrganiser: isOrganiser, now)
    // The answer will say that the tournament is over: first send the rows that this connection's table lacks.
    if hadTable, tournaments[code]?.phase(now) == .over { tellChanges(of: code) }
    // A connection that has the table gets only its own player's row, unless it asks for the table.
    replies.add(tournaments.answer(command, about: code, isWhole: needsTable || !hadTable, secret: secret, now))
  }

  /// Sends the finished games in which a player had X, the latest first. The games with O come in the answers about the opponents.
  private mutating func sendGames(
    _ order: TournamentOrder, _ found: Tournament, _ command: ClientCommand
  ) throws(Refusal) {
    let (record, number) = (found.record, order.number ?? 0)
    try command.requireGame(record.terms.rules)
    let account = try found.account(numbered: number)
    try withHistory(of: account, before: order.before, command) { lobby, matches, more in
      for match in matches where match.isGame(of: record.code, x: account) {
        lobby.send(.state(match.state, left: nil, you: nil), to: command.id)
      }
      // The tournament has no games before its beginning.
      let next = more.flatMap { $0 < record.begins ?? .max ? nil : $0 }
      lobby.send(.page("games", rows: [["n": .int(number)]], more: next), to: command.id, re: command.re)
    }
  }

  /// Called once a second: reads each tournament that is due; for any other, sends the followers what time has changed, such as the phase.
  mutating func refreshTournaments() {
    if membership.isLeader { tournaments.need(matchmaker.queue.tournaments, now.monotonic) }
    let (due, others) = tournaments.beginReading(now, every: configuration.compareEvery)
    for code in others { tellChanges(of: code) }
    for code in due {
      ask(.tournament(code)) { lobby, answer in
        let found: Tournament? = if case .tournament(.found(let found)) = answer { found } else { nil }
        if lobby.tournaments.endReading(code, found, lobby.now.monotonic) { lobby.tellChanges(of: code) }
      }
    }
    tournaments.dropUnneeded(now.monotonic)
  }

  private mutating func tellChanges(of code: String) {
    endSeeks(in: code)
    replies.add(tournaments.changes(of: code, now))
  }

  // MARK: seeks

  /// Handles a seek in a tournament: the tournament's terms replace the seek's terms.
  mutating func takeTournamentSeek(_ seek: ClientMessage.Seek, _ command: ClientCommand) throws(Refusal) {
    try command.requireTournaments()
    guard let code = seek.terms.tournament.flatMap(canonicalCode) else { throw .tournamentCode }
    try withTournament(code, command) { lobby, found throws(Refusal) in
      if let refusal = found.refusal(ofSeekBy: command.account.id, at: lobby.now.wall) { throw refusal }
      try lobby.queueSeek(ClientMessage.Seek(found.record.matchTerms, bots: true, key: seek.key), command)
    }
  }

  /// Ends the seeks of players who can no longer be paired in a tournament.
  private mutating func endSeeks(in code: String) {
    guard let known = tournaments[code]?.known else { return }
    let wall = now.wall
    carryOut(seeks: seeks.endSeeks(in: code) { known.refusal(ofSeekBy: $0, at: wall) })
  }
}
