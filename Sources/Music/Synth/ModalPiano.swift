/// A piano synthesised from decaying partials, without samples: up to 32 notes. Each partial is a complex number that rotates from frame to
/// frame, so block sizes have no effect. Real-time safe: yes, except `init`.
struct ModalPiano: ~Copyable {
  /// The maximum number of sounding notes; a further note ends the quietest one (steals its voice).
  static let polyphony = 32
  /// The number of slots for voices: more than `polyphony`, so that stolen voices can fade out.
  static let slots = 64
  /// Output buses: dry, and one for each effect chain.
  static let buses = 1 + Patch.maxChains
  /// The power below which a partial is not computed: −110 dBFS.
  private static let silence: Float = 1e-11

  private struct Voice: BitwiseCopyable {
    var isActive = false
    var isFading = false
    var note: Int32 = 0
    var groups: Int32 = 0
    var bus: Int32 = 0
    var age: Int32 = 0
    /// Frames until the key is released, counted down every 64 frames; negative after the release.
    var hold: Int32 = 0
    /// The factor by which the damper reduces the note in each frame; 1 while the damper is off.
    var damping: Float = 1
    var left: Float = 1
    var right: Float = 1
    var fade: Float = 1
    var fadeStep: Float = 0
  }

  private typealias Lane = ModalTables.Lane
  private let tables: ModalTables
  private let voices = SampleBuffer<Voice>(slots, repeating: Voice())
  private let re = SampleBuffer<SIMD8<Float>>(slots * ModalTables.maxGroups, repeating: .zero)
  private let im = SampleBuffer<SIMD8<Float>>(slots * ModalTables.maxGroups, repeating: .zero)
  private let left = SampleBuffer<SIMD8<Float>>(buses * Grid.frames, repeating: .zero)
  private let right = SampleBuffer<SIMD8<Float>>(buses * Grid.frames, repeating: .zero)
  private let gain = SampleBuffer<Float>(Grid.frames, repeating: 1)
  private var pedal = Ramp<Float>(1)
  /// The number of voices stolen (ended for new notes) so far.
  private(set) var steals = 0

  init(tables: consuming ModalTables.Draft) {
    while tables.addNote() {}
    self.tables = ModalTables(tables)
  }

  var activeVoices: Int {
    var n = 0
    for v in 0..<Self.slots where voices[v].isActive { n += 1 }
    return n
  }

  /// Moves the pedal to `amount`, 0 (up) … 1 (down), within `frames`.
  mutating func setPedal(_ amount: Float, frames: Int) { pedal.aim(amount, frames: frames) }

  var pedalNow: Float { pedal.value }

  /// Strikes a note: `pan` −100…100, `hold` frames until the key is released, `bus` the number of the output, `gain` a factor.
  mutating func strike(note: Int, velocity: Float, pan: Float, hold: Int, bus: Int, gain: Float = 1) {
    let slot = freeSlot(for: note)
    guard slot >= 0 else { return }
    var voice = Voice()
    let entry = tables.entries[note]
    voice.isActive = true
    voice.note = Int32(note)
    voice.groups = entry.groups
    voice.bus = Int32(bus)
    voice.hold = Int32(clamping: max(hold, Grid.frames))
    // Pans by balance, without rotating the stereo image: the note keeps its stereo width.
    voice.left = min(1, 1 - pan / 100) * gain
    voice.right = min(1, 1 + pan / 100) * gain
    voices[slot] = voice
    excite(slot, entry, velocity: velocity)
  }

  mutating func hush(frames: Int) {
    for v in 0..<Self.slots where voices[v].isActive { startFade(v, frames: frames) }
  }

  // MARK: - Voices

  private mutating func freeSlot(for note: Int) -> Int {
    var free = -1
    var sounding = 0
    for v in 0..<Self.slots {
      if !voices[v].isActive {
        if free < 0 { free = v }
      } else if !voices[v].isFading {
        // The string of this note is struck again: its old vibration fades within 150 ms.
        if voices[v].note == Int32(note) { startFade(v, frames: 7_200) } else { sounding += 1 }
      }
    }
    if sounding >= Self.polyphony {
      steals += 1
      let quietest = quietestVoice(fading: false)
      if quietest >= 0 { startFade(quietest, frames: 240) }
    }
    if free < 0 {
      // All slots are in use, about half of them by fading voices: the quietest fading voice ends at once.
      free = quietestVoice(fading: true)
      if free >= 0 { voices.base[free].isActive = false }
    }
    return free
  }

  private func quietestVoice(fading: Bool) -> Int {
    var best = -1
    var least = Float.infinity
    for v in 0..<Self.slots where voices[v].isActive && voices[v].isFading == fading {
      var sum = Lane.zero
      let base = v * ModalTables.maxGroups
      for g in 0..<Int(voices[v].groups) { sum += re[base + g] * re[base + g] + im[base + g] * im[base + g] }
      let level = sum.sum() * voices[v].fade * voices[v].fade
      if level < least {
        least = level
        best = v
      }
    }
    return best
  }

  private func startFade(_ v: Int, frames: Int) {
    let step = 1 / Float(max(frames, 1))
    voices.base[v].isFading = true
    voices.base[v].fadeStep = max(voices[v].fadeStep, step)
  }

  private func excite(_ slot: Int, _ entry: ModalTables.Entry, velocity: Float) {
    let v = min(max(velocity, 1), 127)
    // The level in dB is interpolated linearly between the fitted velocities 30, 50 and 80, and extrapolated beyond them.
    let wide = v < 50
    let t = wide ? (v - 50) / 20 : (v - 50) / 30
    let base = slot * ModalTables.maxGroups
    for g in 0..<Int(entry.groups) {
      let group = tables.groups[Int(entry.first) + g]
      let other = wide ? group.soft : group.loud
      let middle = group.middle
      let log = wide ? middle + (middle - other) * t : middle + (other - middle) * t
      var amplitude = Lane.zero
      for lane in 0..<8 { amplitude[lane] = log[lane] < -30 ? 0 : Arithmetic.exp2(log[lane]) }
      re[base + g] = amplitude * group.startRe
      im[base + g] = amplitude * group.startIm
    }
  }

  // MARK: - Rendering

  /// Starts a cell of the control grid (64 frames): releases keys, sets dampers and drops partials that have died away.
  mutating func tick() {
    pedal.tick()
    for v in 0..<Self.slots where voices[v].isActive { tick(v) }
  }

  private func tick(_ v: Int) {
    var voice = voices[v]
    if voice.hold >= 0 { voice.hold -= Int32(Grid.frames) }
    if voice.hold < 0 {
      // The damper is fully on up to 0.2 of the pedal's way and off from 0.8 on; in between it damps partially (half pedal).
      let lift = min(max((pedal.value - 0.2) / 0.6, 0), 1)
      voice.damping = 1 - (1 - lift) * (1 - tables.entries[Int(voice.note)].damper)
    }
    let base = v * ModalTables.maxGroups
    while voice.groups > 0 {
      let g = base + Int(voice.groups) - 1
      let power = re[g] * re[g] + im[g] * im[g]
      guard power.max() < Self.silence, voice.age > tables.entries[Int(voice.note)].attackFrames else { break }
      voice.groups -= 1
    }
    if voice.groups == 0 || voice.fade <= 0 { voice.isActive = false }
    voices[v] = voice
  }

  /// Adds `frames` frames of one cell (at most 64) to `out`, where bus b starts at b·64; returns a bit for each bus used.
  mutating func render(into out: UnsafeMutablePointer<Stereo>, frames: Int) -> UInt32 {
    var used: UInt32 = 0
    for v in 0..<Self.slots where voices[v].isActive {
      let bus = Int(voices[v].bus)
      let l = left.base + bus * Grid.frames
      let r = right.base + bus * Grid.frames
      if used & (1 << UInt32(bus)) == 0 {
        l.update(repeating: .zero, count: frames)
        r.update(repeating: .zero, count: frames)
        used |= 1 << UInt32(bus)
      }
      if voices[v].isFading || voices[v].age < tables.entries[Int(voices[v].note)].attackFrames {
        shapeGain(v, frames)
        add(v, frames, l, r, shaped: true)
      } else {
        add(v, frames, l, r, shaped: false)
      }
      voices.base[v].age = voices[v].age &+ Int32(frames)
      if voices[v].age < 0 { voices.base[v].age = Int32.max / 2 }
    }
    for bus in 0..<Self.buses where used & (1 << UInt32(bus)) != 0 {
      for i in 0..<frames {
        let at = bus * Grid.frames + i
        out[at] += Stereo(left[at].sum(), right[at].sum())
      }
    }
    return used
  }

  private func shapeGain(_ v: Int, _ frames: Int) {
    let attack = Float(tables.entries[Int(voices[v].note)].attackFrames)
    var age = Float(voices[v].age)
    var fade = voices[v].fade
    let step = voices[v].isFading ? voices[v].fadeStep : 0
    for i in 0..<frames {
      // Smoothstep: no corner at the start and end of the rise.
      let x = min(age / attack, 1)
      gain[i] = x * x * (3 - 2 * x) * (fade * fade * (3 - 2 * fade))
      age += 1
      fade = max(0, fade - step)
    }
    voices.base[v].fade = fade
  }

  @inline(__always)
  private func add(
    _ v: Int, _ frames: Int, _ l: UnsafeMutablePointer<SIMD8<Float>>, _ r: UnsafeMutablePointer<SIMD8<Float>>,
    shaped: Bool
  ) {
    let voice = voices[v]
    let first = Int(tables.entries[Int(voice.note)].first)
    let base = v * ModalTables.maxGroups
    for g in 0..<Int(voice.groups) {
      let group = tables.groups[first + g]
      let cr = group.rotationRe * voice.damping
      let ci = group.rotationIm * voice.damping
      let gl = group.leftGain * voice.left
      let gr = group.rightGain * voice.right
      let hr = group.rightQuadrature * voice.right
      var zr = re[base + g]
      var zi = im[base + g]
      for i in 0..<frames {
        let nr = zr * cr - zi * ci
        zi = zr * ci + zi * cr
        zr = nr
        if shaped {
          let s = gain[i]
          l[i] += gl * zi * s
          r[i] += (gr * zi + hr * zr) * s
        } else {
          l[i] += gl * zi
          r[i] += gr * zi + hr * zr
        }
      }
      re[base + g] = zr
      im[base + g] = zi
    }
  }
}
