import ScoreModel

/// The bars of a session as composed; the last two may still sound.
struct ScoreBook: Sendable {
  struct Sounding: Sendable {
    var written: WrittenBar
    var generation: UInt32
    var cut: Tick?

    var end: Tick { min(written.end, cut ?? written.end) }
  }

  private(set) var bars: [Bar] = []
  /// The reasons for each note of M by bar index.
  var reasons: [Int: [NoteReason]] = [:]
  private(set) var generation: UInt32 = 0
  /// The last bar and, in `previous`, the bar before it; both may still sound.
  private(set) var current: Sounding?
  private(set) var previous: Sounding?

  mutating func newGeneration() -> UInt32 {
    generation += 1
    return generation
  }

  mutating func take(_ written: WrittenBar) {
    bars.append(written.bar)
    previous = current
    current = Sounding(written: written, generation: newGeneration())
  }

  /// Cuts at `moment`: removes the bars that start at or after `moment`, and ends the sounding bars there.
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

  mutating func silence() { (current, previous) = (nil, nil) }

  /// The remaining events of the sounding bars without T, with a new generation number; empty if no bar sounds.
  mutating func withoutT(from moment: Tick) -> [ScoreEvent] {
    let open = [previous, current].compactMap { $0 }.filter { $0.end > moment }
    guard !open.isEmpty else { return [] }
    let generation = newGeneration()
    var events = [ScoreEvent(frame: moment, generation: generation, kind: .cut)]
    for sounding in open {
      let from = max(moment - sounding.written.bar.start, .zero)
      // Events that an earlier cut has removed stay removed.
      events += sounding.written.events(generation: generation, from: from, silencesT: true).filter {
        $0.frame < sounding.end
      }
    }
    current?.generation = generation
    return events
  }

  /// Moves the current bar, if it has the given generation number and began late, to its real start; returns its planned start.
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
  /// The end of the bar's last pair or, if the bar was cut, the time of the cut.
  public var end: Tick { start + (cut ?? pairs.last?.end ?? .zero) }

  /// The pairs that sounded: all pairs of an uncut bar, the pairs before the cut of a cut bar.
  public var sounding: [Pair] {
    guard let cut else { return pairs }
    return pairs.filter { pair in pair.onset.map { $0 < cut } ?? false }
  }

  /// The mean velocity of the pairs that sounded (of their M, or of T in pairs without M); `nil` if no M or T sounded.
  package var meanVelocity: Int? {
    let touches = sounding.compactMap { $0.m ?? $0.t }.map { Int($0.velocity) }
    return touches.isEmpty ? nil : touches.reduce(0, +) / touches.count
  }
}

extension Pair {
  /// Applies a change to M, T and T's second note, but not to bass notes.
  mutating func change(_ body: (inout Note) -> Void) {
    if m != nil { body(&m!) }
    if t != nil { body(&t!) }
    if answer != nil { body(&answer!) }
  }
}
