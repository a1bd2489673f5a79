/// Levels of the parts of the sound in dB: a rule file has them, the synthesizer mixes by them.
public struct Levels: Sendable, Hashable, BitwiseCopyable {
  /// Everything, before the volume.
  public var master = 0.0
  /// The modal piano.
  public var piano = 0.0
  /// The sampled grand, so that both are equally loud.
  public var grand = 0.0
  /// What the room hears.
  public var reverbSend = -90.0
  /// The sine bed of the drone at its full level, dBFS.
  public var drone = -90.0
  /// The focus preview, dBFS.
  public var preview = -90.0
  /// A bell at velocity 64, dBFS.
  public var bell = -90.0
  /// The knock of a refused move, over its model.
  public var knock = 0.0
  /// What the strings hear of the piano.
  public var stringSend = -90.0

  /// The bare piano: nothing added, nothing raised.
  public init() {}
}
