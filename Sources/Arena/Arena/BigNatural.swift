import Opponents
import Oracle

package struct BigNatural: Sendable, Hashable, CustomStringConvertible {
  /// The lowest limb first, without leading zeros; empty for 0.
  private var limbs: [UInt64]

  package init(_ value: UInt64) { limbs = value == 0 ? [] : [value] }

  private init(limbs: [UInt64]) {
    self.limbs = limbs
    while self.limbs.last == 0 { self.limbs.removeLast() }
  }

  package var isZero: Bool { limbs.isEmpty }

  package static func + (a: BigNatural, b: BigNatural) -> BigNatural {
    let (long, short) = a.limbs.count >= b.limbs.count ? (a.limbs, b.limbs) : (b.limbs, a.limbs)
    var result = long
    var carry = false
    for index in long.indices {
      if index >= short.count && !carry { break }
      let (first, over1) = long[index].addingReportingOverflow(index < short.count ? short[index] : 0)
      let (sum, over2) = first.addingReportingOverflow(carry ? 1 : 0)
      result[index] = sum
      carry = over1 || over2
    }
    if carry { result.append(1) }
    return BigNatural(limbs: result)
  }

  package static func - (a: BigNatural, b: BigNatural) -> BigNatural {
    var result = a.limbs
    var borrow = false
    for index in result.indices {
      let (first, under1) = result[index].subtractingReportingOverflow(index < b.limbs.count ? b.limbs[index] : 0)
      let (difference, under2) = first.subtractingReportingOverflow(borrow ? 1 : 0)
      result[index] = difference
      borrow = under1 || under2
    }
    precondition(!borrow && b.limbs.count <= a.limbs.count, "a difference below 0")
    return BigNatural(limbs: result)
  }

  package static func * (a: BigNatural, b: BigNatural) -> BigNatural {
    if a.isZero || b.isZero { return BigNatural(0) }
    var result = [UInt64](repeating: 0, count: a.limbs.count + b.limbs.count)
    for (i, x) in a.limbs.enumerated() {
      var carry: UInt64 = 0
      for (j, y) in b.limbs.enumerated() {
        let (high, low) = x.multipliedFullWidth(by: y)
        let (first, over1) = low.addingReportingOverflow(carry)
        let (sum, over2) = first.addingReportingOverflow(result[i + j])
        result[i + j] = sum
        // `x · y + carry + result[i + j]` is at most 2¹²⁸ − 1, so its upper half, the new carry, does not overflow.
        carry = high + (over1 ? 1 : 0) + (over2 ? 1 : 0)
      }
      result[i + b.limbs.count] = carry
    }
    return BigNatural(limbs: result)
  }

  package func dividedBySmall(_ divisor: UInt64) -> (quotient: BigNatural, remainder: UInt64) {
    var quotient = limbs
    var remainder: UInt64 = 0
    for index in limbs.indices.reversed() {
      (quotient[index], remainder) = divisor.dividingFullWidth((remainder, limbs[index]))
    }
    return (BigNatural(limbs: quotient), remainder)
  }

  package static func < (a: BigNatural, b: BigNatural) -> Bool {
    if a.limbs.count != b.limbs.count { return a.limbs.count < b.limbs.count }
    for index in a.limbs.indices.reversed() where a.limbs[index] != b.limbs[index] {
      return a.limbs[index] < b.limbs[index]
    }
    return false
  }

  private var trailingZeros: Int {
    guard let index = limbs.firstIndex(where: { $0 != 0 }) else { return 0 }
    return index * 64 + limbs[index].trailingZeroBitCount
  }

  fileprivate func shiftedRight(_ bits: Int) -> BigNatural {
    let (whole, rest) = (bits / 64, UInt64(bits % 64))
    guard whole < limbs.count else { return BigNatural(0) }
    var result = Array(limbs[whole...])
    if rest > 0 {
      for index in result.indices {
        result[index] = result[index] >> rest | (index + 1 < result.count ? result[index + 1] << (64 - rest) : 0)
      }
    }
    return BigNatural(limbs: result)
  }

  package static func powerOfTwo(_ exponent: Int) -> BigNatural {
    BigNatural(limbs: [UInt64](repeating: 0, count: exponent / 64) + [1 << UInt64(exponent % 64)])
  }

  /// Stein's binary method. Takes time quadratic in the number of limbs.
  package static func greatestCommonDivisor(_ a: BigNatural, _ b: BigNatural) -> BigNatural {
    if a.isZero { return b }
    if b.isZero { return a }
    let twos = min(a.trailingZeros, b.trailingZeros)
    var (u, v) = (a.shiftedRight(a.trailingZeros), b.shiftedRight(b.trailingZeros))
    while u != v {
      if u < v { swap(&u, &v) }
      u = u - v
      u = u.shiftedRight(u.trailingZeros)
    }
    return u * powerOfTwo(twos)
  }

  /// `divisor` must divide this number. Takes time quadratic in the number of limbs.
  func dividedExactly(by divisor: BigNatural) -> BigNatural {
    if divisor.limbs.count == 1 { return dividedBySmall(divisor.limbs[0]).quotient }
    // Jebelean's exact division, with an odd divisor `d`: the next limb of the quotient is the lowest limb of `rest` times the inverse of
    // `d` modulo 2⁶⁴.
    let shift = divisor.trailingZeros
    let (d, n) = (divisor.shiftedRight(shift), shiftedRight(shift))
    var inverse: UInt64 = 1
    for _ in 0..<6 { inverse = inverse &* (2 &- d.limbs[0] &* inverse) }
    var rest = n
    var quotient: [UInt64] = []
    while !rest.isZero {
      let digit = (rest.limbs.first ?? 0) &* inverse
      quotient.append(digit)
      rest = (rest - d * BigNatural(digit)).shiftedRight(64)
    }
    return BigNatural(limbs: quotient)
  }

  /// Rounded once for each limb, so perhaps not the nearest `Double`.
  package var double: Double { limbs.reversed().reduce(0) { $0 * 18_446_744_073_709_551_616 + Double($1) } }

  package var description: String {
    if isZero { return "0" }
    var parts: [String] = []
    var rest = self
    while !rest.isZero {
      let (quotient, remainder) = rest.dividedBySmall(1_000_000_000_000_000_000)
      let digits = "\(remainder)"
      parts.append(quotient.isZero ? digits : String(repeating: "0", count: 18 - digits.utf8.count) + digits)
      rest = quotient
    }
    return parts.reversed().joined()
  }

  var bitWidth: Int { limbs.isEmpty ? 0 : limbs.count * 64 - (limbs.last?.leadingZeroBitCount ?? 0) }
}

extension BigNatural: ChanceNumber {
  package static func commonDenominator(of totals: [UInt64]) -> BigNatural {
    totals.reduce(BigNatural(1)) { multiple, total in
      var (a, b) = (total, multiple.dividedBySmall(total).remainder)
      while b != 0 { (a, b) = (b, a % b) }
      return multiple * BigNatural(total / a)
    }
  }

  /// This number times `weight`/`total`. `total` must divide this number.
  package func share(_ weight: UInt64, of total: UInt64) -> BigNatural {
    let (quotient, remainder) = dividedBySmall(total)
    precondition(remainder == 0, "\(total) does not divide \(self)")
    return quotient * BigNatural(weight)
  }
}

/// An exact fraction in lowest terms.
package struct Fraction: Sendable, Hashable, CustomStringConvertible {
  package let numerator: BigNatural
  package let denominator: BigNatural

  package init(_ numerator: BigNatural, _ denominator: BigNatural) {
    precondition(!denominator.isZero, "a fraction over 0")
    let divisor = BigNatural.greatestCommonDivisor(numerator, denominator)
    self.numerator = numerator.dividedExactly(by: divisor)
    self.denominator = denominator.dividedExactly(by: divisor)
  }

  package static func + (a: Fraction, b: Fraction) -> Fraction {
    Fraction(a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator)
  }

  package static func * (a: Fraction, b: Fraction) -> Fraction {
    Fraction(a.numerator * b.numerator, a.denominator * b.denominator)
  }

  package var double: Double {
    // Shorten both numbers to at most 960 bits, so that they fit into the range of `Double`.
    let excess = max(numerator.bitWidth, denominator.bitWidth) - 960
    guard excess > 0 else { return numerator.double / denominator.double }
    return numerator.shiftedRight(excess).double / denominator.shiftedRight(excess).double
  }

  package var description: String {
    denominator == BigNatural(1) ? "\(numerator)" : "\(numerator)/\(denominator)"
  }
}
