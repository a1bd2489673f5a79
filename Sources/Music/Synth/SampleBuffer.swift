/// A fixed memory buffer, the only storage of audio nodes. Access is unchecked. Real-time safe: yes, except `init` and `deinit`.
struct SampleBuffer<Element: BitwiseCopyable>: ~Copyable, @unchecked Sendable {
  let base: UnsafeMutablePointer<Element>
  let count: Int

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

/// A fixed number of audio nodes at fixed addresses. Access is unchecked. Real-time safe: yes, except `init` and `deinit`.
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

extension SampleBuffer where Element == Stereo {
  @inline(__always)
  func block(_ count: Int, from place: Int = 0) -> StereoBlock { StereoBlock(start: base + place, count: count) }
}

/// Moves a value to allocated memory, to pass it between threads by pointer.
func placed<T: ~Copyable>(_ value: consuming T) -> UnsafeMutablePointer<T> {
  let pointer = UnsafeMutablePointer<T>.allocate(capacity: 1)
  pointer.initialize(to: value)
  return pointer
}

/// Destroys a value that `placed` moved to allocated memory, and frees this memory.
func free<T: ~Copyable>(_ pointer: UnsafeMutablePointer<T>?) {
  pointer?.deinitialize(count: 1)
  pointer?.deallocate()
}

/// The control grid: parameters change only every 64 frames, counted from frame 0, independent of the host's blocks.
enum Grid {
  /// Frames of a cell: 1.33 ms, so short that a change of slope in each cell is not heard as steps.
  static let frames = 64
}
