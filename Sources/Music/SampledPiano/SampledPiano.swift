import CFluidSynth
import Glibc
import Synth

/// The sampled grand: the piano of a soundfont, played by FluidSynth behind the interface `Instrument`. Loading takes one or two seconds
/// and about 115 MB: do it on a background thread, and keep this object alive as long as the engine. FluidSynth starts notes only at every
/// 64th frame, so a note is 1–64 frames late.
package final class SampledPiano: @unchecked Sendable {
  package enum LoadError: Error, Sendable, CustomStringConvertible {
    case unreadable(String)
    case noPiano(String)
    case engine

    package var description: String {
      switch self {
      case .unreadable(let path): "\(path): not a soundfont that can be read (.sf2 or .sf3)"
      case .noPiano(let path): "\(path): has no piano at bank 0, program 0"
      case .engine: "FluidSynth could not be started"
      }
    }
  }

  /// The font that `./play` installs, from the package musescore-general-soundfont-small; its piano is in the public domain.
  package static let standardFont = "/usr/share/sounds/sf3/MuseScore_General_Lite.sf3"

  package static var isAvailable: Bool { access(standardFont, R_OK) == 0 }

  private let settings: OpaquePointer
  private let grand: Grand

  /// Loads a font. Not real-time safe: blocks for one or two seconds.
  package init(font: String = SampledPiano.standardFont) throws(LoadError) {
    guard access(font, R_OK) == 0 else { throw .unreadable(font) }
    // Suppress FluidSynth's messages on bad fonts: `LoadError` replaces them.
    fluid_set_log_function(Int32(FLUID_ERR.rawValue), nil, nil)
    fluid_set_log_function(Int32(FLUID_WARN.rawValue), nil, nil)
    guard let settings = new_fluid_settings() else { throw .engine }
    Self.configure(settings)
    guard let synth = new_fluid_synth(settings) else {
      delete_fluid_settings(settings)
      throw .engine
    }
    let id = fluid_synth_sfload(synth, font, 1)
    // Selecting a program loads its samples (dynamic loading), so that none is read from the file while notes sound.
    guard id >= 0, (0..<Grand.channels).allSatisfy({ fluid_synth_program_select(synth, $0, id, 0, 0) >= 0 }) else {
      delete_fluid_synth(synth)
      delete_fluid_settings(settings)
      throw id >= 0 ? .noPiano(font) : .unreadable(font)
    }
    self.settings = settings
    grand = Grand(synth)
    grand.warmUp()
  }

  /// Calls `body` with an engine that plays the piano of the soundfont `font`, or the modal piano if `font` is `nil`.
  package static func playing(_ patch: Patch, font: String?, _ body: (Engine) throws -> Void) throws {
    let engine = Engine(patch: patch)
    let sampled = try font.map { try SampledPiano(font: $0) }
    if let sampled {
      engine.attach(sampled.instrument)
      engine.setPiano(.grand)
    }
    // The engine plays through the memory of `sampled`, which Swift could otherwise free before `body` returns.
    try withExtendedLifetime(sampled) { try body(engine) }
  }

  deinit {
    delete_fluid_synth(grand.synth)
    delete_fluid_settings(settings)
  }

  /// The instrument for the engine; valid while this object lives.
  package var instrument: Instrument {
    Instrument(
      context: Unmanaged.passUnretained(grand).toOpaque(), strike: strikeGrand, pedal: pedalGrand, render: renderGrand,
      tune: tuneGrand)
  }

  package func silence() { grand.silence() }

  private static func configure(_ settings: OpaquePointer) {
    let numbers: [(String, Double)] = [
      ("synth.sample-rate", 48_000), ("synth.gain", 1),
      // If all voices are in use, a new note ends the quietest.
      ("synth.overflow.volume", 10_000), ("synth.overflow.age", 100),
    ]
    for (name, value) in numbers { fluid_settings_setnum(settings, name, value) }
    let switches: [(String, Int32)] = [
      // A single thread uses the synthesizer, so it needs no lock. Samples of unused presets are not loaded.
      ("synth.threadsafe-api", 0), ("synth.dynamic-sample-loading", 1), ("synth.lock-memory", 0),
      ("synth.reverb.active", 0), ("synth.chorus.active", 0), ("synth.midi-channels", 16),
      // One stereo output for each bus: FluidSynth sends channel c to output c mod 8.
      ("synth.audio-channels", Int32(Grand.buses)), ("synth.audio-groups", Int32(Grand.buses)),
      // A note takes two voices, and a slow game with the pedal held sounds almost a hundred notes. Ending a voice for a new note clicks:
      // with 96 voices the tests' measure of clicks was 6.7 dB, and must stay below 6.
      ("synth.polyphony", 256), ("synth.cpu-cores", 1),
    ]
    for (name, value) in switches { fluid_settings_setint(settings, name, value) }
  }
}
