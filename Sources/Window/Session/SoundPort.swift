import ScoreModel

/// What a session needs of the sound, as functions: tests and offline runs fill the same struct.
package struct SoundPort {
  /// A batch that reached the audio thread after its first frame and was moved as a whole.
  package struct Late: Sendable, Hashable {
    package var generation: UInt32
    /// The frame its first event sounded on.
    package var frame: Tick
    /// Frames it was moved by.
    package var lateness: Int64

    package init(generation: UInt32, frame: Tick, lateness: Int64) {
      (self.generation, self.frame, self.lateness) = (generation, frame, lateness)
    }
  }

  /// The first frame whose rendering has not begun.
  package var now: () -> Tick
  /// Hands events to the audio thread.
  package var post: ([ScoreEvent]) -> Void
  /// Takes the reports of late batches since the last call.
  package var takeLate: () -> [Late]
  /// How far ahead of `now` events must be posted to be in time: two blocks of the device and the loop's own jitter.
  package var lead: Tick

  package init(
    now: @escaping () -> Tick, post: @escaping ([ScoreEvent]) -> Void, takeLate: @escaping () -> [Late], lead: Tick
  ) {
    (self.now, self.post, self.takeLate, self.lead) = (now, post, takeLate, lead)
  }
}
