import GameScore
import ScoreModel
import Tintinnabuli

/// Exports the score as a Standard MIDI File, format 1: M, T and the bass each have a track and a channel. Each bar is a bar of the file,
/// whose tempo gives the bar its real duration. Onsets differ from those of a sound file by at most a tick (one or two ms).
package enum MIDIFile {
  /// Ticks of a quarter note. More would make files too long for some readers: pretty_midi accepts at most 10,000,000 ticks.
  private static let division = 960
  private static let voices: [(voice: ScoreEvent.Voice, name: String)] = [(.m, "M"), (.t, "T"), (.bass, "Bass")]

  package static func bytes(_ rendition: Rendition, title: String) -> [UInt8] {
    bytes(rendition.events, rendition.bars, end: rendition.end, rules: rendition.rules, title: title)
  }

  /// Writes `events`, sorted by frame and without the events that cuts removed, and `bars`, the last of which ends at `musicEnd`.
  package static func bytes(_ events: [ScoreEvent], _ bars: [Bar], end musicEnd: Tick, rules: ScoreRules, title: String)
    -> [UInt8]
  {
    let end = max(events.map { $0.frame.rawValue + Int64($0.duration) }.max() ?? 0, musicEnd.rawValue)
    let grid = Grid(bars, end: musicEnd, long: rules.bars.long)
    var file: [UInt8] = Array("MThd".utf8)
    file += big(UInt32(6)) + big(UInt16(1)) + big(UInt16(1 + voices.count)) + big(UInt16(division))
    file += chunk([Message(tick: 0, rank: 0, bytes: text(0x03, title))] + grid.messages, end: grid.tick(of: end))
    for (channel, voice) in voices.enumerated() {
      let messages = track(events, voice.voice, name: voice.name, channel: UInt8(channel), grid)
      file += chunk(messages, end: grid.tick(of: end), last: [64, 123].map { [0xB0 | UInt8(channel), $0, 0] })
    }
    return file
  }

  // MARK: Bars

  private struct Grid {
    private struct Measure {
      let frame: Int64
      let tick: Int64
      let frames: Int64
      let ticks: Int64
    }

    private var measures: [Measure] = []
    private(set) var messages: [Message] = []
    /// The start of the next bar: its frame, its tick, and its time in microseconds by the tempos written so far.
    private var (frame, tick, microseconds): (Int64, Int64, Int64) = (0, 0, 0)

    init(_ bars: [Bar], end musicEnd: Tick, long: Int) {
      rest(until: bars.first?.start.rawValue ?? 0)
      for (index, bar) in bars.enumerated() {
        messages.append(Message(tick: tick, rank: 1, bytes: text(0x06, "bar \(bar.index + 1) \(bar.kind.rawValue)")))
        let next = index + 1 < bars.count ? bars[index + 1].start : musicEnd
        let beat = Self.beat(of: bar, long: long)
        let end = bar.end.rawValue
        // A pause of at most four beats lengthens the bar before it; a longer pause gets bars of its own.
        let isLong = next.rawValue - end > 4 * beat
        add(until: isLong ? end : next.rawValue, beat)
        if isLong { rest(until: next.rawValue) }
      }
      if measures.isEmpty { rest(until: 48_000) }
    }

    /// The mean distance of a bar's onsets in frames, at least 480 (10 ms); if a bar has only its long note, the length of a short note.
    private static func beat(of bar: Bar, long: Int) -> Int64 {
      let onsets = bar.pairs.compactMap { $0.onset?.rawValue }
      guard let first = onsets.first, let last = onsets.last, last > first else {
        return max((bar.pairs.last?.end.rawValue ?? 0) / Int64(long), 480)
      }
      return max((last - first) / Int64(onsets.count - 1), 480)
    }

    /// Adds a bar up to the frame `end`, with the nearest whole number of beats. A bar below half a beat gets an eighth or less.
    private mutating func add(until end: Int64, _ beat: Int64) {
      let frames = end - frame
      guard frames > 0 else { return }
      var (beats, unit) = (min((frames + beat / 2) / beat, 255), 2)
      while beats == 0 {
        unit += 1
        beats = unit == 5 ? 1 : (frames << (unit - 1) + beat) / (2 * beat)
      }
      add(until: end, beats: beats, unit: unit)
    }

    /// Adds empty bars of four beats. A beat lasts at most 12 s: 5 beats a minute is the lowest tempo that most sequencers accept.
    private mutating func rest(until end: Int64) {
      let count = (end - frame + 48 * 48_000 - 1) / (48 * 48_000)
      for left in stride(from: count, to: 0, by: -1) { add(until: frame + (end - frame) / left, beats: 4, unit: 2) }
    }

    private mutating func add(until end: Int64, beats: Int64, unit: Int) {
      let ticks = (beats * Int64(4 * division)) >> Int64(unit)
      // This tempo ends the bar at its exact time, so that the rounding errors of earlier tempos do not add up.
      let wanted = end * 125 / 6 - microseconds
      let tempo = min(max((wanted * Int64(division) + ticks / 2) / ticks, 1), 0xFF_FFFF)
      messages.append(Message(tick: tick, rank: 1, bytes: [0xFF, 0x58, 0x04, UInt8(beats), UInt8(unit), 24, 8]))
      messages.append(Message(tick: tick, rank: 1, bytes: [0xFF, 0x51, 0x03] + big(UInt32(tempo)).dropFirst()))
      measures.append(Measure(frame: frame, tick: tick, frames: end - frame, ticks: ticks))
      (frame, tick, microseconds) = (end, tick + ticks, microseconds + tempo * ticks / Int64(division))
    }

    func tick(of frame: Int64) -> Int64 {
      var (low, high) = (0, measures.count - 1)
      while low < high {
        let middle = (low + high + 1) / 2
        if measures[middle].frame <= frame { low = middle } else { high = middle - 1 }
      }
      let measure = measures[low]
      return measure.tick + (2 * (frame - measure.frame) * measure.ticks + measure.frames) / (2 * measure.frames)
    }
  }

  private struct Message {
    let tick: Int64
    /// The place in the order of the messages of one tick: 0 for note-offs to 3 for note-ons.
    let rank: Int
    let bytes: [UInt8]
  }

  private static func track(
    _ events: [ScoreEvent], _ voice: ScoreEvent.Voice, name: String, channel: UInt8, _ grid: Grid
  ) -> [Message] {
    var messages = [
      Message(tick: 0, rank: 1, bytes: text(0x03, name)), Message(tick: 0, rank: 1, bytes: [0xC0 | channel, 0]),
    ]
    for event in events where event.kind == .pedal {
      let tick = grid.tick(of: event.frame.rawValue)
      messages.append(Message(tick: tick, rank: 1, bytes: [0xB0 | channel, 64, event.amount]))
    }
    var pan: UInt8?
    var sounding: [UInt8: (end: Int64, place: Int)] = [:]
    for note in events where note.kind == .note && note.voice == voice {
      let start = grid.tick(of: note.frame.rawValue)
      let end = max(grid.tick(of: note.frame.rawValue + Int64(note.duration)), start + 1)
      let pitch = note.pitch.rawValue
      let place = UInt8(clamping: 64 + Int(note.pan) * 63 / 100)
      if pan != place { messages.append(Message(tick: start, rank: 2, bytes: [0xB0 | channel, 10, place])) }
      pan = place
      // Release a held key before striking it again.
      if let old = sounding[pitch], old.end > start {
        messages[old.place] = Message(tick: start, rank: 0, bytes: [0x80 | channel, pitch, 64])
      }
      messages.append(Message(tick: start, rank: 3, bytes: [0x90 | channel, pitch, note.velocity]))
      sounding[pitch] = (end, messages.count)
      messages.append(Message(tick: end, rank: 0, bytes: [0x80 | channel, pitch, 64]))
    }
    return messages
  }

  /// A track chunk with the messages in order, and the messages `last` at its end. Each message has its status byte (no running status).
  private static func chunk(_ messages: [Message], end: Int64, last: [[UInt8]] = []) -> [UInt8] {
    var body: [UInt8] = []
    var now: Int64 = 0
    func pause(until tick: Int64) {
      // A time in a MIDI file has at most four bytes (38 days at 12 s a beat): an empty text event splits a longer rest.
      while tick - now > 0x0FFF_FFFF {
        body += variable(0x0FFF_FFFF) + text(0x01, "")
        now += 0x0FFF_FFFF
      }
      body += variable(max(tick - now, 0))
      now = tick
    }
    for message in messages.sorted(by: { ($0.tick, $0.rank) < ($1.tick, $1.rank) }) {
      pause(until: message.tick)
      body += message.bytes
    }
    pause(until: end)
    for message in last { body += message + [0] }
    body += [0xFF, 0x2F, 0x00]
    return Array("MTrk".utf8) + big(UInt32(body.count)) + body
  }

  /// A text event in Latin-1, the encoding that most readers assume.
  private static func text(_ type: UInt8, _ text: String) -> [UInt8] {
    let bytes = text.unicodeScalars.map { scalar -> UInt8 in
      switch scalar {
      case "–", "—": UInt8(ascii: "-")
      case "‘", "’": UInt8(ascii: "'")
      default: scalar.value < 0x100 ? UInt8(scalar.value) : UInt8(ascii: "?")
      }
    }
    return [0xFF, type] + variable(Int64(bytes.count)) + bytes
  }

  private static func variable(_ value: Int64) -> [UInt8] {
    var bytes = [UInt8(value & 0x7F)]
    var rest = value >> 7
    while rest > 0 {
      bytes.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
      rest >>= 7
    }
    return bytes
  }

  private static func big(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { Array($0) }
  }
}
