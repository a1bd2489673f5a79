import Base
import MatchProtocol

@testable import Lobby
@testable import MatchStore

extension Simulation {
  func isStopped(_ i: Int) -> Bool { now < nodes[i].stoppedUntil }

  /// Records that node `i` has trouble now, such as a crash or no store: its last good period has ended.
  mutating func trouble(_ i: Int) {
    guard nodes[i].wellSince != .max else { return }
    (nodes[i].wasWellSince, nodes[i].wellSince) = (nodes[i].wellSince, .max)
  }

  mutating func startServer(_ i: Int) {
    nodes[i].life += 1
    nodes[i].name = "n\(i)l\(nodes[i].life)"
    (nodes[i].waiting, nodes[i].isCommitting, nodes[i].isListening) = ([], false, true)
    (nodes[i].tickAt, nodes[i].startedAt, nodes[i].wasWellSince) = (nil, now, .max)
    nodes[i].monotonicAhead = Int64(random.below(1_000_000))
    nodes[i].wallAhead = Int64(random.below(400)) - 200
    let random = Entropy(seed: self.random.next())
    var configuration = options.lobby
    configuration.address = "n\(i):1"
    nodes[i].lobby = Lobby(configuration, node: nodes[i].name, random: random, now: moment(i))
    count("start")
    reduce(i, .tick)
  }

  private mutating func down(_ i: Int) {
    (nodes[i].waiting, nodes[i].isCommitting) = ([], false)
    nodes[i].lobby = nil
    nodes[i].life += 1
    (nodes[i].stoppedUntil, nodes[i].backlog) = (0, [])
    nodes[i].stopsAtCommit = false
    trouble(i)
    for c in clients.indices {
      guard let id = clients[c].connection, homes[id] == i else { continue }
      queue.set(.hangUp(c, id), at: now + Int64(random.below(50)))
    }
    alive = alive.filter { homes[$0] != i }
    seated = seated.filter { homes[$0] != i }
    queue.set(.restart(i, life: nodes[i].life), at: now + 50 + Int64(random.below(4000)))
  }

  private mutating func crash(_ i: Int) {
    guard nodes[i].lobby != nil else { return }
    count("crash")
    down(i)
  }

  /// Stops a node for 0.5 to 9.5 s. After 3 s without a heartbeat the other nodes consider the node dead.
  mutating func stopForLong(_ i: Int) {
    count("stop")
    nodes[i].stopsAtCommit = false
    stop(i, for: 500 + Int64(random.below(9000)))
  }

  mutating func stop(_ i: Int, for milliseconds: Int64) {
    nodes[i].stoppedUntil = now + milliseconds
    trouble(i)
    queue.set(.resume(i), at: nodes[i].stoppedUntil)
  }

  mutating func fault() {
    guard !isCalm else { return }
    let i = random.below(nodes.count)
    switch random.below(9) {
    case 0, 1: crash(i)
    case 2: if nodes[i].lobby != nil, !isStopped(i) { nodes[i].stopsAtCommit = true }
    case 3: return cutOff(i)
    case 4:
      count("store down")
      isStoreDown = true
    case 5: breakSubscription(i)
    case 6: setClock()
    case 7: if options.bans { ban(at: i) }
    default: drain(i)
    }
    for i in nodes.indices where cannotReachStore(i) { trouble(i) }
    healSometime()
  }

  /// Schedules the end of all faults: always with `absences`, as the next fault may be hours away, otherwise in three of four cases.
  private mutating func healSometime() {
    if options.absences || random.below(4) > 0 { queue.set(.heal, at: now + Int64(random.below(6000))) }
  }

  mutating func cutOff(_ i: Int) {
    guard !isCalm else { return }
    count("cut from the store")
    nodes[i].isCutFromStore = true
    trouble(i)
    healSometime()
  }

  mutating func heal() {
    if isStoreDown, random.below(2) == 0 {
      queue.set(.relapse(random.below(nodes.count)), at: now + Int64(random.below(1500)))
    }
    isStoreDown = false
    for i in nodes.indices {
      nodes[i].isCutFromStore = false
      guard isCalm else { continue }
      nodes[i].stopsAtCommit = false
      if isStopped(i) {
        nodes[i].stoppedUntil = now
        queue.set(.resume(i), at: now)
      }
    }
  }

  private mutating func setClock() {
    count("clock set")
    let most = random.below(2) == 0 ? 20_000 : 7_200_000
    wallOffset += Int64(random.below(most)) - Int64(most / 2)
    store.clock.wall = wallOffset + now
    for i in nodes.indices { trouble(i) }
  }

  // MARK: leaving

  /// Shuts a node down properly: all decisions are stored before the node leaves.
  private mutating func drain(_ i: Int) {
    guard nodes[i].lobby != nil, !isStopped(i) else { return }
    count("drain")
    reduce(i, .drain(retry: 100))
    depart(i, now + 3000)
  }

  mutating func depart(_ i: Int, _ until: Int64) {
    guard let lobby = nodes[i].lobby else { return }
    guard lobby.isSettled && nodes[i].waiting.isEmpty && !nodes[i].isCommitting || now >= until else {
      return queue.set(.depart(i, until: until, life: nodes[i].life), at: now + 20)
    }
    reduce(i, .leave)
    if !cannotReachStore(i) { _ = store.answer(.leave(nodes[i].name)) }
    down(i)
  }

  // MARK: orders

  private mutating func ban(at i: Int) {
    let names = clients.indices.compactMap { c in clients[c].model.welcome.map { (c, $0.you.name) } }
    guard watch.bans.isEmpty, nodes[i].lobby != nil, !isStopped(i), !names.isEmpty else { return }
    let (client, name) = names[random.below(names.count)]
    watch.bans.append(.init(client: client, number: UInt64(watch.bans.count + 1), node: i, life: nodes[i].life))
    reduce(i, .administer(UInt64(watch.bans.count), .player(name, .ban)))
  }

  mutating func orderCompleted(_ number: UInt64, _ done: Bool?) {
    count(done == true ? "ban" : "no ban")
    for n in watch.bans.indices where watch.bans[n].number == number && done == true { watch.bans[n].since = now }
  }
}
