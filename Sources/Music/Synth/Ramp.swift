/// What a ramp can move: a level, or several at once.
protocol Rampable: BitwiseCopyable, Equatable {
  init()
  static func + (a: Self, b: Self) -> Self
  static func - (a: Self, b: Self) -> Self
  static func / (a: Self, b: Float) -> Self
}

extension Float: Rampable {}
extension SIMD2<Float>: Rampable {}
extension SIMD4<Float>: Rampable {}

/// Parameters that move to their target in a straight line, its slope changing only on the control grid.
///
/// Call `tick` at each grid frame, then `next` once a frame. Real-time safe: yes.
struct Ramp<Value: Rampable>: BitwiseCopyable {
  private(set) var value: Value
  private(set) var target: Value
  private var step = Value()
  private var cells: Int32 = 0

  /// Starts at rest.
  init(_ value: Value) {
    self.value = value
    target = value
  }

  /// Whether the value is at its target.
  var isAtRest: Bool { cells == 0 && value == target }

  /// Heads for `target` within `frames`, rounded up to whole cells, from the next tick on; at least one cell.
  mutating func aim(_ target: Value, frames: Int = Grid.frames) {
    guard target != self.target else { return }
    self.target = target
    cells = Int32(clamping: max(1, (frames + Grid.frames - 1) / Grid.frames))
  }

  /// Is at `value` at once: for what is silent.
  mutating func jump(_ value: Value) { self = Ramp(value) }

  /// Sets the slope of the next cell.
  mutating func tick() {
    if cells > 0 {
      step = (target - value) / (Float(cells) * Float(Grid.frames))
      cells -= 1
      if step == Value() { value = target }
    } else {
      step = Value()
      value = target
    }
  }

  /// The value of the next frame.
  @inline(__always)
  mutating func next() -> Value {
    value = value + step
    return value
  }

  /// Passes over some frames of a run.
  @inline(__always)
  mutating func skip(_ frames: Int) { for _ in 0..<frames { _ = next() } }
}
