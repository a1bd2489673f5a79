/// One instruction of the score to the synthesizer: plain data that crosses to the audio thread through a ring.
///
/// Events of one `generation` (a bar, an echo, an interface sound) are posted together; if the audio thread sees them
/// too late for the frame of the first, all of them move by the same number of frames, and the synthesizer reports it.
@frozen
public struct ScoreEvent: Sendable, Hashable, BitwiseCopyable {
  /// What the event asks for.
  public enum Kind: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    /// Strike `pitch` with `velocity`; the key is released after `duration` frames.
    case note
    /// Drop every pending note, bell and pedal movement of an older generation whose frame is not before this one's.
    case cut
    /// Move the sustain pedal to `amount` (0 up … 127 down), within `duration` frames.
    case pedal
    /// Bring the sine bed of the drone at `pitch` to `amount` (0 silent … 127 its full level), within `duration`.
    case drone
    /// Sound the focus preview at `pitch`; `amount` 0 ends it.
    case preview
    /// A damped knock without pitch: the move was refused.
    case knock
    /// A bell on `pitch` (ring modulation about the struck note), at `velocity`.
    case bell
  }

  /// Which hand or unit the event belongs to; the order of channels and tracks in exported files.
  public enum Voice: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    /// The melody.
    case m
    /// The tintinnabuli voice.
    case t
    /// The low B octave and the third voice of a fork.
    case bass
    /// Anything outside the score: preview, knock, interface.
    case ui
  }

  /// The first frame of the event, 48 kHz, from the first sound of the session.
  public var frame: Tick
  /// Frames the event lasts; see `Kind`.
  public var duration: Int32 = 0
  /// The bar or gesture the event belongs to; grows by one with each.
  public var generation: UInt32
  /// What the event asks for.
  public var kind: Kind
  /// Which hand or unit it belongs to.
  public var voice: Voice
  /// The pitch of notes, drone, preview and bell.
  public var pitch: Pitch
  /// The touch, 1–127; 0 where it has no meaning.
  public var velocity: UInt8 = 0
  /// The place between left (−100) and right (+100), in per cent.
  public var pan: Int8 = 0
  /// The meaning depends on `Kind`.
  public var amount: UInt8 = 0
  /// The effect chain a note is also sent to; 0 is none.
  public var chain: UInt8 = 0

  /// Makes an event; see the properties for units.
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
  /// Whether this cut drops `event`: any of an older generation, not before the cut, but for drone and preview.
  @inlinable
  public func drops(_ event: ScoreEvent) -> Bool {
    // Generations are compared as differences so that the count may wrap.
    let isOlder = Int32(bitPattern: event.generation &- generation) < 0
    return isOlder && event.frame >= frame && event.kind != .drone && event.kind != .preview
  }

  /// What is left of events, in the order they were posted, when every cut among them has done its work.
  public static func heard(_ events: [ScoreEvent]) -> [ScoreEvent] {
    var kept: [ScoreEvent] = []
    for event in events {
      if event.kind == .cut { kept.removeAll { event.drops($0) } } else { kept.append(event) }
    }
    return kept
  }
}

/// A batch of events that reached the audio thread after its first frame had begun, and was moved as a whole.
public struct LateBatch: Sendable, Hashable, BitwiseCopyable {
  /// The generation of its first event.
  public var generation: UInt32
  /// The frame that event sounded on.
  public var frame: Tick
  /// Frames by which the batch moved, above 0.
  public var lateness: Int64

  /// Makes a report; see the properties for units.
  @inlinable
  public init(generation: UInt32, frame: Tick, lateness: Int64) {
    (self.generation, self.frame, self.lateness) = (generation, frame, lateness)
  }
}
