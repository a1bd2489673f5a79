import ScoreModel
import ScoreFormats
import Synth
import Tintinnabuli

/// Renders events to a file, faster than real time, with the engine that also plays live.
package struct OfflineSound {
  private let events: [ScoreEvent]
  private let end: Tick
  /// The part of the music to write, in seconds from the first sound.
  package var range = 0.0...Double.greatestFiniteMagnitude
  /// The times at which the synthesizer's patch changes, and the rules from which the new patch is made.
  package var turns: [(at: Tick, rules: ScoreRules)] = []

  /// Prepares events whose last bar ends at `end`.
  package init(_ events: [ScoreEvent], end: Tick) {
    self.events = events
    self.end = end
  }

  /// Renders to a file with an engine whose patch and piano are set. If `progress`, which receives seconds, throws, the rendering ends.
  package func write(
    to path: String, format: AudioFile.Format, engine: Engine,
    progress: (_ done: Double, _ all: Double) throws -> Void = { _, _ in }
  ) throws {
    let frames = try frames
    let file = try AudioFile(path: path, format: format, frames: frames.count)
    try render(engine) { samples, done, all in
      try samples.withUnsafeBufferPointer { try file.write($0) }
      try progress(done, all)
    }
    try file.finish()
  }

  /// Throws if the range is empty.
  private var frames: Range<Int64> {
    get throws {
      let end = min((self.end + OfflineRenderer.tail).seconds, range.upperBound)
      guard end > range.lowerBound else {
        throw ScoreFileError("--from \(range.lowerBound): the music ends at \(Int(end)) s")
      }
      return Tick.seconds(range.lowerBound).rawValue..<Tick.seconds(end).rawValue
    }
  }

  /// Renders in chunks and passes the samples of each chunk to `body`; for a chunk before the range, passes no samples.
  package func render(_ engine: Engine, _ body: (_ samples: [Float], _ done: Double, _ all: Double) throws -> Void)
    throws
  {
    var renderer = OfflineRenderer(events, engine: engine)
    var frame: Int64 = 0
    let frames = try frames
    let (first, last) = (frames.lowerBound, frames.upperBound)
    var turns = turns[...]
    while frame < last {
      while let turn = turns.first, turn.at.rawValue <= frame {
        engine.load(Patch(turn.rules))
        turns.removeFirst()
      }
      // Frames before the range are rendered, too, because their notes may sound on into the range.
      let run = Int(min(4_800, (frame < first ? first : last) - frame))
      let samples = renderer.render(frames: run)
      frame += Int64(run)
      try body(frame > first ? samples : [], Double(frame) / 48_000, Double(last) / 48_000)
    }
  }
}
