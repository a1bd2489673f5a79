import Base
import MatchProtocol
import TicTacToe

@testable import Lobby
@testable import MatchStore

/// The guarantees that are violated now, and since when (`Simulation.now`). A violation is a fault only if it lasts too long after the last
/// trouble of a node.
struct Watch {
  struct Ban {
    let client: Int
    let number: UInt64
    let node: Int
    let life: Int
    /// When the ban was acknowledged; `nil` before.
    var since: Int64?
  }

  struct Follower: Hashable, Comparable {
    let i: Int
    let m: MatchID

    static func < (a: Follower, b: Follower) -> Bool { (a.i, a.m) < (b.i, b.m) }
  }

  /// Since when all nodes have been well (`Node.wellSince`); `.max` if a node is not well.
  var quietSince: Int64 = .max
  var bans: [Ban] = []
  /// Nodes that lack events of a match that they follow. `seq` is the length of the match's stored log at the time `since`.
  var behind: [Follower: (seq: Int, since: Int64)] = [:]
  /// Players who were not shown all events of a match that they play. `seq` is the length of the match's stored log at the time `since`.
  var uninformed: [Follower: (seq: Int, since: Int64)] = [:]
  /// Live matches that no node has loaded.
  var orphans: [MatchID: Int64] = [:]
  /// Players of live matches who are connected but recorded as away, or are not connected and not recorded as away. The key names the
  /// player and the fault.
  var misplaced: [String: Int64] = [:]
  /// Nodes without a connection to a working store.
  var cutOff: [Int: Int64] = [:]
  /// Tickets in the queue without a waiting player, and waiting players without a ticket in the queue.
  var astray: [String: Int64] = [:]
  /// Tickets that wait both at their node and in the store.
  var waiting: [String: Int64] = [:]
}

extension Simulation {
  /// Milliseconds within which a lost notification is repaired: a comparison every two seconds, its answer, and the reads it causes.
  private static let repaired: Int64 = 3500
  /// Milliseconds within which the leader adopts the matches of a dead node. The node counts as dead after three seconds.
  private static let swept: Int64 = 7000
  /// Milliseconds within which a node without its store disconnects its players: it waits for three seconds, and checks once a second.
  private static let sentAway: Int64 = 5000

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

  /// Milliseconds since a violation began or the last trouble ended, whichever is later; `.min` if there is trouble now.
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
      if best > Self.swept { checker.faults.append("match \(m) has been in no node's memory for \(now - since) ms") }
    }
    for (m, since) in watch.orphans where still[m] == nil {
      count("swept")
      tally["longest without a follower"] = max(tally["longest without a follower"] ?? 0, Int(now - since))
    }
    watch.orphans = still
  }

  private mutating func lookAtPresence() {
    let lobbies = nodes.compactMap(\.lobby)
    var still: [String: Int64] = [:]
    for m in store.live.sorted() {
      let known = lobbies.compactMap { lobby in lobby.matches[m].map { (lobby, $0) } }
      for side in Player.allCases where store.logs[m]?.state.phase == .live {
        guard let account = known.first?.1.account(at: side) else { continue }
        let isNowhere = lobbies.allSatisfy { $0.people.sessions.of(account).isEmpty }
        let isHere = known.contains { $1.isHere(side) }
        let isAway = known.contains { $1.presence[side].isAway }
        guard isNowhere && !isAway || isHere && isAway else { continue }
        let what =
          "\(side.text) of match \(m) is \(isHere ? "here but recorded as away" : "not here nor recorded as away")"
        let since = watch.misplaced[what] ?? now
        still[what] = since
        // For 5 s a presence check counts a player with a session at any node as present (`recordAbsentPlayers`).
        if quiet(since, watch.quietSince) > Self.swept + Self.repaired + 5000 {
          checker.faults.append("\(what) for \(now - since) ms")
        }
      }
    }
    watch.misplaced = still
  }

  /// Checks that no player stays connected to a node that has lost the store while another node has the store.
  private mutating func lookAtStranded() {
    for i in nodes.indices {
      guard nodes[i].isCutFromStore, !isStoreDown, nodes[i].lobby != nil, !isStopped(i), nodes[i].backlog.isEmpty else {
        watch.cutOff[i] = nil
        continue
      }
      let since = watch.cutOff[i, default: now]
      watch.cutOff[i] = since
      guard now - since > Self.sentAway, let id = seated.sorted().first(where: { homes[$0] == i }) else { continue }
      // Whether another node `j` has been well since node `i` lost the store, and both ran long enough before this loss to know each other.
      let knewEachOther = nodes.indices.contains { j in
        j != i && quiet(since, nodes[j].wellSince) > Self.sentAway
          && max(nodes[i].wasWellSince, nodes[j].startedAt) < since - Self.swept
      }
      if knewEachOther {
        checker.faults.append("connection \(id) has been at \(nodes[i].name) for \(now - since) ms without a store")
      }
    }
  }

  private mutating func lookAtQueue() {
    guard case .tickets(let stored)? = store.answer(.tickets) else { return }
    let tickets = nodes.compactMap(\.lobby).flatMap { lobby in lobby.seeks.seekers.compactMap { lobby.seeks[$0] } }
    let (waiting, known) = (Set(tickets.map(\.id)), Set(stored.map(\.ticket.id)))
    var still: [String: Int64] = [:]
    for id in waiting.symmetricDifference(known).sorted() {
      let since = watch.astray[id] ?? now
      still[id] = since
      if quiet(since, watch.quietSince) > 8000 {
        checker.faults.append(
          "ticket \(id) waits \(waiting.contains(id) ? "only at its node" : "only in the store")")
      }
    }
    watch.astray = still
    watch.waiting = watch.waiting.filter { waiting.contains($0.key) && known.contains($0.key) }
    let longest = tickets.filter { known.contains($0.id) }.sorted { $0.id < $1.id }.filter { ticket in
      let since = watch.waiting[ticket.id] ?? now
      watch.waiting[ticket.id] = since
      return quiet(since, watch.quietSince) > 30_000
    }
    for (n, one) in longest.enumerated() {
      for other in longest[(n + 1)...]
      where one.account != other.account && one.seek.terms == other.seek.terms {
        checker.faults.append("\(one.id) and \(other.id) have waited for 30 s and were not paired")
      }
    }
  }

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

  private mutating func lookAtPlayers() {
    var still: [Watch.Follower: (seq: Int, since: Int64)] = [:]
    // The hostile client may have asked for parts of the log, and so not have been shown every event.
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

  private mutating func lookAtTimers() {
    guard watch.quietSince != .max else { return }
    let limits = options.lobby
    for m in store.live.sorted() {
      guard let log = store.logs[m] else { continue }
      // In a match recovered after trouble the clocks stood for up to `grace` ms, until the side to move came back.
      let isTroubled = watch.quietSince > log.movedAt
      let grace = isTroubled ? Int64(limits.grace) : 0
      let bound: Int64
      switch log.state.phase {
      case .open: bound = Int64(limits.codeLives)
      case .confirming: bound = 0
      case .live where !log.state.bothMoved: bound = Int64(log.state.terms.firstMoveWithin) + grace
      case .live: bound = Int64(log.state.clocks?[log.state.turn] ?? Limits.untimedMove) + grace
      case .over: continue
      }
      // 3 s for the round trip, the store, and the time until a node declares a side lost after its deadline (`flagDelay`).
      if quiet(log.movedAt, watch.quietSince) > bound + 3000 {
        checker.faults.append("match \(m) has been \(log.state.phase) without a move for \(now - log.movedAt) ms")
      }
    }
  }
}
