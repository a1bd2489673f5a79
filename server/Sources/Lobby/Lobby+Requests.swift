import MatchProtocol
import MatchStore
import TicTacToe

/// Passes each request of a connection to the function that handles it.
extension Lobby {
  mutating func perform(_ request: Request, for id: ConnectionID) {
    switch request {
    case .follow(let m, _, _), .room(let m, _): route(request, m, for: id)
    case .afterReading: break  // these wait in their match, not here
    case .caughtUp(let m): if matches[m] != nil { serve(request, m, id) }
    case .line(let line, let at):
      guard let connection = connections[id] else { return }
      guard let sessionID = connection.session else {
        if case .hello(let hello) = line.message { logIn(hello, id, line.id) }
        return
      }
      guard let session = sessions[sessionID], let account = accounts[session.account] else { return }
      if let since = session.unsettledSince, at > since {
        retryUntilDone(.settle(session: sessionID, generation: session.generation))
        sessions.settle(sessionID)
      }
      let command = ClientCommand(id: id, line: line, at: at, session: session, account: account)
      attempt(id, line.id) { lobby throws(Refusal) in try lobby.perform(command) }
    }
  }

  private mutating func perform(_ command: ClientCommand) throws(Refusal) {
    let (id, re) = (command.id, command.re)
    switch command.line.message {
    case .confirm(let m): send(.ok(m, seq: nil), to: id, re: re)
    case .sync(let m, _), .watch(let m, _), .export(let m, _): route(command.request, m, for: id)
    case .unwatch(let m): unwatch(m, id, re)
    case .act(let m, _, _), .say(let m, _), .emote(let m, _), .report(let m, _):
      if let m { route(command.request, m, for: id) } else { performBare(command) }
    case .seek(let seek): try takeSeek(seek, command)
    case .unseek:
      withdrawSeek(id)
      send(.ok(nil, seq: nil), to: id, re: re)
    case .create(let terms, let key): try open(terms, key, command)
    case .join(let code):
      try countCodeTry(command)
      guard let code = canonicalCode(code) else { throw .roomCode }
      ask(.code(code), for: command) { lobby, answer throws(Refusal) in
        guard case .id(let m) = answer else { throw .busy }
        guard let m else { throw .roomCode }
        lobby.route(command.request, m, for: id)
      }
    case .register, .token, .mute, .block: try change(command)
    case .top(let rules): showPage(.top(rules, limit: Limits.page), to: id, re)
    case .list: showPage(.live(limit: Limits.page), to: id, re)
    case .me:
      ask(.profile(command.account.id), for: command) { lobby, answer throws(Refusal) in
        guard case .profile(let profile?) = answer else { throw .busy }
        lobby.cacheAndEnforce([profile.account])
        lobby.sendMe(profile, to: id, re)
      }
    case .history(let rules, let before): try askHistory(of: rules, before: before, command)
    case .host(let terms, let secret): try host(terms, secret, command)
    case .tournament(let order): try performTournamentOrder(order, command)
    // The connection may stay open for a moment after `bye`, and must not be paired then.
    case .bye: endSeek(id)
    case .hello, .ping, .pong, .help: break  // the session answers these
    }
  }

  /// Handles a command that names no match, by choosing one of the player's matches.
  private mutating func performBare(_ command: ClientCommand) {
    ask(.profile(command.account.id), for: command) { lobby, answer throws(Refusal) in
      guard case .profile(let profile?) = answer else { throw .busy }
      let meant: MatchID? =
        switch command.line.message {
        case .act(_, .rematch, _): profile.last
        case .act: profile.live.count == 1 ? profile.live[0] : nil
        default: profile.live.last ?? profile.last
        }
      guard let m = meant else { throw Refusal(.noMatch, "a bare command needs exactly one match; name it with m") }
      lobby.route(.line(command.line.naming(m), at: command.at), m, for: command.id)
    }
  }

  mutating func route(_ request: Request, _ m: MatchID, for id: ConnectionID) {
    if matches[m] != nil { serve(request, m, id) } else { load(m, .request(request), for: id) }
  }

  /// `isRead`: the match was just read again from the store.
  mutating func serve(_ request: Request, _ m: MatchID, _ id: ConnectionID, isRead: Bool = false) {
    if case .afterReading(let request) = request { return serve(request, m, id, isRead: true) }
    guard let session = session(of: id), let account = accounts[session.account], let match = matches[m] else { return }
    if !isRead, request.asksForState, match.state.phase == .open, match.record.opener != account.id {
      // The account may have joined the room at another node: read the match again first.
      reread(m)
      return wait(.afterReading(request), m, id)
    }
    switch request {
    case .afterReading: break
    case .line(let line, let at):
      let command = ClientCommand(id: id, line: line, at: at, session: session, account: account)
      attempt(id, line.id) { lobby throws(Refusal) in try lobby.serve(command, match) }
    case .follow(_, let re, let isNew):
      // The match was over before the player was subscribed: queue the player's ticket again.
      if isNew, match.isOver { return requeueSeek(after: m, id, re) }
      guard session.games.contains(match.state.terms.rules) else { return }
      if isNew, let side = match.side(of: account.id) { send(.paired(m, side), to: id, re: re) }
      sendState(of: match, to: id, re: nil, kind: .essential)
      subscribe(m, account.id, session.id)
    case .room(_, let re): tellRoom(match, id, re)
    case .caughtUp:
      if connections[id]?.watching.contains(m) == true { sendState(of: match, to: id, re: nil, kind: .spectator(m)) }
    }
  }

  private mutating func serve(_ command: ClientCommand, _ match: LiveMatch) throws(Refusal) {
    try command.requireGame(match.state.terms.rules)
    switch command.line.message {
    case .sync(_, let seq): try sync(match, from: seq, command)
    case .watch(_, let code): try watch(match, code, command)
    case .export(_, let seq): try export(match, from: seq, command)
    case .act(_, let action, let mid): try act(action, mid, match, command)
    case .say(_, let text): try say(text, match, command)
    case .emote(_, let emote): try self.emote(emote, match, command)
    case .report(_, let text): try report(text, match, command)
    case .join(let code): try join(match, code, command)
    default: break
    }
  }

  // MARK: orders

  mutating func administer(_ number: UInt64, _ order: Order) {
    switch order {
    case .player(let name, let order):
      ask(.change(.name(name), order.change)) { $0.ordered(number, name, order, $1) }
    case .annul(let m): if matches[m] != nil { annul(m, number) } else { load(m, .annul(number), for: nil) }
    }
  }

  private mutating func ordered(_ number: UInt64, _ name: String, _ order: Administration, _ answer: StoreAnswer?) {
    guard case .change(let result) = answer else { return replies.add(.orderCompleted(number, nil)) }
    guard case .changed(let account, let forgotten) = result else {
      note("no such player", ["name": name])
      return replies.add(.orderCompleted(number, false))
    }
    note("administered", ["name": name, "order": order.rawValue])
    cacheAndEnforce([account])
    publish(otherNodes.map(\.id), .account(account.id))
    for session in forgotten { revoke(session, .byAdministrator) }
    replies.add(.orderCompleted(number, true))
  }

  /// Annuls a match by the administrator's order `number`: the match ends without a result.
  mutating func annul(_ m: MatchID, _ number: UInt64) {
    guard let match = matches[m], !match.isOver else { return replies.add(.orderCompleted(number, false)) }
    // The match has work in flight: `nil` tells the administrator's program to retry.
    guard match.isSettled else { return replies.add(.orderCompleted(number, nil)) }
    let why = "by an administrator"
    note("annulled a match", ["m": m.rawValue, "why": why])
    submit(draftEnd(of: match, nil, .aborted, aside: why), .ordered(number))
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
