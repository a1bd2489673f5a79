/// A value that a ramp can move: a single level or a vector of levels.
protocol Rampable: BitwiseCopyable, Equatable {
  init()
  static func + (a: Self, b: Self) -> Self
  static func - (a: Self, b: Self) -> Self
  static func / (a: Self, b: Float) -> Self
}

extension Float: Rampable {}
extension SIMD2<Float>: Rampable {}
extension SIMD4<Float>: Rampable {}

/// Moves parameters linearly to their target; the slope changes only at the points of the control grid, every 64 frames. Call `tick` at
/// every 64th frame, and `next` once a frame. Real-time safe: yes.
struct Ramp<Value: Rampable>: BitwiseCopyable {
  private(set) var value: Value
  private(set) var target: Value
  private var step = Value()
  private var cells: Int32 = 0

  init(_ value: Value) {
    self.value = value
    target = value
  }

  var isAtRest: Bool { cells == 0 && value == target }

  /// Moves to `target` from the next `tick` on, within `frames`, rounded up to a multiple of 64.
  mutating func aim(_ target: Value, frames: Int = Grid.frames) {
    guard target != self.target else { return }
    self.target = target
    cells = Int32(clamping: max(1, (frames + Grid.frames - 1) / Grid.frames))
  }

  /// Sets the value at once, without a ramp. Call only while the change cannot be heard.
  mutating func jump(_ value: Value) { self = Ramp(value) }

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

  @inline(__always)
  mutating func next() -> Value {
    value = value + step
    return value
  }

  @inline(__always)
  mutating func skip(_ frames: Int) { for _ in 0..<frames { _ = next() } }
}
