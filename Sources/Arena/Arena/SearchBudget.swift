/// The budget of a searching player for each move.
package enum SearchBudget: Sendable, Hashable {
  /// Equal seeds give equal games.
  case simulations(Int)
  /// The games depend on the speed of the machine.
  case milliseconds(Int)

  /// About a minute of thinking for a move.
  package static let simulationLimit = 100_000_000
  /// An hour, like the limit of `TimeLimit` for engines.
  package static let millisecondLimit = 3_600_000
  static let allowed =
    "1–\(simulationLimit) simulations, or 1–\(millisecondLimit) milliseconds written as 100ms or 1s"

  /// Reads `800`, `100ms` or `2s`.
  init?(_ text: String) {
    func number(_ text: Substring, _ factor: Int, upTo limit: Int) -> Int? {
      guard let number = Int(text), (1...limit / factor).contains(number) else { return nil }
      return number * factor
    }
    let limit = SearchBudget.millisecondLimit
    if text.hasSuffix("ms") {
      guard let time = number(text.dropLast(2), 1, upTo: limit) else { return nil }
      self = .milliseconds(time)
    } else if text.hasSuffix("s") {
      guard let time = number(text.dropLast(), 1000, upTo: limit) else { return nil }
      self = .milliseconds(time)
    } else {
      guard let count = number(text[...], 1, upTo: SearchBudget.simulationLimit) else { return nil }
      self = .simulations(count)
    }
  }

  var text: String {
    switch self {
    case .simulations(let count): "\(count)"
    case .milliseconds(let time) where time % 1000 == 0: "\(time / 1000)s"
    case .milliseconds(let time): "\(time)ms"
    }
  }

  var simulations: Int { if case .simulations(let count) = self { count } else { .max } }

  /// On the clock of `monotonicMilliseconds()`; infinite if the budget counts simulations.
  func deadline() -> Double {
    if case .milliseconds(let time) = self { monotonicMilliseconds() + Double(time) } else { .infinity }
  }
}
