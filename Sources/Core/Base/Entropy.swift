/// Random numbers for tokens, secrets and ids.
///
/// Seeds are only for simulations and tests: ids are public, and from two ids of a seeded generator anybody could compute its next secrets.
package enum Entropy: RandomNumberGenerator, Sendable {
  case system
  case seeded(SplitMix64)

  package init(seed: UInt64? = nil) { self = seed.map { .seeded(SplitMix64(seed: $0)) } ?? .system }

  package mutating func next() -> UInt64 {
    switch self {
    case .system:
      var system = SystemRandomNumberGenerator()
      return system.next()
    case .seeded(var generator):
      let value = generator.next()
      self = .seeded(generator)
      return value
    }
  }
}
