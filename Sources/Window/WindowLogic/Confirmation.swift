import Interface

/// Asks the player to confirm an action: the player must repeat the action within some seconds, and during the same game.
struct Confirmation: Sendable {
  private var asked: (intent: Intent, until: Double)?

  private static let seconds = 6.0

  mutating func confirm(_ intent: Intent, _ question: Phrase, at now: Double, _ effects: [Effect]) -> [Effect] {
    let isSecond = asked.map { $0.intent == intent && now <= $0.until } ?? false
    asked = isSecond ? nil : (intent, now + Confirmation.seconds)
    return isSecond ? [.say(nil)] + effects : [.say("\(question)")]
  }
}

extension [Effect] {
  /// The effects of an intent that is not possible now: a sound and the reason.
  static func refused(_ reason: Phrase) -> [Effect] { [.refuse, .say("\(reason)")] }
}
