import ScoreModel

/// Evens out loudness, so that quiet passages are heard in a room that is not silent: of 4 dB difference, 1 dB remains. The gain follows
/// the mean power within 3 ms if the sound gets louder, so that a note after silence is not too loud, and within 0.25 s if it gets softer.
struct Leveler: ~Copyable {
  /// The mean power at which the gain is `makeup` alone: −24 dBFS.
  private static let reference: Float = 0.003_981
  /// The gain rises until the mean power is below `reference` by this ratio, 33 dB; there the gain is 24.75 dB before `makeup`.
  private static let most: Float = 1_995.3
  /// The mean power below which the gain falls with the sound, dB for dB, so that a note still dies away: −63 dBFS.
  private static let floor: Float = 0.000_000_501
  /// The gain that is added to all sound, 6 dB, so that evened sound is on average as loud as unchanged sound.
  private static let makeup: Float = 1.995

  private let attack: Float
  private let release: Float
  private var power: Float = 0
  /// The sum of the squares of the samples so far in this cell of 64 frames.
  private var sum: Float = 0
  private var gain = Ramp<Float>(1)
  /// The share of the leveler in the gain: 1 for evened sound, 0 for sound as it is played.
  private var share = Ramp<Float>(0)

  init(sampleRate: Double) {
    let cells = Float(sampleRate) / Float(Grid.frames)
    attack = Arithmetic.follow(0.003, rate: cells)
    release = Arithmetic.follow(0.25, rate: cells)
  }

  /// Begins a cell of 64 frames: computes the gain from the cell before.
  mutating func tick(isOn: Bool) {
    // If `sum` is not a number, or is too large, the cell counts as silence.
    let mean = sum < 1e12 ? sum / Float(2 * Grid.frames) : 0
    sum = 0
    power += (mean - power) * (mean > power ? attack : release)
    gain.aim(Self.gain(at: power))
    share.aim(isOn ? 1 : 0, frames: 1_920)
    gain.tick()
    share.tick()
  }

  mutating func render(_ block: StereoBlock) {
    for i in block.indices {
      let square = block[i] * block[i]
      sum += square.x + square.y
      let (gain, share) = (gain.next(), share.next())
      if share > 0 { block[i] *= 1 + share * (gain - 1) }
    }
  }

  /// The gain for a mean power, as a factor on the amplitude: (reference / power)^⅜. So a sound that is 4 dB softer gets 3 dB more gain.
  private static func gain(at power: Float) -> Float {
    let root = OpaqueCalls.squareRoot(OpaqueCalls.squareRoot(min(reference / max(power, 1e-12), most)))
    let gain = makeup * root * OpaqueCalls.squareRoot(root)
    return power < floor ? gain * OpaqueCalls.squareRoot(power / floor) : gain
  }
}
