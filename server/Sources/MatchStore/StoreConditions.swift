import Base
import MatchProtocol
import TicTacToe

/// The lookups with which the function `conflict` below checks the conditions of a unit.
package protocol StoreConditions {
  /// `nil` if there is no such match.
  mutating func length(of m: MatchID) throws(StoreError) -> Int?
  mutating func waits(ticket: String) throws(StoreError) -> Bool
  /// The request that an account made with a key, and the request's match if it is live. `nil` for an unused key.
  mutating func use(of key: String, _ account: Int64) throws(StoreError) -> (purpose: String, live: MatchID?)?
  /// The live match in an account's rated slot; `nil` if the slot is free.
  mutating func slot(of account: Int64) throws(StoreError) -> MatchID?
  /// `nil` if there is no such account.
  mutating func rating(of account: Int64, _ rules: Variant) throws(StoreError) -> Glicko2.Rating?
  mutating func openRoom(_ code: String) throws(StoreError) -> MatchID?
  /// The store keeps the tournament unchanged until the unit is stored.
  mutating func tournament(_ code: String) throws(StoreError) -> TournamentRecord?
  /// Milliseconds since 1970 on the store's clock.
  mutating func now() throws(StoreError) -> Int64
}

extension StoreConditions {
  /// The first unmet condition, in the order of the cases of `Conflict`; `nil` if the unit can be stored.
  package mutating func conflict(_ unit: StoreUnit) throws(StoreError) -> Conflict? {
    for log in unit.logs {
      // A match that begins with this unit must not exist yet.
      guard try length(of: log.m) == (log.after == 0 ? nil : log.after) else { return .log(log.m) }
    }
    for ticket in unit.tickets { guard try waits(ticket: ticket) else { return .ticket(ticket) } }
    if !unit.keys.isEmpty, let conflict = try usedKey(unit) { return conflict }
    for slot in unit.slots {
      if let other = try self.slot(of: slot.account), other != unit.logs.first?.m { return .playing(slot.account) }
    }
    for score in unit.scores {
      // Only a score with a new rating has a condition. The score of a deleted account is dropped.
      guard score.rating != nil, let rating = try rating(of: score.account, score.rules) else { continue }
      if rating != score.replacedRating { return .rating(score.account) }
    }
    for slot in unit.slots {
      guard try rating(of: slot.account, slot.rules) == slot.rating else { return .rating(slot.account) }
    }
    for log in unit.logs {
      guard log.after == 0, let record = log.record, record.x == nil, record.ended == nil, let code = record.code
      else { continue }
      if try openRoom(code) != nil { return .code(code) }
    }
    for game in unit.games where game.change == .begins {
      let time = try now()
      guard try tournament(game.code)?.takesGames(at: time) == true else { return .tournament(game.code) }
    }
    return nil
  }

  private mutating func usedKey(_ unit: StoreUnit) throws(StoreError) -> Conflict? {
    var mistaken: Conflict?
    for key in unit.keys {
      guard let use = try use(of: key.key, key.account), let m = use.live, m != unit.logs.first?.m else { continue }
      if use.purpose == key.purpose { return .key(account: key.account, key: key.key, m) }
      mistaken = mistaken ?? .purpose(account: key.account, key: key.key)
    }
    return mistaken
  }
}

extension StoreUnit {
  /// The mistake that makes the unit impossible to store, a fault of the code that drafted it; `nil` for a well-formed unit.
  package var mistake: String? {
    for log in logs where log.after == 0 && log.record == nil {
      return "match \(log.m) would begin without a record"
    }
    return logs.isEmpty ? "a unit without a match" : nil
  }

  /// Whether the unit is one event of one match and nothing else.
  package var isMove: Bool {
    logs.count == 1 && logs[0].bodies.count == 1 && logs[0].record == nil && scores.isEmpty && slots.isEmpty
      && keys.isEmpty && tickets.isEmpty && games.isEmpty
  }
}
