import ScoreModel

/// The wiring and mix of the sound as plain data. `Engine.load(_:)` turns a patch into nodes without interrupting the sound.
public struct Patch: Sendable, Hashable {
  /// The maximum number of effect chains of a patch; `ScoreEvent.chain` counts from 1, 0 is none.
  public static let maxChains = 7

  /// An effect unit of a chain.
  public enum Node: Sendable, Hashable {
    /// A feedback comb. Unless `melt` is 0, its delay moves to `melt` (frames at 48 kHz) within its `glide` when the chain starts.
    case comb(FeedbackComb.Parameters, melt: Float = 0)
    /// A ring modulator whose carriers keep their frequencies.
    case ringModulator(StereoRingModulator.Parameters)
    /// Imposes the envelope of the dry piano (without effects) on the sound of the chain.
    case matcher(EnvelopeMatcher.Parameters)
    case reverb(Reverb.Parameters)
    /// A change of level in dB, −60…24.
    case gain(Float)
  }

  /// The levels of the mix.
  public var levels = Levels()
  /// The reverb of the room.
  public var reverb = Reverb.Parameters.church
  /// The settings of the combs that serve as strings, which resonate while the pedal is down.
  public var strings: [FeedbackComb.Parameters] = []
  /// The matcher that lets the drone follow the piano's envelope.
  public var breath = EnvelopeMatcher.Parameters.breath
  /// T60 of a bell in seconds, 0.2…20.
  public var bellDecay: Float = 4
  /// The effect chains, at most `maxChains`; the first is number 1. The output of a note's chain is added to its dry sound.
  public var chains: [[Node]] = []

  /// Makes a patch with the piano alone.
  public init() {}
}
