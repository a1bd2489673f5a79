import MatchProtocol
import MatchStore

/// This node's view of the nodes that share the store: heartbeats, the store's clock, leadership, and when to compare memory with the
/// store. Times are monotonic milliseconds.
struct Membership: Sendable {
  let node: NodeID
  /// The time of the current input; its wall clock is corrected to the store's clock.
  private(set) var now: Moment
  private let heartbeatInterval: Int64
  /// The living nodes, from the last heartbeat, the oldest first.
  private(set) var living: [NodeRecord] = []
  /// When the last answered heartbeat was sent, in monotonic ms.
  private var heartbeatAt = Int64.min / 2
  /// Milliseconds by which the store's clock is ahead of this node's wall clock.
  private(set) var clockAhead: Int64 = 0
  /// The store's clock minus the monotonic clock, in ms, at the last heartbeat.
  private(set) var clockOffset: Int64?
  /// Monotonic ms before which an old heartbeat does not prove a node's death, because the store had an outage or its clock jumped.
  private var trustsHeartbeatsFrom: Int64 = 0
  /// When this node last knew of another living node, in monotonic ms.
  private var companyAt = Int64.min / 2
  /// Whether the store has answered and this node, if it is the leader, has adopted the matches that no living node follows.
  private(set) var hasStarted = false
  private var awaitsHeartbeat = false
  /// The search for matches that no living node follows; `at`: when it last began, in monotonic ms.
  private var adopting = (isInProgress: false, at: Int64.min / 2)
  /// Until when the store may still execute a request that it has not answered, in monotonic ms.
  private var isUncertainUntil = Int64.min / 2
  /// Every third comparison also looks for matches that list this node but are not in its memory.
  private var comparisons = 0
  /// Whether the next comparison must also look for matches of this node that are not in memory: a lost answer may have named one.
  private var mustCompare = false

  init(_ node: NodeID, _ configuration: LobbyConfiguration, _ now: Moment) {
    (self.node, heartbeatInterval, self.now) = (node, configuration.heartbeatInterval, now)
  }

  mutating func advance(to local: Moment) { now = Moment(monotonic: local.monotonic, wall: local.wall + clockAhead) }

  /// The store's clock minus the monotonic clock, in ms; before the first heartbeat by this node's wall clock.
  var ahead: Int64 { clockOffset ?? now.wall - now.monotonic }

  var others: [NodeRecord] { living.filter { $0.id != node } }
  /// Whether no other node is alive.
  var isAlone: Bool { !living.contains { $0.id != node } }
  var otherAddresses: [String] { others.map(\.address).filter { !$0.isEmpty } }
  /// The oldest living node: it pairs tickets and adopts matches that no living node follows.
  var leader: NodeID? { living.first?.id }
  var isLeader: Bool { leader == node }

  func isAlive(_ node: NodeID) -> Bool { living.contains { $0.id == node } }

  /// Whether a player may be connected to another node that follows the match; that node then decides about the player's presence.
  func mayPlayElsewhere(_ account: Int64?, _ found: FollowedMatch) -> Bool {
    let places = account.flatMap { found.here[$0] } ?? []
    return others.contains { places.contains($0.id) && found.nodes.contains($0.id) }
  }

  /// Whether the last answered heartbeat is so old that no player may lose on time: since then, perhaps no move could be stored.
  var isOutOfTouch: Bool { hasStarted && now.monotonic - heartbeatAt > Heartbeat.lives }

  /// Whether the other nodes consider this node dead.
  var isGivenUp: Bool { isOutOfTouch && hasCompany(at: heartbeatAt) }

  /// Whether a node may be considered dead because its last heartbeat is old.
  var trustsHeartbeats: Bool { now.monotonic >= trustsHeartbeatsFrom }

  /// Whether this node knew of another living node within the 10 s before `time`: that node may have changed the store.
  private func hasCompany(at time: Int64) -> Bool { time - companyAt < 10_000 }

  // MARK: heartbeats

  /// Begins a heartbeat; `false` while the last heartbeat is unanswered.
  mutating func beginHeartbeat() -> Bool {
    defer { awaitsHeartbeat = true }
    return !awaitsHeartbeat
  }

  struct Change: Hashable {
    /// Milliseconds for which no move could be stored; `nil` if the store was not out of reach.
    var outage: Int64?
    var hasNewAddress = false
    var hasLostNode = false
    var becameLeader = false
    var mustAdopt = false
  }

  /// Ends a heartbeat; `nil` if the store did not answer.
  mutating func endHeartbeat(_ heartbeat: Heartbeat?, sentAt: Int64) -> Change? {
    awaitsHeartbeat = false
    guard let heartbeat else { return nil }
    let (wasLeader, known) = (isLeader, otherAddresses)
    var change = Change()
    change.hasLostNode = living.contains { old in !heartbeat.nodes.contains { $0.id == old.id } }
    let roundTrip = now.monotonic - sentAt
    // Except at the start, ignore the store's time in a slow answer: it may be wrong by half of the round trip.
    if roundTrip <= 500 || clockOffset == nil {
      setClock(to: heartbeat.now + roundTrip / 2, within: 50 + roundTrip / 2)
    }
    if isOutOfTouch {
      // During the outage other living nodes could not send heartbeats either, so an old heartbeat does not prove a death.
      change.outage = sentAt - heartbeatAt
      distrustHeartbeats()
      if hasCompany(at: heartbeatAt) { companyAt = now.monotonic }
    }
    (living, heartbeatAt) = (heartbeat.nodes, sentAt)
    change.hasNewAddress = !otherAddresses.allSatisfy(known.contains)
    if !others.isEmpty { companyAt = now.monotonic }
    guard isLeader else {
      hasStarted = true
      return change
    }
    change.becameLeader = !wasLeader
    change.mustAdopt =
      trustsHeartbeats && (change.hasLostNode || !wasLeader || now.monotonic - adopting.at >= 5000)
    return change
  }

  private mutating func distrustHeartbeats() {
    trustsHeartbeatsFrom = now.monotonic + Heartbeat.lives + heartbeatInterval
  }

  /// Corrects `clockAhead` to the store's clock, if the wall clock is wrong by more than the measuring error.
  private mutating func setClock(to time: Int64, within error: Int64) {
    let offset = time - now.monotonic
    if let before = clockOffset, abs(offset - before) > 1000 { distrustHeartbeats() }
    clockOffset = offset
    let ahead = time - (now.wall - clockAhead)
    if abs(ahead - clockAhead) > error { clockAhead = abs(ahead) <= error ? 0 : ahead }
  }

  // MARK: adopting

  /// Begins to adopt matches that no living node follows; `false` while an earlier attempt is in progress.
  mutating func beginAdopting() -> Bool {
    guard !adopting.isInProgress else { return false }
    adopting = (true, now.monotonic)
    return true
  }

  /// `isDone`: the store answered and has no more matches without a living node.
  mutating func endAdopting(isDone: Bool) {
    adopting.isInProgress = false
    if isDone { hasStarted = true }
  }

  // MARK: comparing

  /// Demands a comparison that also looks for matches of this node that are not in memory.
  mutating func requireComparison() { mustCompare = true }

  /// Notes a lost answer: for this many milliseconds the store may still execute the request.
  mutating func beUncertain(for milliseconds: Int64) { isUncertainUntil = now.monotonic + milliseconds }

  var mayDiffer: Bool { hasCompany(at: now.monotonic) || mustCompare || now.monotonic < isUncertainUntil }

  /// Returns whether the comparison also looks for matches that are not in memory.
  mutating func beginComparing() -> Bool {
    comparisons += 1
    defer { mustCompare = false }
    return mustCompare || comparisons % 3 == 0
  }
}
