import ScoreModel

/// The session's interface to the sound, as functions; tests and offline rendering fill in the same struct.
package struct SoundPort {
  /// The first frame whose rendering has not begun.
  package var now: () -> Tick
  /// Sends events to the audio thread.
  package var post: ([ScoreEvent]) -> Void
  /// Returns the batches, since the last call, that were posted too late and were therefore delayed by the engine.
  package var takeLate: () -> [LateBatch]
  /// How long before their frames events must be posted: two blocks of the device plus the jitter of the main loop.
  package var lead: Tick

  package init(
    now: @escaping () -> Tick, post: @escaping ([ScoreEvent]) -> Void, takeLate: @escaping () -> [LateBatch], lead: Tick
  ) {
    (self.now, self.post, self.takeLate, self.lead) = (now, post, takeLate, lead)
  }
}
