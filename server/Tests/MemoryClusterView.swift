import MatchProtocol
import Synchronization
import TicTacToe

@testable import Lobby
@testable import MatchStore

/// One node's view of a cluster in memory.
final class MemoryClusterView: ClusterStore {
  private let cluster: MemoryCluster
  private let epoch = Mutex<Int64>(0)
  private let reads: Int

  init(_ cluster: MemoryCluster, reads: Int) { (self.cluster, self.reads) = (cluster, reads) }

  private var mine: Int64 { epoch.withLock { $0 } }

  // MARK: leases

  func join(_ node: NodeDescription, lease: Int64, replacing: Int64?) throws(StoreError) -> Int64 {
    let fresh = try cluster.transact { (state) throws(StoreError) in
      guard state.language <= reads else {
        throw MemoryClusterView.refusal(inForce: state.language, reads: reads, at: "memory")
      }
      for (epoch, other) in state.nodes where other.record.node.name == node.name && other.leaseUntil > state.now {
        guard epoch == replacing else {
          throw .unusable("a node named \(node.name) is running at \(other.record.node.peer); each needs its own name")
        }
      }
      if let replacing { state.end(replacing) }
      let epoch = state.nextEpoch
      state.nextEpoch += 1
      state.nodes[epoch] = .init(
        record: NodeRecord(epoch: epoch, node: node, left: lease), leaseUntil: state.now + lease, reads: reads)
      return epoch
    }
    epoch.withLock { $0 = fresh }
    return fresh
  }

  func renew(lease: Int64) throws(StoreError) -> Renewal? {
    let mine = mine
    return try cluster.transact { state in
      guard state.isGood(mine) else { return nil }
      state.nodes[mine]?.leaseUntil = state.now + lease
      for (epoch, node) in state.nodes where node.leaseUntil > state.now + lease {
        state.nodes[epoch]?.leaseUntil = state.now + lease
      }
      let good = state.nodes.values.filter { $0.leaseUntil > state.now }.map { node in
        NodeRecord(epoch: node.record.epoch, node: node.record.node, left: node.leaseUntil - state.now)
      }.sorted { $0.epoch < $1.epoch }
      return Renewal(nodes: good, inForce: state.language, common: state.common)
    }
  }

  func raiseLanguage() throws(StoreError) {
    try cluster.transact { state in state.language = max(state.language, state.common) }
  }

  func leave() throws(StoreError) {
    let mine = mine
    try cluster.transact { state in state.end(mine) }
  }

  func takeOver(limit: Int) throws(StoreError) -> [Adoption] { try read(try take(limit: limit)) }

  /// The first half of a takeover: whose they are.
  func take(limit: Int) throws(StoreError) -> [MatchID] {
    let mine = mine
    return try cluster.transact { state in
      guard state.isGood(mine) else { return [] }
      let lost = state.epochs.filter { state.isLive($0.key) && !state.isGood($0.value) }.keys.sorted().prefix(limit)
      for m in lost { state.epochs[m] = mine }
      return Array(lost)
    }
  }

  /// The second half: what is in their logs by then.
  func read(_ taken: [MatchID]) throws(StoreError) -> [Adoption] {
    try cluster.transact { state in
      taken.compactMap { m in
        guard let match = state.content.matches[m] else { return nil }
        let ids = Set([match.record.x, match.record.o, match.record.opener].compactMap { $0 })
        return Adoption(match: match, accounts: ids.sorted().compactMap { state.content.accounts[$0] })
      }
    }
  }

  // MARK: players

  func enter(_ entry: Entry) throws(StoreError) -> EntryResult {
    let mine = mine
    return try cluster.transact { (state) throws(StoreError) in
      try state.check(mine)
      var session: SessionRecord
      let lives: Lifetimes
      var before: Int64?
      switch entry {
      case .resume(let presented, let fresh, let given):
        guard
          let found = state.content.sessions.values.first(where: { $0.resume == presented || $0.previous == presented }
          ),
          found.expires > state.now
        else { return .unknown }
        session = found
        (session.resume, session.previous, lives) = (fresh, presented, given)
        before = state.places[found.id]?.epoch
      case .token(let token, let id, let resume, let given):
        guard
          let account = state.content.accounts.values.first(where: { $0.token == token && $0.tokenExpires > state.now })
        else { return .unknown }
        session = SessionRecord(id: id, account: account.id, resume: resume, previous: nil, expires: 0)
        lives = given
      case .guest(let names, let token, let id, let resume, let given):
        guard let name = names.first(where: { state.content.names[$0.lowercased()] == nil }) else { return .unknown }
        let account = AccountRecord(
          id: state.nextAccount, name: name, guest: true, token: token, tokenExpires: state.now + given.guest)
        state.nextAccount += 1
        MemoryStore.apply(.account(account), &state.content)
        session = SessionRecord(id: id, account: account.id, resume: resume, previous: nil, expires: 0)
        lives = given
      }
      guard let account = state.content.accounts[session.account], let profile = state.profile(account.id) else {
        return .unknown
      }
      guard !account.banned else { return .banned }
      session.expires = state.now + (account.guest ? lives.guest : lives.account)
      MemoryStore.apply(.session(session), &state.content)
      let all = state.content.sessions.values.filter { $0.account == account.id }
      for old in all.sorted(by: { ($0.expires, $0.id) > ($1.expires, $1.id) }).dropFirst(SessionRecord.mostPerAccount) {
        MemoryStore.apply(.deleteSession(old.id), &state.content)
      }
      let generation = (state.places[session.id]?.generation ?? 0) + 1
      state.places[session.id] = .init(generation: generation, epoch: mine)
      return .entered(Entered(session: session, generation: generation, before: before, profile: profile))
    }
  }

  func settle(session: String, generation: Int64) throws(StoreError) {
    try cluster.transact { state in
      guard state.places[session]?.generation == generation else { return }
      state.content.sessions[session]?.previous = nil
    }
  }

  func detach(session: String, generation: Int64) throws(StoreError) {
    try cluster.transact { state in
      guard state.places[session]?.generation == generation else { return }
      state.places[session]?.epoch = nil
    }
  }

  func change(_ who: AccountReference, _ change: AccountChange) throws(StoreError) -> ChangeResult {
    try cluster.transact { state in
      let id: Int64? =
        switch who {
        case .id(let id): id
        case .name(let name): state.content.names[name.lowercased()]
        }
      guard let id, var account = state.content.accounts[id] else { return .unknown }
      if let refusal = account.apply(change, now: state.now, holder: { state.content.names[$0.lowercased()] }) {
        return refusal
      }
      let gone = change.keeps.map { kept in
        state.content.sessions.values.filter { $0.account == id && $0.id != kept }.map(\.id).sorted()
      }
      let forgotten = gone ?? []
      for session in forgotten { MemoryStore.apply(.deleteSession(session), &state.content) }
      MemoryStore.apply(.account(account), &state.content)
      return .changed(account, forgotten: forgotten)
    }
  }

  func profile(_ account: Int64) throws(StoreError) -> Profile? { try cluster.transact { $0.profile(account) } }

  // MARK: matches

  func place(_ m: MatchID) throws(StoreError) -> MatchPlace? { try cluster.transact { $0.place(m) } }

  func place(code: String) throws(StoreError) -> MatchPlace? {
    try cluster.transact { state in
      let live = state.content.matches.values.filter { $0.record.code == code && $0.record.ended == nil }
      let found = live.min {
        ($0.record.x == nil ? 0 : 1, -$0.record.created) < ($1.record.x == nil ? 0 : 1, -$1.record.created)
      }
      return found.flatMap { state.place($0.record.id) }
    }
  }

  func begin(_ begin: MatchBegin) throws(StoreError) -> BeginResult {
    let mine = mine
    let isFenced = cluster.isFenced
    return try cluster.transact { (state) throws(StoreError) in
      try state.check(mine)
      let rooms = state.content.matches.values.filter {
        $0.record.opener == begin.room?.opener && $0.record.ended == nil
      }
      for room in rooms where begin.room?.key != nil {
        if let body = room.events.first?.body, (try? MatchEvent(body: body))?.mid == begin.room?.key {
          return .known(room.record.id)
        }
      }
      for (account, rating) in zip(begin.rated, begin.ratings) {
        if let m = state.slots[account], state.isLive(m) { return .playing(account) }
        guard state.content.accounts[account]?[begin.rules].rating == rating else { return .stale }
      }
      if let code = begin.room?.code,
        state.content.matches.values.contains(where: {
          $0.record.code == code && $0.record.ended == nil && $0.record.x == nil
        })
      {
        return .codeTaken
      }
      try state.apply([StoreTransaction(number: 0, writes: begin.writes)], epoch: mine, isFenced: isFenced)
      for account in begin.rated { state.slots[account] = begin.m }
      return .begun
    }
  }

  // MARK: pages and keeping house

  func top(_ rules: Variant, limit: Int) throws(StoreError) -> [AccountRecord] {
    try cluster.transact { state in
      let named = state.content.accounts.values.filter { !$0.guest && $0[rules].ratedAt > 0 && !$0.banned }
      return Array(named.sorted { ($0[rules].rating.value, $1.id) > ($1[rules].rating.value, $0.id) }.prefix(limit))
    }
  }

  func live(limit: Int) throws(StoreError) -> [StoredMatch] {
    try cluster.transact { state in
      let open = state.content.matches.values.filter { $0.record.ended == nil && $0.record.opener == nil }
      return Array(open.sorted { ($0.record.created, $0.record.id) > ($1.record.created, $1.record.id) }.prefix(limit))
    }
  }

  func clean() throws(StoreError) {
    try cluster.transact { state in
      for session in state.content.sessions.values where session.expires < state.now {
        guard !(state.places[session.id]?.epoch.map(state.isGood) ?? false) else { continue }
        MemoryStore.apply(.deleteSession(session.id), &state.content)
        state.places[session.id] = nil
      }
      let held = Set(state.content.sessions.values.map(\.account))
      let playing = Set(
        state.content.matches.values.map(\.record).filter { $0.ended == nil }
          .flatMap { [$0.x, $0.o, $0.opener].compactMap { $0 } })
      for account in state.content.accounts.values
      where account.guest && account.tokenExpires < state.now && !held.contains(account.id)
        && !playing.contains(account.id)
      {
        MemoryStore.apply(.deleteAccount(account.id), &state.content)
      }
      let busy = Set(state.epochs.filter { state.isLive($0.key) }.values)
      state.nodes = state.nodes.filter { $0.value.leaseUntil > state.now - 60_000 || busy.contains($0.key) }
    }
  }

  // MARK: MatchStore

  func commit(_ batch: [StoreTransaction]) throws(StoreError) {
    let mine = mine
    let isFenced = cluster.isFenced
    try cluster.transact { (state) throws(StoreError) in try state.apply(batch, epoch: mine, isFenced: isFenced) }
  }

  func recover() throws(StoreError) -> Recovery { try cluster.transact { $0.content.recovery } }
  func match(_ id: MatchID) throws(StoreError) -> StoredMatch? { try cluster.transact { $0.content.matches[id] } }
  func history(of account: Int64, before: Int64, limit: Int) throws(StoreError) -> [StoredMatch] {
    try cluster.transact { $0.content.history(of: account, before: before, limit: limit) }
  }
  func matchIDs() throws(StoreError) -> [MatchID] { try cluster.transact { $0.content.matches.keys.sorted() } }
  func prune(before: Int64) throws(StoreError) -> Int {
    try cluster.transact { state in
      let count = state.content.prune(before: before)
      state.epochs = state.epochs.filter { state.content.matches[$0.key] != nil }
      return count
    }
  }
  func reopen() throws(StoreError) {}
  func close() {}
}
