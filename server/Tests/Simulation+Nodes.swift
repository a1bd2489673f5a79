import Base
import MatchClient
import MatchProtocol
import TicTacToe

@testable import Lobby
@testable import MatchStore

/// The time of the simulated database.
final class SimulatedClock: @unchecked Sendable {  // one simulation, one thread
  var wall: Int64 = 0
}

/// The links between simulated nodes.
struct SimulatedLinks {
  /// When the next frame of a direction may arrive: they keep their order.
  var forthAt: [Simulation.Link: Int64] = [:]
  var backAt: [Simulation.Link: Int64] = [:]
  /// The connection an attached one stands for, and the other way round.
  var far: [ConnectionID: (link: Simulation.Link, id: ConnectionID)] = [:]
  var near: [Simulation.Link: [ConnectionID: ConnectionID]] = [:]
  var open: Set<Simulation.Link> = []
  /// How many there have been between two incarnations.
  var count: [Simulation.Link: Int] = [:]
  /// Those that are no more without the one that opened them having noticed.
  var unnoticed: Set<Simulation.Link> = []
  /// The incarnation each leads to.
  var epochs: [Simulation.Link: Int64] = [:]
}

/// Servers that start, crash, stop and lose sight of one another.
extension Simulation {
  func isStopped(_ i: Int) -> Bool { now < nodes[i].stoppedUntil }

  mutating func startServer(_ i: Int) {
    nodes[i].life += 1
    (nodes[i].waiting, nodes[i].isCommitting) = ([], false)
    let random = Entropy.seeded(SplitMix64(seed: self.random.next()))
    if options.nodes == 0 {
      let recovery = (try? store.recover()) ?? Recovery()
      nodes[i].lobby = Lobby(.init(), recovery: recovery, random: random, now: moment)
      nodes[i].lobby?.isUngated = options.ungated
      return reduce(i, .tick)
    }
    let again = now + 200 + Int64(self.random.below(300))
    guard !nodes[i].isCutFromStore else { return queue.set(.restart(i, life: nodes[i].life), at: again) }
    let configuration = LobbyConfiguration()
    let node = NodeDescription(name: "n\(i)", address: "n\(i):1", peer: "n\(i):2")
    // A new process may be another program: newer ones come, and older ones come back as long as they may.
    if nodes[i].view == nil { nodes[i].reads = 1 + min(2, self.random.below(5)) }
    let view = nodes[i].view ?? shared.view(reads: nodes[i].reads)
    // A process that starts over knows its own incarnation; a new one has to wait until the lease of the old one is over.
    let replacing = nodes[i].view == nil ? nil : nodes[i].epoch
    do throws(StoreError) {
      nodes[i].epoch = try view.join(node, lease: configuration.lease, replacing: replacing)
    } catch {
      if case .tooNew = error {
        count("too old")
        nodes[i].view = nil
      }
      return queue.set(.restart(i, life: nodes[i].life), at: again)
    }
    nodes[i].view = view
    nodes[i].lobby = Lobby(configuration, epoch: nodes[i].epoch, joined: now, random: random, now: moment)
    nodes[i].wellSince = now
    count("join")
    reduce(i, .tick)
  }

  /// Ends what a server holds; its clients notice soon.
  private mutating func down(_ i: Int) {
    nodes[i].waiting = []
    nodes[i].isCommitting = false
    nodes[i].lobby = nil
    nodes[i].life += 1
    nodes[i].wellSince = .max
    for c in clients.indices {
      guard let id = clients[c].connection, homes[id] == i else { continue }
      alive.remove(id)
      queue.set(.hangUp(c, id), at: now + Int64(random.below(50)))
    }
    alive = alive.filter { homes[$0] != i }
    cutLinks(of: i)
  }

  private mutating func cutLinks(of i: Int) {
    for link in links.open.sorted(by: {
      ($0.from, $0.fromLife, $0.to, $0.toLife, $0.number) < ($1.from, $1.fromLife, $1.to, $1.toLife, $1.number)
    })
    where link.from == i || link.to == i { cut(link) }
  }

  mutating func crash(_ i: Int) {
    guard nodes[i].lobby != nil, !isCalm else { return }
    count("crash")
    // Of what was on its way to the store a prefix has arrived, unknown to anybody.
    let arrived = random.below(nodes[i].waiting.count + 1)
    if arrived > 0 { try? (nodes[i].view ?? store).commit(Array(nodes[i].waiting[..<arrived])) }
    down(i)
    nodes[i].view = nil
    (nodes[i].stoppedUntil, nodes[i].backlog) = (0, [])
    // The wall clock may be set while the server is down.
    if options.nodes == 0, random.below(4) == 0 { wallOffset += Int64(random.below(7_200_000)) - 3_600_000 }
    queue.set(.restart(i, life: nodes[i].life), at: now + 50 + Int64(random.below(4000)))
  }

  /// Stops a process for a while that is shorter or longer than a lease.
  mutating func stopForLong(_ i: Int) {
    count("stop")
    nodes[i].stopsAtCommit = false
    stop(i, for: 500 + Int64(random.below(9000)))
  }

  mutating func stop(_ i: Int, for milliseconds: Int64) {
    nodes[i].stoppedUntil = now + milliseconds
    nodes[i].wellSince = .max
    queue.set(.goOn(i), at: nodes[i].stoppedUntil)
  }

  /// What the host does when the lobby must not be believed any more.
  mutating func startOver(_ i: Int) {
    guard nodes[i].lobby != nil else { return }
    count("start over")
    down(i)
    queue.set(.restart(i, life: nodes[i].life), at: now + 100)
  }

  /// One of the things that go wrong.
  mutating func fault() {
    guard !isCalm else { return }
    let i = random.below(nodes.count)
    guard options.nodes > 0 else { return crash(i) }
    switch random.below(6) {
    case 0, 1: crash(i)
    case 2:
      guard nodes[i].lobby != nil, !isStopped(i) else { return }
      // The worst moment: with a commit on its way, which goes on when the process does.
      nodes[i].stopsAtCommit = true
    case 3:
      count("cut from the store")
      nodes[i].isCutFromStore = true
      nodes[i].wellSince = .max
    case 4:
      count("cut from the nodes")
      nodes[i].isCutFromNodes = true
      cutLinks(of: i)
    default: drain(i)
    }
    // Some faults end by themselves, the others with the next one.
    if random.below(2) == 0 { heal() }
  }

  mutating func heal() {
    for i in nodes.indices {
      nodes[i].isCutFromStore = false
      nodes[i].isCutFromNodes = false
      if isCalm { nodes[i].stopsAtCommit = false }
      if isCalm, isStopped(i) {
        nodes[i].stoppedUntil = now
        queue.set(.goOn(i), at: now)
      }
    }
  }

  /// Stops in order: everything decided is stored, the lease given back.
  private mutating func drain(_ i: Int) {
    guard nodes[i].lobby != nil, !isStopped(i), !nodes[i].isCutFromStore else { return }
    count("drain")
    reduce(i, .drain(retry: 100))
    while !nodes[i].waiting.isEmpty, nodes[i].lobby != nil { settle(i) }
    guard nodes[i].lobby != nil else { return }
    try? nodes[i].view?.leave()
    reduce(i, .cluster(.left))
    down(i)
    nodes[i].view = nil
    queue.set(.restart(i, life: nodes[i].life), at: now + 1000 + Int64(random.below(4000)))
  }

  /// Nothing may be in force that a node cannot read that may own a match.
  mutating func checkLanguage() {
    let unread = try? shared.transact { state in
      state.nodes.values.filter { $0.leaseUntil > state.now && $0.reads < state.language }.map(\.record.node.name)
    }
    for name in unread ?? [] { checker.faults.append("\(name) cannot read what is in force") }
    if let language = try? shared.transact({ $0.language }), language > 1 { tally["raised"] = 1 }
  }

  /// A match may be nobody's for as long as a lease and a look take, and no longer while a node is well.
  mutating func checkOrphans() {
    for i in nodes.indices where nodes[i].wellSince == .max {
      if nodes[i].lobby != nil, !isStopped(i), !nodes[i].isCutFromStore { nodes[i].wellSince = now }
    }
    let live = try? shared.transact { state in
      state.epochs.filter { state.isLive($0.key) }.map { (m: $0.key, owner: state.isGood($0.value) ? $0.value : nil) }
    }
    var still: [MatchID: (since: Int64, holder: Int?)] = [:]
    for (m, owner) in (live ?? []).sorted(by: { $0.m < $1.m }) {
      let holder = owner.flatMap { epoch in nodes.firstIndex { $0.epoch == epoch } }
      // Whose lease is good has it in memory, unless he is down or about to hear that it is his.
      if let holder, nodes[holder].lobby == nil || nodes[holder].lobby?.matches[m] != nil { continue }
      if owner != nil, holder == nil { continue }
      // Whoever has taken it and stands still is waited for until his lease is over; only then can others look.
      let known = orphans[m].flatMap { $0.holder != nil && holder == nil ? nil : $0.since }
      let since = known ?? now
      still[m] = (since, holder)
      // The lease was over before this was noticed; a look is due every 625 ms at the latest, and takes its time.
      let well = holder.map { [nodes[$0]] } ?? nodes
      if now - since > 1500, well.contains(where: { $0.wellSince < since - 1500 }) {
        checker.faults.append("match \(m) has been in nobody's memory for \(now - since) ms")
      }
    }
    for (m, orphan) in orphans where still[m] == nil {
      count("moved")
      tally["longest move"] = max(tally["longest move"] ?? 0, Int(now - orphan.since))
    }
    orphans = still
  }

  /// Whoever waits is known to the queue, and nobody else is, but for as long as word of it takes.
  mutating func checkQueue() {
    let lobbies = nodes.compactMap(\.lobby)
    let isTroubled = nodes.indices.contains {
      nodes[$0].lobby == nil || isStopped($0) || nodes[$0].isCutFromStore || nodes[$0].isCutFromNodes
    }
    if isTroubled { troubleAt = now }
    let waiting = Set(lobbies.flatMap { $0.seeks.values.map(\.ticket.id) })
    let queues = lobbies.filter(\.hasQueue)
    let tickets = Set(queues.flatMap { $0.tickets.oldestFirst.map(\.id) })
    let known = tickets.union(queues.flatMap(\.delegated.keys))
    var still: [String: Int64] = [:]
    for id in waiting.subtracting(known).union(tickets.subtracting(waiting)).sorted() {
      let since = astray[id] ?? now
      still[id] = since
      // A broken link is noticed within two seconds, a lease is over after three, and a slow frame or answer comes in one.
      if now - max(since, troubleAt) > 8000 {
        checker.faults.append(
          "ticket \(id) waits \(waiting.contains(id) ? "where no queue knows it" : "and nobody with it")")
      }
    }
    astray = still
  }

  // MARK: the store

  mutating func ask(_ i: Int, _ number: UInt64, _ question: ClusterQuestion, _ life: Int) {
    guard life == nodes[i].life, let view = nodes[i].view else { return }
    var answer: ClusterAnswer?
    var isKnown = true
    if !nodes[i].isCutFromStore, !isInterrupted {
      if case .takeOver(let limit) = question, let taken = try? view.take(limit: limit) {
        return queue.set(.read(i, number, taken, life: life), at: now + Int64(random.below(5)))
      }
      do throws(StoreError) { answer = try view.answer(question) } catch { isKnown = false }
    } else {
      if random.below(2) == 0 { _ = try? view.answer(question) }
      isKnown = false
    }
    if !isKnown, question.mustBeKnown, options.knowsWhatItTook { return startOver(i) }
    answered(i, number, answer, life)
  }

  private mutating func answered(_ i: Int, _ number: UInt64, _ answer: ClusterAnswer?, _ life: Int) {
    queue.set(
      .answer(i, number, answer, life: life), at: now + 1 + Int64(random.below(random.below(30) == 0 ? 400 : 5)))
  }

  /// Reads what was taken, some time later, which may not succeed.
  mutating func read(_ i: Int, _ number: UInt64, _ taken: [MatchID], _ life: Int) {
    guard life == nodes[i].life, let view = nodes[i].view else { return }
    let isLost = nodes[i].isCutFromStore || !isCalm && options.crashes && random.below(20) == 0
    if isLost, !taken.isEmpty {
      count("taken and not read")
      if options.knowsWhatItTook { return startOver(i) }
    }
    answered(i, number, isLost ? nil : (try? view.read(taken)).map { .adoptions($0) }, life)
  }

  /// An append as two statements: the first grows the rows, if they are this node's and as long as expected.
  mutating func lengthen(_ i: Int, _ batch: [StoreTransaction]) {
    let epoch = nodes[i].epoch
    do throws(StoreError) {
      try shared.transact { (state) throws(StoreError) in try state.lengthen(batch, epoch) }
    } catch {
      return startOver(i)
    }
    if random.below(40) == 0, !isCalm { stopForLong(i) }
    queue.set(.insert(i, batch, since: now, life: nodes[i].life), at: now + 1)
  }

  /// The second puts the events in, whatever has become of the session in which the first was done.
  mutating func insert(_ i: Int, _ batch: [StoreTransaction], since: Int64, _ life: Int) {
    guard life == nodes[i].life, let last = batch.last else { return }
    let hasEnded = now - since > 2000
    try? shared.transact { state in state.insert(batch, undoing: hasEnded) }
    reduce(i, .durable(last.number))
  }

  // MARK: between nodes

  mutating func carryOut(_ effect: ClusterEffect, at i: Int) {
    let life = nodes[i].life
    switch effect {
    case .ask(let number, let question):
      queue.set(.ask(i, number, question, life: life), at: now + Int64(random.below(5)))
    case .attach(let epoch, let id, let attachment): tell(epoch, .attach(id, attachment), from: i)
    case .relay(let epoch, let id, let work, let m, let roundTrip):
      tell(epoch, .work(id, work.aged(at: now), m, roundTrip: roundTrip), from: i)
    case .detach(let epoch, let id, let clean): tell(epoch, .detach(id, clean: clean), from: i)
    case .hint(let epoch): tell(epoch, .hint, from: i)
    case .evict(let epoch, let session, let generation):
      tell(epoch, .evict(session: session, generation: generation), from: i)
    case .refresh(let account):
      for j in nodes.indices where j != i { tell(nodes[j].epoch, .refresh(account: account), from: i) }
    case .notHere(let id, let work, let m, let home):
      guard let far = links.far[id] else { return }
      frame(.notHere(far.id, work.aged(at: now), m, at: home), over: far.link, forth: false)
    case .here(let id, let m, let ticket):
      if let far = links.far[id] { frame(.here(far.id, m, ticket: ticket), over: far.link, forth: false) }
    case .played(let id, let account):
      if let far = links.far[id] { frame(.played(far.id, account), over: far.link, forth: false) }
    case .startOver: startOver(i)
    }
  }

  /// Lines to a connection that another node holds go there.
  mutating func send(_ line: [UInt8], _ kind: LineKind, to id: ConnectionID, from i: Int) {
    guard let far = links.far[id] else { return sendToClient(id, line, kind) }
    frame(.send(far.id, kind, line), over: far.link, forth: false)
  }

  mutating func close(_ id: ConnectionID, _ code: ByeCode, _ text: String, _ retry: Int?, from i: Int) -> Bool {
    guard let far = links.far[id] else { return false }
    frame(.end(far.id, code, text, retry: retry), over: far.link, forth: false)
    return true
  }

  private mutating func tell(_ epoch: Int64, _ message: NodeFrame, from i: Int) {
    count("frame")
    // A node is called once at a time: what is said while that fails is lost with it.
    if links.unnoticed.contains(call(to: epoch, from: i)) { return }
    guard nodes[i].lobby?.otherNodes.contains(where: { $0.epoch == epoch }) == true,
      let j = nodes.firstIndex(where: { $0.epoch == epoch && $0.lobby != nil }), j != i
    else { return unreachable(epoch, from: i) }
    let all = Link(from: i, fromLife: nodes[i].life, to: j, toLife: nodes[j].life)
    var link = all
    link.number = links.count[all] ?? 0
    // What is said into a link that is no more is lost.
    if links.unnoticed.contains(link) { return }
    if !links.open.contains(link) {
      guard !nodes[i].isCutFromNodes, !nodes[j].isCutFromNodes else { return unreachable(epoch, from: i) }
      link.number += 1
      links.count[all] = link.number
      links.open.insert(link)
      links.epochs[link] = epoch
      count("link")
    }
    frame(message, over: link, forth: true)
  }

  private mutating func unreachable(_ epoch: Int64, from i: Int) {
    let link = call(to: epoch, from: i)
    links.unnoticed.insert(link)
    queue.set(.linkBreaks(link, forth: false), at: now + 1 + Int64(random.below(300)))
  }

  /// A link that cannot be opened.
  private func call(to epoch: Int64, from i: Int) -> Link {
    Link(from: i, fromLife: nodes[i].life, to: -Int(epoch), toLife: 0)
  }

  private mutating func frame(_ frame: NodeFrame, over link: Link, forth: Bool) {
    guard links.open.contains(link) else { return }
    let at = now + 1 + Int64(random.below(random.below(20) == 0 ? 700 : 20))
    let due = max(at, (forth ? links.forthAt[link] : links.backAt[link]) ?? 0)
    if forth { links.forthAt[link] = due } else { links.backAt[link] = due }
    queue.set(.frame(link, frame.bytes, forth: forth), at: due)
  }

  /// Both ends notice that a link is no more, each in its time.
  private mutating func cut(_ link: Link) {
    guard links.open.remove(link) != nil else { return }
    links.unnoticed.insert(link)
    queue.set(.linkBreaks(link, forth: true), at: now + 1 + Int64(random.below(2000)))
    queue.set(.linkBreaks(link, forth: false), at: now + 1 + Int64(random.below(2000)))
  }

  mutating func linkBreaks(_ link: Link, forth: Bool) {
    if !forth { links.unnoticed.remove(link) }
    if forth {
      for id in (links.near.removeValue(forKey: link) ?? [:]).values.sorted() {
        links.far[id] = nil
        if nodes[link.to].life == link.toLife { reduce(link.to, .disconnected(id, clean: false)) }
      }
    } else if nodes[link.from].life == link.fromLife {
      let lost = link.to < 0 ? Int64(-link.to) : links.epochs[link]
      // Silence is noticed some time after the last word.
      let heard = now - Int64(random.below(2000))
      if let lost { reduce(link.from, .cluster(.linkLost(lost, heard: heard))) }
    }
  }

  mutating func deliver(_ line: [UInt8], over link: Link, forth: Bool) {
    guard links.open.contains(link) else { return }
    let i = forth ? link.to : link.from
    guard nodes[i].life == (forth ? link.toLife : link.fromLife) else { return }
    guard let frame = try? line.dropLast().withUnsafeBytes({ raw in try NodeFrame(raw) }) else {
      checker.faults.append("a node said what cannot be read: \(String(decoding: line, as: UTF8.self))")
      return
    }
    switch frame {
    case .hello, .ping, .pong: break
    case .attach(let c, let attachment):
      let id = nextConnection
      nextConnection += 1
      links.far[id] = (link, c)
      links.near[link, default: [:]][c] = id
      count("attach")
      reduce(i, .cluster(.attached(nodes[link.from].epoch, id, attachment)))
    case .work(let c, let work, let m, let roundTrip):
      guard let id = links.near[link]?[c] else {
        checker.faults.append("a link brought work of a connection that is not attached")
        return
      }
      count("relayed")
      reduce(i, .cluster(.relayed(id, work.aged(at: now), m, roundTrip: roundTrip)))
    case .detach(let c, let clean):
      guard let id = links.near[link]?.removeValue(forKey: c) else { return }
      links.far[id] = nil
      reduce(i, .disconnected(id, clean: clean))
    case .hint: reduce(i, .cluster(.hinted))
    case .evict(let session, let generation): reduce(i, .cluster(.evicted(session: session, generation: generation)))
    case .refresh(let account): reduce(i, .cluster(.refreshed(account: account)))
    case .send(let c, let kind, let line): sendToClient(c, line, kind)
    case .end(let c, let code, let text, let retry): close(c, code, text, retry: retry)
    case .notHere(let c, let work, let m, let home):
      count("not here")
      reduce(i, .cluster(.notHere(nodes[link.to].epoch, c, work.aged(at: now), m, at: home)))
    case .here(let c, let m, let ticket): reduce(i, .cluster(.here(nodes[link.to].epoch, c, m, ticket: ticket)))
    case .played(let c, let account): reduce(i, .cluster(.played(c, account)))
    }
  }
}

extension MemoryCluster.State {
  /// What an append was when it was two statements: everything but the events.
  fileprivate mutating func lengthen(_ batch: [StoreTransaction], _ epoch: Int64) throws(StoreError) {
    var copy = self
    try copy.apply(batch, epoch: epoch, isFenced: true)
    for case .append(let m, _, let events) in batch.flatMap(\.writes) {
      copy.content.matches[m]?.events.removeLast(events.count)
    }
    self = copy
  }

  fileprivate mutating func insert(_ batch: [StoreTransaction], undoing: Bool) {
    for case .append(let m, _, let events) in batch.flatMap(\.writes) {
      content.matches[m]?.events += events
      if undoing { content.matches[m]?.length -= events.count }
    }
  }
}
