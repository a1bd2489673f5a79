import ScoreModel

/// An event for the audio thread, and whether it begins a batch (the events of one call of `Engine.post`).
struct Posted: BitwiseCopyable {
  var event = ScoreEvent(frame: .zero, generation: 0, kind: .cut)
  var begins = false
}

/// The audio thread's pending events sorted by frame; equal frames keep their posting order.
struct Scheduler: ~Copyable {
  /// The maximum number of pending events: twice what `Engine.post` accepts at once.
  static let capacity = 16_384
  private let events = SampleBuffer<ScoreEvent>(capacity, repeating: Posted().event)
  private var head = 0
  private var tail = 0
  /// The frames by which the current batch is late, kept between calls: one call of `drain` may take only a part of a batch.
  private var shift: Int64 = 0

  var nextFrame: Int64? { head < tail ? events[head].frame.rawValue : nil }

  /// Takes the events from the ring at the start of a block at `now`; shifts late batches as a whole and reports them.
  mutating func drain(_ ring: borrowing Ring<Posted>, now: Int64, late: borrowing Ring<LateBatch>) {
    let pending = ring.pending()
    guard !pending.isEmpty else { return }
    if head > 0 {
      for i in 0..<tail - head { events[i] = events[head + i] }
      tail -= head
      head = 0
    }
    var taken = pending.lowerBound
    for at in pending {
      guard tail < Self.capacity else { break }
      var event = ring[at].event
      if ring[at].begins { shift = max(0, now - event.frame.rawValue) }
      event.frame = Tick(rawValue: event.frame.rawValue + shift)
      if ring[at].begins, shift > 0 {
        let batch = LateBatch(generation: event.generation, frame: event.frame, lateness: shift)
        // If the ring for reports is full, this report is lost.
        late.post(1) { _ in batch }
      }
      if event.kind == .cut { cut(event) } else { insert(event) }
      taken = at + 1
    }
    ring.take(upTo: taken)
  }

  mutating func pop(due now: Int64) -> ScoreEvent? {
    guard head < tail, events[head].frame.rawValue <= now else { return nil }
    head += 1
    return events[head - 1]
  }

  private mutating func insert(_ event: ScoreEvent) {
    var at = tail
    while at > head, events[at - 1].frame > event.frame {
      events[at] = events[at - 1]
      at -= 1
    }
    events[at] = event
    tail += 1
  }

  private mutating func cut(_ cut: ScoreEvent) {
    var kept = head
    for at in head..<tail {
      let event = events[at]
      if cut.drops(event) { continue }
      events[kept] = event
      kept += 1
    }
    tail = kept
  }
}
