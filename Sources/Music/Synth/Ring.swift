import Synchronization

/// A ring buffer of plain values between two threads; a post becomes visible as a whole.
struct Ring<Element: BitwiseCopyable>: ~Copyable {
  private let slots: SampleBuffer<Element>
  private let written = Atomic<Int>(0)
  private let read = Atomic<Int>(0)

  /// Makes an empty ring of `capacity` slots, a power of two, filled with `filler`.
  init(_ capacity: Int, filler: Element) { slots = SampleBuffer(capacity, repeating: filler) }

  /// Publishes `count` values; `false`, without effect, if fewer slots are free. Real-time safe: yes.
  @discardableResult
  func post(_ count: Int, _ value: (Int) -> Element) -> Bool {
    let at = written.load(ordering: .relaxed)
    guard count <= slots.count - (at - read.load(ordering: .acquiring)) else { return false }
    for i in 0..<count { slots[(at + i) & (slots.count - 1)] = value(i) }
    // This store and the audio thread's store of `framesBegun` are sequentially consistent: either the audio thread sees this batch in the
    // block that it is about to render, or the producer sees that this block has begun.
    written.store(at + count, ordering: .sequentiallyConsistent)
    return true
  }

  /// The positions of the published values that are not taken yet. Real-time safe: yes.
  func pending() -> Range<Int> {
    let from = read.load(ordering: .relaxed)
    return from..<written.load(ordering: .sequentiallyConsistent)
  }

  subscript(_ at: Int) -> Element { slots[at & (slots.count - 1)] }

  func take(upTo end: Int) { read.store(end, ordering: .releasing) }
}
