import Foundation
import MatchProtocol
import Synchronization
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore

/// Sixteen threads on four nodes want the same thing at once: one gets it, and the others are told.
@Suite struct ClusterStoreRaces {
  private static let threads = 16

  /// Four joined nodes.
  private func nodes(_ kind: ClusterKind) throws -> [any ClusterStore] {
    let view = try kind.make()
    return try (0..<4).map { i in
      let store = try view()
      _ = try store.join(node("n\(i)"), lease: 60_000, replacing: nil)
      return store
    }
  }

  /// Runs a body on all threads at once; each gets its number. Returns what they return, in their order.
  private func race<T: Sendable>(_ body: @escaping @Sendable (Int) throws -> T) throws -> [T] {
    let results = Mutex<[Int: Result<T, any Error>]>([:])
    let (gate, done) = (DispatchSemaphore(value: 0), DispatchGroup())
    for i in 0..<Self.threads {
      done.enter()
      Thread {
        gate.wait()
        let result = Result { try body(i) }
        results.withLock { $0[i] = result }
        done.leave()
      }.start()
    }
    for _ in 0..<Self.threads { gate.signal() }
    done.wait()
    let found = results.withLock { $0 }
    return try (0..<Self.threads).map { try #require(found[$0]).get() }
  }

  @Test(arguments: ClusterKind.allCases) func `two players get one rated match, whoever begins it`(kind: ClusterKind)
    throws
  {
    let nodes = try nodes(kind)
    for round in 0..<5 {
      let (ann, bob) = (try nodes[0].player("Ann\(round)"), try nodes[1].player("Bob\(round)"))
      let results = try race { i in
        try nodes[i % 4].begin(beginning(someID(UInt64(round * 100 + i)), ann.account, bob.account))
      }
      #expect(results.filter { $0 == .begun }.count == 1)
      for result in results where result != .begun {
        guard case .playing = result else {
          Issue.record("\(result)")
          continue
        }
      }
      #expect(try nodes[0].profile(ann.account.id)?.live.count == 1)
      #expect(try nodes[0].matchIDs().count == round + 1)
    }
  }

  @Test(arguments: ClusterKind.allCases)
  func `every match of a dead node is taken exactly once, and its owner writes nothing more`(kind: ClusterKind) throws {
    let nodes = try nodes(kind)
    let ids = (0..<200).map { someID(UInt64($0)) }.sorted()
    try nodes[0].commit(
      ids.flatMap { m -> [StoreWrite] in
        [.match(MatchRecord(id: m, x: nil, o: nil, created: 5)), .append(m, after: 0, [event(1)])]
      })
    try nodes[0].leave()
    let left = Mutex(ids.count)
    let end = Date(timeIntervalSinceNow: 60)
    let taken = try race { i -> [MatchID] in
      // Its old owner goes on trying to write, and must not get anything in.
      guard i % 4 != 0 else {
        for m in ids where (try? nodes[0].commit([.append(m, after: 1, [event(2)])])) != nil { return [m] }
        return []
      }
      var mine: [MatchID] = []
      // Some of the matches are locked by the others at any moment: that none is found does not mean that all are taken.
      while left.withLock({ $0 > 0 }), Date() < end {
        let adopted = try nodes[i % 4].takeOver(limit: 7)
        for adoption in adopted {
          mine.append(adoption.match.record.id)
          #expect(adoption.match.events.count <= 2)
        }
        left.withLock { $0 -= adopted.count }
        if adopted.isEmpty { usleep(1000) }
      }
      return mine
    }
    let owners = stride(from: 0, to: Self.threads, by: 4).flatMap { taken[$0] }
    let takers = (0..<Self.threads).filter { $0 % 4 != 0 }.flatMap { taken[$0] }
    #expect(takers.sorted() == ids)
    // A write of the old owner that came before the takeover is in the log the taker read; none came after.
    for m in ids {
      let count = try #require(try nodes[1].match(m)?.events.count)
      #expect(count == 1 || owners.contains(m))
    }
    #expect(throws: StoreError.self) { try nodes[0].commit([.append(ids[0], after: 1, [event(2)])]) }
  }

  @Test(arguments: ClusterKind.allCases)
  func `one name is one guest's, one code one room's, one token one session's`(kind: ClusterKind) throws {
    let nodes = try nodes(kind)
    let guests = try race { i -> AccountRecord? in
      let names = (0..<Self.threads).map { "guest-\($0)" }
      let entry = Entry.guest(
        names: names, token: digest("g\(i)"), session: "g\(i)", resume: digest("gr\(i)"), lives: lives)
      guard case .entered(let entered) = try nodes[i % 4].enter(entry) else { return nil }
      return entered.profile.account
    }.compactMap { $0 }
    #expect(Set(guests.map(\.name)).count == Self.threads && Set(guests.map(\.id)).count == Self.threads)
    let named = try race { i in
      try nodes[i % 4].change(.id(guests[i].id), .register(name: "King", token: digest("k\(i)"), lives: 1_000_000))
    }
    #expect(named.filter { if case .changed = $0 { true } else { false } }.count == 1)
    #expect(named.filter { $0 == .nameTaken }.count == Self.threads - 1)
    let rooms = try race { i -> BeginResult in
      try nodes[i % 4].begin(room(someID(UInt64(1000 + i)), guests[i], code: "ABC234", key: "k"))
    }
    #expect(rooms.filter { $0 == .begun }.count == 1 && rooms.filter { $0 == .codeTaken }.count == Self.threads - 1)
    let entries = try race { i in
      try nodes[i % 4].enter(.resume(presented: digest("gr0"), fresh: digest("fresh\(i)"), lives: lives))
    }
    let generations = entries.compactMap { if case .entered(let entered) = $0 { entered.generation } else { nil } }
    // The token stays valid until the first message on the new connection, so several may come in with it, one after
    // the other; each is told whose place it took.
    #expect(!generations.isEmpty && Set(generations).count == generations.count)
  }

  @Test(arguments: ClusterKind.allCases)
  func `results add up and appends to one log follow one another`(kind: ClusterKind) throws {
    let nodes = try nodes(kind)
    let players = try (0..<4).map { try nodes[$0].player("P\($0)") }
    let logs = (0..<4).map { someID(UInt64($0)) }
    for (store, m) in zip(nodes, logs) {
      try store.commit([.match(MatchRecord(id: m, x: nil, o: nil, created: 5))])
    }
    // `commit` is for one thread at a time on each node; the nodes meet in the accounts.
    let locks = (0..<4).map { _ in NSLock() }
    let told = Mutex([Int](repeating: 0, count: 4))
    _ = try race { i in
      let mine = i % 4
      for _ in 0..<10 {
        locks[mine].lock()
        defer { locks[mine].unlock() }
        let after = told.withLock { $0[mine] }
        let scores = players.shuffled().map { player -> StoreWrite in
          var score = AccountScore(account: player.account.id)
          score.won = 1
          return .score(score)
        }
        try nodes[mine].commit(scores + [.append(logs[mine], after: after, [event(after + 1)])])
        told.withLock { $0[mine] = after + 1 }
      }
    }
    for player in players {
      #expect(try nodes[0].profile(player.account.id)?.account.won == Self.threads * 10)
    }
    for m in logs { #expect(try nodes[0].match(m)?.events.map(\.seq) == Array(1...40)) }
  }
}
