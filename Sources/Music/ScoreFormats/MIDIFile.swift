import GameScore
import ScoreModel
import Tintinnabuli

/// The score as a Standard MIDI File, format 1: M, T and bass on tracks and channels of their own.
///
/// One tick is one frame (48,000 a second: 24,000 a quarter at 120), so onsets are exactly those of a render.
package enum MIDIFile {
  private static let division: UInt16 = 24_000
  private static let tempo: UInt32 = 500_000
  /// The order of channels 1, 2 and 3.
  private static let voices: [(voice: ScoreEvent.Voice, name: String)] = [(.m, "M"), (.t, "T"), (.bass, "Bass")]

  package static func bytes(_ rendition: Rendition, title: String) -> [UInt8] {
    let end = max(rendition.events.map { $0.frame.rawValue + Int64($0.duration) }.max() ?? 0, rendition.end.rawValue)
    var file: [UInt8] = Array("MThd".utf8)
    file += big(UInt32(6)) + big(UInt16(1)) + big(UInt16(1 + voices.count)) + big(division)
    file += chunk(conductorTrack(rendition, title: title), end: end)
    for (channel, voice) in voices.enumerated() {
      file += chunk(track(rendition, voice.voice, name: voice.name, channel: UInt8(channel)), end: end)
    }
    return file
  }

  private struct Message {
    let tick: Int64
    /// Note-offs come before all else at a tick, note-ons after.
    let rank: Int
    let bytes: [UInt8]
  }

  private static func conductorTrack(_ rendition: Rendition, title: String) -> [Message] {
    let head = [
      Message(tick: 0, rank: 1, bytes: text(0x03, title)),
      Message(tick: 0, rank: 1, bytes: [0xFF, 0x51, 0x03] + big(tempo).dropFirst()),
    ]
    return head
      + rendition.bars.map { bar in
        Message(tick: bar.start.rawValue, rank: 1, bytes: text(0x06, "bar \(bar.index + 1) \(bar.kind.rawValue)"))
      }
  }

  private static func track(_ rendition: Rendition, _ voice: ScoreEvent.Voice, name: String, channel: UInt8)
    -> [Message]
  {
    var messages = [
      Message(tick: 0, rank: 1, bytes: text(0x03, name)), Message(tick: 0, rank: 1, bytes: [0xC0 | channel, 0]),
    ]
    for event in rendition.events where event.kind == .pedal {
      messages.append(Message(tick: event.frame.rawValue, rank: 1, bytes: [0xB0 | channel, 64, event.amount]))
    }
    var pan: UInt8?
    var sounding: [UInt8: (end: Int64, place: Int)] = [:]
    for note in rendition.events where note.kind == .note && note.voice == voice {
      let start = note.frame.rawValue
      let pitch = note.pitch.rawValue
      let place = UInt8(clamping: 64 + Int(note.pan) * 63 / 100)
      if pan != place { messages.append(Message(tick: start, rank: 2, bytes: [0xB0 | channel, 10, place])) }
      pan = place
      // A key can be struck again only after it was let go: an older stroke still held ends here.
      if let old = sounding[pitch], old.end > start {
        messages[old.place] = Message(tick: start, rank: 0, bytes: [0x80 | channel, pitch, 64])
      }
      messages.append(Message(tick: start, rank: 3, bytes: [0x90 | channel, pitch, note.velocity]))
      sounding[pitch] = (start + Int64(note.duration), messages.count)
      messages.append(Message(tick: start + Int64(note.duration), rank: 0, bytes: [0x80 | channel, pitch, 64]))
    }
    return messages
  }

  private static func chunk(_ messages: [Message], end: Int64) -> [UInt8] {
    var body: [UInt8] = []
    var now: Int64 = 0
    func pause(until tick: Int64) {
      // Four bytes hold 93 minutes: an empty text stands in the middle of more.
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
    body += [0xFF, 0x2F, 0x00]
    return Array("MTrk".utf8) + big(UInt32(body.count)) + body
  }

  private static func text(_ type: UInt8, _ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
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
