import Glibc
import ScoreModel
import Synchronization

/// The whole sound of Alina: takes score events from one thread, renders interleaved stereo on another.
///
/// Everything but `render` belongs to one producer thread. What crosses between the two is plain data in fixed rings
/// and atomics: `render` never allocates, locks or waits.
public final class Engine: @unchecked Sendable {
  /// Which piano new notes are struck on.
  public enum Piano: String, Sendable, Hashable, CaseIterable {
    /// The piano computed from partials: always there, the same everywhere.
    case modal
    /// The sampled grand, once `attach(_:)` has brought one; the modal piano plays until then.
    case grand
  }

  private let sampleRate: Double
  /// The longest thing posted at once is a rendered game's whole score, cut into batches by `OfflineRenderer`; a bar has
  /// at most 40 events.
  private let ring = Ring(8_192, filler: Posted())
  private let late = Ring(256, filler: LateBatch(generation: 0, frame: .zero, lateness: 0))
  private let controls = Controls()
  private let begun = Atomic<Int64>(0)
  private let mixer: UnsafeMutablePointer<Mixer>
  private let instrument = UnsafeMutablePointer<Instrument>.allocate(capacity: 1)
  // The producer's own: what the next rack is built from.
  private var patch: Patch
  private var a4 = 440.0
  /// The piano of a tuning under way.
  private var tables: ModalTables.Draft?

  /// Makes a silent engine at a sample rate in Hz, mixed as `patch` says.
  public init(sampleRate: Double = 48_000, patch: Patch) {
    self.sampleRate = sampleRate
    self.patch = patch
    mixer = placed(Mixer(sampleRate: sampleRate, patch: patch))
  }

  deinit {
    free(mixer)
    instrument.deallocate()
  }

  // MARK: - Score

  /// The first frame whose rendering has not begun: an event posted for it is on time if the batch is seen first.
  public var framesBegun: Tick { Tick(rawValue: begun.load(ordering: .sequentiallyConsistent)) }

  /// Hands over a batch of events, sorted by frame; all become visible to the audio thread at once.
  ///
  /// One producer thread. A batch seen after its first frame has begun moves as one, and `takeLate()` tells. False,
  /// and nothing posted, if more than 8,192 events would be on their way.
  @discardableResult
  public func post(_ events: [ScoreEvent]) -> Bool {
    ring.post(events.count) { Posted(event: events[$0], begins: $0 == 0) }
  }

  /// What was late since the last call, oldest first.
  public func takeLate() -> [LateBatch] {
    let pending = late.pending()
    defer { late.take(upTo: pending.upperBound) }
    return pending.map { late[$0] }
  }

  // MARK: - Sound

  /// Fills `frames` frames of interleaved stereo Float, −1…1. Real-time safe: yes.
  ///
  /// The same events give the same samples whatever the sizes of the blocks. The compiler proves that nothing here
  /// allocates, locks or counts references; debug builds cannot see across files and are not asked to.
  #if !DEBUG
    @_noLocks @_noAllocation
  #endif
  public func render(into buffer: UnsafeMutablePointer<Float>, frames: Int) {
    guard frames > 0 else { return }
    // Sequentially consistent, before the ring is read: see `Ring.post`.
    begun.store(mixer.pointee.now + Int64(frames), ordering: .sequentiallyConsistent)
    mixer.pointee.drain(ring, late)
    mixer.pointee.render(into: buffer, frames: frames, controls: controls)
  }

  /// Lets frames of score time pass that nobody hears: nothing is computed, and notes that would begin in them are lost.
  /// Real-time safe: yes.
  public func pass(frames: Int) {
    begun.store(mixer.pointee.now + Int64(frames), ordering: .sequentiallyConsistent)
    mixer.pointee.drain(ring, late)
    mixer.pointee.pass(frames)
  }

  // MARK: - Knobs

  /// Sets the volume in dB, −90…+12, 0 by default; it ramps within 40 ms.
  public func setVolume(decibels: Double) {
    controls.volume.store(Self.amplitude(decibels), ordering: .relaxed)
  }

  /// Silences or restores the sound within 40 ms; the score goes on.
  public func setMuted(_ muted: Bool) { controls.isMuted.store(muted, ordering: .relaxed) }

  /// Sets the drone's sine bed in dB relative to the patch, −90…+12; `nil` turns it off.
  public func setDroneLevel(decibels: Double?) {
    controls.drone.store(Self.amplitude(decibels), ordering: .relaxed)
  }

  /// Sets the focus preview in dB relative to the patch, −90…+12; `nil` turns it off.
  public func setPreviewLevel(decibels: Double?) {
    controls.preview.store(Self.amplitude(decibels), ordering: .relaxed)
  }

  /// Tunes A4 to 415…466 Hz: what is struck from here on, the strings that ring along, and the tones. Takes some
  /// milliseconds of the caller.
  public func setTuning(a4: Double) {
    beginTuning(a4: a4)
    while continueTuning() {}
  }

  /// Begins what `setTuning` does, for a producer that is the audio thread too: `continueTuning()` does the rest.
  package func beginTuning(a4: Double) {
    self.a4 = min(max(a4, 415), 466)
    tables = ModalTables.Draft(sampleRate: sampleRate, model: PianoModel(a4: self.a4))
  }

  /// Goes on with a tuning for about 0.1 ms; false once nothing is left to do.
  @discardableResult
  package func continueTuning() -> Bool {
    if tables?.addNote() == true { return true }
    guard let tables = tables.take() else { return false }
    controls.a4.store(Float(a4), ordering: .relaxed)
    controls.tuning.store(Int32(120_000 * log2(a4 / 440)), ordering: .relaxed)
    controls.piano.send(ModalPiano(tables: tables))
    load(patch)
    return false
  }

  /// Changes the mix and the effects while the sound goes on: what rings rings out, new notes are heard the new way.
  public func load(_ patch: Patch) {
    self.patch = patch
    controls.rack.send(Rack(patch, sampleRate: sampleRate, a4: a4))
  }

  /// Brings the sampled grand, once; its context must outlive the engine.
  public func attach(_ instrument: Instrument) {
    guard controls.instrument.load(ordering: .relaxed) == nil else { return }
    self.instrument.initialize(to: instrument)
    controls.instrument.store(self.instrument, ordering: .releasing)
  }

  /// Chooses the piano that new notes are struck on.
  public func setPiano(_ piano: Piano) { controls.usesGrand.store(piano == .grand, ordering: .relaxed) }

  // MARK: - Meters

  /// Voices sounding, voices stolen and frames limited so far. Only between renders: for tests and offline use.
  package var counters: (voices: Int, steals: Int, limited: Int) { mixer.pointee.counters }

  private static func amplitude(_ decibels: Double?) -> Float {
    decibels.map { Arithmetic.amplitude(decibels: Float(min(max($0, -90), 12))) } ?? 0
  }
}
