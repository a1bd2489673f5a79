/// One frame of sound: left and right.
public typealias Stereo = SIMD2<Float>

/// A run of frames, changed in place.
public typealias StereoBlock = UnsafeMutableBufferPointer<Stereo>

extension Stereo {
  /// The louder side, as an amplitude.
  @inline(__always)
  var peak: Float { Swift.max(abs(x), abs(y)) }

  /// Left and right exchanged.
  @inline(__always)
  var swapped: Stereo { Stereo(y, x) }
}

extension StereoBlock {
  /// Takes the frames of another block at least as long. A plain loop: `update(from:)` counts as a deallocation.
  @inline(__always)
  func copy(_ other: StereoBlock) { for i in indices { self[i] = other[i] } }

  /// Adds the frames of another block at least as long.
  @inline(__always)
  func add(_ other: StereoBlock) { for i in indices { self[i] += other[i] } }

  /// Is as loud as a ramp says.
  @inline(__always)
  func scale(_ ramp: inout Ramp<Float>) { for i in indices { self[i] *= ramp.next() } }

  /// Whether every sample is 0.
  @inline(__always)
  var isSilent: Bool {
    for i in indices where self[i] != .zero { return false }
    return true
  }

  /// Zeroes the frames that must not leave a node.
  @inline(__always)
  func purify() {
    for i in indices where !(Arithmetic.isSound(self[i].x) && Arithmetic.isSound(self[i].y)) { self[i] = .zero }
  }
}

/// A unit of the sound: takes memory at init, then renders in place without any.
///
/// Every node counts its own place in the 64-frame control grid from its first frame, so that a render cut into blocks
/// of any sizes is the same bit for bit.
package protocol AudioNode: ~Copyable {
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

  /// Takes from `rest` the frames up to the next grid frame, `nil` if it is empty; `starts` tells whether a cell begins.
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
