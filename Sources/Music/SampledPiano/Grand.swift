import CFluidSynth

/// FluidSynth for the audio thread. Our code allocates no memory, and FluidSynth takes no lock because `synth.threadsafe-api` is 0.
final class Grand: @unchecked Sendable {
  /// The output buses: one for the dry sound and one for each of seven effect chains, as in `Synth.Instrument`.
  static let buses = 8
  /// Two MIDI channels for each bus, one for notes on the left and one for the others, because a channel has a single pan.
  static let channels: Int32 = 16

  let synth: OpaquePointer
  private let pans: UnsafeMutablePointer<Int32>
  private let outputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>
  private var pedal: Int32 = -1

  init(_ synth: OpaquePointer) {
    self.synth = synth
    pans = .allocate(capacity: Int(Self.channels))
    pans.initialize(repeating: -1, count: Int(Self.channels))
    outputs = .allocate(capacity: 2 * Self.buses)
    outputs.initialize(repeating: nil, count: 2 * Self.buses)
  }

  deinit {
    pans.deallocate()
    outputs.deallocate()
  }

  /// Plays and silences a chord, so that FluidSynth completes its lazy initialisation before the audio thread starts.
  func warmUp() {
    let left = UnsafeMutablePointer<Float>.allocate(capacity: 2 * Self.buses * 64)
    let right = left + Self.buses * 64
    left.initialize(repeating: 0, count: 2 * Self.buses * 64)
    defer { left.deallocate() }
    for pitch: Int32 in stride(from: 24, through: 108, by: 6) { strike(pitch, 40, pitch < 60 ? -20 : 20, 0) }
    for _ in 0..<8 { render(left, right, 64) }
    silence()
    // Eight blocks of 64 frames suffice for the released voices and the filters of FluidSynth to fall silent.
    for _ in 0..<8 { render(left, right, 64) }
  }

  /// Strikes a key; velocity 0 releases the key.
  func strike(_ pitch: Int32, _ velocity: Int32, _ pan: Int32, _ bus: Int32) {
    let c = (bus & 7) + (pan < 0 ? 8 : 0)
    let place = 64 + pan * 63 / 100
    if velocity > 0, pans[Int(c)] != place {
      pans[Int(c)] = place
      fluid_synth_cc(synth, c, 10, place)
    }
    fluid_synth_noteon(synth, c, pitch, velocity)
  }

  func setPedal(_ amount: Int32) {
    guard amount != pedal else { return }
    pedal = amount
    for c in 0..<Self.channels { fluid_synth_cc(synth, c, 64, amount) }
  }

  func render(_ left: UnsafeMutablePointer<Float>, _ right: UnsafeMutablePointer<Float>, _ frames: Int32) {
    for bus in 0..<Self.buses {
      outputs[2 * bus] = left + bus * 64
      outputs[2 * bus + 1] = right + bus * 64
    }
    fluid_synth_process(synth, frames, 0, nil, Int32(2 * Self.buses), outputs)
  }

  /// Tunes every channel, including sounding notes.
  func tune(_ hundredthsOfCents: Int32) {
    for c in 0..<Self.channels {
      fluid_synth_set_gen(synth, c, Int32(GEN_FINETUNE.rawValue), Float(hundredthsOfCents) / 100)
    }
  }

  func silence() {
    fluid_synth_all_sounds_off(synth, -1)
  }
}

// The functions of `Instrument` are at file scope, because a closure would check on the audio thread which actor it runs on.

private func grand(_ context: UnsafeMutableRawPointer) -> Unmanaged<Grand> { Unmanaged<Grand>.fromOpaque(context) }

nonisolated func strikeGrand(
  _ context: UnsafeMutableRawPointer, _ pitch: Int32, _ velocity: Int32, _ pan: Int32, _ bus: Int32
) {
  grand(context)._withUnsafeGuaranteedRef { $0.strike(pitch, velocity, pan, bus) }
}

nonisolated func pedalGrand(_ context: UnsafeMutableRawPointer, _ amount: Int32) {
  grand(context)._withUnsafeGuaranteedRef { $0.setPedal(amount) }
}

nonisolated func renderGrand(
  _ context: UnsafeMutableRawPointer, _ left: UnsafeMutablePointer<Float>, _ right: UnsafeMutablePointer<Float>,
  _ frames: Int32
) {
  grand(context)._withUnsafeGuaranteedRef { $0.render(left, right, frames) }
}

nonisolated func tuneGrand(_ context: UnsafeMutableRawPointer, _ hundredthsOfCents: Int32) {
  grand(context)._withUnsafeGuaranteedRef { $0.tune(hundredthsOfCents) }
}
