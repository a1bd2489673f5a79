/// One struck note of the score.
public struct Note: Sendable, Hashable {
  /// The pitch.
  public var pitch: Pitch
  /// The touch, 1–127.
  public var velocity: UInt8
  /// The onset, from the start of the bar.
  public var onset: Tick
  /// The written length.
  public var duration: Tick
  /// The place between left (−100) and right (+100), in per cent.
  public var pan: Int8

  /// Makes a note; see the properties for units.
  public init(pitch: Pitch, velocity: UInt8, onset: Tick, duration: Tick, pan: Int8) {
    (self.pitch, self.velocity, self.onset, self.duration, self.pan) = (pitch, velocity, onset, duration, pan)
  }
}

/// M and T struck together, or either alone, with what the hands below add.
public struct Pair: Sendable, Hashable {
  /// The melody note; `nil` where T is alone.
  public var m: Note?
  /// The tintinnabuli note; `nil` where M is alone.
  public var t: Note?
  /// T again, in the second half of a pair of which it goes at double pace.
  public var answer: Note?
  /// Low notes under the pair (the struck B octave, the third voice of a fork).
  public var bass: [Note]
  /// Whether this is the long note that closes a bar.
  public var isLong: Bool
  /// Whether T leaves the triad here: the awakening, marked by a flower.
  public var isAwakening: Bool

  /// Makes a pair.
  public init(
    m: Note?, t: Note?, answer: Note? = nil, bass: [Note] = [], isLong: Bool = false, isAwakening: Bool = false
  ) {
    (self.m, self.t, self.answer, self.bass, self.isLong, self.isAwakening) = (m, t, answer, bass, isLong, isAwakening)
  }
}

/// One bar of the score as written: short pairs and a long one.
public struct Bar: Sendable, Hashable {
  /// Where a bar comes from.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The phrase before the first move.
    case opening
    /// The bar a move begins.
    case move
    /// A bar of the arch after the end.
    case closing
    /// A bar of the half arch after the end of a sentence.
    case sentence
    /// A phrase that answers the bar before it, while somebody thinks.
    case phrase
    /// An earlier bar again, while everyone waits.
    case echo
    /// A bar backwards, softly: a move taken back.
    case undo
  }

  /// The number of the bar in the session, from 0.
  public var index: Int
  /// Where the bar comes from.
  public var kind: Kind
  /// The move that began it, or whose bar a phrase or half arch follows, from 1; 0 for other kinds.
  public var ply: Int
  /// Who plays it; `nil` for neither voice.
  public var voice: Voice?
  /// The first frame of the bar.
  public var start: Tick
  /// The pairs as written.
  public var pairs: [Pair]
  /// The moment the bar was cut, from its start; pairs at or after it did not sound. `nil` for an uncut bar.
  public var cut: Tick?
  /// Names of the facts that shaped the bar, for pictures and `explain`.
  public var signs: [String]
  /// The degree of the scale on which the bar's triad stands, 0–6 (`Scale.root`).
  public var root = 0

  /// Makes a bar; see the properties.
  public init(
    index: Int, kind: Kind, ply: Int, voice: Voice?, start: Tick, pairs: [Pair], cut: Tick? = nil, signs: [String] = []
  ) {
    (self.index, self.kind, self.ply, self.voice, self.start, self.pairs) = (index, kind, ply, voice, start, pairs)
    (self.cut, self.signs) = (cut, signs)
  }
}
