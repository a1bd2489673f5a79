/// The only calls on the audio thread that the compiler cannot verify as real-time safe; a malloc counter and RealtimeSanitizer test them.
enum OpaqueCalls {
  /// The square root is a single instruction, but the standard library hides this from the compiler.
  @_semantics("no_performance_analysis") @inline(never)
  static func squareRoot(_ x: Float) -> Float { x.squareRoot() }

  @_semantics("no_performance_analysis") @inline(never)
  static func strike(_ i: Instrument, _ pitch: Int32, _ velocity: Int32, _ pan: Int32, _ bus: Int32) {
    i.strike(i.context, pitch, velocity, pan, bus)
  }

  @_semantics("no_performance_analysis") @inline(never)
  static func pedal(_ i: Instrument, _ amount: Int32) { i.pedal(i.context, amount) }

  @_semantics("no_performance_analysis") @inline(never)
  static func render(
    _ i: Instrument, _ left: UnsafeMutablePointer<Float>, _ right: UnsafeMutablePointer<Float>, _ frames: Int32
  ) {
    i.render(i.context, left, right, frames)
  }

  @_semantics("no_performance_analysis") @inline(never)
  static func tune(_ i: Instrument, _ hundredthsOfCents: Int32) { i.tune(i.context, hundredthsOfCents) }
}
