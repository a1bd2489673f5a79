import Base
import MatchProtocol
import MatchStore
import TicTacToe

/// All state and decisions of one node, as a value: `reduce` takes an input and returns the effects to execute. Nothing here blocks, waits
/// or reads a clock.
///
/// Only after the store has applied a unit are its events added to memory and sent. So no client sees an event that a power cut could undo,
/// and a refused unit leaves nothing to roll back. A match handles one unit at a time, and a connection one request.
package struct Lobby: Sendable {
  enum Timer: Sendable {
    /// Ignored unless `due` is the time of the match's next timer: a timer outlives the eviction of its match from memory.
    case match(MatchID, due: Int64)
    case pairing
    case tournaments
    /// Reads the leader's queue, once for all tickets that other nodes have queued since the last read.
    case queue
    case housekeeping
    case heartbeat
    case compare
    /// Repeats a read that the store did not answer, as the timers `load` and `readOutcome` do.
    case reread(MatchID)
    case load(MatchID)
    case readOutcome(of: UInt64)
    /// Refuses the requests that wait for a unit whose outcome is still unknown.
    case overdue(UInt64)
    /// Repeats a store command that must succeed in the end; `tries` have failed so far.
    case retryUntilDone(StoreQuestion, tries: Int)
  }

  package let configuration: LobbyConfiguration
  var random: Entropy
  private var stage = Stage.serving

  var connections = ConnectionTable()
  var sessions = Sessions()
  var accounts = Accounts()
  var matches = MatchDirectory()
  var store = StoreWork()
  var tries = Tries()
  var membership: Membership
  var seeks = SeekDesk()
  var matchmaker = Matchmaker()
  var tournaments = TournamentDesk()
  var pages = SharedPages()
  var timers = TimerQueue<Timer>()
  var replies = Replies()

  private enum Stage { case serving, draining, left }

  /// Starts with empty memory; the first `reduce` sends a heartbeat.
  package init(_ configuration: LobbyConfiguration, node: NodeID, random: Entropy, now: Moment) {
    (self.configuration, self.random) = (configuration, random)
    membership = Membership(node, configuration, now)
    timers.set(.heartbeat, at: now.monotonic)
    timers.set(.compare, at: now.monotonic + configuration.compareEvery)
    timers.set(.tournaments, at: now.monotonic + 1000)
    timers.set(.pairing, at: now.monotonic + matchmaker.pairingInterval)
    timers.set(.housekeeping, at: now.monotonic + 60_000)
  }

  /// Handles an input and returns the effects to execute, in order.
  package mutating func reduce(_ input: LobbyInput, now local: Moment) -> [LobbyEffect] {
    guard stage != .left else { return [] }
    membership.advance(to: local)
    switch input {
    case .connected(let id, let address): connected(id, address)
    case .line(let id, let line, let at, let roundTrip):
      connections.setRoundTrip(roundTrip, of: id)
      enqueue(.line(line, at: at), for: id)
    case .disconnected(let id, let clean): disconnected(id, clean: clean)
    case .caughtUp(let id, let missed): for m in missed { enqueue(.caughtUp(m), for: id) }
    case .verdict(let number, let verdict):
      if case .unknown = verdict { membership.beUncertain(for: configuration.uncertainty) }
      handleVerdict(number, verdict)
    case .answer(let number, let answer):
      if answer == nil { membership.beUncertain(for: configuration.uncertainty) }
      answered(number, answer)
    case .notification(let text): receive(text)
    case .tick: break
    case .drain(let retry): drain(retry)
    case .leave: stage = .left
    case .administer(let number, let order): administer(number, order)
    }
    while stage != .left, let timer = timers.take(dueAt: now.monotonic) { fire(timer) }
    return replies.take()
  }

  /// Monotonic ms at which the caller must pass the input `tick` next.
  package var nextDue: Int64? { stage == .left ? nil : timers.next }

  /// Whether the store has answered every unit, and no connection waits for an answer.
  package var isSettled: Bool { store.isSettled && connections.isSettled }

  var now: Moment { membership.now }
  var isDraining: Bool { stage == .draining }
  package var counts: LobbyCounts { replies.counts }

  /// Whether the store answers heartbeats and this node, if it is the leader, has adopted the matches that no living node follows.
  package var isReady: Bool { membership.hasStarted && !isOutOfTouch }

  package var node: NodeID { membership.node }
  /// The living nodes except this one, as of the last heartbeat.
  package var otherNodes: [NodeRecord] { membership.others }
  /// Whether no player may lose on time, because the store has answered no heartbeat of the last three seconds.
  var isOutOfTouch: Bool { membership.isOutOfTouch }

  private mutating func fire(_ timer: Timer) {
    switch timer {
    case .match(let m, let due):
      guard matches[m]?.timers.last == due else { return }
      matches[m]?.timers.removeLast()
      check(m)
    case .tournaments:
      refreshTournaments()
      timers.set(.tournaments, at: now.monotonic + 1000)
    case .pairing:
      if membership.isLeader { if matchmaker.mustRead { askForQueue() } else { pairAll() } }
      timers.set(.pairing, at: now.monotonic + matchmaker.pairingInterval)
    case .queue: readQueueNow()
    case .housekeeping:
      guard membership.isLeader else { return timers.set(.housekeeping, at: now.monotonic + 60_000) }
      let (guests, keys) = (configuration.maxGuests, configuration.keyLives)
      ask(.clean(guests: guests, keys: keys, lives: configuration.lives)) { lobby, answer in
        // Delete the expired rows in slices, 100 ms apart, so that moves and logins are served in between.
        let isMore = answer == .cleaned(isMore: true)
        lobby.timers.set(.housekeeping, at: lobby.now.monotonic + (isMore ? 100 : 60_000))
      }
    case .heartbeat:
      sendHeartbeat()
      sendAway()
      timers.set(.heartbeat, at: now.monotonic + configuration.heartbeatInterval)
    case .compare:
      if membership.mayDiffer {
        compare()
        if membership.isLeader { askForQueue() }
      }
      timers.set(.compare, at: now.monotonic + configuration.compareEvery)
    case .reread(let m): reread(m)
    case .load(let m): askFor(m)
    case .readOutcome(of: let number): readOutcome(of: number)
    case .overdue(let number): refuseWaiting(for: number)
    case .retryUntilDone(let question, let tries): retryUntilDone(question, tries: tries)
    }
  }

  private mutating func drain(_ retry: Int) {
    stage = .draining
    for id in connections.ids { send(.drain(retry: retry), to: id) }
    for id in seeks.open.keys.sorted() { endSeek(id) }
  }

  // MARK: answers

  mutating func send(_ message: ServerMessage, to id: ConnectionID, re: String? = nil, kind: LineKind = .essential) {
    replies.add(.send(id, message.bytes(re: re), kind))
  }

  mutating func close(_ id: ConnectionID, _ code: ByeCode, _ text: String, retry: Int?) {
    replies.add(.close(id, code, text, retry: retry))
  }

  /// Carries out a request of a connection, or answers it with its refusal.
  mutating func attempt(_ id: ConnectionID, _ re: String?, _ work: (inout Lobby) throws(Refusal) -> Void) {
    do throws(Refusal) { try work(&self) } catch { refuse(id, re, error) }
  }

  mutating func refuse(_ id: ConnectionID, _ re: String?, _ refusal: Refusal) {
    replies.counts.refused[refusal.code, default: 0] += 1
    replies.add(matchLines.refusal(refusal, refusal.m.flatMap { matches[$0] }, to: id, re: re))
  }

  /// Sends lines about a match, if it is in memory.
  mutating func tell(_ m: MatchID, _ lines: (MatchLines, LiveMatch) -> [LobbyEffect]) {
    if let match = matches[m] { replies.add(lines(matchLines, match)) }
  }

  var matchLines: MatchLines { MatchLines(sessions: sessions, connections: connections, now: now.monotonic) }

  mutating func sendState(of match: LiveMatch, to id: ConnectionID, re: String?, kind: LineKind) {
    replies.add(matchLines.state(of: match, to: id, re: re, kind: kind))
  }

  mutating func note(_ text: String, _ fields: [String: String] = [:]) { replies.add(.note(text, fields)) }

  /// Whether commands are refused because too many units are in flight, or the oldest has waited for longer than `maxWait`.
  package var isBusy: Bool { isBusy(at: now.monotonic) }
  /// `time`: monotonic ms, perhaps later than the last input.
  package func isBusy(at time: Int64) -> Bool { store.capacity(configuration, time) == 0 }

  // MARK: sessions and accounts

  func session(of id: ConnectionID) -> Session? { connections[id]?.session.flatMap { sessions[$0] } }

  func account(of id: ConnectionID) -> AccountRecord? { session(of: id).flatMap { accounts[$0.account] } }

  /// The live matches and open rooms of an account in memory.
  func live(of account: Int64) -> [MatchID] { matches.of(account).filter { matches[$0]?.isOver == false } }

  /// The most live matches and open rooms of an account at one node.
  static let matchesPerAccount = 64

  func isFull(_ account: Int64) -> Bool {
    let most = Lobby.matchesPerAccount
    return matches.of(account).count >= most && live(of: account).count >= most
  }

  /// Throws if an account may not have one more match.
  func requireFreeMatch(for account: Int64) throws(Refusal) { if isFull(account) { throw .tooManyMatches } }

  mutating func evictAccount(_ id: Int64) {
    if sessions.of(id).isEmpty, matches.of(id).isEmpty { accounts.evict(id) }
  }

  /// The inconsistencies of the state in memory, for tests. O(size of the state).
  package func checkInvariants() -> [String] {
    var faults = sessions.faults + matches.faults + store.faults + connections.faults
    for session in sessions.all {
      if connections[session.connection]?.session != session.id { faults.append("\(session.id) has no connection") }
      if accounts[session.account] == nil { faults.append("\(session.id) has no account") }
    }
    for account in accounts.all.keys where sessions.of(account).isEmpty && matches.of(account).isEmpty {
      faults.append("account \(account) is in memory for nobody")
    }
    for (id, open) in seeks.open where connections[id]?.session != open.ticket.session {
      faults.append("ticket \(open.ticket.id) is sought by nobody")
    }
    for match in matches.values {
      if let number = match.work.unit, store[unit: number] == nil {
        faults.append("\(match.id) waits for unit \(number)")
      }
      if match.isSettled, !match.work.waiting.isEmpty, !match.work.isBehind {
        faults.append("\(match.id) keeps who waits")
      }
    }
    return faults
  }
}
