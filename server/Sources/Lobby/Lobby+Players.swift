import Base
import MatchProtocol
import MatchStore
import TicTacToe

/// Players who come and go, and their accounts.
extension Lobby {
  // MARK: connections and sessions

  mutating func connected(_ id: ConnectionID, _ address: String?) {
    people.connections.open(id, from: address)
    send(.greeting(server: configuration.server, versions: protocolVersions), to: id)
    if isDraining { send(.drain(retry: 1000), to: id) }
  }

  mutating func logIn(_ hello: ClientMessage.Hello, _ id: ConnectionID, _ re: String?) {
    guard !isDraining else {
      return refuse(id, re, Refusal(.draining, "the server is stopping; connect again in a moment"))
    }
    do throws(LoginFailure) {
      try people.admit(hello, from: id, isBusy: isBusy, configuration, now.monotonic)
      let attempt = LoginAttempt(hello, configuration.lives, &random)
      ask(.login(attempt.login, node), for: id) { lobby, answer in
        do throws(LoginFailure) { lobby.enter(try attempt.entered(answer), attempt, id, re) } catch {
          lobby.refuse(id, re, error)
        }
      }
    } catch { refuse(id, re, error) }
  }

  private mutating func refuse(_ id: ConnectionID, _ re: String?, _ failure: LoginFailure) {
    if let refusal = failure.refusal { refuse(id, re, refusal) }
    replies.add(.close(id, failure.code, failure.text, retry: failure.retry))
  }

  private mutating func enter(_ entered: Entered, _ attempt: LoginAttempt, _ id: ConnectionID, _ re: String?) {
    for session in entered.forgotten { revoke(session, .tooMany) }
    let (session, account) = (Session(entered, on: id, attempt.hello, at: now.monotonic), entered.profile.account)
    guard people.connections[id] != nil else {
      return retryUntilDone(.detach(session: session.id, generation: session.generation))
    }
    if let known = people.sessions[session.id] {
      // If a later login has resumed the same session meanwhile, its generation is higher, and its connection stays.
      guard known.generation < session.generation else {
        return replies.add(.close(id, .replaced, Disconnection.resumed.text, retry: nil))
      }
      disconnect(known, .resumed)
    }
    if let before = entered.before, before != node {
      publish([before], .session(session.id, generation: session.generation))
    }
    let mine = matches.live(entered.profile, in: session.games)
    send(.welcome(attempt.welcome(session, account, mine, configuration, membership)), to: id, re: re)
    people.enter(session, account, first: mine.map { .follow($0, re: nil, isNew: false) })
  }

  /// Ends a session at this node: removes it from its matches without waiting for `.disconnected`, and closes its connection.
  mutating func disconnect(_ session: Session, _ why: Disconnection) {
    leave(session, clean: false, isElsewhere: why.code == .replaced)
    replies.add(.close(session.connection, why.code, why.text, retry: nil))
  }

  /// Disconnects a session whose generation here is lower than `generation`: it was resumed at another node, or revoked (`.max`).
  mutating func disconnect(_ id: String, before generation: Int64) {
    guard let session = people.sessions[id], session.generation < generation else { return }
    disconnect(session, generation == .max ? .over : .resumed)
  }

  private mutating func revoke(_ session: String, _ why: Disconnection) {
    if let known = people.sessions[session] { disconnect(known, why) }
    publish(otherNodes.map(\.id), .session(session, generation: .max))
  }

  mutating func disconnected(_ id: ConnectionID, clean: Bool) {
    for m in people.connections[id]?.watching ?? [] { matches[m]?.removeWatcher(id) }
    if let session = people.session(of: id) { leave(session, clean: clean, isElsewhere: false) }
    people.connections.close(id)
  }

  /// `clean`: the client sent `bye`. `isElsewhere`: the session may have been resumed at another node.
  private mutating func leave(_ session: Session, clean: Bool, isElsewhere: Bool) {
    guard people.leave(session) else { return }
    retryUntilDone(.detach(session: session.id, generation: session.generation))
    carryOut(seeks: seeks.leave(session.connection))
    tournaments.unfollow(session.connection)
    withMatches { $0.leave(session, clean: clean, isElsewhere: isElsewhere, $1) }
    evictAccount(session.account)
  }

  // MARK: accounts

  /// Keeps the accounts that this node needs; `players`: those of a match that was just read. Disconnects banned and deleted players.
  mutating func keepAndEnforce(_ found: [AccountRecord], players: [Int64] = []) {
    for account in found
    where people.accounts[account.id] != nil || players.contains(account.id) || !matches.of(account.id).isEmpty {
      people.accounts.cache(account)
      // Judge the account in memory: it may be later than `account`, and a ban in `account` lifted since.
      guard let known = people.accounts[account.id], known.isClosed else { continue }
      for session in people.sessions.of(known.id) { disconnect(session, known.banned ? .banned : .deleted) }
    }
  }

  mutating func evictAccount(_ id: Int64) {
    if people.sessions.of(id).isEmpty, matches.of(id).isEmpty { people.accounts.evict(id) }
  }

  mutating func read(accounts ids: [Int64]) {
    ask(.accounts(ids)) { lobby, answer in
      if case .accounts(let found) = answer { lobby.keepAndEnforce(found) }
    }
  }

  mutating func change(_ command: ClientCommand) throws(Refusal) {
    guard !isBusy else { throw .busy }
    let wanted = try AccountCommand(command, configuration, &random)
    ask(.change(.id(command.account.id), wanted.change), for: command) { lobby, answer throws(Refusal) in
      guard case .change(let result) = answer else { throw .busy }
      let (account, forgotten) = try result.changed
      lobby.changed(account, forgotten)
      let reply = wanted.token.map { ServerMessage.token($0, name: account.name) } ?? .ok(nil, seq: nil)
      lobby.send(reply, to: command.id, re: command.re)
    }
  }

  /// The store has changed an account, and has deleted the sessions `forgotten`.
  mutating func changed(_ account: AccountRecord, _ forgotten: [String]) {
    keepAndEnforce([account])
    publish(otherNodes.map(\.id), .account(account.id))
    for session in forgotten { revoke(session, .tokensRevoked) }
  }
}
