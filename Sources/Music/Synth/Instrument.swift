/// A piano called through C functions: the interface for the sampled grand. All functions run on the audio thread and must be real-time
/// safe. A call of `render` has at most 64 frames and never crosses the engine's 64-frame grid.
public struct Instrument: BitwiseCopyable, @unchecked Sendable {
  /// The first argument of all functions.
  public typealias Context = UnsafeMutableRawPointer
  /// The buffer of one channel, left or right.
  public typealias Side = UnsafeMutablePointer<Float>

  /// The instrument's state, which must outlive the engine.
  public var context: Context
  /// Strikes a key, or releases it at velocity 0: MIDI pitch, velocity 0–127, pan −100…100, bus 0…7 (0 is dry, 1…7 are effect chains).
  public var strike: @convention(c) (Context, Int32, Int32, Int32, Int32) -> Void
  /// Moves the pedal, 0 (up) … 127 (down).
  public var pedal: @convention(c) (Context, Int32) -> Void
  /// Adds the next frames of all buses to the left and right buffers: the frames of bus b start at index 64·b.
  public var render: @convention(c) (Context, Side, Side, Int32) -> Void
  /// Sets the tuning: hundredths of a cent above A4 = 440 Hz.
  public var tune: @convention(c) (Context, Int32) -> Void

  /// Makes an instrument from its functions.
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
