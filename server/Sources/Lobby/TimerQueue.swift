/// Items by due time, earliest first, equal times in insertion order: a binary heap. Inlinable for the simulation in another module:
/// without inlining, half of its time went into unspecialized generic code.
package struct TimerQueue<Item: Sendable>: Sendable {
  @usableFromInline var heap: [(due: Int64, order: UInt64, item: Item)] = []
  @usableFromInline var made: UInt64 = 0

  @inlinable package init() {}

  /// The time at which the earliest item is due; `nil` if there is no item.
  @inlinable package var next: Int64? { heap.isEmpty ? nil : heap[0].due }

  /// Compares without copying the items.
  @inlinable func isBefore(_ i: Int, _ j: Int) -> Bool {
    (heap[i].due, heap[i].order) < (heap[j].due, heap[j].order)
  }

  /// Adds an item; O(log n).
  @inlinable package mutating func set(_ item: Item, at due: Int64) {
    heap.append((due, made, item))
    made += 1
    var i = heap.count - 1
    while i > 0, isBefore(i, (i - 1) / 2) {
      heap.swapAt(i, (i - 1) / 2)
      i = (i - 1) / 2
    }
  }

  /// Removes and returns the earliest item if it is due; O(log n).
  @inlinable package mutating func take(dueAt now: Int64) -> Item? {
    guard let next, next <= now else { return nil }
    let first = heap[0]
    let last = heap.removeLast()
    if !heap.isEmpty {
      heap[0] = last
      var i = 0
      while true {
        var least = i
        for child in [2 * i + 1, 2 * i + 2] where child < heap.count && isBefore(child, least) {
          least = child
        }
        if least == i { break }
        heap.swapAt(i, least)
        i = least
      }
    }
    return first.item
  }
}
