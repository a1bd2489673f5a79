import ScoreModel
import Synchronization

/// The state of the audio thread: turns events into sounding voices and mixes them. Rendering is split at events and at every 64th frame,
/// so results depend on frame numbers only. Real-time safe: yes, except `init`.
struct Mixer: ~Copyable {
  /// While the piano has this amplitude (that of a soft passage), the drone has the level of the patch.
  private static let breathReference: Float = 0.1

  let sampleRate: Double
  private var scheduler = Scheduler()
  private var piano: UnsafeMutablePointer<ModalPiano>
  private var rack: UnsafeMutablePointer<Rack>
  /// The piano of the tuning before this one, while its notes still sound.
  private var oldPiano: UnsafeMutablePointer<ModalPiano>?
  private var oldRack: UnsafeMutablePointer<Rack>?
  private let bells: Nodes<Bell>
  private let previews: Nodes<ToneGenerator>
  /// Frames until each key of the sampled grand is released; negative after the release. Each bus has 128 entries for notes panned to the
  /// right or the middle, then 128 for those panned to the left.
  private let keys = SampleBuffer<Int32>(256 * ModalPiano.buses, repeating: -1)
  /// The three tones of the bed; small loudspeakers reproduce only the second and third.
  private let drone: Nodes<ToneGenerator>
  private var breath: EnvelopeMatcher
  private var leveler: Leveler
  private var limiter: Limiter
  private var grand: Instrument?
  private var usesGrand = false
  private var grandTuning: Int32 = 0
  private var frame: Int64 = 0
  private var activePreview = 0
  private var a4: Float = 440
  private var retiringRackCells = 0
  private var volume = Ramp<Float>(1)
  private var droneEvent = Ramp<Float>(0)
  private var droneLevel = Ramp<Float>(0)
  private var previewLevel = Ramp<Float>(1)
  private var pianoLevel = Ramp<Float>(1)
  private var grandLevel = Ramp<Float>(1)
  private var send = Ramp<Float>(0)
  /// The share of the piano's sound that the current rack (the nodes of the patch) gets; the old rack gets the rest.
  private var rackEnter = Ramp<Float>(1)
  /// The level of the old rack: 1 while the rack's sound dies away, but it fades out if a third rack waits to be taken.
  private var rackLeave = Ramp<Float>(1)
  private var pedalTarget: Float = 1

  private let buses = SampleBuffer<Stereo>(ModalPiano.buses * Grid.frames, repeating: .zero)
  private let grandLeft = SampleBuffer<Float>(ModalPiano.buses * Grid.frames, repeating: 0)
  private let grandRight = SampleBuffer<Float>(ModalPiano.buses * Grid.frames, repeating: 0)
  private let mix = SampleBuffer<Stereo>(Grid.frames, repeating: .zero)
  private let work = SampleBuffer<Stereo>(Grid.frames, repeating: .zero)
  private let input = SampleBuffer<Stereo>(Grid.frames, repeating: .zero)
  private let share = SampleBuffer<Float>(Grid.frames, repeating: 1)

  init(sampleRate: Double, patch: Patch) {
    self.sampleRate = sampleRate
    piano = placed(ModalPiano(tables: ModalTables.Draft(sampleRate: sampleRate, model: PianoModel())))
    rack = placed(Rack(patch, sampleRate: sampleRate))
    bells = Nodes(4) { Bell(sampleRate: sampleRate) }
    previews = Nodes(2) { ToneGenerator(sampleRate: sampleRate) }
    drone = Nodes(3) { ToneGenerator(sampleRate: sampleRate) }
    breath = EnvelopeMatcher(sampleRate: sampleRate)
    leveler = Leveler(sampleRate: sampleRate)
    limiter = Limiter(sampleRate: sampleRate)
    adoptLevels()
    pianoLevel.jump(pianoLevel.target)
    grandLevel.jump(grandLevel.target)
    send.jump(send.target)
    droneLevel.jump(rack.pointee.drone / Self.breathReference)
    breath.reset()
  }

  deinit {
    free(piano)
    free(oldPiano)
    free(rack)
    free(oldRack)
  }

  var counters: (voices: Int, steals: Int, limited: Int) {
    (piano.pointee.activeVoices, piano.pointee.steals, limiter.framesLimited)
  }

  // MARK: - A block

  var now: Int64 { frame }

  mutating func drain(_ ring: borrowing Ring<Posted>, _ late: borrowing Ring<LateBatch>) {
    scheduler.drain(ring, now: frame, late: late)
  }

  /// Advances without rendering: drops the notes and bells of these frames and applies all other events.
  mutating func pass(_ frames: Int) {
    frame += Int64(frames)
    while let event = scheduler.pop(due: frame - 1) {
      if event.kind != .note, event.kind != .bell { play(event) }
    }
  }

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
    case .cut: break  // applied by `Scheduler.drain`
    case .pedal: movePedal(Float(event.amount) / 127, frames: Int(event.duration))
    case .drone: moveDrone(event)
    case .preview: movePreview(event)
    case .knock:
      piano.pointee.strike(
        note: ModalTables.knock, velocity: event.velocity == 0 ? 50 : Float(event.velocity), pan: Float(event.pan),
        hold: 48_000, bus: 0, gain: rack.pointee.knock)
    case .bell: strikeBell(event)
    }
  }

  private mutating func strike(_ event: ScoreEvent) {
    let bus = Int(event.chain) <= Patch.maxChains ? Int(event.chain) : 0
    if bus > 0 { rack.pointee.start(chain: bus) }
    let hold = Int(event.duration)
    if usesGrand, let grand {
      let pitch = Int32(min(max(event.pitch.midi, 21), 108))
      OpaqueCalls.strike(grand, pitch, Int32(max(event.velocity, 1)), Int32(event.pan), Int32(bus))
      keys[256 * bus + (event.pan < 0 ? 128 : 0) + Int(pitch)] = Int32(clamping: max(hold, 64))
    } else {
      piano.pointee.strike(
        note: min(event.pitch.midi, 127), velocity: Float(event.velocity), pan: Float(event.pan), hold: hold, bus: bus)
    }
  }

  private mutating func movePedal(_ amount: Float, frames: Int) {
    pedalTarget = min(max(amount, 0), 1)
    piano.pointee.setPedal(pedalTarget, frames: frames)
    oldPiano?.pointee.setPedal(pedalTarget, frames: frames)
  }

  private mutating func moveDrone(_ event: ScoreEvent) {
    let amount = Float(min(event.amount, 127)) / 127
    if amount > 0 {
      for i in drone.indices {
        let third = 12 + (event.velocity == 0 ? 7 : Int(event.velocity))
        drone[i].start(midi: Double(min(event.pitch.midi + (i == 0 ? 0 : i == 1 ? 12 : third), 127)))
      }
    }
    droneEvent.aim(amount, frames: max(Int(event.duration), 2_400))
  }

  private mutating func movePreview(_ event: ScoreEvent) {
    previews[activePreview].stop()
    guard event.amount > 0 else { return }
    // Two tone generators take turns, so that the previews of two cells cross-fade.
    activePreview = (activePreview + 1) % previews.count
    previews[activePreview].start(midi: Double(min(event.pitch.midi, 127)))
  }

  private mutating func strikeBell(_ event: ScoreEvent) {
    var slot = 0
    for b in bells.indices where bells[b].loudness < bells[slot].loudness { slot = b }
    let touch = Float(min(event.velocity, 127)) / 64
    bells[slot].strike(
      frequency: Pitch.frequency(midi: Double(min(event.pitch.midi, 127)), a4: Double(a4)),
      amplitude: rack.pointee.bell * touch * touch, t60: rack.pointee.bellDecay)
  }

  // MARK: - The grid

  private mutating func tick(_ controls: borrowing Controls) {
    takeRack(controls)
    takePiano(controls)
    takeGrand(controls)
    volume.aim(controls.isMuted.load(ordering: .relaxed) ? 0 : controls.volume.load(ordering: .relaxed), frames: 1_920)
    apply(controls)
    volume.tick()
    droneEvent.tick()
    droneLevel.tick()
    previewLevel.tick()
    pianoLevel.tick()
    grandLevel.tick()
    send.tick()
    rackEnter.tick()
    rackLeave.tick()
    leveler.tick(isOn: controls.isEven.load(ordering: .relaxed))
    if droneEvent.value == 0, droneEvent.isAtRest {
      for i in drone.indices { drone[i].reset() }
    }
    piano.pointee.tick()
    oldPiano?.pointee.tick()
    let pedal = piano.pointee.pedalNow
    rack.pointee.tick(pedal: pedal)
    oldRack?.pointee.tick(pedal: pedal)
    if let grand {
      OpaqueCalls.pedal(grand, Int32(pedal * 127 + 0.5))
      for k in 0..<keys.count where keys[k] >= 0 {
        keys[k] -= Int32(Grid.frames)
        if keys[k] < 0 { OpaqueCalls.strike(grand, Int32(k % 128), 0, k & 128 == 0 ? 0 : -1, Int32(k / 256)) }
      }
    }
  }

  private mutating func apply(_ controls: borrowing Controls) {
    droneLevel.aim(controls.drone.load(ordering: .relaxed) * rack.pointee.drone / Self.breathReference, frames: 9_600)
    previewLevel.aim(controls.preview.load(ordering: .relaxed), frames: 2_400)
    let tuning = controls.a4.load(ordering: .relaxed)
    if tuning != a4 {
      a4 = tuning
      adoptLevels()
    }
  }

  /// Sets the levels, envelope settings and tuning of preview, drone and mix as the rack (the nodes of the patch) has them.
  private mutating func adoptLevels() {
    let tone = ToneGenerator.Parameters(level: rack.pointee.preview, a4: a4)
    for i in previews.indices { previews[i].set(tone) }
    for i in drone.indices {
      let level = -20 - 3 * Float(i)
      drone[i].set(ToneGenerator.Parameters(level: level, fadeIn: 400, fadeOut: 1_200, a4: a4))
    }
    breath.set(rack.pointee.breath)
    pianoLevel.aim(rack.pointee.piano, frames: 9_600)
    grandLevel.aim(rack.pointee.grand, frames: 9_600)
    send.aim(rack.pointee.send, frames: 9_600)
  }

  private mutating func takeRack(_ controls: borrowing Controls) {
    if retiringRackCells > 0 { retiringRackCells -= 1 }
    // At most two racks sound: the old rack fades within 100 ms if another rack is waiting.
    if oldRack != nil, controls.rack.isWaiting { rackLeave.aim(0, frames: 4_800) }
    // The old rack ends ten seconds after the new rack came, or after its fade. Then the producer thread frees it.
    let isOver = retiringRackCells == 0 || (rackLeave.isAtRest && rackLeave.value == 0)
    if isOver, let oldRack, controls.rack.giveBack(oldRack) { self.oldRack = nil }
    guard oldRack == nil, let incoming = controls.rack.take() else { return }
    (oldRack, rack) = (rack, incoming)
    retiringRackCells = Int(10 * sampleRate) / Grid.frames
    rackLeave.jump(1)
    rackEnter.jump(0)
    rackEnter.aim(1, frames: 4_800)
    adoptLevels()
  }

  private mutating func takePiano(_ controls: borrowing Controls) {
    // If a piano with a newer tuning is waiting, the old piano's notes fade within 100 ms, even if the pedal holds them.
    if let oldPiano {
      if controls.piano.isWaiting { oldPiano.pointee.hush(frames: 4_800) }
      if oldPiano.pointee.activeVoices == 0, controls.piano.giveBack(oldPiano) { self.oldPiano = nil }
    }
    guard oldPiano == nil, let incoming = controls.piano.take() else { return }
    (oldPiano, piano) = (piano, incoming)
    incoming.pointee.setPedal(pedalTarget, frames: Grid.frames)
  }

  private mutating func takeGrand(_ controls: borrowing Controls) {
    if grand == nil { grand = controls.instrument.load(ordering: .acquiring)?.pointee }
    let wanted = controls.tuning.load(ordering: .relaxed)
    if let grand, wanted != grandTuning {
      grandTuning = wanted
      OpaqueCalls.tune(grand, wanted)
    }
    usesGrand = grand != nil && controls.usesGrand.load(ordering: .relaxed)
  }

  // MARK: - A run

  private mutating func renderRun(into out: UnsafeMutablePointer<Float>, _ n: Int) {
    for b in 0..<ModalPiano.buses { bus(b, n).update(repeating: .zero) }
    var used = piano.pointee.render(into: buses.base, frames: n)
    if let oldPiano { used |= oldPiano.pointee.render(into: buses.base, frames: n) }
    scaleAndAddGrand(n, &used)
    let dry = bus(0, n)
    let mix = mix.block(n)
    for b in 1..<ModalPiano.buses where used & (1 << UInt32(b)) != 0 { dry.add(bus(b, n)) }
    mix.copy(dry)
    effects(dry, used, into: mix)
    for i in bells.indices { bells[i].render(mix) }
    // The leveler comes before drone and preview are added, because the user sets the levels of these two.
    leveler.render(mix)
    tones(dry, into: mix)
    for i in mix.indices { mix[i] *= volume.next() }
    mix.zeroNonFinite()
    limiter.render(mix)
    for i in mix.indices {
      // Samples below −200 dBFS become zero, so that there are no denormals, and silence is exact.
      out[2 * i] = abs(mix[i].x) < 1e-10 ? 0 : mix[i].x
      out[2 * i + 1] = abs(mix[i].y) < 1e-10 ? 0 : mix[i].y
    }
  }

  /// The block of output bus `b` of the pianos: 0 is the sound without an effect chain, 1…7 are the inputs of the chains.
  private func bus(_ b: Int, _ n: Int) -> StereoBlock { buses.block(n, from: b * Grid.frames) }

  private mutating func scaleAndAddGrand(_ n: Int, _ used: inout UInt32) {
    for b in 0..<ModalPiano.buses where used & (1 << UInt32(b)) != 0 {
      var gain = pianoLevel
      bus(b, n).scale(&gain)
    }
    pianoLevel.skip(n)
    defer { grandLevel.skip(n) }
    guard let grand else { return }
    grandLeft.fill(0)
    grandRight.fill(0)
    OpaqueCalls.render(grand, grandLeft.base, grandRight.base, Int32(n))
    for b in 0..<ModalPiano.buses {
      let bus = bus(b, n)
      var gain = grandLevel
      var any = false
      for i in bus.indices {
        let at = b * Grid.frames + i
        let x = Stereo(grandLeft[at], grandRight[at]) * gain.next()
        any = any || x != .zero
        bus[i] += x
      }
      if any { used |= 1 << UInt32(b) }
    }
  }

  /// Renders strings, effect chains and reverb, fed by the piano, whose sound fades over from an old rack to the new one.
  private mutating func effects(_ dry: StereoBlock, _ used: UInt32, into out: StereoBlock) {
    let n = dry.count
    feed(rack, isOld: false, dry, used, into: out)
    if let oldRack { feed(oldRack, isOld: true, dry, used, into: out) }
    rackEnter.skip(n)
    send.skip(n)
    rackLeave.skip(n)
  }

  /// Feeds a rack its share of the piano, and adds its output.
  private func feed(
    _ rack: UnsafeMutablePointer<Rack>, isOld: Bool, _ dry: StereoBlock, _ used: UInt32, into out: StereoBlock
  ) {
    let n = dry.count
    var (enter, send, level) = (rackEnter, send, isOld ? rackLeave : Ramp(1))
    for k in dry.indices {
      let x = enter.next()
      share[k] = isOld ? 1 - x : x
    }
    let wet = work.block(n)
    let input = input.block(n)
    wet.update(repeating: .zero)
    for c in 0..<Patch.maxChains {
      let bus = bus(c + 1, n)
      for k in input.indices { input[k] = bus[k] * share[k] }
      let sounding = used & (1 << UInt32(c + 1)) != 0
      rack.pointee.process(c, input, sounding: sounding, piano: dry, into: wet)
    }
    for k in input.indices { input[k] = dry[k] * share[k] }
    rack.pointee.resonate(input, into: wet)
    for k in input.indices { input[k] = (input[k] + wet[k]) * send.next() }
    rack.pointee.reverb.render(input)
    for k in input.indices { out[k] += (wet[k] + input[k]) * level.next() }
  }

  /// Adds drone and preview, neither of which passes through the piano's reverb.
  private mutating func tones(_ dry: StereoBlock, into out: StereoBlock) {
    let tone = work.block(dry.count)
    tone.update(repeating: .zero)
    for i in drone.indices { drone[i].render(tone) }
    breath.render(tone, after: dry)
    for i in tone.indices { out[i] += tone[i] * (droneLevel.next() * droneEvent.next()) }
    tone.update(repeating: .zero)
    for i in previews.indices { previews[i].render(tone) }
    tone.scale(&previewLevel)
    out.add(tone)
  }
}
