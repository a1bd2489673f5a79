import MatchStore

/// A server on its own: what nodes ask of the store they share, it answers itself, from memory and at once.
extension Lobby {
  mutating func answer(_ question: ClusterQuestion) -> ClusterAnswer? {
    switch question {
    case .enter(let entry): .entry(enter(entry))
    case .change(.id(let id), let change): .change(apply(change, to: id))
    case .settle(let session, _): settle(session)
    case .profile(let id): .profile(accounts[id].map { profile($0) })
    case .placeOfCode(let code): .place(codes[code].map { MatchPlace(m: $0, owner: nil, endedAgo: nil) })
    case .begin(let begin): .begin(open(begin))
    default: nil
    }
  }

  private func profile(_ account: AccountRecord) -> Profile {
    let blocked = account.blocked.lazy.compactMap { accounts[$0]?.name }.prefix(50)
    return Profile(account: account, live: live(of: account.id), last: nil, blockedNames: Array(blocked))
  }

  private mutating func open(_ begin: MatchBegin) -> BeginResult {
    guard let room = begin.room, codes[room.code] == nil else { return .codeTaken }
    commit(begin.writes)
    return .begun
  }

  /// The new resume token has arrived, or nothing would: the old one is spent.
  private mutating func settle(_ id: String) -> ClusterAnswer {
    guard var session = sessions[id], let previous = session.record.previous else { return .done }
    resumes[previous] = nil
    session.record.previous = nil
    sessions[id] = session
    commit([.session(session.record)])
    return .done
  }

  private mutating func enter(_ entry: Entry) -> EntryResult {
    var record: SessionRecord
    let (fresh, lives): (AccountRecord?, Lifetimes)
    switch entry {
    case .resume(let presented, let resume, let lifetimes):
      guard let known = resumes[presented].flatMap({ sessions[$0] })?.record else { return .unknown }
      (record, fresh, lives) = (known, nil, lifetimes)
      (record.resume, record.previous) = (resume, presented)
    case .token(let token, let id, let resume, let lifetimes):
      guard let known = tokens[token].flatMap({ accounts[$0] }), known.tokenExpires > now.wall else { return .unknown }
      record = SessionRecord(id: id, account: known.id, resume: resume, previous: nil, expires: 0)
      (fresh, lives) = (nil, lifetimes)
    case .guest(let names, let token, let id, let resume, let lifetimes):
      guard let name = names.first(where: { self.names[$0.lowercased()] == nil }) else { return .unknown }
      guard makeRoomForGuest() else { return .full }
      record = SessionRecord(id: id, account: nextAccount, resume: resume, previous: nil, expires: 0)
      fresh = AccountRecord(
        id: nextAccount, name: name, guest: true, token: token, tokenExpires: now.wall + lifetimes.guest)
      lives = lifetimes
      nextAccount += 1
    }
    guard let account = fresh ?? accounts[record.account], !account.banned else { return .banned }
    var writes: [StoreWrite] = []
    if let fresh {
      store(fresh)
      writes.append(.account(fresh))
      perishables.set(.guest(fresh.id), at: fresh.tokenExpires)
      oldestGuests.append(fresh.id)
    }
    record.expires = now.wall + (account.guest ? lives.guest : lives.account)
    var generation: Int64 = 1
    if let known = sessions[record.id] {
      generation = known.generation + 1
      // Whichever token was shown stays good until the client has proved to hold the new one.
      for spent in [known.record.resume, known.record.previous] {
        if let spent, spent != record.previous { resumes[spent] = nil }
      }
    } else {
      let others = sessionsOf[account.id, default: []]
      if others.count >= SessionRecord.mostPerAccount,
        let oldest = others.first(where: { sessions[$0]?.connection == nil }) ?? others.first
      {
        writes += end([oldest], of: account.id, "the account has too many sessions")
      }
      perishables.set(.session(record.id), at: record.expires)
    }
    resumes[record.resume] = record.id
    commit(writes + [.session(record)])
    return .entered(Entered(session: record, generation: generation, before: nil, profile: profile(account)))
  }

  /// Forgets the guest who came first of those who are away and play nothing, if there are as many as may be; `false` if there is
  /// none. Whoever asks for guests by the thousand makes the server forget what he asked for before.
  private mutating func makeRoomForGuest() -> Bool {
    guard accounts.guests >= configuration.maxGuests else { return true }
    var passed: [Int64] = []
    // Looked at once more when all others have been.
    defer { oldestGuests += passed }
    while let id = oldestGuests.popFirst() {
      guard let account = accounts[id], account.guest else { continue }
      let own = sessionsOf[id, default: []]
      guard matchesOf[id] == nil, own.allSatisfy({ sessions[$0]?.connection == nil }) else {
        passed.append(id)
        if passed.count == 1000 { return false }
        continue
      }
      for session in own.compactMap({ sessions[$0] }) { forget(session) }
      forget(account)
      commit([.deleteAccount(id)])
      return true
    }
    return false
  }

  private mutating func apply(_ change: AccountChange, to id: Int64) -> ChangeResult {
    guard var account = accounts[id] else { return .unknown }
    if let refusal = account.apply(change, now: now.wall, holder: { names[$0.lowercased()] }) { return refusal }
    store(account)
    var writes: [StoreWrite] = [.account(account)]
    if let kept = change.keeps {
      let why = change == .forget ? "by an administrator" : "the account's tokens were revoked"
      writes += end(sessionsOf[id, default: []].filter { $0 != kept }, of: id, why)
    }
    if change == .forget { perishables.set(.guest(id), at: account.tokenExpires) }
    commit(writes)
    return .changed(account, forgotten: [])
  }

  /// Forgets sessions of an account and ends their connections; returns what is to be stored.
  private mutating func end(_ ended: [String], of account: Int64, _ why: String) -> [StoreWrite] {
    ended.compactMap { id in
      guard let session = sessions[id] else { return nil }
      if let connection = session.connection {
        connections[connection]?.session = nil
        emit(.close(connection, .revoked, why, retry: nil))
      }
      detach(session, clean: false)
      forget(session)
      return .deleteSession(id)
    }
  }

  /// Carries out an administrator's order.
  mutating func administer(_ name: String, _ order: Administration) {
    guard let id = names[name.lowercased()], case .changed(let account, _) = apply(order.change, to: id) else {
      return note("no such player", ["name": name])
    }
    note("administered", ["name": name, "order": order.rawValue])
    refresh(account)
  }
}
