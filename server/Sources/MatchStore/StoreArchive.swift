import Base
import Foundation
import MatchProtocol

/// Exports and imports a store as text: one JSON object a line, every match with the hash of its log, so that readers can verify it.
package enum StoreArchive {
  package struct Summary: Sendable, Hashable {
    /// The number of accounts, without guests.
    package var accounts = 0
    package var matches = 0
    package var events = 0
    /// The matches that were not exported, each with the fault in its log.
    package var broken: [MatchID: String] = [:]
  }

  /// Exports named accounts and all matches, but neither sessions nor guests.
  package static func export(_ store: any MatchStore, to write: (Data) throws -> Void) throws -> Summary {
    var (summary, end) = (Summary(), ArchiveEnd())
    func put(_ line: [UInt8]) throws {
      end.count(line)
      try write(Data(line))
    }
    try put(Archive().bytes(isLine: true))
    for account in try store.accounts() where !account.guest {
      try put(account.bytes(isLine: true))
      summary.accounts += 1
    }
    for id in try store.matchIDs() {
      guard let stored = try store.match(id) else { continue }
      let hash: LogHash
      do throws(ProtocolError) { hash = try stored.folded().hash } catch {
        summary.broken[id] = error.message
        continue
      }
      try put(ArchivedMatch(stored, hash).bytes(capacity: 2048, isLine: true))
      summary.matches += 1
      summary.events += stored.bodies.count
    }
    try write(Data(end.bytes(isLine: true)))
    return summary
  }

  /// Calls `each` with each line of an archive, without its newline. The function must be repeatable: `load` reads every line twice.
  package typealias Lines = (_ each: ([UInt8]) throws -> Void) throws -> Void

  /// The longest line in bytes, 16 MiB. A match of 81 plies, with draw offers and absences, has some 100 KiB at most.
  private static let longestLine = 16 << 20

  package static func lines(of path: String) -> Lines {
    { each in
      func failure() -> StoreError { .unusable("cannot read \(path): \(String(cString: strerror(errno)))") }
      let descriptor = open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw failure() }
      defer { close(descriptor) }
      var (framer, chunk) = (LineFramer(limit: longestLine), [UInt8](repeating: 0, count: 1 << 16))
      while true {
        let count = read(descriptor, &chunk, chunk.count)
        guard count >= 0 else { throw failure() }
        // At the end of the file, feed a newline: the last line may lack its own.
        if count == 0 { chunk[0] = UInt8(ascii: "\n") }
        var problem: (any Error)?
        chunk.withUnsafeBytes { bytes in
          framer.feed(UnsafeRawBufferPointer(rebasing: bytes[..<max(1, count)])) { piece in
            do {
              guard case .line(let line) = piece else { throw StoreError.unusable("\(path): a line is too long") }
              try each(Array(line))
            } catch { problem = error }
            return problem == nil
          }
        }
        if let problem { throw problem }
        if count == 0 { return }
      }
    }
  }

  /// Imports an archive into an empty store. Stores nothing unless a first pass over the archive finds every match's hash right and no line
  /// missing. Renews each account's expiry, as a login does.
  package static func load(_ lines: @escaping Lines, into store: any MatchStore) throws -> Summary {
    guard try store.isEmpty else { throw StoreError.isNotEmpty }
    let summary = try parse(lines) { entry in if case .match(let match) = entry { try match.check() } }
    var (accounts, matches): ([AccountRecord], [StoreUnit]) = ([], [])
    func flush() throws {
      for (unit, verdict) in zip(matches, store.apply(matches)) {
        if case .applied = verdict { continue }
        throw StoreError.unusable("match \(unit.logs[0].m) was not stored: \(verdict)")
      }
      // Add the accounts last: the store then numbers new accounts above all ids in the stored matches, which include guests.
      do throws(StoreError) { try store.add(accounts) } catch {
        throw StoreError.unusable("an account was not stored: \(error)")
      }
      (accounts, matches) = ([], [])
    }
    let stored = try parse(lines) { entry in
      switch entry {
      case .account(var account):
        account.tokenExpires = max(account.tokenExpires, Moment.current.wall + Lifetimes.usual.account)
        accounts.append(account)
      case .match(let match):
        matches.append(
          StoreUnit(logs: [.init(match.record.id, after: 0, match.bodies, record: match.record)]))
      }
      if accounts.count + matches.count >= 100 { try flush() }
    }
    if accounts.count + matches.count > 0 { try flush() }
    guard stored == summary else { throw StoreError.unusable("the archive was changed while it was read") }
    return summary
  }

  private enum Entry {
    case account(AccountRecord)
    case match(ArchivedMatch)
  }

  /// Throws if a line is unreadable, `each` throws, or the archive's end is missing.
  private static func parse(_ lines: @escaping Lines, _ each: (Entry) throws -> Void) throws -> Summary {
    var summary = Summary()
    var version: Int?
    var (end, isWhole) = (ArchiveEnd(), false)
    var number = 0
    try lines { line in
      number += 1
      do {
        let fields = try JSONObject(line: line, with: "archive")
        if isWhole { throw ProtocolError.inconsistent("a line behind the end of the archive") }
        if version == nil {
          version = try ProtocolError.fields { () throws(FieldError) in try Archive(fields) }.version
        } else if fields["end"] != nil {
          isWhole = try ProtocolError.fields { () throws(FieldError) in try ArchiveEnd(fields) } == end
          return
        } else if fields["account"] != nil {
          try each(.account(try ProtocolError.fields { () throws(FieldError) in try AccountRecord(fields) }))
          summary.accounts += 1
        } else {
          let match = try ProtocolError.fields { () throws(FieldError) in try ArchivedMatch(fields) }
          try each(.match(match))
          summary.matches += 1
          summary.events += match.events.count
        }
      } catch let error as ProtocolError { throw StoreError.unusable("line \(number): \(error.message)") }
      end.count(line + [UInt8(ascii: "\n")])
    }
    guard let version else { throw StoreError.unusable("line 1: not an archive") }
    guard version == 1 || isWhole else {
      throw StoreError.unusable("the archive is incomplete: its end is missing or does not match; export it again")
    }
    return summary
  }
}

extension StoreError {
  package static let isNotEmpty = StoreError.unusable("the store is not empty; import into a new one")
}

extension MatchStore {
  package var isEmpty: Bool {
    get throws(StoreError) {
      guard try accounts().isEmpty else { return false }
      return try matchIDs().isEmpty
    }
  }
}

private struct Archive: FieldObject {
  var version = 2

  mutating func code(_ c: inout FieldCoder) throws(FieldError) {
    let name = try c.field("archive", "alina")
    version = try c.field("version", version)
    try c.require(name == "alina", "archive", "alina")
    try c.require((1...2).contains(version), "version", "1 or 2")
  }
}

/// The last line of an archive, which shows whether earlier lines are missing. Archives of version 1 do not have this line.
private struct ArchiveEnd: FieldObject, Equatable {
  /// The number of earlier lines, and the hash of their bytes.
  private var lines = 0
  private var hash = SHA256.hash([])
  private var hasher = SHA256()

  init() {}

  mutating func count(_ line: [UInt8]) {
    lines += 1
    hasher.update(line)
    hash = hasher.digest
  }

  mutating func code(_ c: inout FieldCoder) throws(FieldError) {
    try c.code("end", &lines)
    try c.code("hash", &hash)
  }

  static func == (a: ArchiveEnd, b: ArchiveEnd) -> Bool { a.lines == b.lines && a.hash == b.hash }
}

/// An account in an archive, which contains only named accounts.
extension AccountRecord: FieldObject {
  package init() { self.init(id: 0, name: "", guest: false, token: nil, tokenExpires: 0) }

  package mutating func code(_ c: inout FieldCoder) throws(FieldError) {
    try c.code("account", &id)
    try c.require((1..<1 << 53).contains(id), "account", "1 to 2^53 - 1")
    try c.code("name", &name)
    try c.code("token", &token)
    try c.code("token_expires", &tokenExpires)
    let numbers = try c.field(
      "rating", [self.rating.value, self.rating.deviation, self.rating.volatility].map { "\($0)" })
    let read = numbers.compactMap { Double($0) }
    let isSound = read.allSatisfy { abs($0) <= AccountRecord.mostRating }
    try c.require(read.count == 3 && isSound, "rating", "rating, deviation and volatility")
    self.rating = .init(value: read[0], deviation: read[1], volatility: read[2])
    try c.code("rated_at", &self.ratedAt, or: 0)
    let results = try c.field("results", [self.won, self.drawn, self.lost, xBalance])
    try c.require(results.count == 4, "results", "won, drawn, lost and the balance of sides")
    (self.won, self.drawn, self.lost, xBalance) = (results[0], results[1], results[2], results[3])
    otherGames = try c.field("games", otherGames, unless: [])
    try c.code("quiet", &quiet, or: false)
    try c.code("muted", &muted, or: false)
    try c.code("banned", &banned, or: false)
    try c.code("blocked", &blocked, or: [])
  }
}

private struct ArchivedMatch: FieldObject {
  private(set) var record = MatchRecord(id: .blank, x: nil, o: nil, created: 0)
  private var hash = SHA256.hash([])
  /// The encoded events as strings, so that the bytes that were hashed stay the same.
  private(set) var events: [String] = []

  init() {}

  init(_ stored: StoredMatch, _ hash: LogHash) {
    (record, self.hash) = (stored.record, hash.digest)
    events = stored.bodies.map { String(decoding: $0, as: UTF8.self) }
  }

  mutating func code(_ c: inout FieldCoder) throws(FieldError) {
    try c.code("match", &record.id)
    try c.code("x", &record.x)
    try c.code("o", &record.o)
    try c.code("opener", &record.opener)
    try c.code("code", &record.code)
    try c.code("created", &record.created)
    try c.code("ended", &record.ended)
    try c.code("hash", &hash)
    try c.code("events", &events)
  }

  var bodies: [[UInt8]] { events.map { Array($0.utf8) } }

  func check() throws(ProtocolError) {
    var state = MatchState(id: record.id)
    for body in bodies {
      do throws(ProtocolError) { try state.append(body: body) } catch {
        throw .inconsistent("match \(record.id): \(error.message)")
      }
    }
    guard state.hash.digest == hash else { throw .inconsistent("match \(record.id) does not have its hash") }
  }
}
