/// The levels of the parts of the sound in dB, from a rule file, for the synthesizer's mix.
public struct Levels: Sendable, Hashable, BitwiseCopyable {
  /// The level of the whole mix in dB, before the volume control.
  public var master = 0.0
  /// The level of the modal piano in dB.
  public var piano = 0.0
  /// The sampled grand, to be as loud as the modal piano.
  public var grand = 0.0
  /// The level of the send to the reverb in dB.
  public var reverbSend = -90.0
  /// The drone's bed at full level, dBFS.
  public var drone = -90.0
  /// The cell preview, dBFS.
  public var preview = -90.0
  /// A bell at velocity 64, dBFS.
  public var bell = -90.0
  /// The knock of a refusal, relative to its model.
  public var knock = 0.0
  /// The send from the piano to the sympathetic strings.
  public var stringSend = -90.0

  /// Sets the levels of the piano alone, without effects.
  public init() {}
}
