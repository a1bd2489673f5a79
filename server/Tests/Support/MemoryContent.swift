import Base
import MatchProtocol
import MatchStore
import TicTacToe

struct MemoryContent {
  struct Node {
    var record: NodeRecord
    /// The node's place in the order of joining.
    var number: Int
    var heartbeat: Int64
  }

  struct Session {
    var record: SessionRecord
    var generation: Int64
    var node: NodeID?
  }

  struct Match {
    var stored: StoredMatch
    /// The nodes that follow the match, sorted.
    var nodes: [NodeID]

    var isLive: Bool { stored.record.ended == nil }
  }

  struct KeyID: Hashable {
    var account: Int64
    var key: String
  }

  let isShared: Bool
  let clock: @Sendable () -> Int64
  /// The node that asked the last question; it counts as living. In a shared store `nil` after a question that names no node.
  var asker: NodeID?

  var accounts: [Int64: AccountRecord] = [:]
  var names: [String: Int64] = [:]
  /// Accounts by the digest of their token.
  var tokens: [SHA256.Digest: Int64] = [:]
  /// Sessions by the digests of their current and their previous resume token.
  var resumes: [SHA256.Digest: String] = [:]
  /// The highest id that any account has or had.
  var lastAccount: Int64 = 0
  /// The number of names registered from each address (by its digest) on the day `day`.
  var nameCounts: (day: Int64, [SHA256.Digest: Int]) = (0, [:])
  var sessions: [String: Session] = [:]
  var sessionsOf = MemoryIndex<Int64, String>()

  var matches: [MatchID: Match] = [:]
  var live: Set<MatchID> = []
  /// Live matches by the accounts of the players and of the room's opener.
  var liveOf = MemoryIndex<Int64, MatchID>()
  /// Finished matches by the accounts of the players.
  var endedOf = MemoryIndex<Int64, MatchID>()
  /// For each account, the match that ended last.
  var lastOf: [Int64: MatchID] = [:]
  /// Live matches by room code.
  var coded = MemoryIndex<String, MatchID>()
  /// Live matches by following node, and live matches that no node follows.
  var followed = MemoryIndex<NodeID, MatchID>()
  var unfollowed: Set<MatchID> = []
  /// The last rated match of each account; it occupies the account's rated slot while it is live.
  var slots: [Int64: MatchID] = [:]
  var keys: [KeyID: (purpose: String, m: MatchID, at: Int64)] = [:]

  /// The tickets that wait, and the tickets that led to a match, with the match.
  var tickets: [String: (record: TicketRecord, led: MatchID?)] = [:]
  var ticketsOf = MemoryIndex<Int64, String>()

  /// Sorted by id.
  var reports: [ReportRecord] = []

  var tournaments: [String: Tournament] = [:]

  var nodes: [NodeID: Node] = [:]
  var joined = 0

  init(isShared: Bool, clock: @escaping @Sendable () -> Int64) { (self.isShared, self.clock) = (isShared, clock) }

  func lives(_ node: NodeID) -> Bool {
    node == asker || isShared && (nodes[node].map { $0.heartbeat + Heartbeat.lives > clock() } ?? false)
  }

  // MARK: matches

  /// Adds a match to the indexes if `isNow`, else removes it. A change of a match removes its old state and adds its new state.
  private mutating func file(_ match: Match, _ isNow: Bool) {
    let record = match.stored.record
    func set<Key, Value>(_ index: inout MemoryIndex<Key, Value>, _ value: Value, _ key: Key?) {
      guard let key else { return }
      if isNow { index.insert(value, key) } else { index.remove(value, key) }
    }
    if match.isLive {
      for account in record.accounts { set(&liveOf, record.id, account) }
      set(&coded, record.id, record.code)
      for node in match.nodes { set(&followed, record.id, node) }
      if isNow { live.insert(record.id) } else { live.remove(record.id) }
      if isNow, match.nodes.isEmpty { unfollowed.insert(record.id) } else { unfollowed.remove(record.id) }
    } else {
      for account in [record.x, record.o] { set(&endedOf, record.id, account) }
    }
  }

  private mutating func put(_ match: Match) {
    let (m, record) = (match.stored.record.id, match.stored.record)
    if let old = matches[m] { file(old, false) }
    file(match, true)
    matches[m] = match
    lastAccount = max(lastAccount, record.accounts.max() ?? 0)
    guard let ended = record.ended else { return }
    for case let account? in [record.x, record.o] {
      let last = lastOf[account].flatMap { matches[$0]?.stored.record }
      if (last?.ended ?? .min, last?.id ?? m) <= (ended, m) { lastOf[account] = m }
    }
  }

  private mutating func follow(_ m: MatchID, by nodes: [NodeID]) {
    guard var match = matches[m] else { return }
    match.nodes = Set(nodes).sorted()
    put(match)
  }

  mutating func prune(olderThan age: Int64) throws(StoreError) -> Int {
    let now = clock()
    let old = matches.values.filter { ($0.stored.record.ended ?? .max) < now - age }
    let isClockSound = matches.values.contains { match in
      match.stored.record.ended.map { Pruning.evidence.contains(now - $0) } ?? false
    }
    guard old.isEmpty || isClockSound else { throw .clockIsDoubtful }
    for match in old {
      file(match, false)
      matches[match.stored.record.id] = nil
    }
    return old.count
  }

  // MARK: units

  mutating func apply(_ unit: StoreUnit) -> Verdict {
    if let mistake = unit.mistake { return .failed(mistake) }
    do throws(StoreError) {
      if let conflict = try conflict(unit) { return .conflict(conflict) }
    } catch { return .failed("\(error)") }
    var followers: [MatchID: [NodeID]] = [:]
    for log in unit.logs {
      if log.after > 0 { followers[log.m] = matches[log.m]?.nodes ?? [] }
      grow(log)
    }
    guard let m = unit.logs.first?.m else { return .applied(followers) }
    for score in unit.scores {
      accounts[score.account]?.add(score)
      accounts[score.account]?.version += 1
    }
    for slot in unit.slots { slots[slot.account] = m }
    for key in unit.keys {
      keys[KeyID(account: key.account, key: key.key)] = (key.purpose, m, clock())
    }
    for ticket in unit.tickets { tickets[ticket]?.led = m }
    do throws(StoreError) {
      for game in unit.games { try play(game) }
    } catch {
      return .failed("\(error)")
    }
    return .applied(followers)
  }

  private mutating func grow(_ log: StoreUnit.Log) {
    if log.after == 0 {
      guard let record = log.record else { return }
      return put(Match(stored: StoredMatch(record: record, bodies: log.bodies), nodes: Set(log.nodes).sorted()))
    }
    // Appends in place: a copy of the log for each move would cost O(n²) a match.
    matches[log.m]?.stored.bodies += log.bodies
    matches[log.m]?.stored.length += log.bodies.count
    guard let record = log.record, var match = matches[log.m] else { return }
    match.stored.record = record
    put(match)
  }

  // MARK: accounts and sessions

  mutating func put(_ account: AccountRecord) {
    unfile(account.id)
    accounts[account.id] = account
    names[account.name.lowercased()] = account.id
    if let token = account.token { tokens[token] = account.id }
    // The id of a deleted account is not used again while another account still blocks it.
    lastAccount = max(lastAccount, account.id, account.blocked.max() ?? 0)
  }

  private mutating func unfile(_ account: Int64) {
    guard let old = accounts[account] else { return }
    names[old.name.lowercased()] = nil
    if let token = old.token, tokens[token] == account { tokens[token] = nil }
  }

  private mutating func forget(account: Int64) {
    unfile(account)
    accounts[account] = nil
    (slots[account], lastOf[account]) = (nil, nil)
    for session in sessionsOf[account] { forget(session: session) }
    for ticket in ticketsOf[account] { drop(ticket: ticket) }
  }

  private mutating func put(_ session: Session) {
    forget(session: session.record.id)
    sessions[session.record.id] = session
    sessionsOf.insert(session.record.id, session.record.account)
    for digest in [session.record.resume, session.record.previous] {
      if let digest { resumes[digest] = session.record.id }
    }
  }

  private mutating func forget(session id: String) {
    guard let old = sessions.removeValue(forKey: id)?.record else { return }
    sessionsOf.remove(id, old.account)
    for case let digest? in [old.resume, old.previous] where resumes[digest] == id { resumes[digest] = nil }
  }

  /// The living nodes to which an account has a connected session.
  private func whereabouts(_ account: Int64) -> Set<NodeID> {
    Set(sessionsOf[account].compactMap { sessions[$0]?.node }.filter(lives))
  }

  // MARK: questions

  mutating func answer(_ question: StoreQuestion) throws(StoreError) -> StoreAnswer {
    if let node = question.node { asker = node } else if isShared { asker = nil }
    switch question {
    case .heartbeat(let node, let address): return .heartbeat(heartbeat(node, address))
    case .leave(let node): leave(node)
    case .adoptOrphans(let node, let limit): return .adopted(adoptOrphans(node, limit))
    case .compare(let node, let memory): return .differences(compare(node, memory))
    case .clean(let guests, let age, let lives): return .cleaned(isMore: clean(guests: guests, keys: age, lives))
    case .follow(let m, let node):
      if let match = matches[m], match.isLive, !match.nodes.contains(node) { follow(m, by: match.nodes + [node]) }
      return .match(followed(m))
    case .match(let m): return .match(followed(m))
    case .code(let code): return .id(place(code))
    case .live(let limit):
      let open = live.compactMap { matches[$0]?.stored }.filter { $0.record.opener == nil }
      return .matches(
        Array(open.sorted { ($0.record.created, $0.record.id) > ($1.record.created, $1.record.id) }.prefix(limit)))
    case .history(let account, let before, let limit): return .matches(history(account, before, limit))
    case .login(let entry, let node): return .login(try login(entry, at: node))
    case .settle(let id, let generation):
      if var session = sessions[id], session.generation == generation {
        session.record.previous = nil
        put(session)
      }
    case .detach(let id, let generation):
      if sessions[id]?.generation == generation { sessions[id]?.node = nil }
    case .change(let who, let what): return .change(try change(who, what))
    case .profile(let account): return .profile(profile(account))
    case .accounts(let ids): return .accounts(Set(ids).sorted().compactMap { accounts[$0] })
    case .top(let rules, let limit):
      let named = accounts.values.filter { !$0.guest && $0[rules].ratedAt > 0 && !$0.banned }
      return .accounts(
        Array(named.sorted { ($0[rules].rating.value, $1.id) > ($1[rules].rating.value, $0.id) }.prefix(limit)))
    case .players(let list, let after, let limit): return .accounts(players(list, after, limit))
    case .report(let report): add(report)
    case .reports(let before, let limit): return .reports(reports(before, limit))
    case .queue(let ticket, let rated): return .queued(try queue(ticket, rated: rated))
    case .unqueue(let id): if tickets[id]?.led == nil { drop(ticket: id) }
    case .tickets: return .tickets(waiting())
    case .host(let record, let most): return .tournament(try host(record, most: most))
    case .tournament(let code): return .tournament(try found(code))
    case .changeTournament(let code, let what): return .tournament(try change(code, what))
    }
    return .done
  }

  // MARK: nodes

  private mutating func heartbeat(_ node: NodeID, _ address: String) -> Heartbeat {
    let number = nodes[node]?.number ?? joined
    if number == joined { joined += 1 }
    nodes[node] = Node(record: NodeRecord(id: node, address: address), number: number, heartbeat: clock())
    // If the clock was set back, a dead node would seem alive until the clock reaches its last heartbeat.
    for (id, other) in nodes where other.heartbeat > clock() + 1000 { nodes[id]?.heartbeat = clock() }
    let living = nodes.values.filter { lives($0.record.id) }.sorted { $0.number < $1.number }
    return Heartbeat(now: clock(), nodes: living.map(\.record))
  }

  private mutating func leave(_ node: NodeID) {
    for m in followed[node] { follow(m, by: (matches[m]?.nodes ?? []).filter { $0 != node }) }
    for (id, session) in sessions where session.node == node { sessions[id]?.node = nil }
    for ticket in tickets.values.map(\.record) where ticket.node == node { drop(ticket: ticket.id) }
    nodes[node] = nil
    if asker == node { asker = nil }
  }

  private mutating func adoptOrphans(_ node: NodeID, _ limit: Int) -> [FollowedMatch] {
    var lost = unfollowed
    for other in followed.sets.keys where !lives(other) { lost.formUnion(followed[other]) }
    let taken = lost.sorted().prefix(limit)
    for m in taken { follow(m, by: (matches[m]?.nodes ?? []).filter(lives) + [node]) }
    for ticket in tickets.values.map(\.record) where !lives(ticket.node) { drop(ticket: ticket.id) }
    for other in nodes.keys where !lives(other) && followed[other].isEmpty { nodes[other] = nil }
    return taken.compactMap { followed($0) }
  }

  private mutating func compare(_ node: NodeID, _ memory: Memory) -> Differences {
    var found = Differences()
    for (m, length) in memory.matches {
      if (matches[m]?.stored.length ?? 0) != length { found.matches.append(m) }
      guard let match = matches[m], match.isLive, !match.nodes.contains(node) else { continue }
      follow(m, by: match.nodes + [node])
    }
    if memory.wantsOthers { found.matches += followed[node].subtracting(memory.matches.keys) }
    for (id, version) in memory.accounts {
      guard let account = accounts[id] else {
        found.gone.append(id)
        continue
      }
      if account.version != version { found.accounts.append(account) }
    }
    found.sessions = memory.sessions.filter { sessions[$0.key]?.generation != $0.value }.keys.sorted()
    for id in Set(memory.tickets).sorted() {
      let ticket = tickets[id]
      guard ticket == nil || ticket?.led != nil else { continue }
      found.tickets.append(.init(id: id, m: ticket?.led))
    }
    found.matches.sort()
    found.accounts.sort { $0.id < $1.id }
    found.gone.sort()
    return found
  }

  private mutating func clean(guests most: Int, keys age: Int64, _ life: Lifetimes) -> Bool {
    let (time, some) = (clock(), StoreQuestion.cleanedAtOnce)
    for (id, session) in sessions where session.node.map(lives) ?? false {
      guard let isGuest = accounts[session.record.account]?.guest,
        session.record.expires < time + life.fresh.life(ofGuest: isGuest)
      else { continue }
      sessions[id]?.record.expires = time + life.life(ofGuest: isGuest)
      renew(account: session.record.account, until: time + life.life(ofGuest: isGuest))
    }
    let ended = sessions.filter { $1.record.expires <= time && !($1.node.map(lives) ?? false) }.keys.sorted().prefix(
      some)
    for id in ended { forget(session: id) }
    let byUse = accounts.values.sorted { ($0.tokenExpires, $0.id) < ($1.tokenExpires, $1.id) }
    let expired = byUse.filter { account in
      let ended = lastOf[account.id].flatMap { matches[$0]?.stored.record.ended } ?? .min
      return account.tokenExpires <= time && (account.guest || !account.banned) && sessionsOf[account.id].isEmpty
        && liveOf[account.id].isEmpty && ended <= time - 600_000
    }.prefix(some).map(\.id)
    for id in expired { forget(account: id) }
    let guests = byUse.filter { $0.guest && accounts[$0.id] != nil }
    let idle = guests.filter { whereabouts($0.id).isEmpty && liveOf[$0.id].isEmpty }
      .prefix(min(max(0, guests.count - most), some))
    for guest in idle { forget(account: guest.id) }
    let oldKeys = keys.filter { $0.value.at < time - age && matches[$0.value.m]?.isLive != true }.keys.prefix(some)
    for key in oldKeys { keys[key] = nil }
    let led = tickets.filter { $1.led.map { matches[$0]?.isLive != true } ?? false }.keys.prefix(some)
    for id in led { drop(ticket: id) }
    let reported = Set(reports.filter { $0.at < time - ReportRecord.lives }.prefix(some).map(\.id))
    reports.removeAll { reported.contains($0.id) }
    tournaments = tournaments.filter { $1.record.closes >= time - TournamentRecord.kept }
    return [ended.count, expired.count, idle.count, oldKeys.count, led.count, reported.count].contains(some)
  }

  // MARK: matches, read

  private func followed(_ m: MatchID) -> FollowedMatch? {
    guard let match = matches[m] else { return nil }
    let ids = Set(match.stored.record.accounts).sorted()
    let here = Dictionary(uniqueKeysWithValues: ids.map { ($0, whereabouts($0)) }).filter { !$1.isEmpty }
    return FollowedMatch(
      match: match.stored, accounts: ids.compactMap { accounts[$0] }, nodes: match.nodes, here: here, now: clock())
  }

  private func place(_ code: String) -> MatchID? {
    let found = coded[code].compactMap { matches[$0]?.stored.record }
    return found.max { ($0.x == nil ? 1 : 0, $0.created, $0.id) < ($1.x == nil ? 1 : 0, $1.created, $1.id) }?.id
  }

  private func history(_ account: Int64, _ before: Int64, _ limit: Int) -> [StoredMatch] {
    let mine = endedOf[account].compactMap { matches[$0]?.stored }.filter { ($0.record.ended ?? .max) < before }
    let latest = mine.sorted { ($0.record.ended ?? 0, $0.record.id) > ($1.record.ended ?? 0, $1.record.id) }
    let last = latest.prefix(limit).last?.record.ended
    return latest.enumerated().prefix { $0.offset < limit || $0.element.record.ended == last }.map(\.element)
  }

  private func waiting() -> [WaitingTicket] {
    let all = tickets.values.filter { $0.led == nil }.map(\.record).sorted { ($0.since, $0.id) < ($1.since, $1.id) }
    return all.compactMap { ticket in accounts[ticket.account].map { WaitingTicket(ticket, $0) } }
  }
}

extension MemoryContent: StoreConditions {
  func length(of m: MatchID) -> Int? { matches[m]?.stored.length }
  func waits(ticket: String) -> Bool { tickets[ticket].map { $0.led == nil } ?? false }
  func slot(of account: Int64) -> MatchID? { slots[account].flatMap { matches[$0]?.isLive == true ? $0 : nil } }
  func rating(of account: Int64, _ rules: Variant) -> Glicko2.Rating? { accounts[account]?[rules].rating }
  func openRoom(_ code: String) -> MatchID? { coded[code].first { matches[$0]?.stored.record.x == nil } }

  func use(of key: String, _ account: Int64) -> (purpose: String, live: MatchID?)? {
    keys[KeyID(account: account, key: key)].map { ($0.purpose, matches[$0.m]?.isLive == true ? $0.m : nil) }
  }
}

extension MemoryContent: StoreRows {
  func now() -> Int64 { clock() }

  func account(_ who: AccountReference) -> AccountRecord? {
    switch who {
    case .id(let id): accounts[id]
    case .name(let name): names[name.lowercased()].flatMap { accounts[$0] }
    }
  }

  func account(token: SHA256.Digest) -> AccountRecord? { tokens[token].flatMap { accounts[$0] } }
  func holder(of name: String) -> Int64? { names[name.lowercased()] }

  mutating func replace(_ account: AccountRecord) {
    var account = account
    account.version += 1
    put(account)
  }

  mutating func countName(_ quota: NameQuota, day: Int64) -> Bool {
    if nameCounts.day != day { nameCounts = (day, [:]) }
    guard nameCounts.1[quota.address, default: 0] < quota.most else { return false }
    nameCounts.1[quota.address, default: 0] += 1
    return true
  }

  mutating func renew(account: Int64, until expires: Int64) { accounts[account]?.tokenExpires = expires }

  mutating func add(_ account: AccountRecord) -> AccountRecord {
    var account = account
    account.id = lastAccount + 1
    put(account)
    return account
  }

  func profile(_ id: Int64) -> Profile? {
    guard let account = accounts[id] else { return nil }
    let live = liveOf[id].compactMap { matches[$0]?.stored }.sorted {
      ($0.record.created, $0.record.id) < ($1.record.created, $1.record.id)
    }
    let last = lastOf[id].flatMap { matches[$0]?.stored.record }
    return Profile(
      account: account, last: last?.ended ?? .min > clock() - 60_000 ? last?.id : nil,
      blockedNames: account.blocked.suffix(50).compactMap { accounts[$0]?.name },
      openings: live.map { StoredMatch(record: $0.record, bodies: Array($0.bodies.prefix(1)), length: $0.length) })
  }

  func session(presenting token: SHA256.Digest) -> SessionRecord? {
    resumes[token].flatMap { sessions[$0]?.record }
  }

  mutating func login(_ session: SessionRecord, at node: NodeID) -> (generation: Int64, before: NodeID?) {
    let old = sessions[session.id]
    let generation = (old?.generation ?? 0) + 1
    put(Session(record: session, generation: generation, node: node))
    return (generation, old?.node)
  }

  mutating func forgetSessions(of account: Int64, but kept: String) -> [String] {
    let gone = sessionsOf[account].filter { $0 != kept }.sorted()
    for id in gone { forget(session: id) }
    return gone
  }

  mutating func trimSessions(of account: Int64, to most: Int, but kept: String) -> [String] {
    let others = sessionsOf[account].filter { $0 != kept }.compactMap { sessions[$0] }
    let (here, away) = (others.filter { $0.node.map(lives) ?? false }, others.filter { !($0.node.map(lives) ?? false) })
    let latest = [here, away].flatMap { some in
      some.map(\.record).sorted { ($0.expires, $0.id) > ($1.expires, $1.id) }
    }
    let gone = latest.dropFirst(most - 1).map(\.id).sorted()
    for id in gone { forget(session: id) }
    return gone
  }
}

extension MemoryContent: QueueRows {
  func hasAccount(_ id: Int64) -> Bool { accounts[id] != nil }

  func tickets(session: String, key: String, account: Int64) -> [TicketRecord] {
    ticketsOf[account].compactMap { tickets[$0] }.filter {
      $0.led == nil && ($0.record.session == session || !key.isEmpty && $0.record.key == key)
    }.map(\.record).sorted { $0.id < $1.id }
  }

  mutating func put(_ ticket: TicketRecord) {
    guard tickets[ticket.id] == nil else { return }
    tickets[ticket.id] = (ticket, nil)
    ticketsOf.insert(ticket.id, ticket.account)
  }

  mutating func drop(ticket: String) {
    guard let old = tickets.removeValue(forKey: ticket) else { return }
    ticketsOf.remove(ticket, old.record.account)
  }
}
