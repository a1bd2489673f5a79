import ScoreModel

/// The bars of a session as written, of which the last two may still sound.
struct ScoreBook: Sendable {
  /// A bar as it was handed out.
  struct Sounding: Sendable {
    var written: WrittenBar
    var generation: UInt32
    /// When it was cut: what it had from there on will not sound.
    var cut: Tick?

    /// When its last note ends.
    var end: Tick { min(written.end, cut ?? written.end) }
  }

  private(set) var bars: [Bar] = []
  /// Why each note of M is there, by bar index.
  var reasons: [Int: [NoteReason]] = [:]
  private(set) var generation: UInt32 = 0
  /// The bar written last and the one before it, which may still sound.
  private(set) var current: Sounding?
  private(set) var previous: Sounding?

  mutating func newGeneration() -> UInt32 {
    generation += 1
    return generation
  }

  /// Makes a bar the one in force, in a generation of its own.
  mutating func take(_ written: WrittenBar) {
    bars.append(written.bar)
    previous = current
    current = Sounding(written: written, generation: newGeneration())
  }

  /// Ends what is written from `moment` on: later bars never were, a sounding one is cut.
  mutating func cut(at moment: Tick) {
    if let current { self.current?.cut = min(current.cut ?? moment, moment) }
    if let previous { self.previous?.cut = min(previous.cut ?? moment, moment) }
    while let last = bars.last, last.start >= moment {
      bars.removeLast()
      reasons[last.index] = nil
    }
    guard let last = bars.indices.last, bars[last].cut == nil else { return }
    if bars[last].end > moment { bars[last].cut = moment - bars[last].start }
  }

  /// Nothing written so far sounds any more.
  mutating func silence() { (current, previous) = (nil, nil) }

  /// The rest of what sounds at a moment, without T, in a generation of its own; nothing if nothing sounds.
  mutating func withoutT(from moment: Tick) -> [ScoreEvent] {
    let open = [previous, current].compactMap { $0 }.filter { $0.end > moment }
    guard !open.isEmpty else { return [] }
    let generation = newGeneration()
    var events = [ScoreEvent(frame: moment, generation: generation, kind: .cut)]
    for sounding in open {
      let from = max(moment - sounding.written.bar.start, .zero)
      // What a cut has dropped already does not come back.
      events += sounding.written.events(generation: generation, from: from, silencesT: true).filter {
        $0.frame < sounding.end
      }
    }
    current?.generation = generation
    return events
  }

  /// Moves the bar of a generation to the frame on which it really began; returns where it was to begin, if it was later.
  mutating func shift(generation: UInt32, to frame: Tick) -> Tick? {
    guard let bar = current?.written.bar, current?.generation == generation, frame > bar.start,
      bars.indices.contains(bar.index), bars[bar.index].start == bar.start
    else { return nil }
    current?.written.bar.start = frame
    bars[bar.index].start = frame
    return bar.start
  }
}

extension Bar {
  /// The end of its last pair, or where it was cut.
  public var end: Tick { start + (cut ?? pairs.last?.end ?? .zero) }

  /// The pairs that sounded: all of an uncut bar, a prefix of a cut one.
  public var sounding: [Pair] {
    guard let cut else { return pairs }
    return pairs.filter { pair in pair.onset.map { $0 < cut } ?? false }
  }
}

extension Pair {
  /// When the first of the two begins.
  package var onset: Tick? { [t, m].compactMap { $0?.onset }.min() }

  /// When its last note ends; low notes count where they are alone.
  package var end: Tick {
    ([m, t].compactMap { $0 } + bass.prefix(m == nil && t == nil ? 1 : 0)).map { $0.onset + $0.duration }.max()
      ?? .zero
  }

  /// Changes its notes alike.
  mutating func change(_ body: (inout Note) -> Void) {
    if m != nil { body(&m!) }
    if t != nil { body(&t!) }
    if answer != nil { body(&answer!) }
  }
}
