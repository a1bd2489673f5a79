import GameScore
import Play
import ScoreModel
import Session
import Tintinnabuli

@_extern(wasm, module: "env", name: "soundNow") private func scriptSoundNow() -> Double
/// The events as they lie in memory: the module of the sound is built from the same sources.
@_extern(wasm, module: "env", name: "soundPost")
private func scriptSoundPost(_ bytes: UnsafeRawPointer?, _ count: Int32)
@_extern(wasm, module: "env", name: "soundSet") private func scriptSoundSet(_ what: Int32, _ value: Double)
@_extern(wasm, module: "env", name: "soundRules")
private func scriptSoundRules(_ bytes: UnsafePointer<UInt8>?, _ count: Int32)

/// The sound of the page: an engine in the browser's audio thread, reached by messages.
final class PageSound {
  private var late: [LateBatch] = []

  /// What the engine can be told.
  private enum Knob: Int32 {
    case volume, preview, drone, muted, tuning
  }

  /// Quieter than this is silence.
  private static let silence = -200.0
  /// Two blocks of the browser, the way of a message, and a turn of the page that comes late.
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

  /// As the game knows it.
  var output: SoundOutput {
    var sound = SoundOutput(port)
    sound.setVolume = { scriptSoundSet(Knob.volume.rawValue, $0) }
    sound.setPreviewLevel = { scriptSoundSet(Knob.preview.rawValue, $0 ?? PageSound.silence) }
    sound.setDroneLevel = { scriptSoundSet(Knob.drone.rawValue, $0 ?? PageSound.silence) }
    sound.setMuted = { scriptSoundSet(Knob.muted.rawValue, $0 ? 1 : 0) }
    sound.setTuning = { scriptSoundSet(Knob.tuning.rawValue, $0) }
    sound.load = { rules in
      var name = PageSound.name(of: rules)
      name.withUTF8 { scriptSoundRules($0.baseAddress, Int32($0.count)) }
    }
    return sound
  }

  /// Rules as the module of the sound looks them up: it has them at home, and takes them to their tonic.
  static func name(of rules: ScoreRules) -> String {
    let tonic = rules.scale.tonicSpelling
    return "\(rules.name)\n\(tonic.letter)\n\(tonic.alteration)"
  }

  /// What the module of the sound must know of a piece beside its events: rules, thousandths of a hertz, and the end.
  static func order(_ music: Rendition, a4: Double) -> [String] {
    [name(of: music.rules), "\(Int((a4 * 1_000).rounded()))", "\(music.end.rawValue)"]
  }

  private static var now: Tick { Tick(rawValue: Int64(scriptSoundNow())) }

  private static func post(_ events: [ScoreEvent]) {
    guard !events.isEmpty else { return }
    events.withUnsafeBytes { scriptSoundPost($0.baseAddress, Int32($0.count)) }
  }
}
