import ScoreModel
import Synchronization

/// Everything the audio thread owns: events become voices, voices become a mix.
///
/// A render is cut at grid frames and at events, so each run lies in one cell and what it does depends on frame
/// numbers alone. Real-time safe: yes, but for `init`.
struct Mixer: ~Copyable {
  /// A key of the grand that is held down.
  private struct Key: BitwiseCopyable {
    var pitch: Int32 = 0
    var pan: Int32 = 0
    var bus: Int32 = 0
    var hold: Int32 = -1
  }

  private static let bells = 4
  private static let previews = 2
  /// The level at which the drone breathes, before its own: that of a soft piano.
  private static let breathReference: Float = 0.1
  /// A hidden window's fade.
  private static let hiddenFrames = 14_400

  let sampleRate: Double
  private var scheduler = Scheduler()
  private let piano: Slab<UnsafeMutablePointer<ModalPiano>?>
  private let rack: Slab<UnsafeMutablePointer<Rack>?>
  private let bell: UnsafeMutablePointer<Bell>
  private let preview: UnsafeMutablePointer<ToneGenerator>
  private let keys = Slab<Key>(128, repeating: Key())
  private var drone: ToneGenerator
  private var breath: EnvelopeMatcher
  private var limiter: Limiter
  private var grand: Instrument?
  private var usesGrand = false
  private var grandTuning: Int32 = 0
  private var frame: Int64 = 0
  private var activePreview = 0
  private var a4: Float = 440
  private var retiringRackCells = 0
  private var isFrozen = false
  private var hidden = Ramp(1)
  private var volume = Ramp(1)
  private var droneEvent = Ramp(0)
  private var droneLevel = Ramp(0)
  private var previewLevel = Ramp(1)
  private var pianoLevel = Ramp(1)
  private var grandLevel = Ramp(1)
  private var send = Ramp(0)
  /// How much of the piano the current rack hears; the rest goes to the one it follows.
  private var rackEnter = Ramp(1)
  /// How loud what rings in the old rack still is: it fades at once where a third one waits.
  private var rackLeave = Ramp(1)
  private var pedalTarget: Float = 1

  private let busLeft = Slab<Float>(ModalPiano.buses * Grid.frames, repeating: 0)
  private let busRight = Slab<Float>(ModalPiano.buses * Grid.frames, repeating: 0)
  private let grandLeft = Slab<Float>(ModalPiano.buses * Grid.frames, repeating: 0)
  private let grandRight = Slab<Float>(ModalPiano.buses * Grid.frames, repeating: 0)
  private let mix = Slab<Float>(2 * Grid.frames, repeating: 0)
  private let work = Slab<Float>(2 * Grid.frames, repeating: 0)
  private let share = Slab<Float>(Grid.frames, repeating: 1)

  init(sampleRate: Double, patch: Patch) {
    self.sampleRate = sampleRate
    piano = Slab(2, repeating: nil)
    rack = Slab(2, repeating: nil)
    piano[0] = placed(ModalPiano(sampleRate: sampleRate, model: PianoModel()))
    let built = placed(Rack(patch, sampleRate: sampleRate))
    rack[0] = built
    bell = UnsafeMutablePointer<Bell>.allocate(capacity: Self.bells)
    for i in 0..<Self.bells { (bell + i).initialize(to: Bell(sampleRate: sampleRate)) }
    preview = UnsafeMutablePointer<ToneGenerator>.allocate(capacity: Self.previews)
    for i in 0..<Self.previews { (preview + i).initialize(to: ToneGenerator(sampleRate: sampleRate)) }
    drone = ToneGenerator(sampleRate: sampleRate)
    breath = EnvelopeMatcher(sampleRate: sampleRate)
    limiter = Limiter(sampleRate: sampleRate)
    adoptLevels()
    let levels = built.pointee.patch
    pianoLevel.jump(Arithmetic.amplitude(decibels: levels.piano + levels.master))
    grandLevel.jump(Arithmetic.amplitude(decibels: levels.grand + levels.master))
    send.jump(Arithmetic.amplitude(decibels: levels.reverbSend))
    droneLevel.jump(Arithmetic.amplitude(decibels: levels.drone) / Self.breathReference)
    breath.reset()
  }

  deinit {
    for i in 0..<2 {
      free(piano[i])
      free(rack[i])
    }
    bell.deinitialize(count: Self.bells)
    bell.deallocate()
    preview.deinitialize(count: Self.previews)
    preview.deallocate()
  }

  /// Voices sounding, steals and limited frames so far; for tests and meters between renders.
  var counters: (voices: Int, steals: Int, limited: Int) {
    (piano[0]?.pointee.activeVoices ?? 0, piano[0]?.pointee.steals ?? 0, limiter.framesLimited)
  }

  // MARK: - A block

  /// The next frame of score time.
  var now: Int64 { frame }

  /// The frames of score time that a block of `frames` will take: fewer where a hidden window's fade ends in it.
  mutating func plan(_ frames: Int, hidden wantsHidden: Bool) -> Int {
    if wantsHidden {
      if isFrozen { return 0 }
      hidden.aim(0, frames: Self.hiddenFrames)
      // The ramp starts at a grid frame and ends at one.
      let toGrid = Int((Int64(Grid.frames) - frame % Int64(Grid.frames)) % Int64(Grid.frames))
      let left = toGrid + hidden.cellsLeft * Grid.frames
      if frames >= left { isFrozen = true }
      return min(frames, left)
    }
    isFrozen = false
    hidden.aim(1, frames: Self.hiddenFrames)
    return frames
  }

  /// Takes what the producer posted.
  mutating func drain(_ ring: borrowing EventRing, _ reports: borrowing ReportRing) {
    scheduler.drain(ring, now: frame, reports: reports)
  }

  /// Lets frames pass in silence: what is struck in them is lost, all else is as if it had been rendered.
  mutating func pass(_ frames: Int) {
    frame += Int64(frames)
    while let event = scheduler.pop(due: frame - 1) {
      if event.kind != .note, event.kind != .bell { play(event) }
    }
  }

  /// Fills `frames` frames of interleaved stereo with the next of score time.
  mutating func render(into out: UnsafeMutablePointer<Float>, frames: Int, controls: borrowing Controls) {
    var done = 0
    while done < frames {
      while let event = scheduler.pop(due: frame) { play(event) }
      let inCell = Int(frame & Int64(Grid.frames - 1))
      if inCell == 0 { tick(controls) }
      var run = min(Grid.frames - inCell, frames - done)
      if let next = scheduler.nextFrame { run = min(run, Int(min(next - frame, Int64(Grid.frames)))) }
      renderRun(into: out + 2 * done, run)
      frame += Int64(run)
      done += run
    }
  }

  // MARK: - Events

  private mutating func play(_ event: ScoreEvent) {
    switch event.kind {
    case .note: strike(event)
    case .cut: break  // Done when it arrived.
    case .pedal: movePedal(Float(event.amount) / 127, frames: Int(event.duration))
    case .drone: moveDrone(event)
    case .preview: movePreview(event)
    case .knock:
      piano[0]?.pointee.strike(
        note: ModalTables.knock, velocity: event.velocity == 0 ? 50 : Float(event.velocity), pan: Float(event.pan),
        hold: 48_000, bus: 0, gain: Arithmetic.amplitude(decibels: rack[0]?.pointee.patch.knock ?? 0))
    case .bell: strikeBell(event)
    }
  }

  private mutating func strike(_ event: ScoreEvent) {
    let bus = Int(event.chain) <= Patch.maxChains ? Int(event.chain) : 0
    if bus > 0 { rack[0]?.pointee.start(chain: bus) }
    let hold = Int(event.duration)
    if usesGrand, let grand {
      let pitch = Int32(min(max(event.pitch.midi, 21), 108))
      OpaqueCalls.strike(grand, pitch, Int32(max(event.velocity, 1)), Int32(event.pan), Int32(bus))
      // A key that the other hand restrikes is another one: the grand keeps left and right on channels of their own.
      var slot = -1
      for k in 0..<keys.count {
        let isSame = keys[k].pitch == pitch && keys[k].bus == Int32(bus) && (keys[k].pan < 0) == (event.pan < 0)
        if keys[k].hold >= 0, isSame {
          slot = k
          break
        }
        if slot < 0, keys[k].hold < 0 { slot = k }
      }
      if slot < 0 {
        slot = 0
        release(slot, grand)
      }
      keys[slot] = Key(pitch: pitch, pan: Int32(event.pan), bus: Int32(bus), hold: Int32(clamping: max(hold, 64)))
    } else {
      piano[0]?.pointee.strike(
        note: min(event.pitch.midi, 127), velocity: Float(event.velocity), pan: Float(event.pan), hold: hold, bus: bus)
    }
  }

  private mutating func movePedal(_ amount: Float, frames: Int) {
    pedalTarget = min(max(amount, 0), 1)
    for i in 0..<2 { piano[i]?.pointee.setPedal(pedalTarget, frames: frames) }
  }

  private mutating func moveDrone(_ event: ScoreEvent) {
    let amount = Float(min(event.amount, 127)) / 127
    if amount > 0 {
      drone.start(midi: Double(min(event.pitch.midi, 127)))
    }
    droneEvent.aim(amount, frames: max(Int(event.duration), 2_400))
  }

  private mutating func movePreview(_ event: ScoreEvent) {
    (preview + activePreview).pointee.stop()
    guard event.amount > 0 else { return }
    // The other generator takes over, so that two cells cross-fade.
    activePreview = (activePreview + 1) % Self.previews
    (preview + activePreview).pointee.start(midi: Double(min(event.pitch.midi, 127)))
  }

  private mutating func strikeBell(_ event: ScoreEvent) {
    guard let rack = rack[0] else { return }
    var slot = 0
    for b in 0..<Self.bells where (bell + b).pointee.loudness < (bell + slot).pointee.loudness { slot = b }
    let touch = Float(min(event.velocity, 127)) / 64
    let level = Arithmetic.amplitude(decibels: rack.pointee.patch.bell + rack.pointee.patch.master)
    (bell + slot).pointee.strike(
      frequency: Pitch.frequency(midi: Double(min(event.pitch.midi, 127)), a4: Double(a4)),
      amplitude: level * touch * touch, t60: rack.pointee.bellDecay)
  }

  private func release(_ k: Int, _ grand: Instrument) {
    OpaqueCalls.release(grand, keys[k].pitch, keys[k].pan, keys[k].bus)
    keys.base[k].hold = -1
  }

  // MARK: - The grid

  private mutating func tick(_ controls: borrowing Controls) {
    takeRack(controls)
    takePiano(controls)
    takeGrand(controls)
    let loud = controls.isMuted.load(ordering: .relaxed) ? 0 : Controls.read(controls.volume)
    if volume.target != loud { volume.aim(loud, frames: 1_920) }
    adopt(controls)
    hidden.tick()
    volume.tick()
    droneEvent.tick()
    droneLevel.tick()
    previewLevel.tick()
    pianoLevel.tick()
    grandLevel.tick()
    send.tick()
    rackEnter.tick()
    rackLeave.tick()
    if droneEvent.value == 0, droneEvent.isAtRest { drone.reset() }
    for i in 0..<2 { piano[i]?.pointee.tick() }
    let pedal = piano[0]?.pointee.pedalNow ?? 1
    for i in 0..<2 { rack[i]?.pointee.tick(pedal: pedal) }
    if let grand {
      OpaqueCalls.pedal(grand, Int32(pedal * 127 + 0.5))
      for k in 0..<keys.count where keys[k].hold >= 0 {
        keys.base[k].hold -= Int32(Grid.frames)
        if keys[k].hold < 0 { release(k, grand) }
      }
    }
  }

  private mutating func adopt(_ controls: borrowing Controls) {
    guard let levels = rack[0]?.pointee.patch else { return }
    let wanted = Controls.read(controls.drone) * Arithmetic.amplitude(decibels: levels.drone) / Self.breathReference
    if droneLevel.target != wanted { droneLevel.aim(wanted, frames: 9_600) }
    let preview = Controls.read(controls.preview)
    if previewLevel.target != preview { previewLevel.aim(preview, frames: 2_400) }
    let tuning = Controls.read(controls.a4)
    if tuning != a4 {
      a4 = tuning
      adoptLevels()
    }
  }

  /// Hands the patch's numbers to what is not in the rack.
  private mutating func adoptLevels() {
    guard let rack = rack[0] else { return }
    let levels = rack.pointee.patch
    var tone = rack.pointee.preview
    tone.level = min(max(levels.preview, -120), 0)
    tone.a4 = a4
    for i in 0..<Self.previews { (preview + i).pointee.set(tone) }
    drone.set(ToneGenerator.Parameters(level: -20, fadeIn: 400, fadeOut: 1_200, a4: a4))
    breath.set(rack.pointee.breath)
    pianoLevel.aim(Arithmetic.amplitude(decibels: levels.piano + levels.master), frames: 9_600)
    grandLevel.aim(Arithmetic.amplitude(decibels: levels.grand + levels.master), frames: 9_600)
    send.aim(Arithmetic.amplitude(decibels: levels.reverbSend), frames: 9_600)
  }

  private mutating func takeRack(_ controls: borrowing Controls) {
    if retiringRackCells > 0 { retiringRackCells -= 1 }
    // Two racks sound, not three: what still rings in the old one makes room within 100 ms for one that waits.
    if rack[1] != nil, controls.incomingRack.load(ordering: .relaxed) != 0 { rackLeave.aim(0, frames: 4_800) }
    if rack[1] != nil, retiringRackCells == 0 || (rackLeave.isAtRest && rackLeave.value == 0) {
      // Its sound is over. Only if the last one given back was fetched: nothing is freed here.
      let bits = UInt(bitPattern: rack[1])
      if controls.outgoingRack.compareExchange(expected: 0, desired: bits, ordering: .acquiringAndReleasing).exchanged {
        rack[1] = nil
      }
    }
    guard rack[1] == nil else { return }
    let bits = controls.incomingRack.exchange(0, ordering: .acquiringAndReleasing)
    guard let incoming = UnsafeMutablePointer<Rack>(bitPattern: bits) else { return }
    rack[1] = rack[0]
    rack[0] = incoming
    retiringRackCells = Int(10 * sampleRate) / Grid.frames
    rackLeave.jump(1)
    rackEnter.jump(0)
    rackEnter.aim(1, frames: 4_800)
    adoptLevels()
  }

  private mutating func takePiano(_ controls: borrowing Controls) {
    // Likewise: a tuning that waits is not kept waiting by what the pedal holds of the last but one.
    if let old = piano[1], controls.incomingPiano.load(ordering: .relaxed) != 0 { old.pointee.hush(frames: 4_800) }
    if let old = piano[1], old.pointee.activeVoices == 0 {
      let bits = UInt(bitPattern: old)
      if controls.outgoingPiano.compareExchange(expected: 0, desired: bits, ordering: .acquiringAndReleasing).exchanged
      {
        piano[1] = nil
      }
    }
    guard piano[1] == nil else { return }
    let bits = controls.incomingPiano.exchange(0, ordering: .acquiringAndReleasing)
    guard let incoming = UnsafeMutablePointer<ModalPiano>(bitPattern: bits) else { return }
    piano[1] = piano[0]
    piano[0] = incoming
    incoming.pointee.setPedal(pedalTarget, frames: Grid.frames)
  }

  private mutating func takeGrand(_ controls: borrowing Controls) {
    if grand == nil {
      let bits = controls.instrument.load(ordering: .acquiring)
      if let pointer = UnsafePointer<Instrument>(bitPattern: bits) { grand = pointer.pointee }
    }
    let wanted = controls.tuning.load(ordering: .relaxed)
    if let grand, wanted != grandTuning {
      grandTuning = wanted
      OpaqueCalls.tune(grand, wanted)
    }
    usesGrand = grand != nil && controls.usesGrand.load(ordering: .relaxed)
  }

  // MARK: - A run

  private mutating func renderRun(into out: UnsafeMutablePointer<Float>, _ n: Int) {
    for b in 0..<ModalPiano.buses { bus(b, n).clear() }
    var used: UInt32 = 0
    for i in 0..<2 {
      guard let piano = piano[i] else { continue }
      used |= piano.pointee.render(left: busLeft.base, right: busRight.base, frames: n)
    }
    scaleAndAddGrand(n, &used)
    let dry = bus(0, n)
    let out2 = StereoBlock(left: mix.base, right: mix.base + Grid.frames, frames: n)
    for b in 1..<ModalPiano.buses where used & (1 << UInt32(b)) != 0 { dry.add(bus(b, n)) }
    out2.copy(dry)
    effects(dry, used, into: out2)
    tones(dry, into: out2)
    for i in 0..<n {
      let gain = volume.next() * hidden.next()
      out2.left[i] *= gain
      out2.right[i] *= gain
    }
    _ = purify(out2)
    limiter.render(out2)
    for i in 0..<n {
      // Nothing below −200 dBFS leaves: no denormal, and silence is silence.
      out[2 * i] = abs(out2.left[i]) < 1e-10 ? 0 : out2.left[i]
      out[2 * i + 1] = abs(out2.right[i]) < 1e-10 ? 0 : out2.right[i]
    }
  }

  /// What the pianos play for a chain; bus 0 is dry.
  private func bus(_ b: Int, _ n: Int) -> StereoBlock {
    StereoBlock(left: busLeft.base + b * Grid.frames, right: busRight.base + b * Grid.frames, frames: n)
  }

  private mutating func scaleAndAddGrand(_ n: Int, _ used: inout UInt32) {
    let stride = Grid.frames
    for b in 0..<ModalPiano.buses where used & (1 << UInt32(b)) != 0 {
      var gain = pianoLevel
      bus(b, n).scale(&gain)
    }
    pianoLevel.skip(n)
    defer { grandLevel.skip(n) }
    guard let grand else { return }
    for b in 0..<ModalPiano.buses {
      StereoBlock(left: grandLeft.base + b * stride, right: grandRight.base + b * stride, frames: n).clear()
    }
    OpaqueCalls.render(grand, grandLeft.base, grandRight.base, Int32(n))
    for bus in 0..<ModalPiano.buses {
      var g = grandLevel
      var any = false
      for i in 0..<n {
        let x = g.next()
        let l = grandLeft[bus * stride + i] * x
        let r = grandRight[bus * stride + i] * x
        any = any || l != 0 || r != 0
        busLeft.base[bus * stride + i] += l
        busRight.base[bus * stride + i] += r
      }
      if any { used |= 1 << UInt32(bus) }
    }
  }

  /// Strings, chains and room: what the dry piano sets in motion. A new rack takes over from the old one's input.
  private mutating func effects(_ dry: StereoBlock, _ used: UInt32, into out: StereoBlock) {
    let n = dry.frames
    for i in 0..<2 {
      guard let rack = rack[i] else { continue }
      var ramp = rackEnter
      for k in 0..<n {
        let x = ramp.next()
        share[k] = i == 0 ? x : 1 - x
      }
      feed(rack, i == 0 ? Ramp(1) : rackLeave, dry, used, into: out)
    }
    rackEnter.skip(n)
    send.skip(n)
    rackLeave.skip(n)
  }

  /// Gives one rack its share of the piano and adds what it makes of it, as loud as `level` says.
  private func feed(
    _ rack: UnsafeMutablePointer<Rack>, _ level: Ramp, _ dry: StereoBlock, _ used: UInt32, into out: StereoBlock
  ) {
    let n = dry.frames
    let stride = Grid.frames
    let wet = StereoBlock(left: work.base, right: work.base + stride, frames: n)
    let input = StereoBlock(left: grandLeft.base, right: grandRight.base, frames: n)
    wet.clear()
    for c in 0..<Patch.maxChains {
      let bus = (c + 1) * stride
      for k in 0..<n {
        input.left[k] = busLeft[bus + k] * share[k]
        input.right[k] = busRight[bus + k] * share[k]
      }
      let sounding = used & (1 << UInt32(c + 1)) != 0
      rack.pointee.process(chain: c, input, sounding: sounding, piano: dry, into: wet)
    }
    for k in 0..<n {
      input.left[k] = dry.left[k] * share[k]
      input.right[k] = dry.right[k] * share[k]
    }
    rack.pointee.resonate(input, into: wet)
    var s = send
    for k in 0..<n {
      let x = s.next()
      input.left[k] = (input.left[k] + wet.left[k]) * x
      input.right[k] = (input.right[k] + wet.right[k]) * x
    }
    rack.pointee.reverb.render(input)
    var h = level
    for k in 0..<n {
      let x = h.next()
      out.left[k] += (wet.left[k] + input.left[k]) * x
      out.right[k] += (wet.right[k] + input.right[k]) * x
    }
  }

  /// Drone, preview and bells: beside the piano, not through its room.
  private mutating func tones(_ dry: StereoBlock, into out: StereoBlock) {
    let n = dry.frames
    let tone = StereoBlock(left: work.base, right: work.base + Grid.frames, frames: n)
    tone.clear()
    drone.render(tone)
    breath.render(tone, after: dry)
    for i in 0..<n {
      let x = droneLevel.next() * droneEvent.next()
      out.left[i] += tone.left[i] * x
      out.right[i] += tone.right[i] * x
    }
    tone.clear()
    for p in 0..<Self.previews { (preview + p).pointee.render(tone) }
    tone.scale(&previewLevel)
    out.add(tone)
    for b in 0..<Self.bells { (bell + b).pointee.render(out) }
  }
}
