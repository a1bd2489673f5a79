import CAlsa
import Foundation
import ScoreModel
import Tintinnabuli

/// A port of the ALSA sequencer that other programs can connect to.
package final class MIDIPort {
  private let sequencer: OpaquePointer
  private let coder: OpaquePointer
  private let port: Int32

  /// Opens a port as a client of the ALSA sequencer; a number is appended to `name` if another client has it. Throws without a sequencer.
  package init(name: String) throws(ScoreFileError) {
    alina_alsa_silence()
    var sequencer: OpaquePointer?
    let failed = snd_seq_open(&sequencer, "default", Int32(SND_SEQ_OPEN_OUTPUT), 0)
    guard failed == 0, let sequencer else {
      throw ScoreFileError(
        "--midi-port: no ALSA sequencer here (\(String(cString: snd_strerror(failed)))); the kernel's module is snd-seq"
      )
    }
    let name = Self.unused(name, besides: Self.clients(of: sequencer))
    var coder: OpaquePointer?
    let port =
      snd_midi_event_new(16, &coder) == 0 && snd_seq_set_client_name(sequencer, name) == 0
      ? snd_seq_create_simple_port(
        sequencer, "score", UInt32(SND_SEQ_PORT_CAP_READ | SND_SEQ_PORT_CAP_SUBS_READ),
        UInt32(SND_SEQ_PORT_TYPE_MIDI_GENERIC | SND_SEQ_PORT_TYPE_APPLICATION)) : -1
    guard let coder, port >= 0 else {
      snd_seq_close(sequencer)
      throw ScoreFileError("--midi-port: the ALSA sequencer refused a port")
    }
    (self.sequencer, self.coder, self.port) = (sequencer, coder, port)
  }

  /// The requested name if no client has it, else the name followed by the lowest free number from 2.
  static func unused(_ name: String, besides names: Set<String>) -> String {
    var (unused, number) = (name, 1)
    while names.contains(unused) {
      number += 1
      unused = "\(name) \(number)"
    }
    return unused
  }

  private static func clients(of sequencer: OpaquePointer) -> Set<String> {
    var information: OpaquePointer?
    guard snd_seq_client_info_malloc(&information) == 0 else { return [] }
    defer { snd_seq_client_info_free(information) }
    snd_seq_client_info_set_client(information, -1)
    var names: Set<String> = []
    while snd_seq_query_next_client(sequencer, information) == 0 {
      if let name = snd_seq_client_info_get_name(information) { names.insert(String(cString: name)) }
    }
    return names
  }

  deinit {
    snd_midi_event_free(coder)
    snd_seq_close(sequencer)
  }

  package func send(_ messages: [UInt8]) {
    for byte in messages {
      var event = snd_seq_event_t()
      guard snd_midi_event_encode_byte(coder, Int32(byte), &event) == 1 else { continue }
      _ = alina_seq_send(sequencer, port, &event)
    }
  }
}

/// Sends the notes of a real-time synthesizer to a port while they sound, on a thread of its own.
package final class MIDIPlayer: @unchecked Sendable {
  private let port: MIDIPort
  private let now: @Sendable () -> Tick
  private let condition = NSCondition()
  /// The events to send; `condition` protects this property and `isOver`.
  private var stream = MIDIStream()
  private var isOver = false

  /// Microseconds between checks for due events while notes sound: half of 10 ms, the shortest audible delay.
  private static let interval: UInt32 = 5_000

  /// - Parameter now: Returns the score time that is heard now; called on the player's own thread.
  package init(port: MIDIPort, now: @escaping @Sendable () -> Tick) {
    (self.port, self.now) = (port, now)
    Thread.detachNewThread { [self] in run() }
  }

  /// Adds events that were posted to the synthesizer, to send them as MIDI when they sound.
  package func post(_ events: [ScoreEvent]) {
    condition.withLock {
      stream.post(events)
      condition.signal()
    }
  }

  /// Releases all keys and sends nothing afterwards.
  package func stop() {
    condition.withLock {
      guard !isOver else { return }
      isOver = true
      port.send(stream.silence())
      condition.signal()
    }
  }

  private func run() {
    condition.lock()
    defer { condition.unlock() }
    while !isOver {
      if stream.isQuiet {
        condition.wait()
      } else {
        port.send(stream.messages(before: now()))
        // Do not let the condition wait until a date: if the system's clock is set back meanwhile, the notes would sound on until then.
        condition.unlock()
        usleep(MIDIPlayer.interval)
        condition.lock()
      }
    }
  }
}
