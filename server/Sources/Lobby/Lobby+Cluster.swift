import MatchStore

/// A lobby as one of several: its lease, what it asks the shared store, and the matches it takes over.
///
/// The rest of the lobby does not know of other nodes. It finds the matches this node owns in memory, and behind
/// connections that other nodes hold it finds sessions like any other. What concerns more than one match or node is asked of the store,
/// which answers when it is durable; a connection whose question is out waits with what it said after it.
extension Lobby {
  /// Starts as an incarnation of a node that owns nothing yet; `joined` is when `join` was called, by the steady clock.
  package init(_ configuration: LobbyConfiguration, epoch: Int64, joined: Int64, random: Entropy, now: Moment) {
    self.init(configuration, recovery: Recovery(), random: random, now: now)
    cluster = ClusterState(
      epoch: epoch, goodUntil: joined + configuration.lease - configuration.leaseMargin)
    timers.set(.renew, at: now.steady)
    timers.set(.takeOver, at: now.steady)
  }

  /// Takes what the other nodes and the store say.
  mutating func take(_ input: ClusterInput) {
    switch input {
    case .answer(let number, let answer): answered(number, answer)
    case .attached(let epoch, let id, let attachment): attached(epoch, id, attachment)
    case .relayed(let id, let work, let m, let roundTrip):
      connections[id]?.roundTrip = roundTrip
      if connections[id] != nil { serveRelayed(work, m, id) }
    case .notHere(let epoch, let id, let work, let m, let home): notHere(epoch, id, work, m, at: home)
    case .here(let epoch, let id, let m, let ticket): here(epoch, id, m, ticket)
    case .played(let id, let account): if connections[id] != nil { learn(account) }
    case .hinted:
      takeOver()
      renew()
    case .evicted(let session, let generation): evict(session, before: generation)
    case .refreshed(let account): if accounts[account] != nil { ask(.profile(account), .refreshed(account)) }
    case .linkLost(let epoch, let heard): linkLost(epoch, heard: heard)
    case .left: cluster?.hasLeft = true
    }
  }

  // MARK: asking

  /// Asks the store, or, on its own, itself; with a connection, what that says meanwhile waits. `gated` questions go out once
  /// everything decided before is durable.
  mutating func ask(
    _ question: ClusterQuestion, for id: ConnectionID? = nil, gated: Bool = false,
    _ then: ClusterState.Continuation = .nothing
  ) {
    guard let number = cluster?.nextQuestion else { return answered(then, answer(question)) }
    cluster?.nextQuestion += 1
    cluster?.asked[number] = then
    if let id { cluster?.inputs[id, default: .init()].outstanding += 1 }
    if gated { emit(.cluster(.ask(number, question))) } else { effects.append(.cluster(.ask(number, question))) }
  }

  /// A connection got its answer; goes on with what it said meanwhile.
  mutating func proceed(_ id: ConnectionID) {
    guard connections[id] != nil else { return }
    cluster?.inputs[id]?.outstanding -= 1
    while let input = cluster?.inputs[id], input.outstanding == 0, let next = input.queue.first {
      cluster?.inputs[id]?.queue.removeFirst()
      perform(next, for: id)
    }
  }

  private mutating func answered(_ number: UInt64, _ answer: ClusterAnswer?) {
    if let then = cluster?.asked.removeValue(forKey: number) { answered(then, answer) }
  }

  private mutating func answered(_ then: ClusterState.Continuation, _ answer: ClusterAnswer?) {
    switch (then, answer) {
    case (.renewed(let sentAt), .renewed(let renewal)): renewed(sentAt, renewal)
    case (.renewed, _):
      cluster?.nextRenewal = now.steady + 200
      timers.set(.renew, at: now.steady + 200)
      departAll()
    case (.tookOver, .adoptions(let taken)): adopt(taken)
    case (.tookOver, _): cluster?.isTaking = false
    case (.entered(let id, let re, let hello, let token, let resume), let answer):
      entered(id, re, hello, token, resume, answer)
      proceed(id)
    case (.changed(let id, let re, let token), let answer):
      changed(id, re, token, answer)
      proceed(id)
    case (.refreshed, .profile(let profile)): if let profile { refresh(profile.account) }
    case (.me(let id, let re), .profile(let profile?)):
      if accounts[profile.account.id] != nil { accounts[profile.account.id] = profile.account }
      sendMe(profile, to: id, re)
      proceed(id)
    case (.bare(let id, let line, let at), .profile(let profile?)):
      let m = bareMatch(profile, line)
      if let m { route(.line(line.naming(m), at: at), m, for: id) } else { refuseBare(id, line.id) }
      proceed(id)
    case (.page(let page), let answer):
      if let answer { cluster?.pages[page] = (now.steady, answer) }
      for (id, re) in cluster?.readers.removeValue(forKey: page) ?? [] { show(page, answer, to: id, re) }
    case (.placed(let id, let work, let m, let since, let failed), .place(let place)):
      placed(id, work, m, since: since, failed: failed, place)
      proceed(id)
    case (.placedCode(let id, let line, let at), .place(let place)):
      if let place { route(.line(line, at: at), place.m, for: id) } else { refuseCode(id, line.id) }
      proceed(id)
    case (.seeking(let id, let ticket, let re), .profile(let profile?)):
      refresh(profile.account)
      if profile.rated == nil { seek(ticket, id, re) } else { refuse(id, re, .occupied, Lobby.isPlaying) }
      proceed(id)
    case (.paired(let pairing, let match), let answer): paired(pairing, match, answer)
    case (.opened(let id, let re, let match, let opener, let key), let answer):
      opened(id, re, match, opener, key, answer)
      proceed(id)
    case (.rematched(let m, let line, let id, let at, let old, let next), let answer):
      rematched(m, line, id, at, old, next, answer)
    case (.raised, _): cluster?.isRaising = false
    case (.nothing, _), (.refreshed, _): break
    case (.me(let id, let re), _), (.seeking(let id, _, let re), _):
      refuseBusy(id, re)
      proceed(id)
    case (.bare(let id, let line, _), _), (.placedCode(let id, let line, _), _):
      refuseBusy(id, line.id)
      proceed(id)
    case (.placed(let id, let work, let m, let since, let failed), _):
      retry(work, m, for: id, since: since, failed: failed)
      proceed(id)
    }
  }

  /// Milliseconds for which a page of all nodes serves everybody.
  private static let pageLives: Int64 = 1000

  /// Answers with a page that is asked of the store once for all who want it.
  mutating func showPage(_ page: ClusterQuestion, to id: ConnectionID, _ re: String?) {
    if let (at, answer) = cluster?.pages[page], now.steady - at < Lobby.pageLives {
      return show(page, answer, to: id, re)
    }
    let isAsked = cluster?.readers[page] != nil
    cluster?.readers[page, default: []].append((id, re))
    if !isAsked { ask(page, .page(page)) }
  }

  private mutating func show(
    _ page: ClusterQuestion, _ answer: ClusterAnswer?, to id: ConnectionID, _ re: String?
  ) {
    switch (page, answer) {
    case (.top(let rules, _), .accounts(let best)): sendTop(best, rules, to: id, re)
    case (_, .matches(let live)): sendList(live.compactMap { try? CachedMatch($0).state }, after: 0, to: id, re)
    default: refuseBusy(id, re)
    }
  }

  // MARK: the lease

  mutating func renew() { ask(.renew(lease: configuration.lease), .renewed(sentAt: now.steady)) }

  private mutating func renewed(_ sentAt: Int64, _ renewal: Renewal?) {
    guard let renewal else { return startOver("another node may own its matches by now") }
    let nodes = renewal.nodes
    // What counts is when the question was sent: the database renewed the lease later than that.
    cluster?.goodUntil = sentAt + configuration.lease - configuration.leaseMargin
    timers.set(.wake, at: sentAt + configuration.lease - configuration.leaseMargin)
    // Asked out of turn, it is still asked again in its turn.
    if sentAt >= cluster?.nextRenewal ?? 0 {
      cluster?.nextRenewal = max(now.steady + 50, sentAt + configuration.renewEvery)
      timers.set(.renew, at: cluster?.nextRenewal ?? now.steady)
    }
    let gone = (cluster?.nodes ?? []).filter { old in !nodes.contains { $0.epoch == old.epoch } }
    cluster?.nodes = nodes
    let lease = configuration.lease
    cluster?.renewedAt = Dictionary(nodes.map { ($0.epoch, sentAt + $0.left - lease) }, uniquingKeysWith: { $1 })
    let lost = cluster?.lost.filter { lost in nodes.contains { $0.epoch == lost.key } } ?? [:]
    cluster?.lost = lost
    // Whoever missed a renewal may be dead: be there when his lease ends.
    for node in otherNodes where node.left < lease - configuration.renewEvery * 3 / 2 {
      timers.set(.expiry, at: now.steady + node.left + 5 + Int64(random.next() % 40))
    }
    for node in gone { linkLost(node.epoch, heard: now.steady) }
    departAll()
    if !gone.isEmpty { takeOver() }
    if let before = cluster?.language, before < renewal.inForce {
      cluster?.language = renewal.inForce
      note("a version of the log's language is in force", ["version": "\(renewal.inForce)"])
    }
    if renewal.common > renewal.inForce, cluster?.isRaising == false {
      cluster?.isRaising = true
      ask(.raise, .raised)
    }
  }

  /// The newest version of the log's language that may be written.
  var language: Int { cluster?.language ?? configuration.language }

  /// Whether memory may be believed.
  var isLeased: Bool { now.steady < cluster?.goodUntil ?? .max }

  /// Whether an input is what the lease waits for.
  func isRenewal(_ input: LobbyInput) -> Bool {
    guard case .cluster(.answer(let number, .renewed?)) = input else { return false }
    return cluster?.asked[number]?.isRenewal == true
  }

  mutating func startOver(_ why: String) {
    cluster?.hasLeft = true
    effects.append(.cluster(.startOver(why)))
  }

  /// The other nodes whose lease was good when this one's was renewed last.
  package var otherNodes: [NodeRecord] {
    cluster.map { cluster in cluster.nodes.filter { $0.epoch != cluster.epoch } } ?? []
  }

  // MARK: taking over

  /// Looks for matches whose owner is gone, unless it is looking already.
  mutating func takeOver() {
    guard cluster?.isTaking == false, !isDraining else { return }
    cluster?.isTaking = true
    ask(.takeOver(limit: configuration.takeOverAtOnce), .tookOver)
  }

  private mutating func adopt(_ taken: [Adoption]) {
    cluster?.isTaking = false
    for adoption in taken {
      for account in adoption.accounts { accounts[account.id] = account }
      if matches[adoption.match.record.id] == nil { recover(adoption.match) }
    }
    if !taken.isEmpty { note("took matches over", ["matches": "\(taken.count)"]) }
    if taken.count == configuration.takeOverAtOnce { takeOver() }
  }

  // MARK: what is kept in memory

  /// Lets go of what belongs to a session whose connection ended, and of its account if nothing else needs it.
  mutating func release(_ session: Session) {
    guard sessions[session.record.id]?.connection == nil else { return }
    forget(session)
    release(account: session.record.account)
  }

  /// Lets go of an account that neither a session nor a match needs.
  mutating func release(account id: Int64) {
    if sessionsOf[id, default: []].isEmpty, matchesOf[id, default: []].isEmpty { accounts[id] = nil }
  }
}
