/// A patch made into nodes: built off the audio thread, handed to it as a pointer, given back when it has rung out.
struct Rack: ~Copyable {
  /// One unit of a chain: the node of its kind, or none.
  private struct Unit: BitwiseCopyable {
    var comb: UnsafeMutablePointer<FeedbackComb>?
    var ring: UnsafeMutablePointer<StereoRingModulator>?
    var matcher: UnsafeMutablePointer<EnvelopeMatcher>?
    var room: UnsafeMutablePointer<Reverb>?
    var gain: Float = 1
    /// Where a comb glides when the chain starts, and how long it takes; 0 stays.
    var melt: Float = 0
    var home: Float = 0
    var glideFrames: Int = 0
  }

  let patch: Patch.Levels
  let breath: EnvelopeMatcher.Parameters
  let preview: ToneGenerator.Parameters
  let bellDecay: Float
  var reverb: Reverb
  private let strings: Slab<UnsafeMutablePointer<FeedbackComb>?>
  private let stringFeedback: Slab<Float>
  private let stringCount: Int
  private let sympathySend: Float
  private let units: Slab<Unit>
  private let unitCount: Slab<Int>
  private let chainLevel: Slab<Float>
  /// Frames a chain still rings after its last input; it rests at 0.
  private let chainRing: Slab<Int>
  private let scratch = Slab<Float>(4 * Grid.frames, repeating: 0)
  private var pedal = Ramp(0)
  private var pedalWasDown = true

  /// The strings are tuned to `a4`; the patch has them at 440 Hz.
  init(_ patch: Patch, sampleRate: Double, a4: Double = 440) {
    self.patch = patch.levels
    breath = patch.breath
    preview = patch.preview
    bellDecay = patch.bellDecay
    reverb = Reverb(sampleRate: sampleRate)
    reverb.set(patch.reverb)
    reverb.reset()
    let scale = Float(sampleRate / 48_000)
    stringCount = patch.sympathy.strings.count
    strings = Slab(stringCount, repeating: nil)
    stringFeedback = Slab(stringCount, repeating: 0)
    sympathySend = Arithmetic.amplitude(decibels: patch.sympathy.send)
    for (i, string) in patch.sympathy.strings.enumerated() {
      var tuned = string
      tuned.delay *= scale * Float(440 / a4)
      strings[i] = Self.set(tuned, sampleRate)
      stringFeedback[i] = string.feedback
    }
    units = Slab(Patch.maxChains * Patch.maxNodes, repeating: Unit())
    unitCount = Slab(Patch.maxChains, repeating: 0)
    chainLevel = Slab(Patch.maxChains, repeating: 0)
    chainRing = Slab(Patch.maxChains, repeating: 0)
    for (c, chain) in patch.chains.prefix(Patch.maxChains).enumerated() {
      chainLevel[c] = Arithmetic.amplitude(decibels: chain.level)
      unitCount[c] = min(chain.nodes.count, Patch.maxNodes)
      for (n, node) in chain.nodes.prefix(Patch.maxNodes).enumerated() {
        units[c * Patch.maxNodes + n] = Self.unit(node, scale, sampleRate)
      }
    }
  }

  deinit {
    for i in 0..<stringCount { free(strings[i]) }
    for i in 0..<Patch.maxChains * Patch.maxNodes {
      let unit = units[i]
      free(unit.comb)
      free(unit.ring)
      free(unit.matcher)
      free(unit.room)
    }
  }

  private static func set<Node: AudioNode & ~Copyable>(_ p: Node.Parameters, _ sampleRate: Double)
    -> UnsafeMutablePointer<Node>
  {
    let pointer = placed(Node(sampleRate: sampleRate))
    pointer.pointee.set(p)
    pointer.pointee.reset()
    return pointer
  }

  private static func unit(_ node: Patch.Node, _ scale: Float, _ sampleRate: Double) -> Unit {
    var unit = Unit()
    switch node {
    case .comb(var p, let melt):
      p.delay *= scale
      unit.comb = set(p, sampleRate)
      unit.melt = melt * scale
      unit.home = p.delay
      unit.glideFrames = Int(p.glide * 0.001 * Float(sampleRate))
    case .ringModulator(let p): unit.ring = set(p, sampleRate)
    case .matcher(let p):
      let matcher = placed(EnvelopeMatcher(sampleRate: sampleRate))
      matcher.pointee.set(p)
      matcher.pointee.reset()
      unit.matcher = matcher
    case .reverb(let p): unit.room = set(p, sampleRate)
    case .gain(let decibels): unit.gain = Arithmetic.amplitude(decibels: min(max(decibels, -60), 24))
    }
    return unit
  }

  /// A chain is started: combs that melt go home at once if silent, and begin to glide.
  mutating func start(chain: Int) {
    guard chain >= 1, chain <= Patch.maxChains else { return }
    for n in 0..<unitCount[chain - 1] {
      let unit = units[(chain - 1) * Patch.maxNodes + n]
      guard let comb = unit.comb, unit.melt > 0 else { continue }
      if chainRing[chain - 1] == 0 {
        comb.pointee.glide(to: unit.home, within: Grid.frames)
        comb.pointee.reset()
      }
      comb.pointee.glide(to: unit.melt, within: unit.glideFrames)
    }
  }

  /// Lets what rings in the strings go on only as far as the pedal (0 up … 1 down) allows. Call at grid frames.
  mutating func tick(pedal amount: Float) {
    pedal.aim(amount)
    pedal.tick()
    let down = amount > 0.5
    if down != pedalWasDown {
      pedalWasDown = down
      for i in 0..<stringCount {
        // Dampers stop a string of about 300 frames within 150 ms: a fifth a round.
        strings[i]?.pointee.setFeedback(down ? stringFeedback[i] : stringFeedback[i] * 0.72, within: 2_400)
      }
    }
  }

  /// Adds what rings along with `input` to `output`.
  mutating func resonate(_ input: StereoBlock, into output: StereoBlock) {
    guard stringCount > 0 else { return }
    let n = input.frames
    let source = StereoBlock(left: scratch.base, right: scratch.base + Grid.frames, frames: n)
    let work = StereoBlock(left: scratch.base + 2 * Grid.frames, right: scratch.base + 3 * Grid.frames, frames: n)
    for i in 0..<n {
      let send = pedal.next() * sympathySend
      source.left[i] = input.left[i] * send
      source.right[i] = input.right[i] * send
    }
    for s in 0..<stringCount {
      work.copy(source)
      strings[s]?.pointee.render(work)
      // Strings lie from left to right.
      let side = stringCount > 1 ? Float(s) / Float(stringCount - 1) - 0.5 : 0
      for i in 0..<n {
        output.left[i] += work.left[i] * (1 - 0.5 * side)
        output.right[i] += work.right[i] * (1 + 0.5 * side)
      }
    }
  }

  /// Sends `input` (changed) through chain `chain` (from 0) and adds the result to `output`.
  mutating func process(chain: Int, _ input: StereoBlock, sounding: Bool, piano: StereoBlock, into output: StereoBlock)
  {
    if sounding { chainRing[chain] = 480_000 }
    guard chainRing[chain] > 0, unitCount[chain] > 0 else { return }
    for n in 0..<unitCount[chain] {
      let unit = units[chain * Patch.maxNodes + n]
      unit.comb?.pointee.render(input)
      unit.ring?.pointee.render(input)
      unit.matcher?.pointee.render(input, after: piano)
      unit.room?.pointee.render(input)
      if unit.gain != 1 {
        for i in 0..<input.frames {
          input.left[i] *= unit.gain
          input.right[i] *= unit.gain
        }
      }
    }
    let level = chainLevel[chain]
    for i in 0..<input.frames {
      output.left[i] += input.left[i] * level
      output.right[i] += input.right[i] * level
    }
    chainRing[chain] = max(0, chainRing[chain] - input.frames)
  }
}
