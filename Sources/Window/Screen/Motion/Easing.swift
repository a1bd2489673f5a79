/// An easing function, from elapsed time and duration to the progress, 0 to 1. The named functions are by Robert Penner (2001).
package struct Easing: Sendable {
  private let share: @Sendable (_ t: Double, _ duration: Double) -> Double

  /// `share` is called only for times between 0 and the duration.
  package init(_ share: @escaping @Sendable (_ t: Double, _ duration: Double) -> Double) { self.share = share }

  /// `curve` gets the elapsed share of the duration, 0…1.
  private init(curve: @escaping @Sendable (_ p: Double) -> Double) { share = { curve($0 / $1) } }

  /// The progress `t` seconds into `duration`; 0 before and 1 after.
  package func callAsFunction(_ t: Double, _ duration: Double) -> Double {
    guard duration > 0, t < duration else { return 1 }
    return t > 0 ? share(t, duration) : 0
  }

  package static let linear = Easing(curve: { $0 })
  package static let quadOut = Easing(curve: { out($0, quad) })
  package static let cubicOut = Easing(curve: { out($0, cubic) })
  package static let cubicInOut = Easing(curve: { inOut($0, cubic) })
  package static let sineOut = Easing(curve: { out($0, sineCurve) })
  package static let sineInOut = Easing(curve: { inOut($0, sineCurve) })
  /// Moves a tenth of the distance beyond the target and then back to the target.
  package static let backOut = Easing(curve: { out($0) { $0 * $0 * (2.70158 * $0 - 1.70158) } })

  private static func out(_ p: Double, _ f: (Double) -> Double) -> Double { 1 - f(1 - p) }

  private static func inOut(_ p: Double, _ f: (Double) -> Double) -> Double {
    p < 0.5 ? f(2 * p) / 2 : 1 - f(2 - 2 * p) / 2
  }

  private static func quad(_ p: Double) -> Double { p * p }
  private static func cubic(_ p: Double) -> Double { p * p * p }
  private static func sineCurve(_ p: Double) -> Double { 1 - cosine(p * .pi / 2) }
}
