/// A piano that the engine plays through plain C functions: the interface for the sampled grand.
///
/// All functions are called on the audio thread and must be real-time safe. Frames come in runs of at most 64 that
/// never cross the engine's 64-frame grid.
public struct Instrument: BitwiseCopyable, @unchecked Sendable {
  /// What the functions are called with.
  public typealias Context = UnsafeMutableRawPointer
  /// One side of what is rendered.
  public typealias Side = UnsafeMutablePointer<Float>

  /// Must outlive the engine.
  public var context: Context
  /// Strikes a key, or lets it go at velocity 0: MIDI pitch, velocity 0–127, pan −100…100, bus 0…7.
  public var strike: @convention(c) (Context, Int32, Int32, Int32, Int32) -> Void
  /// Moves the pedal, 0…127.
  public var pedal: @convention(c) (Context, Int32) -> Void
  /// Adds frames to left and right, where bus b begins at b·64.
  public var render: @convention(c) (Context, Side, Side, Int32) -> Void
  /// Tunes it: hundredths of a cent over A4 = 440 Hz.
  public var tune: @convention(c) (Context, Int32) -> Void

  /// Makes an instrument of its functions.
  public init(
    context: Context,
    strike: @escaping @convention(c) (Context, Int32, Int32, Int32, Int32) -> Void,
    pedal: @escaping @convention(c) (Context, Int32) -> Void,
    render: @escaping @convention(c) (Context, Side, Side, Int32) -> Void,
    tune: @escaping @convention(c) (Context, Int32) -> Void
  ) {
    (self.context, self.strike, self.pedal, self.render, self.tune) = (context, strike, pedal, render, tune)
  }
}
