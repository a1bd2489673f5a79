import Foundation
import GRDB
import MatchProtocol
import Synchronization
import TicTacToe

/// The store of one server process: a SQLite file in WAL mode whose commits are synced to the disk before they return.
///
/// `commit` may be called from one thread at a time, the readers from any. A lock file beside the database keeps a
/// second server out.
public final class SQLiteStore: MatchStore {
  /// The schema this build writes.
  static let version = 2
  /// The oldest build that can read what this one writes; raised only when a migration takes something away.
  static let minReader = 1

  private let path: String
  private let lock: FileLock
  private let pool: Mutex<DatabasePool?>

  /// Opens or creates the file, brings its schema up to date and takes the lock; throws if another process has it, if
  /// the file is damaged, or if only newer builds may read it.
  public init(path: String) throws(StoreError) {
    self.path = path
    let folder = (path as NSString).deletingLastPathComponent
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    } catch { throw .unusable("cannot make the folder \(folder): \(error.localizedDescription)") }
    lock = try FileLock(path: path + ".lock")
    pool = Mutex(nil)
    let opened = try SQLiteStore.open(path)
    pool.withLock { $0 = opened }
  }

  private static func open(_ path: String) throws(StoreError) -> DatabasePool {
    try translating(path) {
      var configuration = Configuration()
      configuration.maximumReaderCount = 4
      configuration.busyMode = .timeout(5)
      let pool = try DatabasePool(path: path, configuration: configuration)
      // GRDB sets NORMAL for WAL databases when it opens them, which a power cut can undo; so this comes after it, and
      // outside a transaction, where it would have no effect.
      try pool.writeWithoutTransaction { db in
        try db.execute(sql: "PRAGMA synchronous = FULL")
        guard try Int.fetchOne(db, sql: "PRAGMA synchronous") == 2,
          try String.fetchOne(db, sql: "PRAGMA journal_mode") == "wal"
        else { throw StoreError.unusable("\(path): SQLite refuses WAL with synchronous=FULL") }
        // The pages of all live matches are written again and again: they stay in memory (64 MiB), and go from the log to
        // the database once in 8,192 pages (32 MiB) instead of once in 1,000, which is every few commits under load.
        try db.execute(sql: "PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 8192")
      }
      try SQLiteMigrations.run(pool, path: path)
      return pool
    }
  }

  /// Runs SQL and turns what it throws into our errors.
  static func translating<T>(_ path: String, _ body: () throws -> T) throws(StoreError) -> T {
    do {
      return try body()
    } catch let error as StoreError {
      throw error
    } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
      throw .conflict(error.description)
    } catch let error as DatabaseError
      where error.resultCode == .SQLITE_NOTADB || error.resultCode == .SQLITE_CORRUPT
      || error.resultCode == .SQLITE_CANTOPEN
    {
      throw .unusable("\(path): \(error.message ?? "damaged")")
    } catch { throw .unknownOutcome("\(path): \(error)") }
  }

  private func current() throws(StoreError) -> DatabasePool {
    guard let pool = pool.withLock({ $0 }) else { throw .unusable("\(path) is closed") }
    return pool
  }

  /// Stores a batch in one SQLite transaction: one sync for all of it.
  public func commit(_ batch: [StoreTransaction]) throws(StoreError) {
    let pool = try current()
    try SQLiteStore.translating(path) {
      try pool.writeWithoutTransaction { db in
        try db.inTransaction(.immediate) {
          for transaction in batch { for write in transaction.writes { try SQLiteStore.apply(write, db) } }
          return .commit
        }
      }
    }
  }

  private static func apply(_ write: StoreWrite, _ db: Database) throws {
    switch write {
    case .account(let account): try AccountRow.put(account, db)
    case .score(let score): try AccountRow.add(score, db)
    case .deleteAccount(let id):
      try db.cachedStatement(sql: "DELETE FROM session WHERE account = ?").execute(arguments: [id])
      try db.cachedStatement(sql: "DELETE FROM account WHERE id = ?").execute(arguments: [id])
    case .session(let session):
      try db.cachedStatement(
        sql: """
          INSERT INTO session (id, account, resume, previous, expires) VALUES (?, ?, ?, ?, ?)
          ON CONFLICT (id) DO UPDATE SET account = excluded.account, resume = excluded.resume,
            previous = excluded.previous, expires = excluded.expires
          """
      ).run(db) {
        $0.add(session.id)
        $0.add(session.account)
        $0.add(session.resume)
        $0.add(session.previous)
        $0.add(session.expires)
      }
    case .deleteSession(let id):
      try db.cachedStatement(sql: "DELETE FROM session WHERE id = ?").execute(arguments: [id])
    case .match(let record):
      try db.cachedStatement(
        sql: """
          INSERT INTO match (id, x, o, opener, code, created, ended, seq) VALUES (?, ?, ?, ?, ?, ?, ?, 0)
          ON CONFLICT (id) DO UPDATE SET x = excluded.x, o = excluded.o, opener = excluded.opener,
            code = excluded.code, ended = excluded.ended
          """
      ).run(db) {
        $0.add(record.id.rawValue)
        $0.add(record.x)
        $0.add(record.o)
        $0.add(record.opener)
        $0.add(record.code)
        $0.add(record.created)
        $0.add(record.ended)
      }
    case .append(let m, let after, let events):
      try db.cachedStatement(sql: "UPDATE match SET seq = seq + ? WHERE id = ? AND seq = ?").run(db) {
        $0.add(events.count)
        $0.add(m.rawValue)
        $0.add(after)
      }
      guard db.changesCount == 1, events.first.map({ $0.seq == after + 1 }) ?? true else {
        throw StoreError.conflict("match \(m) does not have \(after) events")
      }
      let insert = try db.cachedStatement(
        sql: "INSERT INTO match_event (match_id, seq, side, mid, body) VALUES (?, ?, ?, ?, ?)")
      for event in events {
        try insert.run(db) {
          $0.add(m.rawValue)
          $0.add(event.seq)
          $0.add(event.side?.wire ?? "")
          $0.add(event.mid)
          $0.add(event.body)
        }
      }
    }
  }

  /// Reads everything but finished matches.
  public func recover() throws(StoreError) -> Recovery {
    let pool = try current()
    return try SQLiteStore.translating(path) {
      try pool.read { db in
        var recovery = Recovery()
        recovery.accounts = try AccountRow.all(db)
        recovery.lastAccount =
          try Int64.fetchOne(
            db,
            sql: """
              SELECT max(coalesce((SELECT max(id) FROM account), 0), coalesce((SELECT max(x) FROM match), 0),
                coalesce((SELECT max(o) FROM match), 0), coalesce((SELECT max(opener) FROM match), 0))
              """) ?? 0
        recovery.sessions = try Row.fetchAll(db, sql: "SELECT * FROM session ORDER BY id").compactMap { row in
          guard let resume = SHA256.Digest(bytes: row["resume"] as Data) else { return nil }
          let previous = (row["previous"] as Data?).flatMap { SHA256.Digest(bytes: $0) }
          return SessionRecord(
            id: row["id"], account: row["account"], resume: resume, previous: previous, expires: row["expires"])
        }
        let live = try Row.fetchAll(db, sql: "SELECT * FROM match WHERE ended IS NULL ORDER BY id")
        recovery.matches = try live.compactMap { try SQLiteStore.stored($0, db) }
        return recovery
      }
    }
  }

  private static func stored(_ row: Row, _ db: Database) throws -> StoredMatch? {
    guard let id = MatchID(rawValue: row["id"]) else { return nil }
    var record = MatchRecord(
      id: id, x: row["x"], o: row["o"], opener: row["opener"], code: row["code"], created: row["created"])
    record.ended = row["ended"]
    let events = try Row.fetchAll(
      db, sql: "SELECT seq, side, mid, body FROM match_event WHERE match_id = ? ORDER BY seq", arguments: [id.rawValue])
    return StoredMatch(
      record: record,
      events: events.map {
        StoredEvent(
          seq: $0["seq"], side: Player(wire: $0["side"] as String), mid: $0["mid"], body: Array($0["body"] as Data))
      })
  }

  /// Reads one match.
  public func match(_ id: MatchID) throws(StoreError) -> StoredMatch? {
    let pool = try current()
    return try SQLiteStore.translating(path) {
      try pool.read { db in
        try Row.fetchOne(db, sql: "SELECT * FROM match WHERE id = ?", arguments: [id.rawValue])
          .flatMap { try SQLiteStore.stored($0, db) }
      }
    }
  }

  /// Reads finished matches of an account by an index on each seat.
  public func history(of account: Int64, before: Int64, limit: Int) throws(StoreError) -> [StoredMatch] {
    let pool = try current()
    return try SQLiteStore.translating(path) {
      try pool.read { db in
        let rows = try Row.fetchAll(
          db,
          sql: """
            SELECT * FROM match WHERE (x = ?1 OR o = ?1) AND ended < ?2 ORDER BY ended DESC, id DESC LIMIT ?3
            """, arguments: [account, before, limit])
        return try rows.compactMap { try SQLiteStore.stored($0, db) }
      }
    }
  }

  /// Every match id, in order.
  public func matchIDs() throws(StoreError) -> [MatchID] {
    let pool = try current()
    return try SQLiteStore.translating(path) {
      try pool.read { db in
        try String.fetchAll(db, sql: "SELECT id FROM match ORDER BY id").compactMap { MatchID(rawValue: $0) }
      }
    }
  }

  /// Drops old logs.
  public func prune(before: Int64) throws(StoreError) -> Int {
    let pool = try current()
    return try SQLiteStore.translating(path) {
      try pool.write { db in
        try db.execute(
          sql: "DELETE FROM match_event WHERE match_id IN (SELECT id FROM match WHERE ended < ?)", arguments: [before])
        try db.execute(sql: "DELETE FROM match WHERE ended < ?", arguments: [before])
        return db.changesCount
      }
    }
  }

  /// Closes the file and opens it again, so that what is in memory is what is on the disk: after a failed sync the old
  /// handle cannot be trusted.
  public func reopen() throws(StoreError) {
    let old = pool.withLock { pool in
      defer { pool = nil }
      return pool
    }
    try? old?.close()
    let opened = try SQLiteStore.open(path)
    pool.withLock { $0 = opened }
  }

  /// Closes the file; the lock goes with the object.
  public func close() {
    let old = pool.withLock { pool in
      defer { pool = nil }
      return pool
    }
    try? old?.close()
  }

  /// Copies a database, page by page, also while a server uses it; throws if `target` exists.
  public static func backup(of source: String, to target: String) throws(StoreError) {
    guard FileManager.default.fileExists(atPath: source) else { throw .unusable("there is no database \(source)") }
    guard !FileManager.default.fileExists(atPath: target) else {
      throw .unusable("\(target) exists; name a file that does not")
    }
    let partial = target + ".partial"
    try? FileManager.default.removeItem(atPath: partial)
    try translating(target) {
      var readOnly = Configuration()
      readOnly.busyMode = .timeout(5)
      let live = try DatabaseQueue(path: source, configuration: readOnly)
      let copy = try DatabaseQueue(path: partial)
      try live.backup(to: copy)
      try copy.close()
      try live.close()
      try FileManager.default.moveItem(atPath: partial, toPath: target)
    }
  }

  /// Checks a backup (integrity, version, and that every log folds) and puts it in the place of the database; returns
  /// where the old one was put aside, if there was one. Throws, with nothing changed, if a server is running.
  public static func restore(_ backup: String, to target: String) throws(StoreError) -> String? {
    guard FileManager.default.fileExists(atPath: backup) else { throw .unusable("there is no file \(backup)") }
    let fresh = target + ".restoring"
    for suffix in ["", "-wal", "-shm", ".lock"] { try? FileManager.default.removeItem(atPath: fresh + suffix) }
    try translating(target) {
      try FileManager.default.createDirectory(
        atPath: (target as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
      try FileManager.default.copyItem(atPath: backup, toPath: fresh)
    }
    try check(fresh)
    let lock = try FileLock(path: target + ".lock")
    defer { withExtendedLifetime(lock) {} }
    return try translating(target) {
      var aside: String?
      if FileManager.default.fileExists(atPath: target) {
        let old = target + ".before-restore-\(Int(Date().timeIntervalSince1970))"
        for suffix in ["-wal", "-shm"] where FileManager.default.fileExists(atPath: target + suffix) {
          try FileManager.default.moveItem(atPath: target + suffix, toPath: old + suffix)
        }
        try FileManager.default.moveItem(atPath: target, toPath: old)
        aside = old
      }
      try FileManager.default.moveItem(atPath: fresh, toPath: target)
      return aside
    }
  }

  private static func check(_ file: String) throws(StoreError) {
    let store = try SQLiteStore(path: file)
    let pool = try store.current()
    let verdict = try translating(file) { try pool.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } }
    guard verdict == "ok" else { throw .unusable("\(file): \(verdict ?? "damaged")") }
    for id in try store.matchIDs() {
      guard let stored = try store.match(id) else { continue }
      do throws(ProtocolError) { _ = try Match(stored) } catch { throw .unusable("\(file): \(error.message)") }
    }
    store.close()
    // The checked file is closed and complete in itself: what is left beside it is empty.
    for suffix in ["-wal", "-shm", ".lock"] { try? FileManager.default.removeItem(atPath: file + suffix) }
  }

  /// What a test wants to know of the writer's connection: `synchronous` and `journal_mode`.
  func pragmas() throws(StoreError) -> (synchronous: Int?, journal: String?) {
    let pool = try current()
    return try SQLiteStore.translating(path) {
      try pool.writeWithoutTransaction { db in
        (try Int.fetchOne(db, sql: "PRAGMA synchronous"), try String.fetchOne(db, sql: "PRAGMA journal_mode"))
      }
    }
  }

  /// Lets the power-cut test prove that it would notice: NORMAL is what FULL is there to prevent.
  public func weaken() throws(StoreError) {
    let pool = try current()
    try SQLiteStore.translating(path) {
      try pool.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA synchronous = NORMAL") }
    }
  }
}
