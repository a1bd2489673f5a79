import MatchProtocol
import MatchStore
import TicTacToe

/// The matches of a node: those in memory, and those being loaded. It folds stored events, follows players who come and go, and reads a
/// match again if memory may lack events. The lobby calls each function that may append outputs inside `withMatches`, which carries them
/// out; also those without a context, such as `load`.
struct MatchDirectory: Sendable {
  private var matches = MatchTable()
  private var loads = MatchLoads()
  /// Matches with a player who may be absent although the log does not say so, for example because a node has died.
  private(set) var checks: [MatchID: PresenceCheck] = [:]
  /// The ids of finished matches, in the order of loading; some may have left memory since.
  private var finished: [MatchID] = []
  /// The wall time at which the last match ended, in milliseconds since 1970.
  private var lastEnd: Int64 = 0
  private var outputs: [MatchOutput] = []
  /// The events folded so far, and the matches that were given up because their log was inconsistent.
  private(set) var eventCount = 0
  private(set) var abandonedCount = 0

  var count: Int { matches.count }
  var values: some Sequence<LiveMatch> { matches.values }

  /// A match, to be changed in place. Changes with outputs go through the functions below.
  subscript(m: MatchID) -> LiveMatch? {
    _read { yield matches[m] }
    _modify { yield &matches[m] }
  }

  func of(_ account: Int64) -> [MatchID] { matches.of(account) }

  mutating func takeOutputs() -> [MatchOutput] {
    defer { outputs = [] }
    return outputs
  }

  // MARK: units

  /// The unit of a change. `accounts`: those of the players, whose results and ratings the end of a match changes.
  mutating func draft(_ match: LiveMatch, _ change: LiveMatch.Change, _ accounts: Accounts, at wall: Int64) -> Draft {
    switch change {
    case .append(let events): Draft(appending: events, to: match)
    case .end(let outcome, let reason, let events):
      Draft(ending: match, outcome, reason, first: events, accounts, at: wall, ended: endMoment(wall))
    case .annul(let why): Draft(ending: match, nil, .aborted, aside: why, accounts, at: wall, ended: endMoment(wall))
    }
  }

  /// The wall time to record as the end of a match. No two matches get the same time at one node, because the next page of a history begins
  /// below the last time sent. The time decreases only if the clock was set back by a minute or more.
  mutating func endMoment(_ wall: Int64) -> Int64 {
    lastEnd = wall > lastEnd || wall < lastEnd - 60_000 ? wall : lastEnd + 1
    return lastEnd
  }

  // MARK: players and spectators

  mutating func subscribe(_ session: Session, at m: MatchID, _ context: MatchContext) {
    matches[m]?.subscribe(session, context, &outputs)
  }

  /// Subscribes a session to the side of its player, and sends it the match if it is new to the session.
  mutating func seat(_ session: Session, at m: MatchID) {
    guard let side = matches[m]?.side(of: session.account), matches[m]?.add(session, to: side) == true else { return }
    tell(matches[m]?.beginningLines(for: session))
  }

  /// Subscribes a session without a line, because `tellBeginning` follows.
  mutating func seatSilently(_ session: Session, at m: MatchID) {
    if let side = matches[m]?.side(of: session.account) { matches[m]?.add(session, to: side) }
  }

  mutating func tellBeginning(_ m: MatchID) { tell(matches[m]?.beginningLines) }

  /// Removes a session that has ended from the matches of its account.
  mutating func leave(_ session: Session, clean: Bool, isElsewhere: Bool, _ context: MatchContext) {
    for m in matches.of(session.account)
    where matches[m]?.leave(session, clean: clean, isElsewhere: isElsewhere, context, &outputs) == true {
      schedulePresenceCheck(m, context.now)
    }
  }

  mutating func updatePresence(_ m: MatchID, _ context: MatchContext) { matches[m]?.updatePresence(context, &outputs) }

  /// A player who is not connected here has left, unless there are other nodes: then a presence check finds out.
  mutating func checkAbsence(of side: Player, in m: MatchID, _ context: MatchContext) {
    if context.nodes.isAlone { markLeft(side, m) } else { schedulePresenceCheck(m, context.now) }
  }

  /// A player has left the match, and has no session here.
  mutating func markLeft(_ account: Int64, _ m: MatchID) {
    if let side = matches[m]?.side(of: account) { markLeft(side, m) }
  }

  private mutating func markLeft(_ side: Player, _ m: MatchID) { matches[m]?.presence[side].hasLeft = true }

  mutating func sayBye(_ side: Player, _ m: MatchID, _ context: MatchContext) {
    matches[m]?.sayBye(side, context, &outputs)
  }

  /// Subscribes the sessions of a match to its rematch, with sides swapped; returns the newly subscribed sessions.
  @discardableResult
  private mutating func swapSeats(from old: MatchID, to m: MatchID, _ context: MatchContext) -> [Session] {
    guard let before = matches[old], matches[m] != nil else { return [] }
    var new: [Session] = []
    for side in Player.allCases {
      for session in before.followers[side.opponent] where matches[m]?.add(session, to: side) == true {
        new.append(session)
      }
      guard matches[m]?.isHere(side) == false else { continue }
      // A player who left the old match at this node is absent in the rematch, too.
      let hasLeft = before.presence[side.opponent].isAway || before.presence[side.opponent].hasLeft
      if before.nodes.contains(context.nodes.node), hasLeft {
        markLeft(side, m)
      } else {
        checkAbsence(of: side, in: m, context)
      }
    }
    return new
  }

  /// Subscribes a match's players at this node to the rematch, if that is in memory, and sends it to them.
  mutating func goOver(from old: MatchID, to m: MatchID, _ context: MatchContext) {
    for session in swapSeats(from: old, to: m, context) { tell(matches[m]?.beginningLines(for: session)) }
    updatePresence(m, context)
  }

  /// Subscribes the players of the match before, if this match is its rematch; `false` if it is none, or the match before is not in memory.
  mutating func adoptRematch(_ m: MatchID, _ context: MatchContext) -> Bool {
    guard let old = matches[m]?.previous, matches[old] != nil else { return false }
    swapSeats(from: old, to: m, context)
    tellBeginning(m)
    return true
  }

  // MARK: folding

  /// Adds the events that memory lacks (the first of `events` has the number `after` + 1) and sends them to players and spectators here.
  /// `begins`: a rematch that need not be loaded, because the same unit creates it.
  mutating func fold(
    _ events: [(event: MatchEvent, body: [UInt8])], of m: MatchID, after: Int, begins: MatchID? = nil,
    isStored: Bool = true, _ context: MatchContext
  ) {
    var hasBegun = false
    for (i, (event, body)) in events.enumerated() where matches[m]?.state.seq == after + i {
      do throws(ProtocolError) {
        try matches[m]?.add(event, body: body, at: context.now, context.configuration, isStored: isStored)
      } catch {
        // Only a stored event proves that the log is broken: any database role may send a false notification.
        return isStored ? abandon(m, error.message, context) : reread(m)
      }
      eventCount += 1
      if case .start = event.kind {
        hasBegun = true
        seatOpener(m, context)
      } else if !hasBegun {
        tell(matches[m]?.lines(of: event, body, at: context.now))
      }
      switch event.kind {
      case .gone: if let side = event.side { matches[m]?.tellGone(side, context, &outputs) }
      case .recovered: checks[m] = nil
      case .end, .aside: outputs.append(.ended(m, players: matches[m]?.players.map(\.connection) ?? []))
      case .rematch(let next?) where next != begins && matches[m]?.players.isEmpty == false:
        if matches[next] == nil { load(next, .rematch(of: m)) } else { goOver(from: m, to: next, context) }
      default: break
      }
    }
    if hasBegun { tellBeginning(m) }
    arm(m, context)
  }

  /// Adds the events that a stored unit appends to a match, and tells the other nodes. `nodes`: those that follow the match, if they are
  /// known. `joiner`: the session whose player joins a room. `begins`: the match that the unit begins.
  mutating func grow(
    _ log: StoreUnit.Log, _ events: [MatchEvent], nodes: [NodeID]?, joiner: Session?, begins: MatchID,
    _ context: MatchContext
  ) {
    let m = log.m
    let byes = matches[m]?.byes(in: events) ?? []
    update(m, log.record, nodes)
    if log.record != nil { readPlayers(of: m, context) }
    // Subscribe the player who joins first, so that the events are sent to the player, too.
    if let joiner { subscribe(joiner, at: m, context) }
    fold(Array(zip(events, log.bodies)), of: m, after: log.after, begins: begins, context)
    // The match was over before this unit. A finished match lists no nodes, so notify all other nodes.
    let hadEnded = log.record == nil && matches[m]?.isOver == true
    let others = hadEnded ? context.nodes.others.map(\.id) : (nodes ?? []).filter { $0 != context.nodes.node }
    tell(LobbyEffect.publish(.grown(m, seq: log.after + 1, log.bodies), to: others))
    for side in byes { tell(LobbyEffect.publish(.bye(m, side), to: others)) }
  }

  /// The row of a match, and the nodes that follow it, have changed in the store.
  private mutating func update(_ m: MatchID, _ record: MatchRecord?, _ nodes: [NodeID]?) {
    if let nodes { matches[m]?.nodes = nodes }
    if let record {
      matches[m]?.record = record
      matches.index(m)
    }
  }

  /// Reads the players' accounts that were evicted while the unit of the match was in flight.
  private mutating func readPlayers(of m: MatchID, _ context: MatchContext) {
    let missing = (matches[m]?.accounts ?? []).filter { context.people.accounts[$0] == nil }
    if !missing.isEmpty { outputs.append(.readAccounts(missing)) }
  }

  /// Keeps a match that a stored unit has begun.
  mutating func begin(_ log: StoreUnit.Log, _ events: [MatchEvent], _ context: MatchContext) {
    guard let record = log.record else { return }
    var match = LiveMatch(record)
    match.nodes = log.nodes
    for (event, body) in zip(events, log.bodies) {
      do throws(ProtocolError) { try match.add(event, body: body, at: context.now, context.configuration) } catch {
        preconditionFailure("the lobby logs what cannot follow: \(error.message)")
      }
      eventCount += 1
    }
    matches.put(match)
    readPlayers(of: match.id, context)
  }

  /// Reads again, or loads, the store's matches that differ from memory. `known`: those in memory when the store was asked.
  mutating func compare(_ changed: [MatchID], known: [MatchID: Int]) {
    for m in changed { if known[m] != nil { reread(m) } else if matches[m] == nil { load(m, .named) } }
  }

  /// Subscribes the sessions of the room's opener whose clients know the game. A side without a session here is checked for absence.
  private mutating func seatOpener(_ m: MatchID, _ context: MatchContext) {
    guard let match = matches[m], let opener = match.record.opener, let side = match.side(of: opener) else { return }
    for session in context.people.sessions.of(opener) where session.games.contains(match.state.terms.rules) {
      matches[m]?.add(session, to: side)
    }
    for side in matches[m]?.unaccountedSides ?? [] { checkAbsence(of: side, in: m, context) }
  }

  private mutating func tell(_ lines: [LobbyEffect]?) {
    if let lines, !lines.isEmpty { outputs.append(.effects(lines)) }
  }

  private mutating func note(_ text: String, _ fields: [String: String]) { tell([.note(text, fields)]) }

  // MARK: time

  mutating func arm(_ m: MatchID, _ context: MatchContext) { matches[m]?.arm(context, &outputs) }

  /// Handles a match's timer, which was set for `due`.
  mutating func check(_ m: MatchID, due: Int64, _ context: MatchContext) {
    // Another timer means that the match was evicted since, and loaded again.
    guard matches[m]?.timers.last == due else { return }
    matches[m]?.timers.removeLast()
    if matches[m]?.check(context, &outputs) == true { evict(m) }
  }

  /// An outage of the store must not count against a player.
  mutating func postpone(by outage: Int64, _ now: Int64) {
    for match in matches.values { matches[match.id]?.postpone(by: outage, now) }
  }

  // MARK: loading

  /// Loads a match from the store, and then does `work`.
  mutating func load(_ m: MatchID, _ work: MatchLoads.Work) {
    if loads.wait(for: m, work) { outputs.append(.load(m)) }
  }

  /// The store has answered, or failed to: returns the work that has waited for the match.
  mutating func endLoading(_ m: MatchID, hasFailed: Bool = false) -> [MatchLoads.Work] {
    if hasFailed { _ = loads.takeAnnounced(m) }
    return loads.end(m)
  }

  /// Queues work again that the store did not answer, and asks again after a pause: the players do not know of the match yet.
  mutating func loadLater(_ m: MatchID, _ work: MatchLoads.Work) {
    if loads.wait(for: m, work) { outputs.append(.loadLater(m)) }
  }

  /// Whether one more request may wait until a match is loaded.
  func mayLoad(_ m: MatchID) -> Bool { loads.mayWait(for: m) }

  /// Keeps a match from the store; `false` if its log is inconsistent.
  mutating func install(_ found: FollowedMatch, _ context: MatchContext) -> Bool {
    let ahead = context.nodes.clockOffset ?? found.now - context.now
    do throws(ProtocolError) {
      var match = try LiveMatch(found.match, now: context.now, ahead: ahead, context.configuration)
      match.nodes = found.nodes
      outputs.append(.read(found.accounts, players: match.accounts))
      matches.put(match)
      arm(match.id, context)
      if match.isOver { keepFinished(match.id, context.now) }
      return true
    } catch {
      if found.match.record.ended == nil {
        abandon(found.match.record, length: found.match.length, error.message, context)
      }
      return false
    }
  }

  /// The last step of loading a match.
  mutating func finishLoading(_ m: MatchID, _ found: FollowedMatch?, _ context: MatchContext) {
    // A notification announced later events than this answer has: read the match again.
    if let seq = loads.takeAnnounced(m), let known = matches[m]?.state.seq, known < seq { reread(m) }
    // A player may have been connected to a node that died unnoticed: let a presence check find out whether the player is absent.
    if let found, let match = matches[m],
      match.unaccountedSides.contains(where: { !context.nodes.mayPlayElsewhere(match.account(at: $0), found) })
    {
      schedulePresenceCheck(m, context.now, byAll: found.nodes == [context.nodes.node])
    }
  }

  /// The most finished matches that are kept in memory after loading, so that repeated requests need no store.
  static let mostFinished = 256

  /// Keeps a finished match after loading it for a request; if too many are kept, evicts the match that was loaded first.
  private mutating func keepFinished(_ m: MatchID, _ now: Int64) {
    // A match that was loaded before is the newest again, so that loading it does not evict it.
    finished.removeAll { $0 == m }
    finished.append(m)
    guard finished.count > MatchDirectory.mostFinished else { return }
    // If the match to evict is in use or has just ended, its own timer evicts it later.
    let first = finished.removeFirst()
    guard let match = matches[first], match.isOver, match.isSettled, match.work.waiting.isEmpty,
      !match.mayHaveRematch(now)
    else { return }
    evict(first)
  }

  // MARK: reading again

  /// Another node has appended `bodies`, the first numbered `seq`; without `bodies`, it only says that the match has grown. Returns whether
  /// events were folded.
  mutating func announced(_ bodies: [[UInt8]], of m: MatchID, from seq: Int, _ context: MatchContext) -> Bool {
    loads.announce(seq + max(bodies.count, 1) - 1, of: m)
    switch matches[m]?.reaction(to: bodies, from: seq) {
    case .ignore, nil: return false
    case .fold(let events):
      fold(events, of: m, after: seq - 1, isStored: false, context)
      return true
    case .reread:
      if matches[m]?.work.isBeingRead == true {
        // The answer may lack these events: read once more afterwards.
        matches[m]?.work.isBehind = true
      } else {
        reread(m)
      }
      return false
    }
  }

  /// Reads a match again from the store; if a unit of the match is in flight, only after the unit is finished.
  mutating func reread(_ m: MatchID) {
    guard let work = matches[m]?.work, !work.isBeingRead else { return }
    matches[m]?.work.isBehind = work.hasUnit
    guard !work.hasUnit else { return }
    matches[m]?.work.isBeingRead = true
    matches[m]?.noteRequest()
    outputs.append(.reread(m))
  }

  /// The answer to `reread`.
  mutating func haveReread(_ m: MatchID, _ answer: StoreAnswer?, _ context: MatchContext) {
    matches[m]?.work.isBeingRead = false
    guard case .match(let found) = answer else {
      matches[m]?.work.isBehind = true
      return outputs.append(.rereadLater(m))
    }
    catchUp(m, found, context)
    if let found { recordAbsentPlayers(of: m, found, context) }
  }

  mutating func catchUp(_ m: MatchID, _ found: FollowedMatch?, _ context: MatchContext) {
    guard let match = matches[m] else { return }
    if let found { return catchUp(found, requested: match.work.requested, context) }
    note("a match has disappeared from the store", ["m": m.rawValue])
    drop(m, "match \(m) is lost; come back")
  }

  /// `requested`: how many events memory had when the log was requested, and how many of these events the store was known to have.
  private mutating func catchUp(
    _ found: FollowedMatch, requested: (count: Int, storedCount: Int), _ context: MatchContext
  ) {
    let record = found.match.record
    guard let match = matches[record.id] else { return }
    outputs.append(.read(found.accounts, players: record.accounts))
    do throws(ProtocolError) {
      var (events, log): ([MatchEvent], [[UInt8]]) = ([], [])
      try found.match.read { event, body in
        events.append(event)
        log.append(body)
      }
      switch matches[record.id]?.compare(log, requested: requested) {
      case .broken?: throw .inconsistent("its log is not what it was")
      case .forged?: return replace(match, by: found, context)
      case .same?, nil: break
      }
      // Notifications have delivered later events meanwhile: ignore the answer.
      guard log.count >= match.state.seq else { return }
      update(record.id, record, found.nodes)
      let missing = Array(zip(events, log).dropFirst(match.state.seq))
      fold(missing, of: record.id, after: match.state.seq, context)
    } catch { abandon(record.id, error.message, context) }
  }

  /// Replaces a match into which a forged notification was folded, and sends the stored state to its players and spectators.
  private mutating func replace(_ old: LiveMatch, by found: FollowedMatch, _ context: MatchContext) {
    note("a notification had events of a match that are not stored", ["m": old.id.rawValue])
    guard install(found, context) else { return drop(old.id, "match \(old.id) is broken; come back") }
    matches[old.id]?.takeOver(from: old)
    arm(old.id, context)
    guard let match = matches[old.id] else { return }
    tell(match.receivers.map { match.stateLine(for: $0.session, at: context.now) })
  }

  // MARK: matches that leave memory

  /// Ends a match in the store because its log is inconsistent. The log stays unchanged for inspection.
  private mutating func abandon(_ m: MatchID, _ why: String, _ context: MatchContext) {
    guard let match = matches[m] else { return }
    drop(m, "match \(m) is broken; come back")
    abandon(match.record, length: match.state.seq, why, context)
  }

  private mutating func abandon(_ record: MatchRecord, length: Int, _ why: String, _ context: MatchContext) {
    var record = record
    record.ended = endMoment(context.wall)
    outputs.append(.submit(Draft(StoreUnit.Log(record.id, after: length, [], record: record), [])))
    abandonedCount += 1
    note("ended a match because its log is inconsistent", ["m": record.id.rawValue, "why": why])
  }

  /// Evicts an unplayable match and closes its connections, so that the clients reconnect and request the stored state.
  private mutating func drop(_ m: MatchID, _ why: String) {
    tell(matches[m]?.receivers.map { .close($0.session.connection, .restart, why, retry: 100) })
    evict(m)
  }

  private mutating func evict(_ m: MatchID) {
    guard let match = matches[m] else { return }
    matches.remove(m)
    checks[m] = nil
    outputs.append(.evicted(match))
  }

  // MARK: checking presence

  mutating func schedulePresenceCheck(_ m: MatchID, _ now: Int64, byAll: Bool = false) {
    checks[m] = PresenceCheck(since: now, byAll: byAll || checks[m]?.byAll == true)
  }

  /// After a node's death, schedules presence checks: players who are not connected here may have been connected to the dead node.
  mutating func checkPresenceElsewhere(_ now: Int64) {
    for match in matches.values where !match.unaccountedSides.isEmpty { schedulePresenceCheck(match.id, now) }
  }

  /// Reads the matches whose presence checks are undecided, at most 256: a dead node may leave thousands.
  mutating func continueChecks() { for m in checks.keys.sorted().prefix(256) { reread(m) } }

  /// Takes over matches that no living node followed; the store now lists this node as their follower.
  mutating func adoptOrphans(_ found: [FollowedMatch], _ context: MatchContext) {
    for one in found {
      let m = one.match.record.id
      let isNew = matches[m] == nil
      if isNew { _ = install(one, context) } else { catchUp(one, requested: (0, 0), context) }
      guard matches[m] != nil else { continue }
      schedulePresenceCheck(m, context.now, byAll: isNew && one.nodes == [context.nodes.node])
      recordAbsentPlayers(of: m, one, context)
    }
    if !found.isEmpty { note("adopted matches without a living follower", ["matches": "\(found.count)"]) }
  }

  /// Continues a presence check: while it is undecided, each heartbeat reads the match and calls this function again.
  private mutating func recordAbsentPlayers(of m: MatchID, _ found: FollowedMatch, _ context: MatchContext) {
    guard let check = checks[m] else { return }
    if matches[m]?.recordAbsentPlayers(check, found, context, &outputs) != false { checks[m] = nil }
  }

  // MARK: faults

  /// The inconsistencies of the state, for tests. O(size of the state).
  var faults: [String] {
    var faults = matches.faults
    if checks.keys.contains(where: { matches[$0] == nil }) {
      faults.append("a presence check is scheduled for a match that is not in memory")
    }
    for match in matches.values where match.isSettled && !match.work.waiting.isEmpty && !match.work.isBehind {
      faults.append("\(match.id) keeps who waits")
    }
    if !outputs.isEmpty { faults.append("outputs of matches are not carried out") }
    return faults
  }
}
