/// The source of tokens, secrets and ids: the system's generator, or a seed in simulations and tests.
///
/// Ids are public. From two ids of a seeded generator everybody can compute its next numbers, and so a secret.
package enum Entropy: RandomNumberGenerator, Sendable {
  /// The operating system's generator, secure enough for tokens.
  case system
  /// A reproducible source; for tests only.
  case seeded(SplitMix64)

  /// The system's generator, or, with a seed, a reproducible source.
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
