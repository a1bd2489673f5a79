import Base
import MatchProtocol
import TicTacToe

@testable import Lobby
@testable import MatchStore

/// What is not as it should be at a moment, and since when: each thing may be so for a while after the last trouble.
struct Watch {
  struct Ban {
    let client: Int
    let number: UInt64
    let node: Int
    let life: Int
    /// When it was said to hold.
    var since: Int64?
  }

  struct Follower: Hashable, Comparable {
    let i: Int
    let m: MatchID

    static func < (a: Follower, b: Follower) -> Bool { (a.i, a.m) < (b.i, b.m) }
  }

  /// Since when nothing has been wrong with any node.
  var quietSince: Int64 = .max
  var bans: [Ban] = []
  /// The length that a follower did not know of, and since when.
  var behind: [Follower: (seq: Int, since: Int64)] = [:]
  /// The same of players.
  var uninformed: [Follower: (seq: Int, since: Int64)] = [:]
  /// Live matches that no node has in memory.
  var orphans: [MatchID: Int64] = [:]
  /// Players of live matches who are nowhere and are not known to be, or are here and taken for away.
  var misplaced: [String: Int64] = [:]
  /// Since when a node has had no way to a store that works.
  var cutOff: [Int: Int64] = [:]
  /// Tickets of the queue that nobody waits with, or of somebody waiting that the queue does not have.
  var astray: [String: Int64] = [:]
  /// Since when a ticket has waited.
  var waiting: [String: Int64] = [:]
}

extension Simulation {
  /// Milliseconds in which a hint that is lost is made good: a comparison every two seconds, its answer, and what it has read.
  private static let repaired: Int64 = 3500
  /// Milliseconds in which a match of a node that is gone has a follower again: a node is believed in for three seconds, and
  /// looked for every second.
  private static let swept: Int64 = 7000
  /// Milliseconds in which a node without its store sends its players away: it waits for three seconds, and looks every second.
  private static let sentAway: Int64 = 5000

  /// Looks whether everything is as it should be.
  mutating func look() {
    for i in nodes.indices {
      let isWell = nodes[i].lobby?.isReady == true && !isStopped(i) && nodes[i].backlog.isEmpty && !cannotReachStore(i)
      if !isWell { trouble(i) } else if nodes[i].wellSince == .max { nodes[i].wellSince = now }
    }
    watch.quietSince = nodes.map(\.wellSince).max() ?? .max
    lookAtFollowers()
    lookAtOrphans()
    lookAtPresence()
    lookAtStranded()
    lookAtQueue()
    lookAtBans()
    if isCalm {
      lookAtPlayers()
      lookAtTimers()
    }
  }

  /// Milliseconds since something has been so, without any trouble of the nodes concerned; `.min` if there is trouble now.
  private func quiet(_ since: Int64, _ wellSince: Int64) -> Int64 {
    wellSince == .max ? .min : now - max(since, wellSince)
  }

  private mutating func lookAtFollowers() {
    var still: [Watch.Follower: (seq: Int, since: Int64)] = [:]
    for i in nodes.indices {
      guard let lobby = nodes[i].lobby else { continue }
      for match in lobby.matches.values {
        let m = match.id
        let (known, stored) = (match.state.seq, store.length(m))
        if known > stored {
          checker.faults.append("\(nodes[i].name) has \(known) events of match \(m), the store \(stored)")
        }
        guard known < stored, store.live.contains(m) || !match.isOver else { continue }
        let follower = Watch.Follower(i: i, m: m)
        let before = watch.behind[follower].flatMap { known < $0.seq ? $0 : nil } ?? (seq: stored, since: now)
        still[follower] = before
        if quiet(before.since, nodes[i].wellSince) > Self.repaired {
          checker.faults.append(
            "\(nodes[i].name) has known \(known) of \(stored) events of match \(m) for \(now - before.since) ms")
        }
      }
    }
    watch.behind = still
  }

  private mutating func lookAtOrphans() {
    let held = nodes.compactMap(\.lobby?.matches)
    var still: [MatchID: Int64] = [:]
    for m in store.live.sorted() where !held.contains(where: { $0[m] != nil }) {
      let since = watch.orphans[m] ?? now
      still[m] = since
      let best = nodes.map { quiet(since, $0.wellSince) }.max() ?? .min
      if best > Self.swept { checker.faults.append("match \(m) has been in nobody's memory for \(now - since) ms") }
    }
    for (m, since) in watch.orphans where still[m] == nil {
      count("swept")
      tally["longest without a follower"] = max(tally["longest without a follower"] ?? 0, Int(now - since))
    }
    watch.orphans = still
  }

  /// Of whoever plays it is known whether he is here.
  private mutating func lookAtPresence() {
    let lobbies = nodes.compactMap(\.lobby)
    var still: [String: Int64] = [:]
    for m in store.live.sorted() {
      let known = lobbies.compactMap { lobby in lobby.matches[m].map { (lobby, $0) } }
      for side in Player.allCases where store.logs[m]?.state.phase == .live {
        guard let account = known.first?.1.account(at: side) else { continue }
        let isNowhere = lobbies.allSatisfy { $0.sessions.of(account).isEmpty }
        let isHere = known.contains { !$0.connections(of: side, in: $1).isEmpty }
        let isAway = known.contains { $1.away[side] }
        guard isNowhere && !isAway || isHere && isAway else { continue }
        let what = "\(side.text) of match \(m) is \(isHere ? "here and taken for away" : "nowhere and not known to be")"
        let since = watch.misplaced[what] ?? now
        still[what] = since
        // Somebody who is connected and does not play is waited for.
        if quiet(since, watch.quietSince) > Self.swept + Self.repaired + 5000 {
          checker.faults.append("\(what) for \(now - since) ms")
        }
      }
    }
    watch.misplaced = still
  }

  /// Nobody is left at a node that has no way to the store while there is another that has.
  private mutating func lookAtStranded() {
    for i in nodes.indices {
      guard nodes[i].isCutFromStore, !isStoreDown, nodes[i].lobby != nil, !isStopped(i), nodes[i].backlog.isEmpty else {
        watch.cutOff[i] = nil
        continue
      }
      let since = watch.cutOff[i, default: now]
      watch.cutOff[i] = since
      guard now - since > Self.sentAway, let id = seated.sorted().first(where: { homes[$0] == i }) else { continue }
      // Both were well for so long before that they have heard of each other.
      let knewEachOther = nodes.indices.contains { j in
        j != i && quiet(since, nodes[j].wellSince) > Self.sentAway
          && max(nodes[i].wasWellSince, nodes[j].startedAt) < since - Self.swept
      }
      if knewEachOther {
        checker.faults.append("connection \(id) has been at \(nodes[i].name) for \(now - since) ms without a store")
      }
    }
  }

  /// Whoever waits is known to the queue, and nobody else is, but for as long as word of it takes; and two who may meet do.
  private mutating func lookAtQueue() {
    guard case .tickets(let stored)? = store.answer(.tickets) else { return }
    let seeks = nodes.compactMap(\.lobby).flatMap(\.seeks.open.values)
    let (waiting, known) = (Set(seeks.map(\.ticket.id)), Set(stored.map(\.ticket.id)))
    var still: [String: Int64] = [:]
    for id in waiting.symmetricDifference(known).sorted() {
      let since = watch.astray[id] ?? now
      still[id] = since
      if quiet(since, watch.quietSince) > 8000 {
        checker.faults.append(
          "ticket \(id) waits \(waiting.contains(id) ? "where no queue knows it" : "and nobody with it")")
      }
    }
    watch.astray = still
    watch.waiting = watch.waiting.filter { waiting.contains($0.key) && known.contains($0.key) }
    let longest = seeks.filter { known.contains($0.ticket.id) }.sorted { $0.ticket.id < $1.ticket.id }.filter { seek in
      let since = watch.waiting[seek.ticket.id] ?? now
      watch.waiting[seek.ticket.id] = since
      return quiet(since, watch.quietSince) > 30_000
    }
    for (n, one) in longest.enumerated() {
      for other in longest[(n + 1)...]
      where one.ticket.account != other.ticket.account && one.ticket.seek.terms == other.ticket.seek.terms {
        checker.faults.append("\(one.ticket.id) and \(other.ticket.id) have waited for 30 s and did not meet")
      }
    }
  }

  /// Whoever is banned is connected nowhere.
  private mutating func lookAtBans() {
    for ban in watch.bans {
      guard let since = ban.since else { continue }
      for id in seated.sorted() where owner[id] == ban.client {
        guard let i = homes[id] else { continue }
        if quiet(since, nodes[i].wellSince) > Self.repaired {
          checker.faults.append("client \(ban.client) was banned \(now - since) ms ago and is at \(nodes[i].name)")
        }
      }
    }
  }

  /// What has become durable is shown to whoever plays and is connected.
  private mutating func lookAtPlayers() {
    var still: [Watch.Follower: (seq: Int, since: Int64)] = [:]
    // What a hostile client asks for piece by piece it may have in pieces.
    for c in clients.indices where c > 0 || !options.hasHostile {
      guard let id = clients[c].connection, alive.contains(id), let i = homes[id], clients[c].model.welcome != nil
      else {
        continue
      }
      for (m, view) in clients[c].model.matches where view.you != nil && view.state.phase != .over {
        let stored = store.length(m)
        guard view.state.seq < stored else { continue }
        let player = Watch.Follower(i: c, m: m)
        let before =
          watch.uninformed[player].flatMap { view.state.seq < $0.seq ? $0 : nil } ?? (seq: stored, since: now)
        still[player] = before
        if quiet(before.since, nodes[i].wellSince) > Self.repaired + 1500 {
          checker.faults.append(
            "client \(c) was told \(view.state.seq) of \(stored) events of match \(m) for \(now - before.since) ms")
        }
      }
    }
    watch.uninformed = still
  }

  /// Nothing that is due stays undone: each live match goes on within the time that it may stand still.
  private mutating func lookAtTimers() {
    guard watch.quietSince != .max else { return }
    let limits = options.lobby
    for m in store.live.sorted() {
      guard let log = store.logs[m] else { continue }
      // Whoever was away when a node died has a while to come back; after trouble nobody knows since when.
      let isTroubled = watch.quietSince > log.movedAt
      let grace = isTroubled ? Int64(limits.grace) : 0
      let bound: Int64
      switch log.state.phase {
      case .open: bound = Int64(limits.codeLives)
      case .confirming: bound = Int64(limits.confirmWithin) * 2
      case .live where !log.state.bothMoved: bound = Int64(log.state.terms.firstMoveWithin) + grace
      case .live: bound = Int64(log.state.clocks?[log.state.turn] ?? Limits.untimedMove) + grace
      case .over: continue
      }
      // The round trip, the slack of a flag, another node's wait, and what the store takes.
      if quiet(log.movedAt, watch.quietSince) > bound + 3000 {
        checker.faults.append("match \(m) has been \(log.state.phase) without a move for \(now - log.movedAt) ms")
      }
    }
  }
}
