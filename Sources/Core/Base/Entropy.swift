/// The random numbers for tokens, secrets and ids: from the operating system, or, in simulations and tests, from a seed.
///
/// Ids are public. From two ids of a seeded generator anybody could compute its next numbers, and so the tokens and secrets made of them.
package enum Entropy: RandomNumberGenerator, Sendable {
  /// The operating system's generator, secure enough for tokens.
  case system
  /// A reproducible source, only for simulations and tests.
  case seeded(SplitMix64)

  /// Makes the reproducible source if a seed is given, else uses the system's generator.
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
