import ScoreModel
import Tintinnabuli

/// The score as real-time MIDI messages: M, T and bass on channels 1, 2 and 3, as in `MIDIFile`.
package struct MIDIStream: Sendable {
  private var waiting: [ScoreEvent] = []
  private var held: [Key] = []

  private struct Key: Hashable {
    let channel: UInt8
    let pitch: UInt8
    let end: Tick
    var off: [UInt8] { [0x80 | channel, pitch, 64] }
  }

  package init() {}

  package var isQuiet: Bool { waiting.isEmpty && held.isEmpty }

  /// Adds events that were posted to a synthesizer; a cut among them removes pending events of older bars.
  package mutating func post(_ events: [ScoreEvent]) { waiting = ScoreEvent.heard(waiting + events) }

  /// The messages of all notes and pedal movements before `frame`, in order.
  package mutating func messages(before frame: Tick) -> [UInt8] {
    let due = waiting.filter { $0.frame < frame }.inOrder
    waiting.removeAll { $0.frame < frame }
    var bytes: [UInt8] = []
    for event in due {
      bytes += release { $0.end <= event.frame }
      switch event.kind {
      case .pedal: bytes += (0..<3).flatMap { [0xB0 | $0, 64, event.amount] }
      case .note where event.voice != .ui:
        let channel = event.voice.rawValue
        // Release the key before striking it again.
        bytes += release { $0.channel == channel && $0.pitch == event.pitch.rawValue }
        bytes += [0xB0 | channel, 10, UInt8(clamping: 64 + Int(event.pan) * 63 / 100)]
        bytes += [0x90 | channel, event.pitch.rawValue, event.velocity]
        held.append(
          Key(channel: channel, pitch: event.pitch.rawValue, end: event.frame + Tick(rawValue: Int64(event.duration))))
      default: break
      }
    }
    return bytes + release { $0.end <= frame }
  }

  /// Messages that release all keys and the pedal, and All Notes Off (controller 123) in case a receiver missed a release.
  package mutating func silence() -> [UInt8] {
    release { _ in true } + (0..<3).flatMap { [0xB0 | $0, 64, 0, 0xB0 | $0, 123, 0] }
  }

  private mutating func release(_ isOver: (Key) -> Bool) -> [UInt8] {
    let bytes = held.filter(isOver).sorted { $0.end < $1.end }.flatMap(\.off)
    held.removeAll(where: isOver)
    return bytes
  }
}
