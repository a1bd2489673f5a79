/// Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014. A seed gives the same numbers on every machine.
@frozen
package struct SplitMix64: RandomNumberGenerator, Sendable {
  var state: UInt64

  package init(seed: UInt64) { state = seed }

  /// The generator for the item `index` of a sequence, such as a game or a bar, independent of the other items' generators.
  package init(seed: UInt64, index: UInt64) {
    var mixer = SplitMix64(seed: seed &+ (index &+ 1) &* 0x9E37_79B9_7F4A_7C15)
    state = mixer.next()
  }

  /// The period is 2⁶⁴.
  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// A number from 0 to `bound` − 1, for a bound of 1…2³². The chance of each differs from 1/`bound` by less than 2⁻³².
  package mutating func below(_ bound: Int) -> Int {
    Int(truncatingIfNeeded: ((next() >> 32) &* UInt64(bound)) >> 32)
  }
}
