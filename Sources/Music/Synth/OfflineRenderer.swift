import ScoreModel

/// Renders a score to samples as fast as the machine can, with the same engine as the window's.
public struct OfflineRenderer {
  /// How long the last notes ring after the last bar.
  public static let tail = Tick.seconds(8)

  /// The engine that renders: turn its knobs before `render`.
  public let engine: Engine
  private let events: [ScoreEvent]
  private var posted = 0
  private var frame: Int64 = 0

  /// Prepares a score: events in the order they were posted, cuts done as if each had come in time.
  public init(_ events: [ScoreEvent], engine: Engine) {
    self.engine = engine
    self.events = ScoreEvent.heard(events).sorted { $0.frame < $1.frame }
  }

  /// The next `frames` frames, interleaved stereo at 48 kHz.
  public mutating func render(frames: Int) -> [Float] {
    [Float](unsafeUninitializedCapacity: frames * 2) { buffer, count in
      if let base = buffer.baseAddress { fill(base, frames: frames) }
      count = frames * 2
    }
  }

  /// Fills a caller's buffer with the next `frames` frames.
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

  /// Posts what begins before `end`, in batches of one: an event is never late, so batches mean nothing here.
  private mutating func postDue(before end: Int64) {
    while posted < events.count, events[posted].frame.rawValue < end {
      var next = posted
      while next < events.count, next - posted < 4_096, events[next].frame.rawValue < end { next += 1 }
      guard engine.post(Array(events[posted..<next])) else { return }
      posted = next
    }
  }
}
