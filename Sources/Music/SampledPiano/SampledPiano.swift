import CFluidSynth
import Glibc
import Synth

/// The sampled grand: a soundfont's piano played by FluidSynth behind the interface `Instrument`.
///
/// Loading takes a second or two and some 115 MB; do it on a background thread, then hand `instrument` to
/// `Engine.attach(_:)` and keep this object alive as long as the engine. Its own reverb and chorus are off. FluidSynth
/// works in runs of 64 frames counted from its start, so a note is heard 1–64 frames late, the same for any block size.
package final class SampledPiano: @unchecked Sendable {
  /// Why a soundfont cannot be played.
  package enum LoadError: Error, Sendable, CustomStringConvertible {
    /// The file cannot be read, or is no soundfont.
    case unreadable(String)
    /// The font has no instrument in bank 0, program 0.
    case noPiano(String)
    /// FluidSynth itself could not start.
    case engine

    /// One line, for the user.
    package var description: String {
      switch self {
      case .unreadable(let path): "\(path): not a soundfont that can be read (.sf2 or .sf3)"
      case .noPiano(let path): "\(path): has no piano at bank 0, program 0"
      case .engine: "FluidSynth could not be started"
      }
    }
  }

  /// The font `./play` installs: the package musescore-general-soundfont-small; its piano is in the public domain.
  package static let standardFont = "/usr/share/sounds/sf3/MuseScore_General_Lite.sf3"

  /// Whether the standard font is installed.
  package static var isAvailable: Bool { access(standardFont, R_OK) == 0 }

  private let settings: OpaquePointer
  private let grand: Grand

  /// Loads a font. Not real-time safe: blocks for a second or two.
  package init(font: String = SampledPiano.standardFont) throws(LoadError) {
    guard access(font, R_OK) == 0 else { throw .unreadable(font) }
    // FluidSynth prints its own lines on bad fonts; we say it once, in ours.
    fluid_set_log_function(Int32(FLUID_ERR.rawValue), nil, nil)
    fluid_set_log_function(Int32(FLUID_WARN.rawValue), nil, nil)
    guard let settings = new_fluid_settings() else { throw .engine }
    Self.configure(settings)
    guard let synth = new_fluid_synth(settings) else {
      delete_fluid_settings(settings)
      throw .engine
    }
    let id = fluid_synth_sfload(synth, font, 1)
    // Selecting loads the samples (dynamic loading): nothing is read while playing.
    guard id >= 0, (0..<Grand.channels).allSatisfy({ fluid_synth_program_select(synth, $0, id, 0, 0) >= 0 }) else {
      delete_fluid_synth(synth)
      delete_fluid_settings(settings)
      throw id >= 0 ? .noPiano(font) : .unreadable(font)
    }
    self.settings = settings
    grand = Grand(synth)
    grand.warmUp()
  }

  /// Hands over an engine that plays the grand of a font or, where none is named, the modal piano.
  package static func playing(_ patch: Patch, font: String?, _ body: (Engine) throws -> Void) throws {
    let engine = Engine(patch: patch)
    let sampled = try font.map { try SampledPiano(font: $0) }
    if let sampled {
      engine.attach(sampled.instrument)
      engine.setPiano(.grand)
    }
    // The font must outlive the engine that plays it.
    try withExtendedLifetime(sampled) { try body(engine) }
  }

  deinit {
    delete_fluid_synth(grand.synth)
    delete_fluid_settings(settings)
  }

  /// What the engine plays: valid as long as this object lives.
  package var instrument: Instrument {
    Instrument(
      context: Unmanaged.passUnretained(grand).toOpaque(), strike: strikeGrand, pedal: pedalGrand, render: renderGrand,
      tune: tuneGrand)
  }

  /// Ends every note at once.
  package func silence() { grand.silence() }

  private static func configure(_ settings: OpaquePointer) {
    let numbers: [(String, Double)] = [
      ("synth.sample-rate", 48_000), ("synth.gain", 1),
      // If ever one has to go, the quietest.
      ("synth.overflow.volume", 10_000), ("synth.overflow.age", 100),
    ]
    for (name, value) in numbers { fluid_settings_setnum(settings, name, value) }
    let switches: [(String, Int32)] = [
      // One thread plays: no lock. Samples of unused presets stay on disk.
      ("synth.threadsafe-api", 0), ("synth.dynamic-sample-loading", 1), ("synth.lock-memory", 0),
      ("synth.reverb.active", 0), ("synth.chorus.active", 0), ("synth.midi-channels", 16),
      // A stereo pair for each bus: channel c sounds in group c mod 8.
      ("synth.audio-channels", Int32(Grand.buses)), ("synth.audio-groups", Int32(Grand.buses)),
      // Every note of the stereo font takes two voices, and a slow game under one pedal holds close to a hundred notes: a
      // voice too few would be cut in the middle of its wave, which clicks (6.7 dB, heard once with 96).
      ("synth.polyphony", 256), ("synth.cpu-cores", 1),
    ]
    for (name, value) in switches { fluid_settings_setint(settings, name, value) }
  }
}
