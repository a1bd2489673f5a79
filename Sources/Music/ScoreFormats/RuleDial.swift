/// One of the ten numbers of a rule file that users can adjust by a dial, with its range.
package struct RuleDial: Sendable {
  /// The keys from the top of the file, joined by dots, such as `bars.short`.
  package let key: String
  package let range: ClosedRange<Double>
  /// The amount by which one step of the dial changes the number.
  package let step: Double

  package static let all = [
    RuleDial(key: "bars.short", range: 0.4...2, step: 0.05), RuleDial(key: "bars.long", range: 2...8, step: 1),
    RuleDial(key: "bars.longest", range: 3...12, step: 1),
    RuleDial(key: "phrases.velocity", range: 30...100, step: 2),
    RuleDial(key: "melody.familiar", range: 0...60, step: 2),
    RuleDial(key: "melody.weights.leap", range: 0...80, step: 2),
    RuleDial(key: "melody.weights.tension", range: -20...40, step: 2),
    RuleDial(key: "performance.m", range: 24...80, step: 2), RuleDial(key: "drone.velocity", range: 1...80, step: 2),
    RuleDial(key: "mix.reverb-send", range: -40...0, step: 0.5),
  ]

  package var steps: Int { Int(((range.upperBound - range.lowerBound) / step).rounded(.down)) }

  /// The number that is `steps` steps above the lower end, as a rule file spells it.
  package func text(at steps: Int) -> String {
    let hundredths = Int((range.lowerBound * 100).rounded()) + steps * Int((step * 100).rounded())
    let (whole, rest) = (abs(hundredths) / 100, abs(hundredths) % 100)
    let fraction = rest == 0 ? "" : rest % 10 == 0 ? ".\(rest / 10)" : rest < 10 ? ".0\(rest)" : ".\(rest)"
    return (hundredths < 0 ? "-" : "") + "\(whole)\(fraction)"
  }
}
