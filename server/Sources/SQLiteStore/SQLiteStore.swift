import CSQLite
import Foundation
import MatchProtocol
import MatchStore
import Synchronization
import TicTacToe

/// The store of a single server process: an SQLite file in WAL mode, whose commits are on the disk before they return. One connection
/// writes, the others read. A lock file keeps a second server out.
package final class SQLiteStore: MatchStore {
  /// The schema this build writes.
  static let version = 8
  /// The oldest build that can read this build's files: builds before 5 ignore tickets, keys and slots. Raise the number if a migration
  /// removes data, or if older builds would misread a file.
  static let minReader = 5

  private struct Connections {
    var writer: SQLiteRows
    /// The connections that are not reading now.
    var readers: [SQLiteRows] = []
  }

  private struct Opening {
    /// `nil` while the file must be reopened.
    var connections: Connections?
    /// The number of reads in progress.
    var reading = 0
    /// Whether a call waits for the reads in progress before it reopens the file.
    var awaitsReaders = false
    var isClosed = false
    /// Whether a write has failed and no heartbeat has made a successful trial write since.
    var hasFailed = false
    /// The node that last asked a question.
    var asker: NodeID?
  }

  /// A database in memory, which lasts as long as its store.
  package static let inMemory = ":memory:"

  private let path: String
  /// Returns milliseconds since 1970.
  private let clock: @Sendable () -> Int64
  private let lock: FileLock?
  private let state = Mutex(Opening())
  /// Held while the file is being opened.
  private let opens = NSLock()
  /// Held while writing: without it, a second writer would have to poll SQLite's lock.
  private let writes = NSLock()

  /// Throws if another process holds the file's lock, the file is damaged, or only newer builds may read it.
  package convenience init(
    path: String, clock: @escaping @Sendable () -> Int64 = { Moment.current.wall }
  ) throws(StoreError) {
    let lock = try path == SQLiteStore.inMemory ? nil : SQLiteStore.locked(path, for: .server)
    try self.init(path: path, lock: lock, clock: clock)
  }

  /// `lock`: the lock of the file, `nil` in memory.
  private init(path: String, lock: FileLock?, clock: @escaping @Sendable () -> Int64) throws(StoreError) {
    (self.path, self.lock, self.clock) = (path, lock, clock)
    let rows = SQLiteRows(try SQLiteStore.opened(path), clock)
    state.withLock { $0.connections = Connections(writer: rows) }
  }

  /// The lock of a file in a folder that is made if missing.
  private static func locked(_ path: String, for holder: FileLock.Holder) throws(StoreError) -> FileLock {
    let folder = (path as NSString).deletingLastPathComponent
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch { throw .unusable("cannot make the folder \(folder): \(error.localizedDescription)") }
    return try FileLock(path: path + ".lock", for: holder)
  }

  private static func opened(_ path: String) throws(StoreError) -> SQLiteConnection {
    try translating(path) {
      let db = try SQLiteConnection(path, creates: true)
      let mode = try db.run("PRAGMA journal_mode = WAL") { $0.text(0) }
      // This PRAGMA takes effect only outside a transaction.
      try db.execute("PRAGMA synchronous = FULL")
      guard mode == [path == inMemory ? "memory" : "wal"], try db.run("PRAGMA synchronous", row: { $0.int(0) }) == [2]
      else {
        throw StoreError.unusable("\(path): SQLite refuses WAL with synchronous=FULL")
      }
      // Live matches rewrite the same pages. So cache 64 MiB of pages, and checkpoint at 32 MiB: under load, SQLite's default of 1,000
      // pages comes every few commits.
      try db.execute("PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 8192")
      try SQLiteMigrations.run(db, path: path)
      return db
    }
  }

  private static func translating<T>(_ path: String, _ body: () throws -> T) throws(StoreError) -> T {
    do {
      return try body()
    } catch let error as StoreError {
      throw error
    } catch let error as SQLiteError where [SQLITE_NOTADB, SQLITE_CORRUPT, SQLITE_CANTOPEN].contains(error.code) {
      throw .unusable("\(path): \(error.message)")
    } catch { throw .failed("\(path): \(error)") }
  }

  // MARK: connections

  /// Reopens the file if necessary.
  private func writer() throws(StoreError) -> SQLiteRows {
    opens.lock()
    defer { opens.unlock() }
    let (known, isClosed) = state.withLock { ($0.connections?.writer, $0.isClosed) }
    guard !isClosed else { throw .failed("\(path) is closed") }
    if let known { return known }
    // Wait until all connections are closed: SQLite rebuilds its WAL index only then.
    while state.withLock({ state in
      state.awaitsReaders = state.reading > 0
      return state.awaitsReaders
    }) { usleep(1000) }
    let rows: SQLiteRows
    do throws(StoreError) { rows = SQLiteRows(try SQLiteStore.opened(path), clock) } catch { throw .failed("\(error)") }
    let isWanted = state.withLock { state in
      if !state.isClosed { state.connections = Connections(writer: rows) }
      return !state.isClosed
    }
    guard isWanted else { throw .failed("\(path) is closed") }
    return rows
  }

  /// Closes every connection, so that the next call reads the disk: after a failed sync the cached pages cannot be trusted. A database in
  /// memory stays open, because closing would empty it.
  private func abandon(_ rows: SQLiteRows) {
    guard lock != nil else { return }
    let idle = state.withLock { state in
      defer { state.connections = nil }
      return state.connections?.readers ?? []
    }
    for reader in idle { reader.db.end() }
    rows.db.end()
  }

  /// Runs a transaction of the writing connection. Throws `.failed` if certainly no change is or will be durable, else `.unknown`.
  func writing<T>(_ body: (SQLiteRows) throws(StoreError) -> T) throws(StoreError) -> T {
    writes.lock()
    defer { writes.unlock() }
    var isDone = false
    // Only a heartbeat's trial write resets `hasFailed`: on a full disk small writes still succeed now and then.
    defer { if !isDone { state.withLock { $0.hasFailed = true } } }
    let rows = try writer()
    rows.asker = state.withLock { $0.asker }
    let done: T
    do throws(StoreError) {
      try rows.run("BEGIN IMMEDIATE")
      done = try body(rows)
    } catch {
      let isUndone = rows.db.rollBack()
      rows.forget()
      if case .failed = error, isUndone { throw error }
      abandon(rows)
      throw isUndone ? .failed("\(path): \(error)") : .unknown("\(path): \(error)")
    }
    do throws(StoreError) { try rows.run("COMMIT") } catch {
      // The failed commit may be in the WAL, and so may be durable.
      abandon(rows)
      throw .unknown("\(path): \(error)")
    }
    isDone = true
    return done
  }

  /// Runs `body` on a reading connection, which sees one snapshot.
  func reading<T>(_ body: (SQLiteRows) throws(StoreError) -> T) throws(StoreError) -> T {
    // In memory each connection has a database of its own, so the writing connection also reads.
    guard lock != nil else { return try writing(body) }
    var (writer, free): (SQLiteRows?, SQLiteRows?)
    while writer == nil {
      _ = try self.writer()
      state.withLock { state in
        guard let connections = state.connections else { return }
        (writer, free) = (connections.writer, state.connections?.readers.popLast())
        state.reading += 1
      }
    }
    let result: Result<T, StoreError>
    do throws(StoreError) {
      let rows: SQLiteRows
      if let free { rows = free } else { rows = try reader() }
      free = rows
      rows.asker = state.withLock { $0.asker }
      try rows.run("BEGIN")
      let found = try body(rows)
      try rows.run("COMMIT")
      result = .success(found)
    } catch {
      free?.db.end()
      free = nil
      result = .failure(.failed("\(path): \(error)"))
    }
    state.withLock { state in
      if let rows = free, state.connections?.writer === writer {
        state.connections?.readers.append(rows)
      } else {
        // A failed write has abandoned the connections. `writer()` reopens the file only after this connection is closed.
        free?.db.end()
      }
      state.reading -= 1
    }
    return try result.get()
  }

  private func reader() throws(StoreError) -> SQLiteRows {
    do throws(SQLiteError) { return SQLiteRows(try SQLiteConnection(path), clock) } catch { throw StoreError(error) }
  }

  var awaitsReaders: Bool { state.withLock { $0.awaitsReaders } }

  /// The lock file stays locked until this object is freed.
  package func close() {
    state.withLock { state in
      state.isClosed = true
      state.connections = nil
    }
  }

  // MARK: units and questions

  /// One SQLite transaction for the batch, so one sync.
  package func apply(_ units: [StoreUnit]) -> [Verdict] {
    do throws(StoreError) {
      return try writing { (rows) throws(StoreError) in
        var verdicts: [Verdict] = []
        verdicts.reserveCapacity(units.count)
        for unit in units { verdicts.append(try rows.apply(unit)) }
        return verdicts
      }
    } catch { return units.map { _ in error.verdict } }
  }

  package func answer(_ questions: [StoreQuestion]) -> [Result<StoreAnswer, StoreError>] {
    // After a failed write, heartbeats fail until a trial write succeeds. Without heartbeats the lobby ends no match by time, so no player
    // loses by time while moves cannot be stored.
    if let heartbeat = questions.firstIndex(where: \.isHeartbeat), state.withLock({ $0.hasFailed }) {
      do throws(StoreError) {
        try requireRoom()
        try writing { (rows) throws(StoreError) in _ = try rows.run("PRAGMA user_version = 1") }
        state.withLock { $0.hasFailed = false }
      } catch {
        var others = questions
        others.remove(at: heartbeat)
        var answers = answer(others)
        answers.insert(.failure(error), at: heartbeat)
        return answers
      }
    }
    do throws(StoreError) {
      guard questions.contains(where: { $0.writes }) else {
        if let node = questions.last(where: { $0.node != nil })?.node { state.withLock { $0.asker = node } }
        return try reading { (rows) throws(StoreError) in
          var answers: [Result<StoreAnswer, StoreError>] = []
          for question in questions { answers.append(.success(try rows.answer(question))) }
          return answers
        }
      }
      let (answers, asker) = try writing { (rows) throws(StoreError) in
        var answers: [Result<StoreAnswer, StoreError>] = []
        for question in questions {
          answers.append(try rows.attempt { () throws(StoreError) in try rows.answer(question) })
        }
        return (answers, rows.asker)
      }
      state.withLock { $0.asker = asker }
      return answers
    } catch { return questions.map { _ in .failure(error) } }
  }

  /// Throws unless the disk has 1 MiB free, enough for some thousand moves. The trial write of a heartbeat succeeds with less.
  private func requireRoom() throws(StoreError) {
    var disk = statvfs()
    guard statvfs(path, &disk) == 0, UInt64(disk.f_bavail) * UInt64(disk.f_frsize) < 1 << 20 else { return }
    throw .failed("\(path): the disk is full")
  }

  /// Throws if the last write failed, or if a write lasts 700 ms: a readiness probe waits 800 ms.
  package func ping() throws(StoreError) {
    // Do not let the lock wait until a date: the system's clock may be set back meanwhile.
    let end = Moment.currentMonotonic + 700
    while !writes.try() {
      guard Moment.currentMonotonic < end else { throw .failed("\(path): a write takes long") }
      usleep(1000)
    }
    writes.unlock()
    if state.withLock({ $0.hasFailed }) { throw .failed("\(path): cannot be written") }
  }

  // MARK: tools

  package func accounts() throws(StoreError) -> [AccountRecord] {
    try reading { (rows) throws(StoreError) in try rows.accounts() }
  }

  package func add(_ accounts: [AccountRecord]) throws(StoreError) {
    try writing { (rows) throws(StoreError) in
      for account in accounts { try rows.insert(account) }
      // A new account must not get an id from the block list of an added account, even if the account with that id was deleted.
      if let blocked = accounts.flatMap(\.blocked).max() { try rows.keepNumber(blocked) }
    }
  }

  package func matchIDs() throws(StoreError) -> [MatchID] {
    try reading { (rows) throws(StoreError) in try rows.matchIDs() }
  }

  package func prune(olderThan age: Int64) throws(StoreError) -> Int {
    let (isDue, isClockSound) = try reading { (rows) throws(StoreError) in try rows.isPruningDue(olderThan: age) }
    guard isDue else { return 0 }
    // Thrown outside of a transaction, which would count it as a failed write.
    guard isClockSound else { throw .clockIsDoubtful }
    return try writing { (rows) throws(StoreError) in try rows.prune(olderThan: age) }
  }

  /// Copies a database, even while a server uses it; throws if `target` exists.
  package static func backup(of source: String, to target: String) throws(StoreError) {
    guard FileManager.default.fileExists(atPath: source) else { throw .unusable("there is no database \(source)") }
    do {
      try NewFile.make(target) { partial in
        try SQLiteConnection(source).copy(to: SQLiteConnection(partial, creates: true))
      }
    } catch let error as StoreError { throw error } catch { throw .unusable("cannot copy to \(target): \(error)") }
  }

  private static let beside = ["-wal", "-shm", ".lock"]

  private static func tidy(_ file: String, _ suffixes: [String]) {
    for suffix in suffixes { try? FileManager.default.removeItem(atPath: file + suffix) }
  }

  /// Creates a database with the content that `fill` writes, all or nothing. Throws if a server or another import is running or the
  /// database is not empty.
  package static func make<T>(_ path: String, by fill: (SQLiteStore) throws -> T) throws -> T {
    // Held to the end: a second import would remove the files of the first one.
    let lock = try locked(path, for: .importing)
    defer { withExtendedLifetime(lock) {} }
    if FileManager.default.fileExists(atPath: path) {
      let store = try SQLiteStore(path: path, lock: lock, clock: { Moment.current.wall })
      defer { store.close() }
      guard try store.isEmpty else { throw StoreError.isNotEmpty }
    }
    let fresh = path + ".importing"
    tidy(fresh, [""] + beside)
    defer { tidy(fresh, [""] + beside) }
    let store = try SQLiteStore(path: fresh)
    let result = try { () throws -> T in
      defer { store.close() }
      return try fill(store)
    }()
    _ = try putInPlace(fresh, path)
    return result
  }

  /// Checks a backup and puts a copy of it at `target`. Returns the new path of the database that was there. Throws if a server is running.
  package static func restore(_ backup: String, to target: String) throws(StoreError) -> String? {
    guard FileManager.default.fileExists(atPath: backup) else { throw .unusable("there is no file \(backup)") }
    let lock = try locked(target, for: .restoring)
    defer { withExtendedLifetime(lock) {} }
    return try putInPlace(backup, target)
  }

  /// As `restore`. The caller holds the lock of `target`.
  private static func putInPlace(_ backup: String, _ target: String) throws(StoreError) -> String? {
    let fresh = target + ".restoring"
    tidy(fresh, [""] + beside)
    defer { tidy(fresh, [""] + beside) }
    try translating(target) {
      // A backup copied from the folder of a running server has most of its data in the `-wal` file.
      for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: backup + suffix) {
        try FileManager.default.copyItem(atPath: backup + suffix, toPath: fresh + suffix)
        chmod(fresh + suffix, 0o600)
      }
    }
    try check(fresh, named: backup)
    // The store that checked the backup is closed, so all data is in `fresh`, and the files beside it are empty.
    tidy(fresh, beside)
    return try translating(target) {
      let folder = (target as NSString).deletingLastPathComponent
      var aside: String?
      try NewFile.sync(fresh)
      if FileManager.default.fileExists(atPath: target) {
        let old = target + ".before-restore-\(Int(Date().timeIntervalSince1970))"
        // Copy the old WAL into the old database first, so that a crash while the files are moved leaves a whole database. If this fails
        // because the old database is damaged, the database keeps its WAL.
        _ = try? SQLiteConnection(target).run("PRAGMA wal_checkpoint(TRUNCATE)")
        for suffix in ["-wal", "-shm"] where FileManager.default.fileExists(atPath: target + suffix) {
          try FileManager.default.moveItem(atPath: target + suffix, toPath: old + suffix)
        }
        // A hard link, so that a database exists at `target` at each instant.
        if link(target, old) != 0 { try FileManager.default.moveItem(atPath: target, toPath: old) }
        aside = old
      }
      guard rename(fresh, target) == 0 else {
        throw StoreError.unusable("cannot make \(target): \(String(cString: strerror(errno)))")
      }
      try NewFile.sync(folder)
      return aside
    }
  }

  private static func check(_ file: String, named name: String) throws(StoreError) {
    // Opening a file as a store would create tables in any SQLite file, so test first.
    let isOurs = try translating(name) {
      try SQLiteConnection(file).run("SELECT 1 FROM sqlite_master WHERE name = 'match'") { $0.int(0) } == [1]
    }
    guard isOurs else { throw .unusable("\(name) is not a database of alina-server") }
    let store = try SQLiteStore(path: file)
    defer { store.close() }
    let verdict = try store.reading { (rows) throws(StoreError) in
      try rows.run("PRAGMA integrity_check") { $0.text(0) }
    }
    guard verdict == ["ok"] else { throw .unusable("\(name): \(verdict.first ?? "damaged")") }
    for id in try store.matchIDs() {
      guard let stored = try store.match(id) else { continue }
      do throws(ProtocolError) { _ = try stored.folded() } catch {
        throw .unusable("\(name): the log of match \(id) is broken: \(error.message)")
      }
    }
  }

  /// Sets `synchronous` to NORMAL, so that the power-cut test can prove that it detects lost units.
  package func weaken() throws(StoreError) {
    writes.lock()
    defer { writes.unlock() }
    try writer().run("PRAGMA synchronous = NORMAL")
  }
}

extension StoreQuestion {
  fileprivate var isHeartbeat: Bool { if case .heartbeat = self { true } else { false } }
  /// Whether the question changes the file, which does not contain heartbeats.
  fileprivate var writes: Bool { changes && !isHeartbeat }
}
