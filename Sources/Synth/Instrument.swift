/// A piano that the engine plays through plain C functions: the seam for the sampled grand.
///
/// All functions are called on the audio thread and must be real-time safe. Frames come in runs of at most 64 that
/// never cross the engine's 64-frame grid.
public struct Instrument: BitwiseCopyable, @unchecked Sendable {
  /// What the functions are called with; must outlive the engine.
  public var context: UnsafeMutableRawPointer
  /// Strikes a key: MIDI pitch, velocity 1–127, pan −100…100, bus 0…7.
  public var strike: @convention(c) (UnsafeMutableRawPointer, Int32, Int32, Int32, Int32) -> Void
  /// Lets a key go: MIDI pitch, pan, bus.
  public var release: @convention(c) (UnsafeMutableRawPointer, Int32, Int32, Int32) -> Void
  /// Moves the pedal, 0…127.
  public var pedal: @convention(c) (UnsafeMutableRawPointer, Int32) -> Void
  /// Adds frames to left and right, where bus b begins at b·64.
  public var render:
    @convention(c) (UnsafeMutableRawPointer, UnsafeMutablePointer<Float>, UnsafeMutablePointer<Float>, Int32) -> Void
  /// Tunes it: hundredths of a cent over A4 = 440 Hz.
  public var tune: @convention(c) (UnsafeMutableRawPointer, Int32) -> Void
  /// Silences everything at once.
  public var silence: @convention(c) (UnsafeMutableRawPointer) -> Void

  /// Makes an instrument of its functions.
  public init(
    context: UnsafeMutableRawPointer,
    strike: @escaping @convention(c) (UnsafeMutableRawPointer, Int32, Int32, Int32, Int32) -> Void,
    release: @escaping @convention(c) (UnsafeMutableRawPointer, Int32, Int32, Int32) -> Void,
    pedal: @escaping @convention(c) (UnsafeMutableRawPointer, Int32) -> Void,
    render:
      @escaping @convention(c) (
        UnsafeMutableRawPointer, UnsafeMutablePointer<Float>, UnsafeMutablePointer<Float>, Int32
      ) -> Void,
    tune: @escaping @convention(c) (UnsafeMutableRawPointer, Int32) -> Void,
    silence: @escaping @convention(c) (UnsafeMutableRawPointer) -> Void
  ) {
    (self.context, self.strike, self.release, self.pedal, self.render) = (context, strike, release, pedal, render)
    (self.tune, self.silence) = (tune, silence)
  }
}
