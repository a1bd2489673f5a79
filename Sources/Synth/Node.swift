/// A run of frames on two channels, changed in place.
public struct StereoBlock {
  /// The left channel.
  public let left: UnsafeMutablePointer<Float>
  /// The right channel.
  public let right: UnsafeMutablePointer<Float>
  /// Frames in each.
  public let frames: Int

  /// Describes `frames` frames at `left` and `right`.
  public init(left: UnsafeMutablePointer<Float>, right: UnsafeMutablePointer<Float>, frames: Int) {
    (self.left, self.right, self.frames) = (left, right, frames)
  }

  /// Takes the frames of another block at least as long. A plain loop: `update(from:)` counts as a deallocation.
  @inline(__always)
  func copy(_ other: StereoBlock) {
    for i in 0..<frames {
      left[i] = other.left[i]
      right[i] = other.right[i]
    }
  }

  /// Makes it silent.
  @inline(__always)
  func clear() {
    left.update(repeating: 0, count: frames)
    right.update(repeating: 0, count: frames)
  }

  /// Adds the frames of another block at least as long.
  @inline(__always)
  func add(_ other: StereoBlock) {
    for i in 0..<frames {
      left[i] += other.left[i]
      right[i] += other.right[i]
    }
  }

  /// Is as loud as a ramp says.
  @inline(__always)
  func scale(_ ramp: inout Ramp) {
    for i in 0..<frames {
      let x = ramp.next()
      left[i] *= x
      right[i] *= x
    }
  }

  /// The part of the block from `start`, `frames` long.
  @inline(__always)
  func part(_ start: Int, _ frames: Int) -> StereoBlock {
    StereoBlock(left: left + start, right: right + start, frames: frames)
  }
}

/// A unit of the sound: takes memory at init, then renders in place without any.
///
/// Every node counts its own place in the 64-frame control grid from its first frame, so that a render cut into blocks
/// of any sizes is the same bit for bit.
public protocol AudioNode: ~Copyable {
  /// The settings, in units, with ranges and defaults of their own.
  associatedtype Parameters: Sendable, Hashable

  /// Makes the node with its default parameters, silent. `sampleRate` in Hz.
  init(sampleRate: Double)

  /// Takes parameters clamped to their ranges; audible ones ramp. Real-time safe: yes.
  mutating func set(_ parameters: Parameters)

  /// Forgets all sound: the next render starts from silence, at the parameters' targets.
  mutating func reset()

  /// Renders any number of frames in place. Real-time safe: yes.
  mutating func render(_ block: StereoBlock)
}

/// A node's place in the control grid.
struct GridPlace: BitwiseCopyable {
  private var position = 0

  /// The frames until the next grid frame, at most `remaining`; `starts` tells whether a cell begins here.
  @inline(__always)
  mutating func next(_ remaining: Int) -> (frames: Int, starts: Bool) {
    let starts = position == 0
    let run = min(Grid.frames - position, remaining)
    position = (position + run) & (Grid.frames - 1)
    return (run, starts)
  }
}

/// Tells when a node with a memory has been silent so long that it may rest: what is silent then costs nothing.
///
/// Note each frame's loudest sample, ask at each grid frame.
struct SilenceWatch: BitwiseCopyable {
  /// Frames of silence after which the memory holds nothing any more.
  private let memory: Int
  /// What counts as silence, as an amplitude.
  private let floor: Float
  private var quiet: Int
  private var peak: Float = 0

  /// Watches a node, silent from its start, whose memory is `memory` frames.
  init(memory: Int, floor: Float) {
    self.memory = memory
    self.floor = floor
    quiet = memory
  }

  /// Whether the node holds nothing but silence.
  var isResting: Bool { quiet >= memory }

  /// Hears a sample of the node's memory or output.
  @inline(__always)
  mutating func note(_ level: Float) { peak = max(peak, level) }

  /// Begins a grid cell; true when the node comes to rest, and may clear its memory.
  mutating func tick() -> Bool {
    let wasResting = isResting
    quiet = peak < floor ? min(quiet + Grid.frames, memory) : 0
    peak = 0
    return isResting && !wasResting
  }

  /// The node's memory was cleared.
  mutating func rest() {
    quiet = memory
    peak = 0
  }
}

extension StereoBlock {
  /// Whether every sample is 0.
  @inline(__always)
  var isSilent: Bool {
    for i in 0..<frames where left[i] != 0 || right[i] != 0 { return false }
    return true
  }
}

/// Zeroes what must not leave a node, and tells whether anything had to be.
@inline(__always)
func purify(_ block: StereoBlock) -> Bool {
  var bad = false
  for i in 0..<block.frames where !(Arithmetic.isSound(block.left[i]) && Arithmetic.isSound(block.right[i])) {
    block.left[i] = 0
    block.right[i] = 0
    bad = true
  }
  return bad
}
