import MatchProtocol
import MatchStore

/// The effects of the current input, and counters over all inputs.
struct Replies: Sendable {
  private var effects: [LobbyEffect] = []
  var counts = LobbyCounts()

  mutating func add(_ effect: LobbyEffect) { effects.append(effect) }

  mutating func add(_ more: [LobbyEffect]) { effects += more }

  mutating func take() -> [LobbyEffect] {
    defer {
      effects = []
      effects.reserveCapacity(8)
    }
    return effects
  }
}

package struct LobbyCounts: Sendable, Hashable {
  package var moves = 0
  package var events = 0
  package var started = 0
  package var ended = 0
  package var refused: [ErrorCode: Int] = [:]
  /// Repeated commands, recognised by their `mid` and answered as the first time.
  package var repeated = 0
  /// Matches given up because their log was inconsistent.
  package var abandoned = 0

  /// Counts what a stored unit has changed.
  mutating func count(_ draft: Draft) {
    for (log, events) in zip(draft.unit.logs, draft.events) {
      moves += events.count { if case .move = $0.kind { true } else { false } }
      started += events.count { if case .start = $0.kind { true } else { false } }
      ended += log.record?.ended != nil && log.record?.o != nil ? 1 : 0
    }
  }
}
