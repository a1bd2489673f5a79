/// A frame of sound: left and right.
public typealias Stereo = SIMD2<Float>

/// A run of frames, modified in place.
public typealias StereoBlock = UnsafeMutableBufferPointer<Stereo>

extension Stereo {
  @inline(__always)
  var peak: Float { Swift.max(abs(x), abs(y)) }

  @inline(__always)
  var swapped: Stereo { Stereo(y, x) }
}

extension StereoBlock {
  /// `other` must be at least as long as this block, also in `add`. A plain loop: the compiler takes `update(from:)` for a deallocation,
  /// which is not allowed on the audio thread.
  @inline(__always)
  func copy(_ other: StereoBlock) { for i in indices { self[i] = other[i] } }

  @inline(__always)
  func add(_ other: StereoBlock) { for i in indices { self[i] += other[i] } }

  @inline(__always)
  func scale(_ ramp: inout Ramp<Float>) { for i in indices { self[i] *= ramp.next() } }

  @inline(__always)
  var isSilent: Bool {
    for i in indices where self[i] != .zero { return false }
    return true
  }

  /// Replaces each frame that has an invalid sample by 0.
  @inline(__always)
  func zeroNonFinite() {
    for i in indices where !(Arithmetic.isSound(self[i].x) && Arithmetic.isSound(self[i].y)) { self[i] = .zero }
  }
}

/// A sound generator or effect: allocates in `init` and renders in place without allocation. Each node counts its position in the 64-frame
/// control grid from its first frame, so that results do not depend on block sizes, bit for bit.
package protocol AudioNode: ~Copyable {
  /// The settings of the node; each setting has its own unit, range and default.
  associatedtype Parameters: Sendable, Hashable

  /// Makes the node with its default parameters, silent. `sampleRate` in Hz.
  init(sampleRate: Double)

  /// Applies new parameters, clamped to their ranges; audible changes are ramps. Real-time safe: yes.
  mutating func set(_ parameters: Parameters)

  /// Clears all sound: the next render starts from silence, and each ramp starts at its target.
  mutating func reset()

  /// Renders any number of frames in place. Real-time safe: yes.
  mutating func render(_ block: StereoBlock)
}

/// A node's position in the grid of 64 frames, at whose points a node updates its controls.
struct GridPlace: BitwiseCopyable {
  private var position = 0

  /// Removes the frames up to the next grid point from `rest` and returns them; `starts` is whether the first of them is on a grid point.
  @inline(__always)
  mutating func next(_ rest: inout StereoBlock) -> (part: StereoBlock, starts: Bool)? {
    guard !rest.isEmpty else { return nil }
    let starts = position == 0
    let run = min(Grid.frames - position, rest.count)
    position = (position + run) & (Grid.frames - 1)
    let part = StereoBlock(rebasing: rest[..<run])
    rest = StereoBlock(rebasing: rest[run...])
    return (part, starts)
  }
}

/// Detects when a node with a memory has been silent long enough to skip its computation. Call `note` with each frame's peak, and `tick` at
/// the start of each 64-frame cell of the control grid.
struct SilenceWatch: BitwiseCopyable {
  /// The number of silent frames after which the node's memory has no sound left.
  private let memory: Int
  /// The amplitude below which the node counts as silent.
  private let floor: Float
  private var quiet: Int
  private var peak: Float = 0

  init(memory: Int, floor: Float) {
    self.memory = memory
    self.floor = floor
    quiet = memory
  }

  /// Whether the node contains only silence.
  var isResting: Bool { quiet >= memory }

  @inline(__always)
  mutating func note(_ level: Float) { peak = max(peak, level) }

  /// Starts a 64-frame cell of the control grid; `true` when the node becomes silent and may clear its memory.
  mutating func tick() -> Bool {
    let wasResting = isResting
    quiet = peak < floor ? min(quiet + Grid.frames, memory) : 0
    peak = 0
    return isResting && !wasResting
  }

  mutating func rest() {
    quiet = memory
    peak = 0
  }
}
