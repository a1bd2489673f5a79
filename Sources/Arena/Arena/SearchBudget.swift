/// The budget of a searching player for each move.
package enum SearchBudget: Sendable, Hashable {
  /// A number of simulations; equal seeds give equal games.
  case simulations(Int)
  /// Milliseconds by the machine's clock; the games depend on the speed of the machine.
  case milliseconds(Int)

  /// The maximum number of simulations for a move: about a minute of thinking.
  package static let simulationLimit = 100_000_000
  /// The longest time for a move: an hour, like `TimeLimit` for engines.
  package static let millisecondLimit = 3_600_000
  /// The ways to write a budget, as messages list them.
  static let allowed =
    "1–\(simulationLimit) simulations, or 1–\(millisecondLimit) milliseconds written as 100ms or 1s"

  /// Reads `800`, `100ms` or `2s`; `nil` for anything else.
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

  /// The budget as text, in the form that `init` reads.
  var text: String {
    switch self {
    case .simulations(let count): "\(count)"
    case .milliseconds(let time) where time % 1000 == 0: "\(time / 1000)s"
    case .milliseconds(let time): "\(time)ms"
    }
  }

  /// The maximum number of simulations for one move.
  var simulations: Int { if case .simulations(let count) = self { count } else { .max } }

  /// The deadline of a search that begins now, in `monotonicMilliseconds()`; infinite if the budget counts simulations.
  func deadline() -> Double {
    if case .milliseconds(let time) = self { monotonicMilliseconds() + Double(time) } else { .infinity }
  }
}
