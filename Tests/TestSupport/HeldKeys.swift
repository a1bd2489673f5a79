/// The keys and pedals that MIDI messages have left down, and the number of notes struck.
package struct HeldKeys: Sendable {
  /// The channel and the number of each key.
  package private(set) var keys: Set<[Int]> = []
  /// The channels.
  package private(set) var pedals: Set<Int> = []
  package private(set) var struck = 0

  package init() {}

  /// A velocity of 0 is a release.
  package mutating func note(_ key: Int, velocity: Int, channel: Int) {
    if velocity > 0 {
      keys.insert([channel, key])
      struck += 1
    } else {
      keys.remove([channel, key])
    }
  }

  package mutating func control(_ number: Int, _ value: Int, channel: Int) {
    guard number == 64 else { return }
    if value > 0 { pedals.insert(channel) } else { pedals.remove(channel) }
  }

  package var isSounding: Bool { !keys.isEmpty && !pedals.isEmpty }
  package var isSilentAfterNotes: Bool { keys.isEmpty && pedals.isEmpty && struck > 0 }
}
