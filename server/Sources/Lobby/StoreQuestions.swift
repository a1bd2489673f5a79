import MatchStore

/// The questions to the store that wait for an answer, by number.
struct StoreQuestions: Sendable {
  /// Handles the store's answer, which is `nil` if the store did not answer.
  typealias Then = @Sendable (inout Lobby, StoreAnswer?) -> Void

  private var waiting: [UInt64: (then: Then, id: ConnectionID?)] = [:]
  private var next: UInt64 = 1

  var count: Int { waiting.count }

  /// `id`: the connection whose requests wait for the answer.
  mutating func add(_ then: @escaping Then, for id: ConnectionID?) -> UInt64 {
    defer { next += 1 }
    waiting[next] = (then, id)
    return next
  }

  mutating func take(_ number: UInt64) -> (then: Then, id: ConnectionID?)? { waiting.removeValue(forKey: number) }
}
