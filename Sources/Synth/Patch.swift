/// How the sound is wired and mixed: plain data, compiled from the rule file, where its numbers are.
///
/// `Engine.load(_:)` turns a patch into nodes without a gap in the sound.
public struct Patch: Sendable, Hashable {
  /// Effect chains a patch may have; `ScoreEvent.chain` counts from 1, 0 is none.
  public static let maxChains = 7
  /// Nodes in a chain: more would be mud.
  public static let maxNodes = 4
  /// Sympathetic strings: enough for the triad over two octaves.
  public static let maxStrings = 6

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

  /// Units in a row that struck notes are also sent through; the result joins the dry sound.
  public struct Chain: Sendable, Hashable {
    /// At most `maxNodes` units, in order.
    public var nodes: [Node]
    /// Level of the result in dB, −60…24.
    public var level: Float

    /// Makes a chain; nodes past `maxNodes` are dropped.
    public init(nodes: [Node], level: Float = 0) {
      self.nodes = Array(nodes.prefix(Patch.maxNodes))
      self.level = min(max(level, -60), 24)
    }
  }

  /// Strings that ring along while the pedal is down.
  public struct Sympathy: Sendable, Hashable {
    /// At most `maxStrings` combs.
    public var strings: [FeedbackComb.Parameters]
    /// Level of the piano sent to them, in dB.
    public var send: Float

    /// Makes a bank of strings; those past `maxStrings` are dropped.
    public init(strings: [FeedbackComb.Parameters], send: Float) {
      self.strings = Array(strings.prefix(Patch.maxStrings))
      self.send = min(max(send, -90), 0)
    }
  }

  /// Levels of the mix, in dB.
  public struct Levels: Sendable, Hashable, BitwiseCopyable {
    /// Everything, before the volume.
    public var master: Float = 0
    /// The modal piano.
    public var piano: Float = 0
    /// The sampled grand, so that both are equally loud.
    public var grand: Float = 0
    /// What the room hears.
    public var reverbSend: Float = -90
    /// The sine bed of the drone at its full level, dBFS.
    public var drone: Float = -90
    /// The focus preview, dBFS.
    public var preview: Float = -90
    /// A bell at velocity 64, dBFS.
    public var bell: Float = -90
    /// The knock of a refused move, over its model.
    public var knock: Float = 0

    /// The bare piano: nothing added, nothing raised. What is played is in the rule file.
    public init() {}
  }

  /// Levels of the mix.
  public var levels = Levels()
  /// The room.
  public var reverb = Reverb.Parameters.church
  /// The strings that ring along.
  public var sympathy: Sympathy
  /// How the drone breathes with the piano.
  public var breath = EnvelopeMatcher.Parameters.breath
  /// Fades of the focus preview.
  public var preview = ToneGenerator.Parameters.preview
  /// T60 of a bell in seconds, 0.2…20.
  public var bellDecay: Float = 4
  /// The chains, from number 1; at most `maxChains`.
  public var chains: [Chain]

  /// Makes a patch with the bare piano's levels; chains past `maxChains` are dropped.
  public init(sympathy: Sympathy = Sympathy(strings: [], send: -90), chains: [Chain] = []) {
    self.sympathy = sympathy
    self.chains = Array(chains.prefix(Self.maxChains))
  }
}
