/// An instruction of the score for the synthesizer. The events of one bar, echo or interface sound share a `generation` and are posted in
/// one call: if the events reach the audio thread late, the engine shifts all of them equally and reports the delay.
@frozen
public struct ScoreEvent: Sendable, Hashable, BitwiseCopyable {
  /// The kind of event.
  public enum Kind: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    /// Strike `pitch` with `velocity`; the key is released after `duration` frames.
    case note
    /// Remove the events of older generations from this frame on, except `drone` and `preview`.
    case cut
    /// Move the sustain pedal to `amount`, 0 (up) … 127 (down), within `duration` frames.
    case pedal
    /// Move the bed to `amount`, 0 (silent) … 127, within `duration` frames. The bed's tones are `pitch`, an octave above `pitch`, and
    /// `velocity` semitones above this octave (a fifth if `velocity` is 0).
    case drone
    /// Play the tone that previews a cell, at `pitch`; `amount` 0 ends it.
    case preview
    /// A muffled knock without pitch, for a refusal.
    case knock
    /// A bell around the note `pitch` (by ring modulation) at `velocity`.
    case bell
  }

  /// The voice to which an event belongs. Exported files have their tracks and channels in the order of these cases.
  public enum Voice: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    /// The melody.
    case m
    /// The tintinnabuli voice.
    case t
    /// The bass: the low tonic and other low notes.
    case bass
    /// Sounds outside of the score: the preview of a cell, the knock for a refusal, sounds of the interface.
    case ui
  }

  /// The frame at which the event happens, at 48 kHz, counted from the session's first sound.
  public var frame: Tick
  /// The duration in frames; see `Kind`.
  public var duration: Int32 = 0
  /// The number of the bar, echo or interface sound to which the event belongs.
  public var generation: UInt32
  /// The kind of event.
  public var kind: Kind
  /// The voice to which the event belongs.
  public var voice: Voice
  /// The pitch of notes, drone, preview and bell.
  public var pitch: Pitch
  /// The velocity, 1–127; 0 if not applicable. For a drone event it is an interval, see `Kind`.
  public var velocity: UInt8 = 0
  /// The pan from left (−100) to right (+100).
  public var pan: Int8 = 0
  /// A further value of the event, described at its `Kind`.
  public var amount: UInt8 = 0
  /// The number of the note's effect chain, from 1; 0 for none.
  public var chain: UInt8 = 0

  /// Makes an event.
  public init(
    frame: Tick, generation: UInt32, kind: Kind, voice: Voice = .ui, pitch: Pitch = Pitch(rawValue: 0),
    velocity: UInt8 = 0, pan: Int8 = 0, amount: UInt8 = 0, chain: UInt8 = 0, duration: Int32 = 0
  ) {
    (self.frame, self.generation, self.kind, self.voice, self.pitch) = (frame, generation, kind, voice, pitch)
    (self.velocity, self.pan, self.amount, self.chain, self.duration) = (velocity, pan, amount, chain, duration)
  }
}

// MARK: - Cuts

extension ScoreEvent {
  /// Whether this cut removes `event`: an event of an older generation, at or after the cut's frame, except drone and preview.
  @inlinable
  public func drops(_ event: ScoreEvent) -> Bool {
    // Compares by difference, because the generation number may overflow and restart at 0.
    let isOlder = Int32(bitPattern: event.generation &- generation) < 0
    return isOlder && event.frame >= frame && event.kind != .drone && event.kind != .preview
  }

  /// Applies the cuts among `events`, which are in posting order; returns the remaining events.
  public static func heard(_ events: [ScoreEvent]) -> [ScoreEvent] {
    var kept: [ScoreEvent] = []
    for event in events {
      if event.kind == .cut { kept.removeAll { event.drops($0) } } else { kept.append(event) }
    }
    return kept
  }
}

/// Reports that a batch of events reached the audio thread late, so that the whole batch was delayed.
public struct LateBatch: Sendable, Hashable, BitwiseCopyable {
  /// The generation of the batch's first event.
  public var generation: UInt32
  /// The frame on which the batch's first event sounded.
  public var frame: Tick
  /// The delay of the batch in frames, above 0.
  public var lateness: Int64

  /// Makes a report.
  @inlinable
  public init(generation: UInt32, frame: Tick, lateness: Int64) {
    (self.generation, self.frame, self.lateness) = (generation, frame, lateness)
  }
}
