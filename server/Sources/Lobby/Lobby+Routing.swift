import MatchProtocol
import MatchStore

/// Bringing what a player says to where its match is, be that here or at another node.
extension Lobby {
  /// Takes work of a connection, after what waits before it.
  mutating func take(_ work: PlayerRequest, for id: ConnectionID) {
    guard connections[id] != nil, !isDeparting(id) else { return }
    if let input = cluster?.inputs[id], input.outstanding > 0 || !input.queue.isEmpty {
      guard input.queue.count < 64 else {
        if case .line(let line, _) = work { refuseBusy(id, line.id) }
        return
      }
      cluster?.inputs[id]?.queue.append(work)
    } else {
      perform(work, for: id)
    }
  }

  /// Does what can be done here, and finds out where the rest belongs.
  mutating func perform(_ work: PlayerRequest, for id: ConnectionID) {
    switch work {
    case .follow(let m, _, _), .room(let m, _), .caughtUp(let m): route(work, m, for: id)
    case .wait, .leave, .refused, .found, .begin: break  // nothing that a connection says by itself
    case .line(let line, let at):
      guard let connection = connections[id] else { return }
      guard let sessionID = connection.session else {
        if case .hello(let hello) = line.message { enter(hello, id, line.id) }
        return
      }
      guard let session = sessions[sessionID], session.connection == id, let account = accounts[session.record.account]
      else { return }
      if session.record.previous != nil {
        ask(.settle(session: sessionID, generation: session.generation))
        sessions[sessionID]?.record.previous = nil
      }
      perform(line, at, session, account, id)
    }
  }

  private mutating func perform(
    _ line: ClientLine, _ at: Int64, _ session: Session, _ account: AccountRecord, _ id: ConnectionID
  ) {
    let work = PlayerRequest.line(line, at: at)
    switch line.message {
    case .confirm(let m), .sync(let m, _), .watch(let m, _), .unwatch(let m), .export(let m, _): route(work, m, for: id)
    case .act(let m, _, _), .say(let m, _), .emote(let m, _), .report(let m, _):
      if let m {
        route(work, m, for: id)
      } else if cluster == nil {
        serve(work, .queue, id)
      } else {
        ask(.profile(account.id), for: id, .bare(id, line, at: at))
      }
    case .seek(let seek): takeSeek(seek, session, account, id, line.id)
    case .unseek:
      endSeek(id)
      answer(.ok(nil, seq: nil), to: id, re: line.id, after: 0)
    case .create(let terms, let key): open(terms, key, account, id, line.id)
    case .join(let code):
      guard allowCode(account, id, line.id) else { return }
      guard let code = canonicalCode(code) else { return refuseCode(id, line.id) }
      ask(.placeOfCode(code), for: id, .placedCode(id, line, at: at))
    case .register, .token, .mute, .block: change(line, account, id)
    case .top(let rules):
      if cluster == nil {
        sendTop(leaders(rules, limit: Limits.page), rules, to: id, line.id)
      } else {
        showPage(.top(rules, limit: Limits.page), to: id, line.id)
      }
    case .list:
      if cluster == nil { sendList(to: id, line.id) } else { showPage(.live(limit: Limits.page), to: id, line.id) }
    case .me: ask(.profile(account.id), for: id, .me(id, re: line.id))
    case .history(let rules, let before): askHistory(account.id, of: rules, before: before, id, line.id)
    case .hello, .ping, .pong, .bye, .help: break  // the session answers these
    }
  }

  // MARK: where a match is

  mutating func route(_ work: PlayerRequest, _ m: MatchID, for id: ConnectionID) {
    guard connections[id] != nil else { return }
    // What stands for the queue between nodes is nothing a client may name: no match has that id.
    if m == .queue, case .line(let line, _) = work {
      return refuse(id, line.id, .notFound, "there is no such match")
    }
    if cluster == nil || isHere(m) { return serve(work, m, id) }
    if let epoch = cluster?.remote[id]?[m] { return relay(work, m, for: id, to: epoch) }
    ask(.place(m), for: id, .placed(id, work, m, since: now.steady, failed: nil))
  }

  private func isHere(_ m: MatchID) -> Bool { matches[m] != nil || cluster?.beginning[m] != nil }

  /// Milliseconds after its end for which a match is still looked for at its owner: as long as a rematch can be asked and agreed to.
  private var keptByOwner: Int64 { 2 * Int64(configuration.rematchWithin) + 10_000 }

  mutating func placed(
    _ id: ConnectionID, _ work: PlayerRequest, _ m: MatchID, since: Int64, failed: Int64?, _ place: MatchPlace?
  ) {
    guard connections[id] != nil, let cluster else { return }
    if isHere(m) { return serve(work, m, id) }
    if case .follow(_, let re, true) = work, place?.endedAgo != nil { return goOn(after: m, id, re) }
    guard let place else {
      switch work {
      case .line(let line, _): refuse(id, line.id, .notFound, "there is no such match")
      // It may be on its way to the store; once it cannot be any more, the seek goes on.
      case .follow(_, let re, true):
        guard now.steady - since >= configuration.lease else {
          return retry(work, m, for: id, since: since, failed: nil)
        }
        goOn(after: m, id, re)
      default: break
      }
      return
    }
    let isOld = place.endedAgo.map { $0 > keptByOwner } ?? false
    switch place.owner {
    case cluster.epoch?, nil:
      if place.endedAgo != nil { serve(work, m, id) } else { retry(work, m, for: id, since: since, failed: nil) }
    case let owner?:
      if isLost(owner), place.endedAgo == nil {
        // Nobody is sent away twice for one broken link: a node that is dead loses its lease soon, and one that renews it is cut off.
        if isCutOff(owner) {
          cannotReach(owner, work, m, for: id, since: since)
        } else {
          retry(work, m, for: id, since: since, failed: failed)
        }
      } else if isOld || (place.endedAgo != nil && owner == failed) {
        serve(work, m, id)
      } else if owner == failed {
        retry(work, m, for: id, since: since, failed: nil)
      } else {
        relay(work, m, for: id, to: owner, since: since)
      }
    }
  }

  /// Tries again in a moment: the match is on its way from one node to another.
  mutating func retry(_ work: PlayerRequest, _ m: MatchID, for id: ConnectionID, since: Int64, failed: Int64?) {
    guard connections[id] != nil, let number = cluster?.nextAgain else { return }
    guard now.steady - since < configuration.moveWithin else {
      switch work {
      case .line(let line, _): refuse(id, line.id, .busy, "the match is moving to another node; try again in a moment")
      case .follow, .room:
        emit(.close(id, .restart, "your match cannot be reached from here; come back", retry: nil))
      case .caughtUp, .wait, .leave, .refused, .found, .begin: break
      }
      return
    }
    cluster?.nextAgain += 1
    cluster?.again[number] = (id, work, m, since, failed)
    cluster?.inputs[id, default: .init()].outstanding += 1
    timers.set(.again(number), at: now.steady + configuration.retryEvery)
  }

  mutating func tryAgain(_ number: UInt64) {
    guard let (id, work, m, since, failed) = cluster?.again.removeValue(forKey: number), connections[id] != nil else {
      return
    }
    if isHere(m) {
      serve(work, m, id)
    } else {
      ask(.place(m), for: id, .placed(id, work, m, since: since, failed: failed))
    }
    proceed(id)
  }

  // MARK: at this node

  /// Does work on a match that is here, or that is over and can be read here.
  mutating func serve(_ work: PlayerRequest, _ m: MatchID, _ id: ConnectionID) {
    if cluster?.beginning[m] != nil {
      cluster?.beginning[m]?.append((id, work))
      return
    }
    guard let sessionID = connections[id]?.session, let session = sessions[sessionID], session.connection == id,
      let account = accounts[session.record.account]
    else { return }
    switch work {
    case .line(let line, let at):
      if let match = matches[m], !mayPlay(match.state.terms.rules, session, id, line.id) { return }
      switch line.message {
      case .confirm(let m): confirm(m, account, id, line.id)
      case .sync, .watch, .unwatch, .export: look(line, account, id, at)
      case .act: act(line, account, id, at)
      case .say, .emote, .report: talk(line, account, id)
      case .join(let code): enterRoom(code, session, account, id, line.id)
      default: break
      }
    case .wait(let ticket): if ticket.session == sessionID { enqueue(ticket, id) }
    case .begin(let pairing): begin(pairing)
    case .leave(let ticket): leave(ticket)
    case .refused, .found: break
    case .follow(let m, let re, let isNew):
      guard let match = matches[m], !isNew || !match.isOver else {
        // It has ended: a seek that led to it begins anew, at the node that knows it.
        if cluster?.virtual[id] != nil { return effects.append(.cluster(.notHere(id, work, m, at: nil))) }
        return goOn(after: m, id, re)
      }
      guard session.games.contains(match.state.terms.rules) else { return }
      if let side = match.side(of: account.id), isNew || match.state.phase == .confirming {
        let left = match.state.phase == .confirming ? match.confirmBy.map { Int(max(0, $0 - now.steady)) } : nil
        let paired = ServerMessage.paired(m, side, confirmIn: left)
        if re == nil { send(paired, to: id) } else { answer(paired, to: id, re: re, after: match.issued) }
      }
      sendState(of: match, to: id, re: nil, kind: .essential)
      follow(m, account, sessionID)
    case .room(let m, let re):
      guard let match = matches[m], let code = match.record.code else {
        return refuse(id, re, .code, "this room is no more")
      }
      let left = Int(max(0, (match.codeDies ?? now.steady) - now.steady))
      answer(.room(m, code: code, expiresIn: left), to: id, re: re, after: match.issued)
    case .caughtUp(let m):
      if connections[id]?.watching.contains(m) == true, let match = matches[m] {
        sendState(of: match, to: id, re: nil, kind: .spectator(m))
      }
    }
  }

  // MARK: at another node

  mutating func relay(_ work: PlayerRequest, _ m: MatchID, for id: ConnectionID, to epoch: Int64, since: Int64? = nil) {
    guard cluster?.nodes.contains(where: { $0.epoch == epoch }) == true else {
      // It joined a moment ago, or its lease is over: a look at the leases tells.
      cluster?.remote[id]?[m] = nil
      if cluster?.asked.values.contains(where: \.isRenewal) == false { renew() }
      return retry(work, m, for: id, since: since ?? now.steady, failed: nil)
    }
    guard let connection = connections[id], let session = connection.session.flatMap({ sessions[$0] }),
      let account = accounts[session.record.account]
    else { return }
    if cluster?.attachedTo[id]?.contains(epoch) != true {
      cluster?.attachedTo[id, default: []].append(epoch)
      let attachment = Attachment(
        session: session.record.id, generation: session.generation, account: account, isBot: session.isBot,
        confirms: session.confirms, games: session.games,
        version: connection.version)
      effects.append(.cluster(.attach(epoch, id, attachment)))
    }
    cluster?.remote[id, default: [:]][m] = epoch
    effects.append(.cluster(.relay(epoch, id, work, m, roundTrip: connection.roundTrip)))
  }

  /// The node that was asked does not have the match: looks again where it is.
  mutating func notHere(_ epoch: Int64, _ id: ConnectionID, _ work: PlayerRequest, _ m: MatchID, at home: Int64?) {
    guard connections[id] != nil else { return }
    if cluster?.remote[id]?[m] == epoch { cluster?.remote[id]?[m] = nil }
    switch work {
    case .begin(let pairing): return bring(pairing, to: home ?? epoch, id)
    case .wait, .refused, .found: return givenBack(work, m, id)
    default: break
    }
    // However often it is sent on, a command does not wait longer than for one move of its match.
    var since = now.steady
    if case .line(_, let at) = work { since = min(since, at) }
    ask(.place(m), for: id, .placed(id, work, m, since: since, failed: epoch))
  }

  /// The node that a match of a player is at says so.
  mutating func here(_ epoch: Int64, _ id: ConnectionID, _ m: MatchID, _ ticket: String?) {
    guard connections[id] != nil else { return }
    cluster?.remote[id, default: [:]][m] = epoch
    if let ticket, seeks[id]?.ticket.id == ticket { led(id, to: m) }
  }

  /// A node cannot be reached. Whoever waits for an answer from there does not know what became of his command: he comes
  /// back and sends again what was not answered; first of all to that node, if it lives and only this one is cut off from it.
  mutating func linkLost(_ epoch: Int64, heard: Int64) {
    cluster?.lost[epoch] = (now.steady, heard)
    var held: [ConnectionID] = []
    for id in (cluster?.attachedTo ?? [:]).filter({ $0.value.contains(epoch) }).keys.sorted() {
      cluster?.attachedTo[id]?.removeAll { $0 == epoch }
      let there = cluster?.remote[id]?.filter { $0.value == epoch }.keys.sorted() ?? []
      for m in there { cluster?.remote[id]?[m] = nil }
      // Whoever only waits there is taken to the next queue.
      if seeks[id]?.at == epoch { seeks[id]?.at = nil }
      if there != [.queue] { held.append(id) }
    }
    guard !held.isEmpty else { return }
    cluster?.departing[epoch, default: []] += held
    if isCutOff(epoch) { return depart(from: epoch) }
    renew()
    timers.set(.depart(epoch), at: now.steady + configuration.departWithin)
  }

  /// Whether a node whose link is lost has renewed its lease since, by more than a ping takes to go astray.
  func isCutOff(_ epoch: Int64) -> Bool {
    guard let lost = cluster?.lost[epoch], let renewed = cluster?.renewedAt[epoch] else { return false }
    return renewed > lost.heard + 500
  }

  /// Whether the link to a node broke less than a lease ago.
  func isLost(_ epoch: Int64) -> Bool {
    cluster?.lost[epoch].map { now.steady - $0.at < configuration.lease } ?? false
  }

  private func isDeparting(_ id: ConnectionID) -> Bool {
    cluster?.departing.isEmpty == false && cluster?.departing.values.contains { $0.contains(id) } == true
  }

  /// Sends away whoever was connected to a match through a link that is lost.
  mutating func depart(from epoch: Int64) {
    let address = isCutOff(epoch) ? address(of: epoch) : nil
    for id in cluster?.departing.removeValue(forKey: epoch) ?? [] {
      emit(
        .close(id, .restart, "the node of your match cannot be reached from here; come back", retry: nil, node: address)
      )
    }
  }

  /// The leases are known, or cannot be: nobody waits any longer.
  mutating func departAll() { for epoch in (cluster?.departing ?? [:]).keys.sorted() { depart(from: epoch) } }

  private func address(of epoch: Int64) -> String? { otherNodes.first { $0.epoch == epoch }?.node.address }

  /// The owner of a match lives and is cut off from this node: whoever plays it is sent there, unless he plays another one here.
  private mutating func cannotReach(
    _ owner: Int64, _ work: PlayerRequest, _ m: MatchID, for id: ConnectionID, since: Int64
  ) {
    if case .line(let line, _) = work {
      switch line.message {
      case .watch, .unwatch, .export:
        return refuse(id, line.id, .busy, "this match cannot be reached from here just now")
      default: break
      }
    }
    if !sendAway(id, to: owner, "your match is at another node, which cannot be reached from here") {
      retry(work, m, for: id, since: since, failed: nil)
    }
  }

  /// Sends somebody to a node that cannot be reached from here, unless he plays something at this one.
  @discardableResult
  mutating func sendAway(_ id: ConnectionID, to owner: Int64, _ why: String) -> Bool {
    guard let address = address(of: owner), account(of: id).map({ live(of: $0.id).isEmpty }) ?? true else {
      return false
    }
    emit(.close(id, .restart, why, retry: nil, node: address))
    return true
  }

  // MARK: for another node

  /// A player whose connection another node holds.
  mutating func attached(_ epoch: Int64, _ id: ConnectionID, _ attachment: Attachment) {
    cluster?.virtual[id] = epoch
    connections[id] = Connection(address: nil)
    connections[id]?.version = attachment.version
    if let known = sessions[attachment.session] {
      guard known.generation <= attachment.generation else {
        return emit(.close(id, .replaced, "this session connected again", retry: nil))
      }
      replace(known)
    }
    let account = attachment.account
    learn(account)
    let record = SessionRecord(
      id: attachment.session, account: account.id, resume: Lobby.digest(attachment.session), previous: nil, expires: 0)
    var session = Session(record: record)
    (session.connection, session.generation) = (id, attachment.generation)
    (session.isBot, session.confirms, session.games) = (attachment.isBot, attachment.confirms, attachment.games)
    sessions[record.id] = session
    if !sessionsOf[account.id, default: []].contains(record.id) {
      sessionsOf[account.id, default: []].append(record.id)
    }
    connections[id]?.session = record.id
  }

  mutating func serveRelayed(_ work: PlayerRequest, _ m: MatchID, _ id: ConnectionID) {
    let isMine =
      switch work {
      case .begin, .leave: true
      // Who waits here waits at the next node, if this one stops.
      case .wait: hasQueue && !isDraining
      default: isHere(m)
      }
    if isMine { serve(work, m, id) } else { effects.append(.cluster(.notHere(id, work, m, at: nil))) }
  }

  /// Ends the connection that a session has here, because it has a newer one or is over.
  mutating func replace(_ session: Session, isOver: Bool = false) {
    guard let other = session.connection else { return }
    connections[other]?.session = nil
    sessions[session.record.id]?.connection = nil
    tickets.remove(session: session.record.id)
    (seeks[other], lastPairings[other]) = (nil, nil)
    let (code, why) = isOver ? (ByeCode.revoked, "this session is over") : (.replaced, "this session connected again")
    emit(.close(other, code, why, retry: nil))
  }

  mutating func evict(_ id: String, before generation: Int64) {
    guard let session = sessions[id], session.generation < generation, let connection = session.connection else {
      return
    }
    replace(session, isOver: generation == .max)
    leaveNodes(connection, clean: false)
    for m in matchesOf[session.record.account, default: []] { updatePresence(m, clean: false) }
    release(session)
  }

  /// Tells the nodes that hold a connection that it is gone.
  mutating func leaveNodes(_ id: ConnectionID, clean: Bool) {
    for epoch in cluster?.attachedTo.removeValue(forKey: id) ?? [] {
      effects.append(.cluster(.detach(epoch, id, clean: clean)))
    }
    cluster?.remote[id] = nil
  }
}

extension ClientLine {
  func naming(_ m: MatchID) -> ClientLine {
    var line = self
    line.source = nil
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
