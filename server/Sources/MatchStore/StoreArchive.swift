import Base
import Foundation
import MatchProtocol

/// Exports and imports a store's content as text: one JSON object a line, every log with its hash, so that readers can
/// verify it and any kind of store can import it.
package enum StoreArchive {
  /// The numbers of exported or imported items.
  package struct Summary: Sendable, Hashable {
    /// Accounts, without guests.
    package var accounts = 0
    package var matches = 0
    package var events = 0
    /// Matches that were not exported, with the inconsistency of their logs.
    package var broken: [MatchID: String] = [:]
  }

  /// Writes named accounts and all matches, a line at a time. Sessions and guest accounts are not exported.
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

  /// Imports an archive into an empty store, all or nothing: every log must fold to its hash, and the last line must
  /// match the others. Archives of version 1 lack that line. The import counts as a use of each account.
  package static func load(_ lines: some Sequence<Substring>, into store: any MatchStore) throws -> Summary {
    guard try store.isEmpty else { throw StoreError.isNotEmpty }
    var summary = Summary()
    var accounts: [AccountRecord] = []
    var matches: [StoreUnit] = []
    var version: Int?
    var (end, isWhole) = (ArchiveEnd(), false)
    var names: Set<String> = []
    var ids: Set<MatchID> = []
    for (i, text) in lines.enumerated() where !text.isEmpty {
      do throws(ProtocolError) {
        let fields = try JSONObject(line: Array(text.utf8), with: "archive")
        if isWhole { throw .inconsistent("a line behind the end of the archive") }
        if version == nil {
          version = try ProtocolError.fields { () throws(FieldError) in try Archive(fields) }.version
        } else if fields["end"] != nil {
          isWhole = try ProtocolError.fields { () throws(FieldError) in try ArchiveEnd(fields) } == end
          continue
        } else if fields["account"] != nil {
          var account = try ProtocolError.fields { () throws(FieldError) in try AccountRecord(fields) }
          guard names.insert(account.name.lowercased()).inserted else {
            throw .inconsistent("a second account \(account.name)")
          }
          account.tokenExpires = max(account.tokenExpires, Moment.current.wall + Lifetimes.usual.account)
          accounts.append(account)
          summary.accounts += 1
        } else {
          let stored = try ProtocolError.fields { () throws(FieldError) in try ArchivedMatch(fields) }.checked()
          guard ids.insert(stored.record.id).inserted else {
            throw .inconsistent("a second match \(stored.record.id)")
          }
          matches.append(StoreUnit(logs: [.init(stored.record.id, after: 0, stored.bodies, record: stored.record)]))
          summary.matches += 1
          summary.events += stored.bodies.count
        }
      } catch { throw StoreError.unusable("line \(i + 1): \(error.message)") }
      end.count(Array(text.utf8) + [UInt8(ascii: "\n")])
    }
    guard let version else { throw StoreError.unusable("line 1: not an archive") }
    guard version == 1 || isWhole else {
      throw StoreError.unusable("the archive is not whole: its end is missing or does not fit; export it again")
    }
    try store.add(accounts)
    for start in stride(from: 0, to: matches.count, by: 100) {
      let some = Array(matches[start..<min(start + 100, matches.count)])
      for (unit, verdict) in zip(some, store.apply(some)) {
        if case .applied = verdict { continue }
        throw StoreError.unusable("match \(unit.logs[0].m) was not stored: \(verdict)")
      }
    }
    return summary
  }
}

extension StoreError {
  static let isNotEmpty = StoreError.unusable("the store is not empty; import into a new one")
}

extension MatchStore {
  /// Whether the store has neither accounts nor matches.
  var isEmpty: Bool {
    get throws(StoreError) {
      guard try accounts().isEmpty else { return false }
      return try matchIDs().isEmpty
    }
  }
}

/// The first line of an archive.
private struct Archive: FieldObject {
  var version = 2

  mutating func code(_ c: inout FieldCoder) throws(FieldError) {
    let name = try c.field("archive", "alina")
    version = try c.field("version", version)
    try c.require(name == "alina", "archive", "alina")
    try c.require((1...2).contains(version), "version", "1 or 2")
  }
}

/// The last line of an archive, which reveals a truncation.
private struct ArchiveEnd: FieldObject, Equatable {
  /// The number of lines before this line, and the hash of their bytes.
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

/// An account in an archive, which contains only named ones.
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

/// A match in an archive.
private struct ArchivedMatch: FieldObject {
  private var record = MatchRecord(id: .blank, x: nil, o: nil, created: 0)
  private var hash = SHA256.hash([])
  /// The encoded events as strings, whose bytes are preserved exactly.
  private var events: [String] = []

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

  /// Returns the match; throws if its log is inconsistent or has another hash.
  func checked() throws(ProtocolError) -> StoredMatch {
    var state = MatchState(id: record.id)
    let bodies = events.map { Array($0.utf8) }
    for body in bodies {
      do throws(ProtocolError) { try state.append(body: body) } catch {
        throw .inconsistent("match \(record.id): \(error.message)")
      }
    }
    guard state.hash.digest == hash else { throw .inconsistent("match \(record.id) does not have its hash") }
    return StoredMatch(record: record, bodies: bodies)
  }
}
