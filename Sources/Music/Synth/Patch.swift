import ScoreModel

/// How the sound is wired and mixed: plain data, compiled from the rule file, where its numbers are.
///
/// `Engine.load(_:)` turns a patch into nodes without a gap in the sound.
public struct Patch: Sendable, Hashable {
  /// Effect chains a patch may have; `ScoreEvent.chain` counts from 1, 0 is none.
  public static let maxChains = 7

  /// One unit of a chain.
  public enum Node: Sendable, Hashable {
    /// A feedback comb; if `melt` is not 0 its delay glides there, in its own time, when the chain is started.
    case comb(FeedbackComb.Parameters, melt: Float = 0)
    /// A ring modulator with fixed carriers.
    case ringModulator(StereoRingModulator.Parameters)
    /// Gives what passes the envelope of the dry piano.
    case matcher(EnvelopeMatcher.Parameters)
    /// A room of the chain's own.
    case reverb(Reverb.Parameters)
    /// A change of level in dB, −60…24.
    case gain(Float)
  }

  /// Levels of the mix.
  public var levels = Levels()
  /// The room.
  public var reverb = Reverb.Parameters.church
  /// Strings that ring along while the pedal is down.
  public var strings: [FeedbackComb.Parameters] = []
  /// How the drone breathes with the piano.
  public var breath = EnvelopeMatcher.Parameters.breath
  /// T60 of a bell in seconds, 0.2…20.
  public var bellDecay: Float = 4
  /// The chains from number 1, `maxChains` at most: units in a row that struck notes are also sent through; the result
  /// joins the dry sound.
  public var chains: [[Node]] = []

  /// The bare piano.
  public init() {}
}
