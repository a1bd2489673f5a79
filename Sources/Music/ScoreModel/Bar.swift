/// A struck note of the score.
public struct Note: Sendable, Hashable {
  /// The pitch.
  public var pitch: Pitch
  /// The velocity, 1–127.
  public var velocity: UInt8
  /// The onset, from the start of the bar.
  public var onset: Tick
  /// The time for which the key is held; the pedal may let the note sound longer.
  public var duration: Tick
  /// The pan from left (−100) to right (+100).
  public var pan: Int8

  /// Makes a note.
  public init(pitch: Pitch, velocity: UInt8, onset: Tick, duration: Tick, pan: Int8) {
    (self.pitch, self.velocity, self.onset, self.duration, self.pan) = (pitch, velocity, onset, duration, pan)
  }
}

/// A melody note (M) and a tintinnabuli note (T), struck together or alone, with bass notes.
public struct Pair: Sendable, Hashable {
  /// The melody note; `nil` if T sounds alone.
  public var m: Note?
  /// The tintinnabuli note; `nil` if M sounds alone.
  public var t: Note?
  /// The second note of T, if T plays two notes in this pair.
  public var answer: Note?
  /// Low notes, such as the low tonic in two octaves.
  public var bass: [Note]
  /// Whether this is the long pair at the end of a bar.
  public var isLong: Bool
  /// Whether T leaves the triad in this pair, to mark the awakening.
  public var isAwakening: Bool

  /// Makes a pair of notes.
  public init(
    m: Note?, t: Note?, answer: Note? = nil, bass: [Note] = [], isLong: Bool = false, isAwakening: Bool = false
  ) {
    (self.m, self.t, self.answer, self.bass, self.isLong, self.isAwakening) = (m, t, answer, bass, isLong, isAwakening)
  }
}

extension Pair {
  /// The start of M or of T, whichever comes first; if both rest, the start of the first bass note.
  package var onset: Tick? { [t, m].compactMap { $0?.onset }.min() ?? bass.map { $0.onset }.min() }

  /// The end of M or of T, whichever comes last; if both rest, the end of the first bass note.
  package var end: Tick {
    ([m, t].compactMap { $0 } + bass.prefix(m == nil && t == nil ? 1 : 0)).map { $0.onset + $0.duration }.max()
      ?? .zero
  }
}

/// A bar of the score as composed: short pairs, then a long pair.
public struct Bar: Sendable, Hashable {
  /// How the time of a bar is divided.
  public enum Rhythm: String, Sendable, Hashable, CaseIterable {
    /// Equal short notes.
    case even
    /// Notes of two lengths alternate: the first is twice as long as the second.
    case longShort = "long-short"
    /// M holds one note while T moves.
    case held
    /// M and T rest between the first pair and the long pair, while low notes sound alone.
    case low
  }

  /// The origin of a bar.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The phrase before the first move.
    case opening
    case move
    /// A bar of the arch.
    case closing
    /// A bar of the half arch that closes a sentence.
    case sentence
    /// A phrase after a bar, while a player thinks.
    case phrase
    /// A repetition of an earlier bar, while no event comes.
    case echo
    /// A bar played backwards and softly, for a move taken back.
    case undo
  }

  /// The index of the bar in the session, from 0.
  public var index: Int
  /// The origin of the bar.
  public var kind: Kind
  /// The number, from 1, of the bar's move (`move`, `undo`) or of the last move before the bar (`phrase`, `sentence`); 0 for other kinds.
  public var ply: Int
  /// The voice that plays the bar; `nil` for bars without a voice, such as the opening.
  public var voice: Voice?
  /// The first frame of the bar.
  public var start: Tick
  /// The pairs as composed, including those that a cut silenced.
  public var pairs: [Pair]
  /// The time from the bar's start to its cut, from which on its pairs are silent; `nil` if nothing cut the bar.
  public var cut: Tick?
  /// The names of the bar's signs.
  public var signs: [String]
  /// The scale degree of the root of the bar's triad, 0–6 (`Scale.root`).
  public var root = 0
  /// How the bar's time is divided.
  public var rhythm = Rhythm.even
  /// The number, from 1, of the entry of `sentences.changes` that changes this bar; 0 for none.
  public var change = 0

  /// Makes a bar.
  public init(
    index: Int, kind: Kind, ply: Int, voice: Voice?, start: Tick, pairs: [Pair], cut: Tick? = nil, signs: [String] = []
  ) {
    (self.index, self.kind, self.ply, self.voice, self.start, self.pairs) = (index, kind, ply, voice, start, pairs)
    (self.cut, self.signs) = (cut, signs)
  }
}
