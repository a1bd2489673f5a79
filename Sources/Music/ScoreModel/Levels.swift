/// The levels of the parts of the sound in dB, from a rule file, for the synthesizer's mix.
public struct Levels: Sendable, Hashable, BitwiseCopyable {
  /// The level of the whole mix in dB, before the volume control.
  public var master = 0.0
  /// The level of the modal piano in dB.
  public var piano = 0.0
  /// The level of the sampled grand in dB, chosen so that it is as loud as the modal piano.
  public var grand = 0.0
  /// The level of the send to the reverb in dB.
  public var reverbSend = -90.0
  /// The level of the bed in dBFS while the piano has the amplitude 0.1. The bed slowly gets louder and softer with the piano.
  public var drone = -90.0
  /// The level in dBFS of the tone that previews a cell.
  public var preview = -90.0
  /// The level of a bell at velocity 64 in dBFS.
  public var bell = -90.0
  /// The level of the knock for a refusal in dB; 0 is the level that the piano model gives the knock.
  public var knock = 0.0
  /// The level of the send from the piano to the sympathetic strings in dB.
  public var stringSend = -90.0

  /// Sets the levels of the piano alone, without effects.
  public init() {}
}
