import GameScore
import Play
import ScoreModel
import Session
import Tintinnabuli

@_extern(wasm, module: "env", name: "soundNow") private func scriptSoundNow() -> Double
/// The bytes of events as they are in memory: the sound module is built from the same sources and has the same layout.
@_extern(wasm, module: "env", name: "soundPost")
private func scriptSoundPost(_ bytes: UnsafeRawPointer?, _ count: Int32)
@_extern(wasm, module: "env", name: "soundSet") private func scriptSoundSet(_ what: Int32, _ value: Double)
@_extern(wasm, module: "env", name: "soundRules")
private func scriptSoundRules(_ bytes: UnsafePointer<UInt8>?, _ count: Int32)

/// The page's sound: an engine in the browser's audio thread, reached by messages.
final class PageSound {
  private var late: [LateBatch] = []

  /// The engine's parameters, in the order of their numbers in `sound_set`.
  private enum Knob: Int32 {
    case volume, preview, drone, muted, tuning, even
  }

  /// In dB. `sound_set` turns a sound off at every level below −90.
  private static let silence = -200.0
  /// How long before its sound an event is posted: two blocks of the browser, the delay of a message and a late call of `turn`.
  private static let lead = Tick.milliseconds(60)

  func wasLate(_ batch: LateBatch) { late.append(batch) }

  private var port: SoundPort {
    SoundPort(
      now: { PageSound.now }, post: { PageSound.post($0) },
      takeLate: {
        defer { self.late = [] }
        return self.late
      }, lead: PageSound.lead)
  }

  var output: SoundOutput {
    var sound = SoundOutput(port)
    sound.setVolume = { scriptSoundSet(Knob.volume.rawValue, $0) }
    sound.setPreviewLevel = { scriptSoundSet(Knob.preview.rawValue, $0 ?? PageSound.silence) }
    sound.setDroneLevel = { scriptSoundSet(Knob.drone.rawValue, $0 ?? PageSound.silence) }
    sound.setMuted = { scriptSoundSet(Knob.muted.rawValue, $0 ? 1 : 0) }
    sound.setEven = { scriptSoundSet(Knob.even.rawValue, $0 ? 1 : 0) }
    sound.setTuning = { scriptSoundSet(Knob.tuning.rawValue, $0) }
    sound.load = { rules in
      var name = PageSound.name(of: rules)
      name.withUTF8 { scriptSoundRules($0.baseAddress, Int32($0.count)) }
    }
    return sound
  }

  /// The name of the rules and their tonic's letter and alteration, with which the sound module finds and transposes its own copy.
  static func name(of rules: ScoreRules) -> String {
    let tonic = rules.scale.tonicSpelling
    return "\(rules.name)\n\(tonic.letter)\n\(tonic.alteration)"
  }

  /// A piece's data other than events: rules, A4 in thousandths of a hertz, the frame of the end, and 1 for even loudness.
  static func order(_ music: Rendition, _ piece: Piece) -> [String] {
    [
      name(of: music.rules), "\(Int((piece.a4 * 1_000).rounded()))", "\(music.end.rawValue)", piece.isEven ? "1" : "0",
    ]
  }

  private static var now: Tick { Tick(rawValue: Int64(scriptSoundNow())) }

  private static func post(_ events: [ScoreEvent]) {
    guard !events.isEmpty else { return }
    events.withUnsafeBytes { scriptSoundPost($0.baseAddress, Int32($0.count)) }
  }
}
