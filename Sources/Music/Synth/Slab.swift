/// A fixed piece of memory taken once, at init: the only storage that audio nodes use.
///
/// Access is unchecked; callers keep indices in `0..<count`. Real-time safe: yes, but for `init` and `deinit`.
struct Slab<Element: BitwiseCopyable>: ~Copyable, @unchecked Sendable {
  let base: UnsafeMutablePointer<Element>
  let count: Int

  /// Takes memory for `count` elements, each set to `value`.
  init(_ count: Int, repeating value: Element) {
    self.count = count
    base = UnsafeMutablePointer<Element>.allocate(capacity: max(count, 1))
    base.initialize(repeating: value, count: max(count, 1))
  }

  deinit { base.deallocate() }

  subscript(_ index: Int) -> Element {
    get { base[index] }
    nonmutating set { base[index] = newValue }
  }

  func fill(_ value: Element) { base.update(repeating: value, count: max(count, 1)) }
}

/// A fixed number of audio nodes, made once, at init, each in a place of its own.
///
/// Access is unchecked; callers keep indices in `indices`. Real-time safe: yes, but for `init` and `deinit`.
struct Nodes<Node: ~Copyable>: ~Copyable {
  private let base: UnsafeMutablePointer<Node>
  let count: Int

  init(_ count: Int, _ make: () -> Node) {
    self.count = count
    base = UnsafeMutablePointer<Node>.allocate(capacity: count)
    for i in 0..<count { (base + i).initialize(to: make()) }
  }

  deinit {
    base.deinitialize(count: count)
    base.deallocate()
  }

  var indices: Range<Int> { 0..<count }

  subscript(_ index: Int) -> Node {
    @inline(__always) _read { yield base[index] }
    @inline(__always) nonmutating _modify { yield &base[index] }
  }
}

extension Slab where Element == Stereo {
  /// `count` frames from a place on.
  @inline(__always)
  func block(_ count: Int, from place: Int = 0) -> StereoBlock { StereoBlock(start: base + place, count: count) }
}

/// Puts a value where a pointer can be handed on: for what crosses to the audio thread and back.
func placed<T: ~Copyable>(_ value: consuming T) -> UnsafeMutablePointer<T> {
  let pointer = UnsafeMutablePointer<T>.allocate(capacity: 1)
  pointer.initialize(to: value)
  return pointer
}

/// Ends what was placed, and gives its memory back.
func free<T: ~Copyable>(_ pointer: UnsafeMutablePointer<T>?) {
  pointer?.deinitialize(count: 1)
  pointer?.deallocate()
}

/// The control grid: parameters change only every 64 frames, counted from frame 0, whatever the host's block.
enum Grid {
  /// Frames in a cell: 1.33 ms, short enough that a linear ramp over one cell is not heard as a step.
  static let frames = 64
}
