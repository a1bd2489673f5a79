import Base
import MatchProtocol
import MatchStore

/// All state and decisions of one node, as a value: `reduce` takes an input and returns the effects to execute. Nothing here blocks, waits
/// or reads a clock. Each part of the state is a value that decides alone; the lobby passes inputs to the values and carries out what
/// follows.
///
/// Only after the store has applied a unit are its events added to memory and sent. So no client sees an event that a power cut could undo,
/// and a refused unit leaves nothing to roll back. A match handles one unit at a time, and a connection one request.
package struct Lobby: Sendable {
  package let configuration: LobbyConfiguration
  var random: Entropy
  private var stage = Stage.serving

  var people = SessionTable()
  var matches = MatchDirectory()
  var units = UnitPipeline()
  var questions = StoreQuestions()
  var membership: Membership
  var seeks = SeekDesk()
  var matchmaker = Matchmaker()
  var tournaments = TournamentDesk()
  var pages = SharedPages()
  var timers = TimerQueue<LobbyTimer>()
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
      people.connections.setRoundTrip(roundTrip, of: id)
      enqueue(.line(line, at: at), for: id)
    case .disconnected(let id, let clean): disconnected(id, clean: clean)
    case .caughtUp(let id, let missed): for m in missed { enqueue(.caughtUp(m), for: id) }
    case .verdict(let number, let verdict):
      if case .unknown = verdict { membership.beUncertain(for: configuration.uncertainty) }
      carryOut(unit: units.judge(number, verdict), number)
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
  package var isSettled: Bool { units.isSettled && people.connections.isSettled }

  var now: Moment { membership.now }
  var isDraining: Bool { stage == .draining }

  package var counts: LobbyCounts {
    var counts = replies.counts
    (counts.events, counts.abandoned) = (matches.eventCount, matches.abandonedCount)
    return counts
  }

  /// Whether the store answers heartbeats and this node, if it is the leader, has adopted the matches that no living node follows.
  package var isReady: Bool { membership.hasStarted && !membership.isOutOfTouch }

  package var node: NodeID { membership.node }
  /// The living nodes except this one, as of the last heartbeat.
  package var otherNodes: [NodeRecord] { membership.others }

  /// Whether commands are refused because too many units are in flight, or the oldest has waited for longer than `maxWait`.
  package var isBusy: Bool { isBusy(at: now.monotonic) }
  /// `time`: monotonic ms, perhaps later than the last input.
  package func isBusy(at time: Int64) -> Bool { units.capacity(configuration, time) == 0 }

  private mutating func fire(_ timer: LobbyTimer) {
    switch timer {
    case .match(let m, let due): withMatches { $0.check(m, due: due, $1) }
    case .tournaments:
      refreshTournaments()
      timers.set(.tournaments, at: now.monotonic + 1000)
    case .pairing:
      if membership.isLeader { if matchmaker.mustRead { askForQueue() } else { pairAll() } }
      timers.set(.pairing, at: now.monotonic + matchmaker.pairingInterval)
    case .queue: readQueueNow()
    case .housekeeping: if membership.isLeader { clean() } else { cleanLater(60_000) }
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
    case .reread(let m): withMatches { directory, _ in directory.reread(m) }
    case .load(let m): ask(loading: m)
    case .readOutcome(of: let number): if let unit = units[number] { readOutcome(of: number, unit.draft.decisiveLog.m) }
    case .overdue(let number): refuseOverdue(number)
    case .retryUntilDone(let question, let tries): retryUntilDone(question, tries: tries)
    }
  }

  /// Deletes the expired rows in slices, 100 ms apart, so that moves and logins are served in between.
  private mutating func clean() {
    let (guests, keys) = (configuration.maxGuests, configuration.keyLives)
    ask(.clean(guests: guests, keys: keys, lives: configuration.lives)) { lobby, answer in
      lobby.cleanLater(answer == .cleaned(isMore: true) ? 100 : 60_000)
    }
  }

  private mutating func cleanLater(_ pause: Int64) { timers.set(.housekeeping, at: now.monotonic + pause) }

  private mutating func drain(_ retry: Int) {
    stage = .draining
    for id in people.connections.ids { send(.drain(retry: retry), to: id) }
    for id in seeks.seekers { carryOut(seeks: seeks.end(id)) }
  }

  // MARK: answers

  mutating func send(_ message: ServerMessage, to id: ConnectionID, re: String? = nil) {
    replies.add(.line(message, to: id, re: re))
  }

  /// Carries out a request of a connection, or answers it with its refusal.
  mutating func attempt(_ id: ConnectionID, _ re: String?, _ work: (inout Lobby) throws(Refusal) -> Void) {
    do throws(Refusal) { try work(&self) } catch { refuse(id, re, error) }
  }

  mutating func refuse(_ id: ConnectionID, _ re: String?, _ refusal: Refusal) {
    replies.counts.refused[refusal.code, default: 0] += 1
    let shown = refusal.m.flatMap { matches[$0] }
    replies.add(.send(id, refusal.line(shown, to: people.session(of: id), re: re, at: now.monotonic), .essential))
  }

  mutating func note(_ text: String, _ fields: [String: String]) { replies.add(.note(text, fields)) }

  /// The inconsistencies of the state in memory, for tests. O(size of the state).
  package func checkInvariants() -> [String] {
    var faults = people.faults + matches.faults + units.faults
    faults += seeks.faults { people.connections[$0]?.session }
    for account in people.accounts.all.keys where people.sessions.of(account).isEmpty && matches.of(account).isEmpty {
      faults.append("account \(account) is in memory for nobody")
    }
    for match in matches.values {
      if match.work.hasUnit, !units.changes(match.id) { faults.append("\(match.id) waits for no unit") }
      for session in match.players where people.sessions[session.id]?.connection != session.connection {
        faults.append("\(match.id) is played by \(session.id), which has ended")
      }
    }
    return faults
  }
}
