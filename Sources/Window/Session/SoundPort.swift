import ScoreModel

/// The session's interface to the sound, as functions; tests and offline rendering fill in the same struct.
package struct SoundPort {
  /// The first frame whose rendering has not begun.
  package var now: () -> Tick
  package var post: ([ScoreEvent]) -> Void
  /// Returns the batches of events that the engine has delayed since the last call, because they were posted too late.
  package var takeLate: () -> [LateBatch]
  /// How long before its frame an event must be posted to sound in time: two blocks of the device plus the jitter of the main loop.
  package var lead: Tick

  package init(
    now: @escaping () -> Tick, post: @escaping ([ScoreEvent]) -> Void, takeLate: @escaping () -> [LateBatch], lead: Tick
  ) {
    (self.now, self.post, self.takeLate, self.lead) = (now, post, takeLate, lead)
  }
}
