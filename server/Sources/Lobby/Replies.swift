import MatchProtocol

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
}
