import MatchProtocol
import MatchStore
import TicTacToe

/// Messages between nodes, heartbeats, adopted matches, absent players and comparisons with the store.
extension Lobby {
  // MARK: notifications from other nodes

  mutating func publish(_ others: [NodeID], _ notification: Notification) {
    guard !others.isEmpty else { return }
    replies.add(.publish(others, notification.text))
  }

  mutating func receive(_ text: String?) {
    guard let text else { return compare() }
    switch Notification(text) {
    case .grown(let m, let seq, let bodies): receiveAppended(m, seq, bodies)
    case .bye(let m, let side): saidBye(side, m)
    case .paired(let ticket, let account, let m): pairedElsewhere(ticket, account, m)
    case .bots(let ticket, let count): offered(ticket, count)
    case .look(let ticket): if let id = seeks.seeker(ticket) { askForPlace(id) }
    case .queued: readQueueSoon()
    case .session(let id, let generation): disconnect(id, before: generation)
    case .account(let id): if accounts[id] != nil { read(accounts: [id]) }
    case .tournament(let code): tournaments.markBehind(code)
    case .chat(let m, let account, let line): deliver(line, m, from: account)
    case nil: break
    }
  }

  private mutating func receiveAppended(_ m: MatchID, _ seq: Int, _ bodies: [[UInt8]]) {
    let last = seq + max(bodies.count, 1) - 1
    matches.announce(last, of: m)
    switch matches[m]?.reaction(to: bodies, from: seq) {
    case .ignore, nil: break
    case .reread:
      // A read is in progress, and its answer may lack these events: read once more afterwards.
      if matches[m]?.work.isBeingRead == true { matches[m]?.work.isBehind = true }
      reread(m)
    case .fold(let events):
      fold(events, of: m, after: seq - 1, isStored: false)
      resumeMatch(m)
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
    if let outage = change.outage {
      for match in matches.values { matches[match.id]?.postpone(by: outage, membership.now.monotonic) }
    }
    // Another node has joined: tell the clients its address now, because they need it when this node has died.
    if change.hasNewAddress {
      for id in connections.ids where connections[id]?.session != nil {
        send(.nodes(membership.otherAddresses), to: id)
      }
    }
    if change.hasLostNode { checkPresenceElsewhere() }
    if membership.trustsHeartbeats { for m in matches.toCheck { reread(m) } }
    if change.becameLeader { askForQueue() }
    if change.mustAdopt { adoptOrphans() }
  }

  /// Closes all connections once the other nodes consider this node dead, so that clients reconnect to the other nodes.
  mutating func sendAway() {
    guard membership.isGivenUp else { return }
    for id in connections.ids {
      close(id, .restart, "this node has lost its database; come back", retry: 100)
    }
  }

  private mutating func adoptOrphans() {
    guard !isDraining, membership.beginAdopting() else { return }
    ask(.adoptOrphans(node, limit: configuration.sweptAtOnce)) { lobby, answer in
      if case .adopted(let found) = answer { return lobby.adoptOrphans(found) }
      lobby.membership.endAdopting(isDone: false)
      lobby.membership.requireComparison()
      lobby.checkPresenceElsewhere()
    }
  }

  /// Caches matches that no living node followed; the store now lists this node as their follower.
  private mutating func adoptOrphans(_ found: [FollowedMatch]) {
    for one in found {
      let m = one.match.record.id
      let isNew = matches[m] == nil
      if isNew { _ = install(one) } else { catchUp(one, requested: (0, 0)) }
      guard matches[m] != nil else { continue }
      matches.schedulePresenceCheck(m, now.monotonic, byAll: isNew && one.nodes == [node])
      recordAbsentPlayers(of: m, one)
    }
    if !found.isEmpty { note("adopted matches without a living follower", ["matches": "\(found.count)"]) }
    let isDone = found.count < configuration.sweptAtOnce
    membership.endAdopting(isDone: isDone)
    if !isDone { adoptOrphans() }
  }

  /// After a node's death, schedules presence checks: players who are not connected here may have been connected to the dead node.
  private mutating func checkPresenceElsewhere() {
    for match in matches.values where !sessions.unaccountedSides(in: match).isEmpty {
      matches.schedulePresenceCheck(match.id, now.monotonic)
    }
  }

  /// Decides a presence check: logs `gone` for each player found absent, or `recovered` if both players are. While the check is undecided,
  /// each heartbeat reads the match and calls this function again.
  mutating func recordAbsentPlayers(of m: MatchID, _ found: FollowedMatch) {
    guard let check = matches.presenceCheck(of: m), membership.trustsHeartbeats, !isOutOfTouch else { return }
    guard let match = matches[m], [.confirming, .live].contains(match.state.phase) else {
      return matches.endPresenceCheck(m)
    }
    guard match.isSettled else { return }
    // In the first 5 s of a check, a session at any node counts as present, even if it is not subscribed to the match yet.
    let isEarly = now.monotonic - check.since < 5000
    let absent = Player.allCases.filter { side in
      guard let account = match.account(at: side), sessions.connections(of: side, in: match).isEmpty else {
        return false
      }
      if isEarly { return found.here[account] == nil && sessions.of(account).isEmpty }
      return !mayPlayElsewhere(account, found)
    }
    if absent.count == 2, check.byAll || !match.presence.x.isAway && !match.presence.o.isAway {
      // `fold` ends the presence check when it adds this event.
      let recovered = MatchEvent(at: now.wall, clocks: match.state.clocks, .recovered)
      return submit(Draft(appending: [recovered], to: match), .itself)
    }
    guard match.state.phase == .live else { return }
    for side in absent where !match.presence[side].isAway { matches[m]?.presence[side].hasLeft = true }
    if sessions.unaccountedSides(in: match).allSatisfy(absent.contains) || !isEarly { matches.endPresenceCheck(m) }
    updatePresence(m)
  }

  /// Whether a player may be connected to another node that follows the match; that node then decides about the player's presence.
  func mayPlayElsewhere(_ account: Int64?, _ found: FollowedMatch) -> Bool {
    let places = account.flatMap { found.here[$0] } ?? []
    return otherNodes.contains { places.contains($0.id) && found.nodes.contains($0.id) }
  }

  // MARK: comparing

  /// Asks the store for all that differs from memory, in case notifications were lost.
  mutating func compare() {
    var memory = Memory()
    for match in matches.values where !match.isOver || match.mayHaveRematch(now.monotonic) {
      memory.matches[match.id] = match.state.seq
    }
    memory.accounts = accounts.all.mapValues(\.version)
    for session in sessions.all { memory.sessions[session.id] = session.generation }
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
    // The database may have lost changes, so a lower version replaces an account in memory, unless memory has changed the account since the
    // request.
    accounts.invalidate(differences.accounts.map(\.id).filter { accounts[$0]?.version == memory.accounts[$0] })
    cacheAndEnforce(differences.accounts)
    for id in differences.gone {
      for session in sessions.of(id) { disconnect(session, .accountGone) }
    }
    for id in differences.sessions {
      guard let session = sessions[id], session.generation == memory.sessions[id] else { continue }
      disconnect(session, .resumedOrOver)
    }
    for m in differences.matches {
      if memory.matches[m] != nil { reread(m) } else if matches[m] == nil { load(m, .named, for: nil) }
    }
    for ticket in differences.tickets {
      guard let id = seeks.seeker(ticket.id), let account = seeks[id]?.ticket.account else { continue }
      if let m = ticket.m { pairedElsewhere(ticket.id, account, m) } else { askForPlace(id) }
    }
  }
}
