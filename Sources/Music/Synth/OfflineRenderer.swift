import ScoreModel

/// Renders a score faster than real time, with the engine that also plays live.
public struct OfflineRenderer {
  /// The time for the last notes to fade after the last bar.
  public static let tail = Tick.seconds(8)

  /// The engine; set its controls before `render`.
  public let engine: Engine
  private let events: [ScoreEvent]
  private var posted = 0
  private var frame: Int64 = 0

  /// Prepares a score of events in posting order, without the events that the cuts among them remove.
  public init(_ events: [ScoreEvent], engine: Engine) {
    self.engine = engine
    self.events = ScoreEvent.heard(events).sorted { $0.frame < $1.frame }
  }

  /// Renders the next `frames` frames as interleaved stereo at 48 kHz.
  public mutating func render(frames: Int) -> [Float] {
    [Float](unsafeUninitializedCapacity: frames * 2) { buffer, count in
      if let base = buffer.baseAddress { fill(base, frames: frames) }
      count = frames * 2
    }
  }

  /// Renders the next `frames` frames into a buffer.
  public mutating func fill(_ buffer: UnsafeMutablePointer<Float>, frames: Int) {
    var done = 0
    while done < frames {
      let run = min(4_096, frames - done)
      postDue(before: frame + Int64(run))
      engine.render(into: buffer + 2 * done, frames: run)
      frame += Int64(run)
      done += run
    }
  }

  /// Posts the events before frame `end` in batches. No event is late, so the size of the batches does not change the sound.
  private mutating func postDue(before end: Int64) {
    while posted < events.count, events[posted].frame.rawValue < end {
      var next = posted
      while next < events.count, next - posted < 4_096, events[next].frame.rawValue < end { next += 1 }
      guard engine.post(Array(events[posted..<next])) else { return }
      posted = next
    }
  }
}
