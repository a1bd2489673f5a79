/// A curve of motion of Robert Penner's (2001), in the order of the gallery.
///
/// Each starts at 0 and ends at 1; `back` and `elastic` leave that range on the way.
package enum Easing: String, Sendable, CaseIterable {
  case linear, quadIn, quadOut, quadInOut, cubicIn, cubicOut, cubicInOut, sineIn, sineOut, sineInOut
  case expoIn, expoOut, expoInOut, backIn, backOut, backInOut, elasticIn, elasticOut, elasticInOut
  case bounceIn, bounceOut, bounceInOut

  /// The share of the way done `t` seconds into `duration` seconds; times outside 0…duration give 0 or 1.
  package func callAsFunction(_ t: Double, _ duration: Double) -> Double {
    guard duration > 0, t < duration else { return 1 }
    return t > 0 ? share(t / duration) : 0
  }

  /// The share of the way over the share of the time, 0…1.
  private func share(_ p: Double) -> Double {
    switch self {
    case .linear: p
    case .quadIn: quad(p)
    case .quadOut: out(p, quad)
    case .quadInOut: inOut(p, quad)
    case .cubicIn: cubic(p)
    case .cubicOut: out(p, cubic)
    case .cubicInOut: inOut(p, cubic)
    case .sineIn: sineCurve(p)
    case .sineOut: out(p, sineCurve)
    case .sineInOut: inOut(p, sineCurve)
    case .expoIn: expo(p)
    case .expoOut: out(p, expo)
    case .expoInOut: inOut(p, expo)
    case .backIn: back(p, overshoot: 1.70158)
    case .backOut: 1 - back(1 - p, overshoot: 1.70158)
    // Penner's factor 1.525 keeps the overshoot near 10 % when the curve is halved.
    case .backInOut: inOut(p) { back($0, overshoot: 1.70158 * 1.525) }
    case .elasticIn: elastic(p, period: 0.3)
    case .elasticOut: 1 - elastic(1 - p, period: 0.3)
    case .elasticInOut: inOut(p) { elastic($0, period: 0.45) }
    case .bounceIn: 1 - bounce(1 - p)
    case .bounceOut: bounce(p)
    case .bounceInOut: inOut(p) { 1 - bounce(1 - $0) }
    }
  }
}

private func out(_ p: Double, _ f: (Double) -> Double) -> Double { 1 - f(1 - p) }

private func inOut(_ p: Double, _ f: (Double) -> Double) -> Double {
  p < 0.5 ? f(2 * p) / 2 : 1 - f(2 - 2 * p) / 2
}

private func quad(_ p: Double) -> Double { p * p }
private func cubic(_ p: Double) -> Double { p * p * p }
private func sineCurve(_ p: Double) -> Double { 1 - cosine(p * .pi / 2) }
private func expo(_ p: Double) -> Double { p <= 0 ? 0 : power(2, 10 * (p - 1)) }
private func back(_ p: Double, overshoot s: Double) -> Double { p * p * ((s + 1) * p - s) }

private func elastic(_ p: Double, period: Double) -> Double {
  -power(2, 10 * (p - 1)) * sine((p - 1 - period / 4) * 2 * .pi / period)
}

private func bounce(_ p: Double) -> Double {
  // Four parabolas of height 1, 1/4, 1/16, 1/64 below the target.
  let k = 7.5625
  switch p {
  case ..<(1 / 2.75): return k * p * p
  case ..<(2 / 2.75): return k * (p - 1.5 / 2.75) * (p - 1.5 / 2.75) + 0.75
  case ..<(2.5 / 2.75): return k * (p - 2.25 / 2.75) * (p - 2.25 / 2.75) + 0.9375
  default: return k * (p - 2.625 / 2.75) * (p - 2.625 / 2.75) + 0.984375
  }
}
