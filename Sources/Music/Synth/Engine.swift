import Glibc
import ScoreModel
import Synchronization

/// The sound engine: takes score events from one thread and renders interleaved stereo on another thread. Everything except `render` and
/// `pass` belongs to one producer thread. `render` never allocates, locks or waits.
public final class Engine: @unchecked Sendable {
  /// The piano for new notes.
  public enum Piano: String, Sendable, Hashable, CaseIterable {
    /// The computed piano: always available, equal on every machine.
    case modal
    /// The sampled grand after `attach(_:)`; until then the modal piano plays.
    case grand
  }

  private let sampleRate: Double
  /// The events that the audio thread has not taken yet. A bar has at most 40 events; `OfflineRenderer` posts batches of at most 4,096.
  private let ring = Ring(8_192, filler: Posted())
  private let late = Ring(256, filler: LateBatch(generation: 0, frame: .zero, lateness: 0))
  private let controls = Controls()
  private let begun = Atomic<Int64>(0)
  private let mixer: UnsafeMutablePointer<Mixer>
  private let instrument = UnsafeMutablePointer<Instrument>.allocate(capacity: 1)
  // The patch and the tuning (`a4`) from which the producer thread builds the next rack (the nodes of a patch).
  private var patch: Patch
  private var a4 = 440.0
  /// The piano's tables while `beginTuning` and `continueTuning` compute them; `nil` if no tuning is in progress.
  private var tables: ModalTables.Draft?

  /// Makes a silent engine at a sample rate in Hz with the mix of `patch`.
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

  /// The first frame of the next block to render. An event for this frame is on time if it is posted before that block begins.
  public var framesBegun: Tick { Tick(rawValue: begun.load(ordering: .sequentiallyConsistent)) }

  /// Posts a batch of events sorted by frame, from one thread only; the audio thread receives all or none of them. A late batch is shifted
  /// as a whole and reported by `takeLate()`. Returns `false`, without effect, if more than 8,192 events would be pending.
  @discardableResult
  public func post(_ events: [ScoreEvent]) -> Bool {
    ring.post(events.count) { Posted(event: events[$0], begins: $0 == 0) }
  }

  /// The late batches since the last call, oldest first.
  public func takeLate() -> [LateBatch] {
    let pending = late.pending()
    defer { late.take(upTo: pending.upperBound) }
    return pending.map { late[$0] }
  }

  // MARK: - Sound

  /// Fills `frames` frames of interleaved stereo Float, −1…1. The result does not depend on block sizes. Real-time safe: in release builds
  /// the compiler verifies that this function and all that it calls never allocate, lock or count references; in debug builds the compiler
  /// cannot see into other files.
  #if !DEBUG
    @_noLocks @_noAllocation
  #endif
  public func render(into buffer: UnsafeMutablePointer<Float>, frames: Int) {
    guard frames > 0 else { return }
    // This store must come before `drain` reads the ring; `Ring.post` says why it is sequentially consistent.
    begun.store(mixer.pointee.now + Int64(frames), ordering: .sequentiallyConsistent)
    mixer.pointee.drain(ring, late)
    mixer.pointee.render(into: buffer, frames: frames, controls: controls)
  }

  /// Advances the score time without rendering; drops notes that would begin in these frames. Real-time safe: yes.
  public func pass(frames: Int) {
    begun.store(mixer.pointee.now + Int64(frames), ordering: .sequentiallyConsistent)
    mixer.pointee.drain(ring, late)
    mixer.pointee.pass(frames)
  }

  // MARK: - Controls

  /// Sets the volume in dB relative to the patch, −90…+12, default 0; ramps within 40 ms.
  public func setVolume(decibels: Double) {
    controls.volume.store(Self.amplitude(decibels), ordering: .relaxed)
  }

  /// Mutes or unmutes within 40 ms; the score continues.
  public func setMuted(_ muted: Bool) { controls.isMuted.store(muted, ordering: .relaxed) }

  /// Evens out the loudness of the piano (see `Leveler`), or leaves it as played, which is the default.
  public func setEven(_ isEven: Bool) { controls.isEven.store(isEven, ordering: .relaxed) }

  /// Sets the level of the bed in dB relative to the patch, −90…+12; `nil` turns the bed off.
  public func setDroneLevel(decibels: Double?) {
    controls.drone.store(Self.amplitude(decibels), ordering: .relaxed)
  }

  /// Sets the level of the preview of a cell in dB relative to the patch, −90…+12; `nil` turns the preview off.
  public func setPreviewLevel(decibels: Double?) {
    controls.preview.store(Self.amplitude(decibels), ordering: .relaxed)
  }

  /// Tunes A4 to 415…466 Hz for new notes, bells, strings, bed and preview. Blocks the caller for some milliseconds.
  public func setTuning(a4: Double) {
    beginTuning(a4: a4)
    while continueTuning() {}
  }

  /// Starts what `setTuning` does, without blocking, for a producer on the audio thread (in a browser); `continueTuning()` completes it.
  package func beginTuning(a4: Double) {
    self.a4 = min(max(a4, 415), 466)
    tables = ModalTables.Draft(sampleRate: sampleRate, model: PianoModel(a4: self.a4))
  }

  /// Computes the next note of a tuning, which takes about 0.1 ms; `false` when the tuning is complete.
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

  /// Changes mix and effects without interruption: notes that sound already keep the old effects to their end.
  public func load(_ patch: Patch) {
    self.patch = patch
    controls.rack.send(Rack(patch, sampleRate: sampleRate, a4: a4))
  }

  /// Adds the sampled grand; later calls have no effect. `instrument.context` must outlive the engine.
  public func attach(_ instrument: Instrument) {
    guard controls.instrument.load(ordering: .relaxed) == nil else { return }
    self.instrument.initialize(to: instrument)
    controls.instrument.store(self.instrument, ordering: .releasing)
  }

  /// Selects the piano for new notes.
  public func setPiano(_ piano: Piano) { controls.usesGrand.store(piano == .grand, ordering: .relaxed) }

  // MARK: - Meters

  /// The voices that sound now, the voices stolen (ended for new notes) so far, and the frames limited so far. Call only between renders.
  package var counters: (voices: Int, steals: Int, limited: Int) { mixer.pointee.counters }

  private static func amplitude(_ decibels: Double?) -> Float {
    decibels.map { Arithmetic.amplitude(decibels: Float(min(max($0, -90), 12))) } ?? 0
  }
}
