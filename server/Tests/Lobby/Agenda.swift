/// What happens in a simulated world, earliest first, and what is due at one time in the order in which it was set. A binary heap.
///
/// The lobby's queue of timers does the same for any type, and being asked for it across modules takes a fifth of a run's time.
struct Agenda {
  private var heap: [(due: Int64, order: UInt64, action: Simulation.Action)] = []
  private var made: UInt64 = 0

  /// When the earliest action is due.
  var next: Int64? { heap.first?.due }

  private func isBefore(_ i: Int, _ j: Int) -> Bool { (heap[i].due, heap[i].order) < (heap[j].due, heap[j].order) }

  mutating func set(_ action: Simulation.Action, at due: Int64) {
    heap.append((due, made, action))
    made += 1
    var i = heap.count - 1
    while i > 0, isBefore(i, (i - 1) / 2) {
      heap.swapAt(i, (i - 1) / 2)
      i = (i - 1) / 2
    }
  }

  /// Takes the earliest action.
  mutating func take() -> Simulation.Action? {
    guard let first = heap.first else { return nil }
    let last = heap.removeLast()
    guard !heap.isEmpty else { return first.action }
    heap[0] = last
    var i = 0
    while true {
      var least = i
      for child in [2 * i + 1, 2 * i + 2] where child < heap.count && isBefore(child, least) { least = child }
      if least == i { return first.action }
      heap.swapAt(i, least)
      i = least
    }
  }
}
