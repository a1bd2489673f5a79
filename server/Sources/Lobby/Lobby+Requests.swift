import MatchProtocol
import MatchStore

/// The requests of clients: in the order of each connection, to the function that handles each.
extension Lobby {
  // MARK: one at a time

  /// Handles a request after all earlier requests of its connection.
  mutating func enqueue(_ request: Request, for id: ConnectionID) {
    switch people.connections.enqueue(request, for: id) {
    case .now: perform(request, for: id)
    case .refused: refuse(id, request.re, .busy)
    case .later, nil: break
    }
  }

  /// Ends one wait of a connection. After its last wait, handles its queued requests.
  mutating func finishWait(_ id: ConnectionID) {
    people.connections.endWait(id)
    while let next = people.connections.takeNext(id) { perform(next, for: id) }
  }

  /// Runs `work` and ends one of the connection's waits; `work` may start the next wait.
  mutating func resumeConnection(_ id: ConnectionID, _ work: (inout Lobby) -> Void) {
    if people.connections[id] != nil { work(&self) }
    finishWait(id)
  }

  /// Queues a request until no unit and no read of its match is in flight; the connection waits, too.
  private mutating func wait(_ request: Request, _ m: MatchID, _ id: ConnectionID, isRead: Bool = false) {
    people.connections.beginWait(id)
    matches[m]?.work.waiting.append((id, request, isRead))
  }

  mutating func perform(_ request: Request, for id: ConnectionID) {
    switch request {
    case .follow(let m, _, _), .room(let m, _): route(request, m, for: id)
    case .caughtUp(let m): if matches[m] != nil { serve(request, m, id) }
    case .line(let line, let at):
      guard let connection = people.connections[id] else { return }
      if connection.session == nil, case .hello(let hello) = line.message { logIn(hello, id, line.id) }
      guard let command = people.command(line, at: at, from: id) else { return }
      if let settle = people.settle(command.session, at: at) { retryUntilDone(settle) }
      attempt(id, line.id) { lobby throws(Refusal) in try lobby.perform(command) }
    }
  }

  private mutating func perform(_ command: ClientCommand) throws(Refusal) {
    let (id, re) = (command.id, command.re)
    switch command.line.message {
    case .confirm(let m): send(.ok(m, seq: nil), to: id, re: re)
    case .sync(let m, _), .watch(let m, _), .export(let m, _): route(command.request, m, for: id)
    case .unwatch(let m):
      matches[m]?.removeWatcher(id)
      people.connections.unwatch(m, id)
      send(.ok(m, seq: nil), to: id, re: re)
    case .act(let m, _, _), .say(let m, _), .emote(let m, _), .report(let m, _):
      if let m { route(command.request, m, for: id) } else { performBare(command) }
    case .seek(let seek): try takeSeek(seek, command)
    case .unseek:
      carryOut(seeks: seeks.withdraw(id))
      send(.ok(nil, seq: nil), to: id, re: re)
    case .create(let terms, let key): try open(terms, key, command)
    case .join(let code):
      try people.tries.countCode(command, atMost: configuration.codeTriesPerMinute, now.monotonic)
      guard let code = canonicalCode(code) else { throw .roomCode }
      ask(.code(code), for: command) { lobby, answer throws(Refusal) in
        guard case .id(let m) = answer else { throw .busy }
        guard let m else { throw .roomCode }
        lobby.people.tries.takeBackCode(command)
        lobby.route(command.request, m, for: id)
      }
    case .register, .token, .mute, .block: try change(command)
    case .top(let rules): showPage(.top(rules, limit: Limits.page), to: id, re)
    case .list: showPage(.live(limit: Limits.page), to: id, re)
    case .me:
      withProfile(of: command) { lobby, profile in
        lobby.keepAndEnforce([profile.account])
        let games = lobby.people.session(of: id)?.games ?? []
        let rows = profile.rows(live: lobby.matches.live(profile, in: games), games)
        lobby.send(.page("me", rows: rows, more: nil), to: id, re: re)
      }
    case .history(let rules, let before):
      let games = rules.map { rules in command.session.games.filter { $0 == rules } } ?? command.session.games
      let me = command.account.id
      try withHistory(of: me, before: before, command) { lobby, found, more in
        let rows = found.compactMap { $0.historyRow(of: me, games) }
        lobby.send(.page("history", rows: rows, more: more), to: id, re: re)
      }
    case .host(let terms, let secret): try host(terms, secret, command)
    case .tournament(let order): try perform(order, command)
    // The connection may stay open for a moment after `bye`, and must not be paired then.
    case .bye: carryOut(seeks: seeks.end(id))
    case .hello, .ping, .pong, .help: break  // the session answers these
    }
  }

  /// Handles a command that names no match, by choosing one of the player's matches.
  private mutating func performBare(_ command: ClientCommand) {
    withProfile(of: command) { lobby, profile throws(Refusal) in
      guard let m = profile.match(meantBy: command.line.message) else {
        throw Refusal(.noMatch, "a bare command needs exactly one match; name it with m")
      }
      lobby.route(.line(command.line.naming(m), at: command.at), m, for: command.id)
    }
  }

  // MARK: requests about a match

  mutating func route(_ request: Request, _ m: MatchID, for id: ConnectionID, isRead: Bool = false) {
    guard matches[m] == nil else { return serve(request, m, id, isRead: isRead) }
    // A player's own match is loaded however many loads wait: the server sends its state unasked, so there is no request to refuse.
    let plays = if case .follow = request { true } else { false }
    guard plays || matches.mayLoad(m) else { return refuse(id, request.re, .busy) }
    people.connections.beginWait(id)
    withMatches { directory, _ in directory.load(m, .request(request, id)) }
  }

  /// `isRead`: the match was just read again from the store.
  mutating func serve(_ request: Request, _ m: MatchID, _ id: ConnectionID, isRead: Bool = false) {
    guard let session = people.session(of: id), people.accounts[session.account] != nil, let match = matches[m] else {
      return
    }
    if !isRead, request.asksForState, match.state.phase == .open, match.record.opener != session.account {
      // The account may have joined the room at another node: read the match again first.
      withMatches { directory, _ in directory.reread(m) }
      return wait(request, m, id, isRead: true)
    }
    switch request {
    case .line(let line, let at):
      guard let command = people.command(line, at: at, from: id) else { return }
      attempt(id, line.id) { lobby throws(Refusal) in
        try command.requireGame(match.state.terms.rules)
        try lobby.serve(command, match)
      }
    case .follow(_, let re, let isNew):
      // The match was over before the player was subscribed: queue the player's ticket again.
      if isNew, match.isOver { return seekAgain(after: m, id, re) }
      guard session.games.contains(match.state.terms.rules) else { return }
      if isNew, let side = match.side(of: session.account) { send(.paired(m, side), to: id, re: re) }
      replies.add(match.stateLine(for: session, at: now.monotonic))
      withMatches { $0.subscribe(session, at: m, $1) }
    case .room(_, let re):
      attempt(id, re) { lobby throws(Refusal) in
        lobby.send(try match.room(at: lobby.now.monotonic), to: id, re: re)
      }
    case .caughtUp:
      guard people.connections[id]?.watching.contains(m) == true else { return }
      replies.add(match.stateLine(for: session, at: now.monotonic, kind: .spectator(m)))
    }
  }

  private mutating func serve(_ command: ClientCommand, _ match: LiveMatch) throws(Refusal) {
    switch command.line.message {
    case .sync(_, let seq):
      try requireMaySee(match, nil, command)
      withMatches { $0.subscribe(command.session, at: match.id, $1) }
      replies.add(match.missingLines(after: seq, for: command.session, at: now.monotonic, re: command.re))
    case .watch(_, let code): try watch(match, code, command)
    case .export(_, let seq):
      try requireMaySee(match, nil, command)
      replies.add(match.exportLines(after: seq, to: command.id, re: command.re))
    case .act(_, let action, let mid): try act(action, mid, match, command)
    case .say, .emote:
      let line = try command.chat(in: match).bytes()
      replies.add(match.chatLines(line, from: command.account.id, people.accounts))
      publish(match.nodes.filter { $0 != node }, .chat(match.id, account: command.account.id, line: line))
      // The answer does not reveal that the opponent has muted chat.
      send(.ok(match.id, seq: nil), to: command.id, re: command.re)
    case .report(_, let text): try report(text, match, command)
    case .join(let code): try join(match, code, command)
    default: break
    }
  }

  private mutating func requireMaySee(_ match: LiveMatch, _ code: String?, _ command: ClientCommand) throws(Refusal) {
    let most = configuration.codeTriesPerMinute
    try people.tries.requireMaySee(match, code, command, atMost: most, now.monotonic)
  }

  private mutating func watch(_ match: LiveMatch, _ code: String?, _ command: ClientCommand) throws(Refusal) {
    try requireMaySee(match, code, command)
    let id = command.id
    try people.connections.requireMayWatch(id)
    if !match.isOver, !match.isWatched(by: id) {
      matches[match.id]?.addWatcher(command.session)
      people.connections.watch(match.id, id)
    }
    replies.add(match.stateLine(for: command.session, at: now.monotonic, re: command.re))
  }

  private mutating func act(
    _ action: MatchAction, _ mid: String?, _ match: LiveMatch, _ command: ClientCommand
  ) throws(Refusal) {
    let (m, id) = (match.id, command.id)
    guard let side = match.side(of: command.account.id) else {
      throw Refusal(.forbidden, "you do not play in this match")
    }
    if let seq = try match.answer(to: mid, action, of: side) {
      replies.counts.repeated += 1
      return send(.ok(m, seq: seq), to: id, re: command.re)
    }
    guard !isBusy else { throw .busy }
    guard match.isSettled else { return wait(command.request, m, id) }
    withMatches { $0.subscribe(command.session, at: m, $1) }
    // If subscribing has submitted a `back` event, the command waits until that event is stored.
    guard matches[m]?.work.hasUnit != true else { return wait(command.request, m, id) }
    let lag = Int64(min(people.connections[id]?.roundTrip ?? 0, Limits.lag))
    let decided = LiveMatch.Command(
      action: action, side: side, mid: mid, at: command.at, lag: lag, mayLoseOnTime: !membership.isOutOfTouch)
    switch try match.decide(decided, now, configuration) {
    case .isTooLate:
      // First store the loss on time. The command waits and is then refused, because the match is over.
      wait(command.request, m, id)
      submit(draft(match, match.outOfTime(now)), .itself)
    case .rematch:
      guard !isDraining else { throw .draining }
      try matches.requireFreeMatch(for: command.account.id)
      let draft = try Draft(rematchOf: match, by: side, mid, isFull: matches.isFull, matchContext, &random)
      submit(draft, match, command)
    case .change(let change): submit(draft(match, change), match, command)
    }
  }

  /// Submits the unit of a command. The connection's later requests wait for the verdict.
  private mutating func submit(_ draft: Draft, _ match: LiveMatch, _ command: ClientCommand) {
    people.connections.beginWait(command.id)
    submit(draft, .command(command, seq: match.state.seq + 1))
  }

  private mutating func report(_ text: String, _ match: LiveMatch, _ command: ClientCommand) throws(Refusal) {
    try command.requirePlayer(of: match)
    try people.tries.countReport(command, now.monotonic)
    let clean = ChatText.cleaned(text)
    note("report", ["by": command.account.name, "m": match.id.rawValue, "text": clean])
    ask(.report(ReportRecord(account: command.account.id, m: match.id, text: clean)), for: command) {
      lobby, answer throws(Refusal) in
      if answer == .done { return lobby.send(.ok(match.id, seq: nil), to: command.id, re: command.re) }
      lobby.people.tries.takeBackReport(command)
      throw .busy
    }
  }

  // MARK: rooms: a player opens one, and another joins it with its code

  /// Throws if no match may begin now.
  func requireServing() throws(Refusal) {
    guard !isDraining else { throw .draining }
    guard !isBusy else { throw .busy }
  }

  private mutating func open(_ terms: MatchTerms, _ key: String?, _ command: ClientCommand) throws(Refusal) {
    try command.requireGame(terms.rules)
    try requireServing()
    try matches.requireFreeRoom(for: command.account.id)
    try command.requireMayPlay(terms)
    let own = people.sessions.of(command.account.id)
    if let key, own.contains(where: { seeks[$0.connection]?.seek.key == key }) {
      throw Refusal(.midReused, "a seek of yours waits with this key")
    }
    people.connections.beginWait(command.id)
    submit(Draft(opening: terms, by: command.account, key: key, at: node, now.wall, &random), .opened(command))
  }

  private mutating func join(_ match: LiveMatch, _ typed: String, _ command: ClientCommand) throws(Refusal) {
    let account = command.account
    // A repeated `join` of a player who has joined succeeds.
    if let side = match.side(of: account.id), !match.isOver {
      return send(.paired(match.id, side), to: command.id, re: command.re)
    }
    if match.isInProgress {
      throw Refusal(.code, "this room is full; you can watch its match: watch \(match.id) \(typed)")
    }
    guard match.state.phase == .open, let opener = match.record.opener.flatMap({ people.accounts[$0] }) else {
      throw .roomCode
    }
    guard opener.id != account.id else {
      return send(try match.room(at: now.monotonic), to: command.id, re: command.re)
    }
    try command.requireMayPlay(match.state.terms)
    try requireServing()
    try matches.requireFreeMatch(for: account.id)
    guard match.isSettled else { return wait(command.request, match.id, command.id) }
    submit(Draft(joining: match, of: opener, command, matchContext, &random), match, command)
  }

  // MARK: profiles and pages

  private mutating func withProfile(
    of command: ClientCommand, _ then: @escaping @Sendable (inout Lobby, Profile) throws(Refusal) -> Void
  ) {
    ask(.profile(command.account.id), for: command) { lobby, answer throws(Refusal) in
      guard case .profile(let profile?) = answer else { throw .busy }
      try then(&lobby, profile)
    }
  }

  /// Reads a page of an account's history. `more`: the time before which the next page begins; `nil` after the last page.
  mutating func withHistory(
    of account: Int64, before: Int64?, _ command: ClientCommand,
    _ then: @escaping @Sendable (inout Lobby, [MatchSummary], _ more: Int64?) -> Void
  ) throws(Refusal) {
    try pages.beginHistory()
    ask(.history(account, before: before ?? .max, limit: SharedPages.historyPage), for: command) {
      lobby, answer throws(Refusal) in
      let (found, more) = try lobby.pages.endHistory(answer)
      then(&lobby, found, more)
    }
  }

  /// Answers with the leaderboard or the list of live matches, read and rendered once for all connections.
  private mutating func showPage(_ page: StoreQuestion, to id: ConnectionID, _ re: String?) {
    if pages.isFresh(page, now.monotonic) { return show(page, to: id, re) }
    people.connections.beginWait(id)
    guard pages.awaitRead(of: page, id, re) else { return }
    ask(page) { lobby, answer in
      for (id, re) in lobby.pages.read(page, answer, lobby.now.monotonic) {
        lobby.resumeConnection(id) { $0.show(page, to: id, re) }
      }
    }
  }

  private mutating func show(_ page: StoreQuestion, to id: ConnectionID, _ re: String?) {
    guard let line = pages.line(page, of: people.session(of: id)?.games ?? [], re) else {
      return refuse(id, re, .busy)
    }
    replies.add(.send(id, line, .essential))
  }

  // MARK: orders of administrators

  mutating func administer(_ number: UInt64, _ order: Order) {
    switch order {
    case .annul(let m) where matches[m] != nil: annul(m, number)
    case .annul(let m): withMatches { directory, _ in directory.load(m, .annul(number)) }
    case .player(let name, let order):
      ask(.change(.name(name), order.change)) { lobby, answer in
        guard case .change(let result) = answer else { return lobby.replies.add(.orderCompleted(number, nil)) }
        guard case .changed(let account, let forgotten) = result else {
          lobby.note("no such player", ["name": name])
          return lobby.replies.add(.orderCompleted(number, false))
        }
        lobby.note("administered", ["name": name, "order": order.rawValue])
        lobby.changed(account, forgotten)
        lobby.replies.add(.orderCompleted(number, true))
      }
    }
  }

  /// Annuls a match by the administrator's order `number`: the match ends without a result.
  mutating func annul(_ m: MatchID, _ number: UInt64) {
    guard let match = matches[m], !match.isOver else { return replies.add(.orderCompleted(number, false)) }
    // The match has work in flight: `nil` tells the administrator's program to retry.
    guard match.isSettled else { return replies.add(.orderCompleted(number, nil)) }
    let why = "by an administrator"
    note("annulled a match", ["m": m.rawValue, "why": why])
    submit(draft(match, .annul(why: why)), .ordered(number))
  }
}

extension ClientLine {
  func naming(_ m: MatchID) -> ClientLine {
    var line = self
    switch message {
    case .act(_, let action, let mid): line.message = .act(m, action, mid: mid)
    case .say(_, let text): line.message = .say(m, text)
    case .emote(_, let emote): line.message = .emote(m, emote)
    case .report(_, let text): line.message = .report(m, text: text)
    default: break
    }
    return line
  }
}
