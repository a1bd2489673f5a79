import Base
import Foundation
import MatchProtocol
import TicTacToe

/// Moving a store's content as text: one JSON object a line, every log with its hash, so that whoever reads it can
/// check it, and another kind of store can take it in.
package enum StoreArchive {
  /// What was moved.
  package struct Summary: Sendable, Hashable {
    /// Accounts, but guests'.
    package var accounts = 0
    /// Matches.
    package var matches = 0
    /// Events of all of them.
    package var events = 0
    /// Matches whose log cannot be read, which stay behind, and why.
    package var broken: [Broken] = []

    /// A match that stays behind.
    package struct Broken: Sendable, Hashable {
      /// Which.
      package var m: MatchID
      /// What is wrong with its log.
      package var why: String
    }
  }

  /// Writes named accounts and all matches, a line at a time. Sessions and guests stay behind: they end with the move.
  package static func export(_ store: any MatchStore, to write: (Data) throws -> Void) throws -> Summary {
    var summary = Summary()
    var head = JSONWriter()
    head.field("archive", "alina")
    head.field("version", 1)
    head.finishLine()
    try write(Data(head.bytes))
    for account in try store.recover().accounts where !account.guest {
      try write(Data(line(account)))
      summary.accounts += 1
    }
    for id in try store.matchIDs() {
      guard let stored = try store.match(id) else { continue }
      let hash: LogHash
      do throws(ProtocolError) { hash = try Match(stored).state.hash } catch {
        summary.broken.append(.init(m: id, why: error.message))
        continue
      }
      try write(Data(line(stored, hash)))
      summary.matches += 1
      summary.events += stored.events.count
    }
    return summary
  }

  static func line(_ account: AccountRecord) -> [UInt8] {
    var out = JSONWriter()
    out.field("account", account.id)
    out.field("name", account.name)
    out.field("token", account.token?.hex)
    out.field("token_expires", account.tokenExpires)
    out.field("rating", ["\(account.rating.value)", "\(account.rating.deviation)", "\(account.rating.volatility)"])
    out.field("rated_at", account.ratedAt)
    out.field("results", [account.won, account.drawn, account.lost, account.xBalance])
    out.field("quiet", account.quiet)
    out.field("muted", account.muted)
    out.field("banned", account.banned)
    out.field("blocked", account.blocked.map(Int.init))
    out.finishLine()
    return out.bytes
  }

  private static func line(_ stored: StoredMatch, _ hash: LogHash) -> [UInt8] {
    var out = JSONWriter(capacity: 2048)
    out.field("match", stored.record.id.rawValue)
    out.field("x", stored.record.x)
    out.field("o", stored.record.o)
    out.field("opener", stored.record.opener)
    out.field("code", stored.record.code)
    out.field("created", stored.record.created)
    out.field("ended", stored.record.ended)
    out.field("hash", hash.digest.hex)
    // As strings, so that the bytes come back exactly.
    out.field("events", stored.events.map { String(decoding: $0.body, as: UTF8.self) })
    out.finishLine()
    return out.bytes
  }

  /// Takes an archive into an empty store; every log must fold and have its hash, or nothing is taken.
  package static func load(_ lines: some Sequence<Substring>, into store: any MatchStore) throws -> Summary {
    guard try store.recover().accounts.isEmpty, try store.matchIDs().isEmpty else {
      throw StoreError.unusable("the store is not empty; import into a new one")
    }
    var summary = Summary()
    var taken: [StoreTransaction] = []
    var isHeaded = false
    var names: Set<String> = []
    for (i, text) in lines.enumerated() where !text.isEmpty {
      func wrong(_ what: String) -> StoreError { .unusable("line \(i + 1): \(what)") }
      let value: JSON
      do throws(JSONError) {
        value = try JSONParser.parse(Array(text.utf8), maxDepth: Limits.depth)
      } catch { throw wrong("\(error.reason.rawValue) at byte \(error.offset)") }
      guard let fields = value.object else { throw wrong("not an object") }
      if !isHeaded {
        guard fields["archive"]?.string == "alina", fields["version"]?.int == 1 else {
          throw wrong("not an archive of version 1")
        }
        isHeaded = true
      } else if fields["account"] != nil {
        guard let account = account(fields) else { throw wrong("not an account") }
        guard names.insert(account.name.lowercased()).inserted else { throw wrong("a second account \(account.name)") }
        taken.append(StoreTransaction(number: UInt64(i), writes: [.account(account)]))
        summary.accounts += 1
      } else {
        let stored = try match(fields) { wrong($0) }
        taken.append(
          StoreTransaction(
            number: UInt64(i), writes: [.match(stored.record), .append(stored.record.id, after: 0, stored.events)]))
        summary.matches += 1
        summary.events += stored.events.count
      }
    }
    guard isHeaded else { throw StoreError.unusable("line 1: not an archive of version 1") }
    for transaction in taken { try store.commit([transaction]) }
    return summary
  }

  static func account(_ f: JSONObject) -> AccountRecord? {
    guard let id = f["account"]?.int, let name = f["name"]?.string, let expires = f["token_expires"]?.int,
      let rating = f["rating"]?.array?.compactMap({ $0.string.flatMap(Double.init) }), rating.count == 3,
      let results = f["results"]?.array?.compactMap(\.int), results.count == 4
    else { return nil }
    var account = AccountRecord(
      id: Int64(id), name: name, guest: false,
      token: f["token"]?.string.flatMap(unhex).flatMap { SHA256.Digest(bytes: $0) }, tokenExpires: Int64(expires))
    account.rating = .init(value: rating[0], deviation: rating[1], volatility: rating[2])
    account.ratedAt = Int64(f["rated_at"]?.int ?? 0)
    (account.won, account.drawn, account.lost, account.xBalance) = (results[0], results[1], results[2], results[3])
    account.quiet = f["quiet"]?.bool ?? false
    account.muted = f["muted"]?.bool ?? false
    account.banned = f["banned"]?.bool ?? false
    account.blocked = (f["blocked"]?.array ?? []).compactMap { $0.int.map(Int64.init) }
    return account
  }

  private static func match(_ f: JSONObject, _ wrong: (String) -> StoreError) throws -> StoredMatch {
    guard let id = f["match"]?.string.flatMap(MatchID.init(rawValue:)), let created = f["created"]?.int,
      let bodies = f["events"]?.array?.compactMap(\.string)
    else { throw wrong("not a match") }
    var record = MatchRecord(
      id: id, x: f["x"]?.int.map(Int64.init), o: f["o"]?.int.map(Int64.init),
      opener: f["opener"]?.int.map(Int64.init), code: f["code"]?.string, created: Int64(created))
    record.ended = f["ended"]?.int.map(Int64.init)
    var state = MatchState(id: id)
    var events: [StoredEvent] = []
    for text in bodies {
      let body = Array(text.utf8)
      do throws(ProtocolError) {
        let event = try MatchEvent(body: body)
        try state.append(event, body: body)
        events.append(StoredEvent(seq: state.seq, side: event.side, mid: event.mid, body: body))
      } catch { throw wrong("match \(id): \(error.message)") }
    }
    guard state.hash.digest.hex == f["hash"]?.string else { throw wrong("match \(id) does not have its hash") }
    return StoredMatch(record: record, events: events)
  }
}
