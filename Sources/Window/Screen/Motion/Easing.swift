/// An easing function from `(t, duration)` to the progress; the named ones are Robert Penner's (2001).
///
/// They run from 0 to 1; `back` and `elastic` overshoot.
package struct Easing: Sendable {
  private let share: @Sendable (_ t: Double, _ duration: Double) -> Double

  /// Wraps a function of the seconds since the start and the duration; called only for times in between.
  package init(_ share: @escaping @Sendable (_ t: Double, _ duration: Double) -> Double) { self.share = share }

  /// Makes an easing from a curve over the elapsed part of the time, 0…1.
  private init(curve: @escaping @Sendable (_ p: Double) -> Double) { share = { curve($0 / $1) } }

  /// The progress `t` seconds into `duration`; 0 before and 1 after.
  package func callAsFunction(_ t: Double, _ duration: Double) -> Double {
    guard duration > 0, t < duration else { return 1 }
    return t > 0 ? share(t, duration) : 0
  }

  /// The named curves, in the order of the gallery.
  package static let named: [(name: String, easing: Easing)] = [
    ("linear", .linear), ("quadIn", .quadIn), ("quadOut", .quadOut), ("quadInOut", .quadInOut),
    ("cubicIn", .cubicIn), ("cubicOut", .cubicOut), ("cubicInOut", .cubicInOut), ("sineIn", .sineIn),
    ("sineOut", .sineOut), ("sineInOut", .sineInOut), ("expoIn", .expoIn), ("expoOut", .expoOut),
    ("expoInOut", .expoInOut), ("backIn", .backIn), ("backOut", .backOut), ("backInOut", .backInOut),
    ("elasticIn", .elasticIn), ("elasticOut", .elasticOut), ("elasticInOut", .elasticInOut),
    ("bounceIn", .bounceIn), ("bounceOut", .bounceOut), ("bounceInOut", .bounceInOut),
  ]

  package static let linear = Easing(curve: { $0 })
  package static let quadIn = Easing(curve: { quad($0) })
  package static let quadOut = Easing(curve: { out($0, quad) })
  package static let quadInOut = Easing(curve: { inOut($0, quad) })
  package static let cubicIn = Easing(curve: { cubic($0) })
  package static let cubicOut = Easing(curve: { out($0, cubic) })
  package static let cubicInOut = Easing(curve: { inOut($0, cubic) })
  package static let sineIn = Easing(curve: { sineCurve($0) })
  package static let sineOut = Easing(curve: { out($0, sineCurve) })
  package static let sineInOut = Easing(curve: { inOut($0, sineCurve) })
  package static let expoIn = Easing(curve: { expo($0) })
  package static let expoOut = Easing(curve: { out($0, expo) })
  package static let expoInOut = Easing(curve: { inOut($0, expo) })
  package static let backIn = Easing(curve: { back($0, overshoot: 1.70158) })
  package static let backOut = Easing(curve: { 1 - back(1 - $0, overshoot: 1.70158) })
  /// Penner's factor 1.525 keeps the overshoot near 10 % when each half has its own curve.
  package static let backInOut = Easing(curve: { inOut($0) { back($0, overshoot: 1.70158 * 1.525) } })
  package static let elasticIn = Easing(curve: { elastic($0, period: 0.3) })
  package static let elasticOut = Easing(curve: { 1 - elastic(1 - $0, period: 0.3) })
  package static let elasticInOut = Easing(curve: { inOut($0) { elastic($0, period: 0.45) } })
  package static let bounceIn = Easing(curve: { 1 - bounce(1 - $0) })
  package static let bounceOut = Easing(curve: { bounce($0) })
  package static let bounceInOut = Easing(curve: { inOut($0) { 1 - bounce(1 - $0) } })

  private static func out(_ p: Double, _ f: (Double) -> Double) -> Double { 1 - f(1 - p) }

  private static func inOut(_ p: Double, _ f: (Double) -> Double) -> Double {
    p < 0.5 ? f(2 * p) / 2 : 1 - f(2 - 2 * p) / 2
  }

  private static func quad(_ p: Double) -> Double { p * p }
  private static func cubic(_ p: Double) -> Double { p * p * p }
  private static func sineCurve(_ p: Double) -> Double { 1 - cosine(p * .pi / 2) }
  private static func expo(_ p: Double) -> Double { p <= 0 ? 0 : power(2, 10 * (p - 1)) }
  private static func back(_ p: Double, overshoot s: Double) -> Double { p * p * ((s + 1) * p - s) }

  private static func elastic(_ p: Double, period: Double) -> Double {
    -power(2, 10 * (p - 1)) * sine((p - 1 - period / 4) * 2 * .pi / period)
  }

  private static func bounce(_ p: Double) -> Double {
    // Four parabolas with heights 1, 1/4, 1/16 and 1/64 below the target.
    let k = 7.5625
    switch p {
    case ..<(1 / 2.75): return k * p * p
    case ..<(2 / 2.75): return k * (p - 1.5 / 2.75) * (p - 1.5 / 2.75) + 0.75
    case ..<(2.5 / 2.75): return k * (p - 2.25 / 2.75) * (p - 2.25 / 2.75) + 0.9375
    default: return k * (p - 2.625 / 2.75) * (p - 2.625 / 2.75) + 0.984375
    }
  }
}
