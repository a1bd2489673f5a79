import Base
import MatchProtocol
import MatchStore
import TicTacToe

/// Everything the server knows and decides, as a value: `reduce` takes what happened and says what to do.
///
/// Nothing here blocks, waits or reads a clock. Changes are made in memory at once and handed out as transactions;
/// every line that tells of them is held back until they are durable (the gate), so that nobody ever sees what a power cut could
/// take back. A line that does not say what it tells of waits for all that was decided before it, and no line overtakes
/// another to the same connection.
package struct Lobby: Sendable {
  struct Connection: Sendable {
    let address: String?
    var session: String?
    /// The version of the protocol that is spoken on it, and so of the log's language.
    var version = 1
    var watching: [MatchID] = []
    var roundTrip = 0
    /// The transaction that the last line held back for it waits for.
    var heldUntil: UInt64 = 0
    /// The games whose finished matches are being read for it, if any are.
    var historyGames: [Variant]?
  }

  /// A session, its connection and its seek.
  struct Session: Sendable {
    var record: SessionRecord
    var connection: ConnectionID?
    var isBot = false
    var confirms = false
    /// The games that the client knows. Of the others it is told nothing.
    var games = [Variant.classic]
    /// In a cluster: how often it has been entered, so that of two connections at two nodes the later one counts.
    var generation: Int64 = 0
  }

  /// What a `key` of an account was used for, so that the same key means the same thing.
  struct KeyUse: Sendable {
    enum Answer: Sendable {
      case seek(Ticket)
      case paired(Ticket?, MatchID)
      case room(MatchTerms, MatchID)
    }
    let key: String
    let answer: Answer
    let expires: Int64
  }

  enum Timer: Sendable {
    case match(MatchID)
    case pairing
    case housekeeping
    case renew
    case takeOver
    /// This node's lease may be over: looking at the time is enough.
    case wake
    /// Another's may be.
    case expiry
    /// Nobody can say in time whether a node is dead or cut off.
    case depart(Int64)
    case again(UInt64)
    /// The last time a key of an account was used may be long enough ago.
    case keys(Int64)
    /// A match that another node was to begin may not have begun.
    case delegated(String, MatchID)
    /// What waits for the disk may have waited for long enough.
    case patience
  }

  /// Something that may not leave before a transaction is durable.
  struct Held: Sendable {
    let after: UInt64
    let effect: LobbyEffect
    /// The answer to a question that changes nothing, which can be asked again: and to whose.
    var read: (id: ConnectionID, re: String?)?
  }

  /// What is forgotten one day unless it was used meanwhile.
  enum Perishable: Sendable {
    case session(String)
    case guest(Int64)
  }

  /// The limits it was started with.
  package let configuration: LobbyConfiguration
  var random: Entropy
  var now = Moment(steady: 0, wall: 0)
  var isDraining = false

  var connections: [ConnectionID: Connection] = [:]
  var accounts = AccountTable()
  var names: [String: Int64] = [:]
  var tokens: [SHA256.Digest: Int64] = [:]
  var sessions: [String: Session] = [:]
  var resumes: [SHA256.Digest: String] = [:]
  var sessionsOf: [Int64: [String]] = [:]
  /// Guests in the order in which they came, and who was one.
  var oldestGuests: ArraySlice<Int64> = []
  var matches: [MatchID: CachedMatch] = [:]
  var matchesOf: [Int64: [MatchID]] = [:]
  var codes: [String: MatchID] = [:]
  /// What the connections of this node seek.
  var seeks: [ConnectionID: OpenSeek] = [:]
  /// What they sought last, and the match that it led to.
  var lastPairings: [ConnectionID: (ticket: Ticket, m: MatchID)] = [:]
  /// Who waits, if the queue is here.
  var tickets = TicketQueue()
  /// Tickets whose match another node was to begin.
  var delegated: [String: (ticket: Ticket, m: MatchID, id: ConnectionID)] = [:]
  /// The last uses of each account's keys, in the order of the uses.
  var keys: [Int64: [KeyUse]] = [:]
  /// Tries in this minute.
  var rates: (minute: Int64, counts: [String: Int]) = (0, [:])
  var timers = TimerQueue<Timer>()
  /// By the wall clock.
  var perishables = TimerQueue<Perishable>()
  /// Live matches that everybody may watch.
  var listed = Ranking<MatchID>()
  /// How many connections finished matches are being read for.
  var historyReaders = 0
  var loading: [MatchID: [(ConnectionID, ClientLine, Int64)]] = [:]
  var nextAccount: Int64 = 1
  /// What a node of a cluster knows of it; `nil` for a server on its own.
  var cluster: ClusterState?

  /// When the last match ended, by the wall clock.
  var lastEnd: Int64 = 0

  // The gate.
  var issued: UInt64 = 0
  var durable: UInt64 = 0
  var held: [Held] = []
  var isPatienceSet = false
  var heldFrom = 0
  var pending: [(number: UInt64, writes: Int, at: Int64, accounts: [Int64])] = []
  var pendingWrites = 0
  /// The last transaction of those that are not durable which changes an account.
  var unstored: [Int64: UInt64] = [:]
  /// Matches whose clock starts when their last move has been written to the opponent.
  var startsWhenDurable: [(after: UInt64, MatchID)] = []
  var effects: [LobbyEffect] = []
  /// Lets lines out before they are durable. Only a test sets it, to see that the checks would notice.
  var isUngated = false

  /// Counts for the metrics, since the start.
  package internal(set) var counts = LobbyCounts()

  /// Starts from what a store holds; the effects of recovering the live matches are in the first `reduce`.
  package init(_ configuration: LobbyConfiguration, recovery: Recovery, random: Entropy, now: Moment) {
    self.configuration = configuration
    self.random = random
    self.now = now
    restore(recovery)
    timers.set(.pairing, at: now.steady + 1000)
    timers.set(.housekeeping, at: now.steady + 60_000)
  }

  /// Takes what happened and returns what to do, in order.
  package mutating func reduce(_ input: LobbyInput, now: Moment) -> [LobbyEffect] {
    self.now = now
    if cluster != nil {
      guard cluster?.hasLeft == false else { return [] }
      if !isLeased, !isRenewal(input) {
        startOver("the lease could not be renewed in time")
        defer { effects = [] }
        return effects
      }
    }
    effects.reserveCapacity(8)
    switch input {
    case .connected(let id, let address): connected(id, address)
    case .line(let id, let line, let at, let roundTrip):
      connections[id]?.roundTrip = roundTrip
      take(.line(line, at: at), for: id)
    case .disconnected(let id, let clean): disconnected(id, clean: clean)
    case .durable(let number): becameDurable(number)
    case .broken(let matches, let refused): lose(matches, refused)
    case .loaded(let m, let stored): loaded(m, stored)
    case .history(let id, let re, let found, let more):
      historyReaders -= 1
      let games = connections[id]?.historyGames ?? []
      connections[id]?.historyGames = nil
      if let found { sendHistory(to: id, re, found, of: games, more) } else { refuseBusy(id, re) }
    case .caughtUp(let id, let missed): for m in missed { take(.caughtUp(m), for: id) }
    case .tick: break
    case .drain(let retry):
      isDraining = true
      for id in connections.keys.sorted() { send(.drain(retry: retry), to: id) }
    case .administer(let name, let order): administer(name, order)
    case .setAside(let m): setAside(m, "by an administrator")
    case .cluster(let input): take(input)
    }
    while cluster?.hasLeft != true, let timer = timers.take(dueAt: now.steady) { fire(timer) }
    defer { effects = [] }
    return effects
  }

  /// When `tick` is next needed, in steady milliseconds.
  package var nextDue: Int64? { cluster?.hasLeft == true ? nil : timers.next }

  /// Whether every transaction handed out is durable and nothing is held back.
  package var isSettled: Bool { issued == durable && heldFrom == held.count }

  /// Whether a transaction and all before it are durable.
  package func isDurable(_ number: UInt64) -> Bool { number <= durable }

  /// Whether somebody has a name here.
  package func knows(player name: String) -> Bool { names[name.lowercased()] != nil }

  /// Whether a match is here and goes on.
  package func isPlayed(_ m: MatchID) -> Bool { matches[m]?.isOver == false }

  /// The number of the last transaction handed out.
  package var lastIssued: UInt64 { issued }

  private mutating func fire(_ timer: Timer) {
    switch timer {
    case .match(let m): check(m)
    case .pairing:
      waitAgain()
      if hasQueue { pairAll() }
      timers.set(.pairing, at: now.steady + 1000)
    case .housekeeping:
      housekeeping()
      timers.set(.housekeeping, at: now.steady + 60_000)
    case .renew: renew()
    case .takeOver:
      takeOver()
      // Not all nodes at once, so that they do not look for the same matches at the same time.
      timers.set(.takeOver, at: now.steady + configuration.takeOverEvery * (75 + Int64(random.next() % 50)) / 100)
    case .wake: break
    case .expiry: takeOver()
    case .depart(let epoch): depart(from: epoch)
    case .again(let number): tryAgain(number)
    case .keys(let account):
      keys[account]?.removeAll { $0.expires <= now.steady }
      guard let next = keys[account]?.first else { return keys[account] = nil }
      timers.set(.keys(account), at: next.expires)
    case .delegated(let ticket, let m): takeBack(ticket, m)
    case .patience: losePatience()
    }
  }

  // MARK: The gate

  /// Lets a line or the end of a connection out once a transaction is durable: that which decided what it tells of, or
  /// the last one so far.
  mutating func emit(_ effect: LobbyEffect, after: UInt64? = nil, read: (id: ConnectionID, re: String?)? = nil) {
    let id = effect.receiver
    let after = max(after ?? issued, id.flatMap { connections[$0]?.heldUntil } ?? 0)
    if after <= durable || isUngated { return effects.append(effect) }
    if let id { connections[id]?.heldUntil = after }
    let entry = Held(after: after, effect: effect, read: read)
    guard let last = held.last, heldFrom < held.count, last.after > after else { return held.append(entry) }
    held.insert(entry, at: held[heldFrom...].firstIndex { $0.after > after } ?? held.count)
  }

  /// Answers that have waited for long are refused: they can be asked for again.
  private mutating func losePatience() {
    isPatienceSet = false
    guard let first = pending.first else { return }
    guard isBusy else { return havePatience(since: first.at) }
    let reads = held[heldFrom...].compactMap(\.read)
    held = held[heldFrom...].filter { $0.read == nil }
    heldFrom = 0
    for read in reads {
      refuseBusy(read.id, read.re)
      // What comes next on that connection waits no longer for what was just refused.
      connections[read.id]?.heldUntil = held.last { $0.effect.receiver == read.id }?.after ?? 0
    }
    havePatience(since: now.steady)
  }

  private mutating func havePatience(since at: Int64) {
    guard !isPatienceSet else { return }
    isPatienceSet = true
    timers.set(.patience, at: at + Int64(configuration.maxWait) + 1)
  }

  mutating func send(
    _ message: ServerMessage, to id: ConnectionID, re: String? = nil, kind: LineKind = .essential, after: UInt64? = nil
  ) {
    emit(.send(id, message.bytes(re: re), kind), after: after)
  }

  /// Answers a question about what a transaction decided, now or in time, or refuses.
  mutating func answer(_ message: ServerMessage, to id: ConnectionID, re: String?, after: UInt64) {
    if canTell(after, id, re) { emit(.send(id, message.bytes(re: re), .essential), after: after, read: (id, re)) }
  }

  mutating func refuse(_ id: ConnectionID, _ re: String?, _ code: ErrorCode, _ text: String) {
    counts.refused[code, default: 0] += 1
    answer(.err(code, text), to: id, re: re, after: 0)
  }

  /// Refuses at once, whatever is held back: that the disk is slow is no secret and no reason to wait for it.
  mutating func refuseBusy(_ id: ConnectionID, _ re: String?) {
    counts.refused[.busy, default: 0] += 1
    let line = ServerMessage.err(.busy, "too much waits to be stored; try again in a moment").bytes(re: re)
    effects.append(.send(id, line, .essential))
  }

  /// Whether an answer that tells of a transaction can be given in time; refuses if not.
  mutating func canTell(_ number: UInt64, _ id: ConnectionID, _ re: String?) -> Bool {
    if max(number, connections[id]?.heldUntil ?? 0) <= durable || !isBusy { return true }
    refuseBusy(id, re)
    return false
  }

  /// Hands out a transaction.
  mutating func commit(_ writes: [StoreWrite]) {
    guard !writes.isEmpty else { return }
    issued += 1
    let changed = writes.compactMap(\.account)
    for account in changed { unstored[account] = issued }
    pending.append((issued, writes.count, now.steady, changed))
    havePatience(since: now.steady)
    pendingWrites += writes.count
    effects.append(.commit(StoreTransaction(number: issued, writes: writes)))
  }

  private mutating func becameDurable(_ number: UInt64) {
    durable = max(durable, number)
    let done = pending.prefix { $0.number <= durable }
    for entry in done {
      pendingWrites -= entry.writes
      for account in entry.accounts where unstored[account] == entry.number { unstored[account] = nil }
    }
    pending.removeFirst(done.count)
    while heldFrom < held.count, held[heldFrom].after <= durable {
      effects.append(held[heldFrom].effect)
      heldFrom += 1
    }
    if heldFrom == held.count {
      held.removeAll(keepingCapacity: held.count < 1024)
      heldFrom = 0
    } else if heldFrom > 1024 {
      held.removeFirst(heldFrom)
      heldFrom = 0
    }
    let started = startsWhenDurable.prefix { $0.after <= durable }
    startsWhenDurable.removeFirst(started.count)
    for (_, m) in started { startClock(m) }
  }

  /// Whether too much waits to become durable to take on more.
  package var isBusy: Bool {
    pendingWrites > configuration.maxPending
      || (pending.first.map { now.steady - $0.at > Int64(configuration.maxWait) } ?? false)
  }

  // MARK: Helpers

  /// Counts a try; `false` once there were more than `limit` within the minute.
  mutating func allow(_ what: String, perMinute limit: Int) -> Bool {
    let minute = now.steady / 60_000
    if rates.minute != minute { rates = (minute, [:]) }
    rates.counts[what, default: 0] += 1
    return rates.counts[what, default: 0] <= limit
  }

  func session(of id: ConnectionID) -> Session? { connections[id]?.session.flatMap { sessions[$0] } }

  func account(of id: ConnectionID) -> AccountRecord? { session(of: id).flatMap { accounts[$0.record.account] } }

  /// The matches here that an account plays, and its open rooms.
  func live(of account: Int64) -> [MatchID] {
    matchesOf[account, default: []].filter { matches[$0]?.isOver == false }
  }

  /// Live matches and open rooms of an account at one node; keys of it that are remembered, which each of them may have one of.
  static let matchesPerAccount = 64
  static let keysPerAccount = 128
  static let isFull = "\(matchesPerAccount) matches at once are enough"

  /// Whether an account has as many matches and open rooms here as it may.
  func isFull(_ account: Int64) -> Bool {
    let most = Lobby.matchesPerAccount
    return matchesOf[account]?.count ?? 0 >= most && live(of: account).count >= most
  }

  /// Whether an account may have one more match; refuses if not.
  mutating func mayPlay(_ account: AccountRecord, _ id: ConnectionID, _ re: String?) -> Bool {
    guard isFull(account.id) else { return true }
    refuse(id, re, .occupied, Lobby.isFull)
    return false
  }

  /// A player as others see him at the board of a game.
  func info(_ account: AccountRecord, bot: Bool = false, _ rules: Variant = .classic) -> PlayerInfo {
    PlayerInfo(name: account.name, rating: Int(account[rules].rating.value.rounded()), guest: account.guest || bot)
  }

  /// Whether a client may have to do with a game; refuses if not.
  mutating func mayPlay(_ rules: Variant, _ session: Session, _ id: ConnectionID, _ re: String?) -> Bool {
    if !session.games.contains(rules) {
      refuse(
        id, re, .rules, "this is a game of \(rules.rawValue); a client that knows it says so in the caps of its hello")
    } else if rules != .classic, language < 3 {
      refuse(
        id, re, .rules, "not every node of this server knows \(rules.rawValue) yet; play classic, or come back later")
    } else {
      return true
    }
    return false
  }

  mutating func note(_ text: String, _ fields: [String: String] = [:]) { effects.append(.note(text, fields)) }

  /// Forgets sessions and guests whose time is over, and who are not here.
  private mutating func housekeeping() {
    guard cluster == nil else { return ask(.clean) }
    var writes: [StoreWrite] = []
    var later: [(Perishable, Int64)] = []
    while let item = perishables.take(dueAt: now.wall) {
      switch item {
      case .session(let id):
        guard let session = sessions[id] else { continue }
        if session.connection == nil, session.record.expires <= now.wall {
          forget(session)
          writes.append(.deleteSession(id))
        } else {
          later.append((item, max(session.record.expires, now.wall + 60_000)))
        }
      case .guest(let id):
        guard let account = accounts[id], account.guest else { continue }
        if sessionsOf[id, default: []].isEmpty, matchesOf[id, default: []].isEmpty, account.tokenExpires <= now.wall {
          forget(account)
          writes.append(.deleteAccount(id))
        } else {
          later.append((item, max(account.tokenExpires, now.wall + 60_000)))
        }
      }
    }
    for (item, due) in later { perishables.set(item, at: due) }
    commit(writes)
  }

  func use(of key: String?, _ account: Int64) -> KeyUse.Answer? {
    key.flatMap { key in keys[account]?.last { $0.key == key }?.answer }
  }

  /// Remembers what a key was used for, and of the others of this account the last ones.
  mutating func remember(_ key: String?, _ account: Int64, _ answer: KeyUse.Answer) {
    guard let key else { return }
    let use = KeyUse(key: key, answer: answer, expires: now.steady + configuration.keyLives)
    if keys[account] == nil { timers.set(.keys(account), at: use.expires) }
    forget(key, account)
    keys[account, default: []].append(use)
    if keys[account]?.count ?? 0 > Lobby.keysPerAccount { keys[account]?.removeFirst() }
  }

  mutating func forget(_ key: String?, _ account: Int64) { keys[account]?.removeAll { $0.key == key } }

  mutating func forget(_ session: Session) {
    sessions[session.record.id] = nil
    resumes[session.record.resume] = nil
    if let previous = session.record.previous { resumes[previous] = nil }
    sessionsOf[session.record.account]?.removeAll { $0 == session.record.id }
    if sessionsOf[session.record.account]?.isEmpty == true { sessionsOf[session.record.account] = nil }
  }

  mutating func forget(_ account: AccountRecord) {
    accounts[account.id] = nil
    names[account.name.lowercased()] = nil
    if let token = account.token { tokens[token] = nil }
  }
}

/// What the lobby has counted since the start.
package struct LobbyCounts: Sendable, Hashable {
  package var moves = 0
  package var events = 0
  package var started = 0
  package var ended = 0
  package var refused: [ErrorCode: Int] = [:]
  /// Commands answered again because their `mid` was known.
  package var repeated = 0
  /// Matches whose log was found broken.
  package var abandoned = 0
}
