import CSQLite
import Foundation
import MatchProtocol
import Synchronization
import TicTacToe

/// The store of one server process: a SQLite file in WAL mode whose commits are synced to the disk before they return.
///
/// `commit` may be called from one thread at a time, the readers from any. A lock file beside the database keeps a
/// second server out.
package final class SQLiteStore: MatchStore {
  /// The schema this build writes.
  static let version = 4
  /// The oldest build that can read what this one writes; raised when a migration takes something away, or when an older
  /// build would misread what is written: the moves of another game it would take for classic ones.
  static let minReader = 4

  private struct Connections {
    var writer: SQLiteConnection
    /// Those that nobody is reading with now.
    var readers: [SQLiteConnection] = []
  }

  private let path: String
  private let lock: FileLock
  private let open = Mutex<Connections?>(nil)
  /// Held by who writes: SQLite itself would only have the second try again for a while.
  private let writes = NSLock()

  /// Opens or creates the file, brings its schema up to date and takes the lock; throws if another process has it, if
  /// the file is damaged, or if only newer builds may read it.
  package init(path: String) throws(StoreError) {
    self.path = path
    try SQLiteStore.makeFolder(of: path)
    lock = try FileLock(path: path + ".lock")
    try reopen()
  }

  /// Makes the folder of a file, for its owner only, if it is not there.
  private static func makeFolder(of path: String) throws(StoreError) {
    let folder = (path as NSString).deletingLastPathComponent
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch { throw .unusable("cannot make the folder \(folder): \(error.localizedDescription)") }
  }

  private static func opened(_ path: String) throws(StoreError) -> SQLiteConnection {
    try translating(path) {
      let db = try SQLiteConnection(path, creates: true)
      let mode = try db.run("PRAGMA journal_mode = WAL") { $0.text(0) }
      // Outside a transaction, where it would have no effect.
      try db.execute("PRAGMA synchronous = FULL")
      guard mode == ["wal"], try db.run("PRAGMA synchronous", row: { $0.int(0) }) == [2] else {
        throw StoreError.unusable("\(path): SQLite refuses WAL with synchronous=FULL")
      }
      // The pages of all live matches are written again and again: they stay in memory (64 MiB), and go from the log to
      // the database once in 8,192 pages (32 MiB) instead of once in 1,000, which is every few commits under load.
      try db.execute("PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 8192")
      try SQLiteMigrations.run(db, path: path)
      return db
    }
  }

  /// Runs SQL and turns what it throws into our errors.
  static func translating<T>(_ path: String, _ body: () throws -> T) throws(StoreError) -> T {
    do {
      return try body()
    } catch let error as StoreError {
      throw error
    } catch let error as SQLiteError where error.code == SQLITE_CONSTRAINT {
      throw .conflict(error.description)
    } catch let error as SQLiteError where [SQLITE_NOTADB, SQLITE_CORRUPT, SQLITE_CANTOPEN].contains(error.code) {
      throw .unusable("\(path): \(error.message)")
    } catch { throw .unknownOutcome("\(path): \(error)") }
  }

  private var closed: StoreError { .unusable("\(path) is closed") }

  /// Gives the writing connection to one thread at a time.
  private func writing<T>(_ body: (SQLiteConnection) throws -> T) throws(StoreError) -> T {
    writes.lock()
    defer { writes.unlock() }
    guard let db = open.withLock({ $0?.writer }) else { throw closed }
    return try SQLiteStore.translating(path) { try body(db) }
  }

  /// Gives a connection to look with, which sees one state of everything.
  private func reading<T>(_ body: (SQLiteConnection) throws -> T) throws(StoreError) -> T {
    let (writer, free) = open.withLock { ($0?.writer, $0?.readers.popLast()) }
    guard let writer else { throw closed }
    return try SQLiteStore.translating(path) {
      let db = try free ?? SQLiteConnection(path)
      // Not where the file has been opened anew meanwhile.
      defer { open.withLock { if $0?.writer === writer { $0?.readers.append(db) } } }
      return try db.look { try body(db) }
    }
  }

  /// Stores a batch in one SQLite transaction: one sync for all of it.
  package func commit(_ batch: [StoreTransaction]) throws(StoreError) {
    try writing { db in
      try db.transact {
        for transaction in batch { for write in transaction.writes { try SQLiteStore.apply(write, db) } }
      }
    }
  }

  private static func apply(_ write: StoreWrite, _ db: SQLiteConnection) throws {
    switch write {
    case .account(let account): try AccountRow.put(account, db)
    case .score(let score): try AccountRow.add(score, db)
    case .deleteAccount(let id):
      try db.run("DELETE FROM session WHERE account = ?", .int(id))
      try db.run("DELETE FROM standing WHERE account = ?", .int(id))
      try db.run("DELETE FROM account WHERE id = ?", .int(id))
    case .session(let session):
      try db.run(
        """
        INSERT INTO session (id, account, resume, previous, expires) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET account = excluded.account, resume = excluded.resume,
          previous = excluded.previous, expires = excluded.expires
        """, .text(session.id), .int(session.account), .blob(session.resume), .blob(session.previous),
        .int(session.expires))
    case .deleteSession(let id): try db.run("DELETE FROM session WHERE id = ?", .text(id))
    case .match(let record):
      try db.run(
        """
        INSERT INTO match (id, x, o, opener, code, created, ended) VALUES (?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET x = excluded.x, o = excluded.o, opener = excluded.opener,
          code = excluded.code, ended = excluded.ended
        """, .text(record.id.rawValue), .int(record.x), .int(record.o), .int(record.opener), .text(record.code),
        .int(record.created), .int(record.ended))
    case .append(let m, let after, let events):
      for (i, event) in events.enumerated() {
        guard event.seq == after + i + 1 else { throw StoreError.broken([m]) }
        try db.run(
          """
          INSERT INTO event (match, seq, side, mid, body) SELECT n, ?2, ?3, ?4, ?5 FROM match
          WHERE id = ?1 AND ?2 = coalesce((SELECT max(seq) FROM event WHERE match = n), 0) + 1
          """, .text(m.rawValue), .int(event.seq), .text(event.side?.text ?? ""), .text(event.mid), .blob(event.body))
        guard db.changes == 1 else { throw StoreError.broken([m]) }
      }
    }
  }

  /// Reads everything but finished matches.
  package func recover() throws(StoreError) -> Recovery {
    try reading { db in
      var recovery = Recovery()
      recovery.accounts = try AccountRow.all(db)
      let last = try db.run(
        """
        SELECT max(coalesce((SELECT max(id) FROM account), 0), coalesce((SELECT max(x) FROM match), 0),
          coalesce((SELECT max(o) FROM match), 0), coalesce((SELECT max(opener) FROM match), 0))
        """
      ) { $0.int(0) }
      recovery.lastAccount = last.first ?? 0
      recovery.sessions = try db.run("SELECT id, account, resume, previous, expires FROM session ORDER BY id") { row in
        row.digest(2).map {
          SessionRecord(id: row.text(0), account: row.int(1), resume: $0, previous: row.digest(3), expires: row.int(4))
        }
      }.compactMap { $0 }
      let live = try db.run(
        "SELECT n, id, x, o, opener, code, created, ended FROM match WHERE ended IS NULL ORDER BY id",
        row: SQLiteStore.record)
      recovery.matches = try SQLiteStore.stored(live, db)
      return recovery
    }
  }

  /// The record in a row of `n, id, x, o, opener, code, created, ended`, and its number.
  private static func record(_ row: SQLiteRow) -> (n: Int64, record: MatchRecord)? {
    guard let id = MatchID(rawValue: row.text(1)) else { return nil }
    var record = MatchRecord(
      id: id, x: row.optionalInt(2), o: row.optionalInt(3), opener: row.optionalInt(4), code: row.optionalText(5),
      created: row.int(6))
    record.ended = row.optionalInt(7)
    return (row.int(0), record)
  }

  /// The matches of records, with their logs: as long as the number of the last event says.
  private static func stored(_ records: [(n: Int64, record: MatchRecord)?], _ db: SQLiteConnection) throws
    -> [StoredMatch]
  {
    try records.compactMap { $0 }.map { n, record in
      let events = try db.run("SELECT seq, side, mid, body FROM event WHERE match = ? ORDER BY seq", .int(n)) { row in
        StoredEvent(
          seq: Int(row.int(0)), side: Player(text: row.text(1)), mid: row.optionalText(2), body: row.bytes(3))
      }
      return StoredMatch(record: record, events: events, length: events.last?.seq)
    }
  }

  package func match(_ id: MatchID) throws(StoreError) -> StoredMatch? {
    try reading { db in
      let found = try db.run(
        "SELECT n, id, x, o, opener, code, created, ended FROM match WHERE id = ?", .text(id.rawValue),
        row: SQLiteStore.record)
      return try SQLiteStore.stored(found, db).first
    }
  }

  /// Reads finished matches of an account by an index on each seat.
  package func history(of account: Int64, before: Int64, limit: Int) throws(StoreError) -> [StoredMatch] {
    try reading { db in
      let found = try db.run(
        """
        SELECT n, id, x, o, opener, code, created, ended FROM match WHERE (x = ?1 OR o = ?1) AND ended < ?2
          AND ended >= coalesce((SELECT ended FROM match WHERE (x = ?1 OR o = ?1) AND ended < ?2
            ORDER BY ended DESC LIMIT 1 OFFSET ?3 - 1), 0)
        ORDER BY ended DESC, id DESC
        """, .int(account), .int(before), .int(limit), row: SQLiteStore.record)
      return try SQLiteStore.stored(found, db)
    }
  }

  /// Every match id, in order.
  package func matchIDs() throws(StoreError) -> [MatchID] {
    try reading { try $0.run("SELECT id FROM match ORDER BY id") { MatchID(rawValue: $0.text(0)) } }.compactMap { $0 }
  }

  /// Drops old logs, some at a time: commits go on between them, and wait for a few matches at most.
  package func prune(before: Int64) throws(StoreError) -> Int {
    var all = 0
    while true {
      let some = try writing { db in
        try db.transact {
          try db.run(
            "DELETE FROM event WHERE match IN (SELECT n FROM match WHERE ended < ? ORDER BY ended, n LIMIT 200)",
            .int(before))
          try db.run(
            "DELETE FROM match WHERE n IN (SELECT n FROM match WHERE ended < ? ORDER BY ended, n LIMIT 200)",
            .int(before))
          return db.changes
        }
      }
      guard some > 0 else { return all }
      all += some
      usleep(20_000)
    }
  }

  /// Closes the file and opens it again, so that what is in memory is what is on the disk: after a failed sync the old
  /// handle cannot be trusted.
  package func reopen() throws(StoreError) {
    close()
    let db = try SQLiteStore.opened(path)
    open.withLock { $0 = Connections(writer: db) }
  }

  /// Closes the file, into which everything has gone by then; the lock goes with the object.
  package func close() { open.withLock { $0 = nil } }

  /// Copies a database, page by page, also while a server uses it; throws if `target` exists.
  package static func backup(of source: String, to target: String) throws(StoreError) {
    guard FileManager.default.fileExists(atPath: source) else { throw .unusable("there is no database \(source)") }
    do {
      try NewFile.make(target) { partial in
        try SQLiteConnection(source).copy(to: SQLiteConnection(partial, creates: true))
      }
    } catch let error as StoreError { throw error } catch { throw .unusable("cannot copy to \(target): \(error)") }
  }

  /// Checks a backup (integrity, version, and that every log folds) and puts it in the place of the database; returns
  /// where the old one was put aside, if there was one. Throws, with nothing changed, if a server is running.
  package static func restore(_ backup: String, to target: String) throws(StoreError) -> String? {
    guard FileManager.default.fileExists(atPath: backup) else { throw .unusable("there is no file \(backup)") }
    try makeFolder(of: target)
    let lock = try FileLock(path: target + ".lock")
    defer { withExtendedLifetime(lock) {} }
    let fresh = target + ".restoring"
    func tidy(_ suffixes: [String]) {
      for suffix in suffixes { try? FileManager.default.removeItem(atPath: fresh + suffix) }
    }
    let beside = ["-wal", "-shm", ".lock"]
    tidy([""] + beside)
    defer { tidy([""] + beside) }
    try translating(target) {
      // Of a folder that was copied with its server running, much is in the file beside.
      for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: backup + suffix) {
        try FileManager.default.copyItem(atPath: backup + suffix, toPath: fresh + suffix)
        chmod(fresh + suffix, 0o600)
      }
    }
    try check(fresh, named: backup)
    // The checked file is closed and complete in itself: what is left beside it is empty.
    tidy(beside)
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

  private static func check(_ file: String, named name: String) throws(StoreError) {
    // Opened as a store, whatever it is would be made one.
    let isOurs = try translating(name) {
      try SQLiteConnection(file).run("SELECT 1 FROM sqlite_master WHERE name = 'match'") { $0.int(0) } == [1]
    }
    guard isOurs else { throw .unusable("\(name) is no database of alina-server") }
    let store = try SQLiteStore(path: file)
    defer { store.close() }
    let verdict = try store.reading { try $0.run("PRAGMA integrity_check") { $0.text(0) } }
    guard verdict == ["ok"] else { throw .unusable("\(name): \(verdict.first ?? "damaged")") }
    for id in try store.matchIDs() {
      guard let stored = try store.match(id) else { continue }
      do throws(ProtocolError) { _ = try stored.folded() } catch {
        throw .unusable("\(name): the log of match \(id) is broken: \(error.message)")
      }
    }
  }

  /// What a test wants to know of the writer's connection: `synchronous` and `journal_mode`.
  func pragmas() throws(StoreError) -> (synchronous: Int64?, journal: String?) {
    try writing { db in
      (
        try db.run("PRAGMA synchronous") { $0.int(0) }.first, try db.run("PRAGMA journal_mode") { $0.text(0) }.first
      )
    }
  }

  /// Lets the power-cut test prove that it would notice: NORMAL is what FULL is there to prevent.
  package func weaken() throws(StoreError) { try writing { try $0.execute("PRAGMA synchronous = NORMAL") } }
}
