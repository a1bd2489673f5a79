import MatchProtocol
import MatchStore

/// Messages between nodes, heartbeats, adopted matches, and comparisons with the store.
extension Lobby {
  mutating func publish(_ others: [NodeID], _ notification: Notification) {
    replies.add(LobbyEffect.publish(notification, to: others))
  }

  mutating func receive(_ text: String?) {
    guard let text else { return compare() }
    switch Notification(text) {
    case .grown(let m, let seq, let bodies):
      if withMatches({ $0.announced(bodies, of: m, from: seq, $1) }) { resumeMatch(m) }
    case .bye(let m, let side): withMatches { $0.sayBye(side, m, $1) }
    case .paired(let ticket, let account, let m): followTicket(ticket, account, m)
    case .bots(let ticket, let count): carryOut(seeks: seeks.offer(bots: count, ticket, at: now.monotonic))
    case .look(let ticket): askForPlace(ticket)
    case .queued: readQueueSoon()
    case .session(let id, let generation): disconnect(id, before: generation)
    case .account(let id): if people.accounts[id] != nil { read(accounts: [id]) }
    case .tournament(let code): tournaments.markBehind(code)
    case .chat(let m, let account, let line):
      if let match = matches[m] { replies.add(match.chatLines(line, from: account, people.accounts)) }
    case nil: break
    }
  }

  // MARK: heartbeats

  mutating func sendHeartbeat() {
    guard membership.beginHeartbeat() else { return }
    let sentAt = now.monotonic
    ask(.heartbeat(node, address: configuration.address)) { lobby, answer in
      let heartbeat: Heartbeat? = if case .heartbeat(let heartbeat) = answer { heartbeat } else { nil }
      guard let change = lobby.membership.endHeartbeat(heartbeat, sentAt: sentAt) else { return }
      lobby.apply(change)
    }
  }

  private mutating func apply(_ change: Membership.Change) {
    if let outage = change.outage { matches.postpone(by: outage, now.monotonic) }
    // Another node has joined: tell the clients its address now, because they need it when this node has died.
    if change.hasNewAddress {
      for id in people.connections.ids where people.connections[id]?.session != nil {
        send(.nodes(membership.otherAddresses), to: id)
      }
    }
    if change.hasLostNode { matches.checkPresenceElsewhere(now.monotonic) }
    if membership.trustsHeartbeats { withMatches { directory, _ in directory.continueChecks() } }
    if change.becameLeader { askForQueue() }
    if change.mustAdopt { adoptOrphans() }
  }

  /// Closes all connections once the other nodes consider this node dead, so that clients reconnect to the other nodes.
  mutating func sendAway() {
    guard membership.isGivenUp else { return }
    for id in people.connections.ids {
      replies.add(.close(id, .restart, "this node has lost its database; come back", retry: 100))
    }
  }

  /// Takes over matches that no living node follows; the store then lists this node as their follower.
  private mutating func adoptOrphans() {
    guard !isDraining, membership.beginAdopting() else { return }
    let most = configuration.sweptAtOnce
    ask(.adoptOrphans(node, limit: most)) { lobby, answer in
      guard case .adopted(let found) = answer else {
        lobby.membership.endAdopting(isDone: false)
        lobby.membership.requireComparison()
        return lobby.matches.checkPresenceElsewhere(lobby.now.monotonic)
      }
      lobby.withMatches { $0.adoptOrphans(found, $1) }
      lobby.membership.endAdopting(isDone: found.count < most)
      if found.count >= most { lobby.adoptOrphans() }
    }
  }

  // MARK: comparing

  /// Asks the store for all that differs from memory, in case notifications were lost.
  mutating func compare() {
    var memory = Memory()
    memory.matches = matches.lengths(now.monotonic)
    memory.accounts = people.accounts.all.mapValues(\.version)
    for session in people.sessions.all { memory.sessions[session.id] = session.generation }
    memory.tickets = seeks.stored
    memory.wantsOthers = membership.beginComparing()
    ask(.compare(node, memory)) { [memory] lobby, answer in
      if case .differences(let found) = answer {
        lobby.compared(memory, found)
      } else if memory.wantsOthers {
        lobby.membership.requireComparison()
      }
    }
  }

  private mutating func compared(_ memory: Memory, _ differences: Differences) {
    people.accounts.invalidate(differences.accounts, unlessChangedSince: memory.accounts)
    keepAndEnforce(differences.accounts)
    for session in differences.gone.flatMap(people.sessions.of) { disconnect(session, .accountGone) }
    for id in differences.sessions {
      guard let session = people.sessions[id], session.generation == memory.sessions[id] else { continue }
      disconnect(session, .resumedOrOver)
    }
    withMatches { directory, _ in directory.compare(differences.matches, known: memory.matches) }
    for ticket in differences.tickets {
      guard let id = seeks.seeker(ticket.id), let account = seeks[id]?.account else { continue }
      if let m = ticket.m { followTicket(ticket.id, account, m) } else { askForPlace(ticket.id) }
    }
  }
}
