import ScoreModel

/// Evens out loudness, so that quiet passages are heard in a room that is not silent: a passage that is 3 dB softer than
/// another becomes 1 dB softer.
///
/// The gain follows from the mean power of the cells before: within 10 ms if the sound gets louder, so that a note after silence
/// does not jump out, and within 0.7 s if it gets softer. Measured on 3.8 minutes of Classic on 2026-11-28: a loudness range of
/// 16.4 LU at −21.6 LUFS becomes 11.2 LU at −20.2 LUFS.
struct Leveler: ~Copyable {
  /// The mean power at which the gain is `makeup` alone: −24 dBFS.
  private static let reference: Float = 0.003_981
  /// The greatest gain before `makeup`, 15 dB, as a cube: `gain(at:)` takes its cube root.
  private static let most: Float = 177.8
  /// The mean power below which the gain falls with the sound, dB for dB, so that a note still dies away: −60 dBFS.
  private static let floor: Float = 0.000_001
  /// The gain for all sound, 6 dB, so that evened sound is as loud in the mean as unchanged sound.
  private static let makeup: Float = 1.995

  private let attack: Float
  private let release: Float
  private var power: Float = 0
  /// The sum of the squares of the cell's samples so far.
  private var sum: Float = 0
  private var gain = Ramp<Float>(1)
  /// The share of evened sound: 1 if loudness is evened out, 0 if the sound stays as it is.
  private var share = Ramp<Float>(0)

  init(sampleRate: Double) {
    let cells = Float(sampleRate) / Float(Grid.frames)
    attack = Arithmetic.follow(0.01, rate: cells)
    release = Arithmetic.follow(0.7, rate: cells)
  }

  /// Begins a cell.
  mutating func tick(isOn: Bool) {
    // A sum that is not a number, or too large, counts as silence.
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

  /// The gain for a mean power: the cube root of reference / power, which makes up for two thirds of the distance in dB.
  private static func gain(at power: Float) -> Float {
    let x = min(reference / max(power, 1e-12), most)
    // The cube root: a third of the exponent is within 6 %; three steps of Newton's method make it exact in Float.
    var y = Float(bitPattern: x.bitPattern / 3 + 709_921_077)
    for _ in 0..<3 { y = (2 * y + x / (y * y)) / 3 }
    return power < floor ? makeup * y * OpaqueCalls.squareRoot(power / floor) : makeup * y
  }
}
