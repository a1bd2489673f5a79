import Base
import ScoreModel

/// Counts how often each bar was echoed, by number of pairs and octave, and marks bars recalled at a stroke of the low tonic.
struct EchoMemory: Sendable {
  private var told: [Int: Int] = [:]

  struct Choice {
    var source: Bar
    var pairs: [Pair]
    var octaves: Int
  }

  /// Chooses a heard bar to echo, at random; `nil` if none is left. Each bar is echoed at most twice with the same pairs and octave.
  mutating func choose(
    from heard: [Bar], octaves own: Int, pairs most: Int, not previous: Pitch?, _ generator: SplitMix64,
    _ writer: EchoWriter
  ) -> Choice? {
    let rules = writer.rules.echoes
    func way(_ source: Bar, _ octaves: Int) -> Int {
      let pairs = writer.ending(of: source, most)
      return source.index * 256 + pairs.count * 8 + writer.shift(of: pairs, octaves) + 4
    }
    func unused(_ bars: [Bar], _ octaves: Int) -> [Bar] {
      bars.suffix(rules.memory).filter { told[way($0, octaves), default: 0] < 2 }
    }
    let long = heard.filter { $0.sounding.count >= 2 }
    let ways = [long, heard].flatMap { bars in [own, rules.octaves - own, -1].map { (bars, $0) } }
    var (sources, octaves): ([Bar], Int) = ([], own)
    for (bars, way) in ways where sources.isEmpty { (sources, octaves) = (unused(bars, way), way) }
    guard !sources.isEmpty else { return nil }
    let fresh = sources.filter { $0.pairs.first?.m?.pitch != previous }
    let pool = fresh.isEmpty ? sources : fresh
    var generator = generator
    let source = pool[generator.below(pool.count)]
    told[way(source, octaves), default: 0] += 1
    return Choice(source: source, pairs: writer.ending(of: source, most), octaves: octaves)
  }

  /// The index of the first bar that was not recalled at a stroke of the low tonic yet; marks the bar as recalled.
  mutating func tellNext(of bars: [Bar]) -> Int? {
    guard let number = bars.firstIndex(where: { told[$0.index * 256] == nil }) else { return nil }
    told[bars[number].index * 256] = 1
    return number
  }
}

/// Writes bars that repeat earlier bars.
struct EchoWriter {
  let rules: ScoreRules
  /// The length of a short note in seconds.
  let short: Double

  /// The last pairs of a bar. T rests, except in the last pair and in pairs without M.
  func ending(of bar: Bar, _ count: Int) -> [Pair] {
    // An echo does not repeat pairs with low notes only.
    var pairs = Array(bar.sounding.filter { $0.m ?? $0.t != nil }.suffix(count))
    for index in pairs.indices.dropLast() where pairs[index].m != nil { pairs[index].t = nil }
    return pairs
  }

  /// The first and last pair of a bar, two short notes apart.
  func ends(of bar: Bar) -> [Pair] {
    let pairs = bar.sounding
    guard pairs.count > 1, var last = pairs.last, let begin = pairs[0].onset, let end = last.onset else { return pairs }
    let step = Tick.seconds(2 * short)
    var first = pairs[0]
    first.change { $0.duration = step - ($0.onset - begin) }
    last.change { $0.onset = $0.onset - end + begin + step }
    return [first, last]
  }

  /// The octaves by which to move pairs: `octaves`, or fewer if a note would exceed `echoes.ceiling`.
  func shift(of pairs: [Pair], _ octaves: Int) -> Int {
    let highest = pairs.flatMap { [$0.m, $0.t] }.compactMap { $0?.pitch.midi }.max() ?? 0
    return [octaves, 0, -1, -2].first { highest + 12 * $0 <= rules.echoes.ceiling.midi } ?? -2
  }

  /// Repeats the given pairs of a bar at `share` per cent of their velocity.
  func echo(_ source: Bar, _ pairs: [Pair], octaves: Int, share: Int, index: Int, at moment: Tick) -> WrittenBar {
    let long = Tick.seconds(short * Double(rules.bars.long))
    let begin = pairs.first?.onset ?? .zero
    let shift = shift(of: pairs, octaves)
    let echoed = pairs.enumerated().map { index, pair in
      plain(pair, isLong: index == pairs.count - 1, share: share) {
        $0.onset = $0.onset - begin
        $0.pitch = Pitch(onKeys: $0.pitch.midi + 12 * shift)
        if index == pairs.count - 1 { $0.duration = long }
      }
    }
    return WrittenBar(
      plain: Bar(index: index, kind: .echo, ply: 0, voice: source.voice, start: moment, pairs: echoed, signs: ["echo"]))
  }

  /// The bar of a take-back: first `gesture`, the pairs of earlier take-backs at the same moment, then `source` backwards and softly.
  func backwards(_ source: Bar, after gesture: [Pair], step: Tick, index: Int, at moment: Tick) -> WrittenBar {
    let pairs = (gesture + source.sounding.reversed()).enumerated().map { index, pair in
      plain(pair, isLong: false, share: index < gesture.count ? 100 : rules.gestures.undoVelocity) {
        ($0.onset, $0.duration) = (Tick(rawValue: step.rawValue * Int64(index)), step)
      }
    }
    return WrittenBar(
      plain: Bar(
        index: index, kind: .undo, ply: source.ply, voice: source.voice, start: moment, pairs: pairs, signs: ["undo"]))
  }

  /// A copy of a pair's M and T, without the pair's other notes and its mark of an awakening. Applies `change` to both notes, and then sets
  /// their velocities to `share` per cent, but not below `performance.softest`. `isLong`: whether the copy is the long pair of its bar.
  private func plain(_ pair: Pair, isLong: Bool, share: Int, _ change: (inout Note) -> Void) -> Pair {
    var plain = Pair(m: pair.m, t: pair.t, isLong: isLong)
    plain.change { note in
      change(&note)
      note.velocity = UInt8(clamping: max(Int(note.velocity) * share / 100, rules.performance.softest))
    }
    return plain
  }
}
