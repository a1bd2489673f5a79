import MatchProtocol
import MatchStore
import TicTacToe

/// Compares a store's content after a run with the events that clients were shown, and with the acknowledged commands.
package struct HistoryChecker: Sendable {
  package struct Acknowledged: Sendable, Hashable {
    package var m: MatchID
    package var side: Player
    package var mid: String
    package var seq: Int

    package init(m: MatchID, side: Player, mid: String, seq: Int) {
      (self.m, self.side, self.mid, self.seq) = (m, side, mid, seq)
    }
  }

  package var acknowledged: Set<Acknowledged> = []
  /// The hash that clients saw at each place of each log.
  package var seen: [MatchID: [Int: String]] = [:]
  package var faults: [String] = []

  package init() {}

  package mutating func saw(_ m: MatchID, seq: Int, hash: String) {
    if let known = seen[m]?[seq], known != hash { faults.append("match \(m) seq \(seq) was shown in two versions") }
    seen[m, default: [:]][seq] = hash
  }

  /// Compares each log with the match's record, with what clients were shown, and with the accounts.
  package mutating func check(_ store: any MatchStore) throws {
    var tally: [Int64: [Variant: (won: Int, drawn: Int, lost: Int)]] = [:]
    let answered = Dictionary(grouping: acknowledged, by: \.m)
    for id in try store.matchIDs() {
      guard let stored = try store.match(id) else { continue }
      if stored.length != stored.bodies.count {
        faults.append("match \(id) has \(stored.bodies.count) events, its row says \(stored.length)")
      }
      var state = MatchState(id: id)
      var answers: [String: Int] = [:]
      for (seq, body) in zip(1..., stored.bodies) {
        let event: MatchEvent
        do throws(ProtocolError) {
          event = try MatchEvent(body: body)
          try state.append(event, body: body)
        } catch {
          faults.append("match \(id) seq \(seq): \(error.message)")
          break
        }
        if let mid = event.mid, let side = event.side {
          if answers.updateValue(seq, forKey: side.text + mid) != nil {
            faults.append("match \(id): mid \(mid) of \(side.text) twice")
          }
        }
        if let hash = seen[id]?[seq], hash != state.hash.short {
          faults.append("match \(id) seq \(seq): another event was shown than is stored")
        }
      }
      for (seq, _) in seen[id] ?? [:] where seq > stored.bodies.count {
        faults.append("match \(id) seq \(seq) was shown and is not stored")
      }
      for command in answered[id] ?? [] {
        if answers[command.side.text + command.mid] != command.seq {
          faults.append(
            "match \(id): acknowledged \(command.side.text) \(command.mid) at \(command.seq) is lost or moved")
        }
      }
      if (state.phase == .over) != (stored.record.ended != nil) {
        faults.append(
          "match \(id) is \(state.phase) but its record says \(stored.record.ended.map(String.init) ?? "live")")
      }
      guard let outcome = state.end?.outcome, let x = stored.record.x, let o = stored.record.o else { continue }
      for (account, side) in [(x, Player.x), (o, .o)] {
        var entry = tally[account]?[state.terms.rules] ?? (0, 0, 0)
        switch outcome {
        case .draw: entry.drawn += 1
        case .win(side): entry.won += 1
        default: entry.lost += 1
        }
        tally[account, default: [:]][state.terms.rules] = entry
      }
      let changes = state.end?.ratings
      if state.terms.rated != (changes != nil) {
        faults.append("match \(id): rated \(state.terms.rated) but ratings \(changes != nil)")
      }
    }
    for m in seen.keys where try store.match(m) == nil { faults.append("match \(m) was shown but not stored") }
    for account in try store.accounts() {
      for rules in Variant.allCases {
        let (counted, kept) = (tally[account.id]?[rules] ?? (0, 0, 0), account[rules])
        if counted != (kept.won, kept.drawn, kept.lost) {
          faults.append("\(account.name), \(rules): logs say \(counted), account \((kept.won, kept.drawn, kept.lost))")
        }
      }
    }
  }

  /// Checks that each rated match begins with the rating that the account's previous match of the same game left: an account plays one
  /// rated match at a time. `ends` has the matches in the order of their ends, for a store whose clock is not reliable.
  package mutating func checkRatings(_ store: any MatchStore, ends: [MatchID]? = nil) throws {
    var chains: [Int64: [Variant: [(at: Int64, change: MatchEvent.RatingChange)]]] = [:]
    let places = Dictionary((ends ?? []).enumerated().map { ($1, Int64($0)) }, uniquingKeysWith: { first, _ in first })
    for id in try store.matchIDs() {
      guard let stored = try store.match(id), let ended = stored.record.ended, let x = stored.record.x,
        let o = stored.record.o
      else { continue }
      var state = MatchState(id: id)
      for body in stored.bodies { try state.append(body: body) }
      guard let changes = state.end?.ratings else { continue }
      let at = places[id] ?? ended
      chains[x, default: [:]][state.terms.rules, default: []].append((at, changes.x))
      chains[o, default: [:]][state.terms.rules, default: []].append((at, changes.o))
    }
    for account in try store.accounts() {
      for rules in Variant.allCases {
        var rating = 1500
        for (at, change) in (chains[account.id]?[rules] ?? []).sorted(by: { $0.at < $1.at }) {
          if change.before != rating {
            faults.append("\(account.name), \(rules) at \(at): rated from \(change.before), was \(rating)")
          }
          rating = change.after
        }
        if rating != Int(account[rules].rating.value.rounded()) {
          faults.append("\(account.name), \(rules): logs say \(rating), account \(account[rules].rating.value)")
        }
      }
    }
  }
}
