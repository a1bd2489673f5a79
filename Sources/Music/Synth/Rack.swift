import ScoreModel

/// The nodes of a patch: built off the audio thread, passed to it by pointer, and returned to the producer when silent.
struct Rack: ~Copyable {
  private enum Unit: BitwiseCopyable {
    /// Unless `melt` is 0, the comb's delay moves from `home` to `melt` within `frames` when the chain starts. Delays are in frames.
    case comb(UnsafeMutablePointer<FeedbackComb>, home: Float, melt: Float, frames: Int)
    case ring(UnsafeMutablePointer<StereoRingModulator>)
    case matcher(UnsafeMutablePointer<EnvelopeMatcher>)
    case room(UnsafeMutablePointer<Reverb>)
    case gain(Float)
  }

  /// The range of the chain's units, and the frames for which it still sounds after its last input; at 0 the chain is skipped.
  private struct Chain: BitwiseCopyable {
    var first = 0
    var end = 0
    var ringing = 0
  }

  /// The levels of the parts of the mix from `piano` to `knock`, as amplitudes.
  let piano: Float
  let grand: Float
  let send: Float
  let drone: Float
  let bell: Float
  let knock: Float
  /// The level of the preview of a cell, in dBFS.
  let preview: Float
  let breath: EnvelopeMatcher.Parameters
  let bellDecay: Float
  var reverb: Reverb
  private let strings: SampleBuffer<UnsafeMutablePointer<FeedbackComb>?>
  private let stringFeedback: SampleBuffer<Float>
  private let stringSend: Float
  private let units: SampleBuffer<Unit>
  private let chains = SampleBuffer<Chain>(Patch.maxChains, repeating: Chain())
  private let scratch = SampleBuffer<Stereo>(2 * Grid.frames, repeating: .zero)
  private var pedal = Ramp<Float>(0)
  private var pedalWasDown = true

  /// Makes the nodes of a patch, with the strings tuned to `a4`: the patch has their delays for 440 Hz.
  init(_ patch: Patch, sampleRate: Double, a4: Double = 440) {
    let levels = patch.levels
    func amplitude(_ level: Double, _ master: Double = 0) -> Float {
      Arithmetic.amplitude(decibels: Float(level) + Float(master))
    }
    piano = amplitude(levels.piano, levels.master)
    grand = amplitude(levels.grand, levels.master)
    send = amplitude(levels.reverbSend)
    drone = amplitude(levels.drone)
    bell = amplitude(levels.bell, levels.master)
    knock = amplitude(levels.knock)
    preview = Float(levels.preview)
    stringSend = amplitude(min(max(levels.stringSend, -90), 0))
    breath = patch.breath
    bellDecay = patch.bellDecay
    reverb = Reverb(sampleRate: sampleRate)
    reverb.set(patch.reverb)
    reverb.reset()
    strings = SampleBuffer(patch.strings.count, repeating: nil)
    stringFeedback = SampleBuffer(patch.strings.count, repeating: 0)
    for (i, string) in patch.strings.enumerated() {
      var tuned = string.at(sampleRate)
      tuned.delay *= Float(440 / a4)
      strings[i] = Self.set(tuned, sampleRate)
      stringFeedback[i] = string.feedback
    }
    let nodes = patch.chains.prefix(Patch.maxChains)
    units = SampleBuffer(nodes.reduce(0) { $0 + $1.count }, repeating: .gain(1))
    var at = 0
    for (c, nodes) in nodes.enumerated() {
      chains[c] = Chain(first: at, end: at + nodes.count)
      for node in nodes {
        units[at] = Self.unit(node, sampleRate)
        at += 1
      }
    }
  }

  deinit {
    for i in 0..<strings.count { free(strings[i]) }
    for i in 0..<units.count {
      switch units[i] {
      case .comb(let comb, _, _, _): free(comb)
      case .ring(let ring): free(ring)
      case .matcher(let matcher): free(matcher)
      case .room(let room): free(room)
      case .gain: break
      }
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

  private static func unit(_ node: Patch.Node, _ sampleRate: Double) -> Unit {
    switch node {
    case .comb(let written, let melt):
      let p = written.at(sampleRate)
      return .comb(
        set(p, sampleRate), home: p.delay, melt: FeedbackComb.Parameters.delay(melt, at: sampleRate),
        frames: p.glideFrames(at: sampleRate))
    case .ringModulator(let p): return .ring(set(p, sampleRate))
    case .matcher(let p):
      let matcher = placed(EnvelopeMatcher(sampleRate: sampleRate))
      matcher.pointee.set(p)
      matcher.pointee.reset()
      return .matcher(matcher)
    case .reverb(let p): return .room(set(p, sampleRate))
    case .gain(let decibels): return .gain(Arithmetic.amplitude(decibels: min(max(decibels, -60), 24)))
    }
  }

  /// Starts a chain for a struck note: the delay of each comb that has a `melt` moves there, from its normal value if the chain was silent.
  mutating func start(chain: Int) {
    let chain = chains[chain - 1]
    for n in chain.first..<chain.end {
      guard case .comb(let comb, let home, let melt, let frames) = units[n], melt > 0 else { continue }
      if chain.ringing == 0 {
        comb.pointee.glide(to: home, within: Grid.frames)
        comb.pointee.reset()
      }
      comb.pointee.glide(to: melt, within: frames)
    }
  }

  /// Sets the pedal, 0 (up) … 1 (down): how much of the piano's sound the strings get, and whether they ring on. Call at every 64th frame.
  mutating func tick(pedal amount: Float) {
    pedal.aim(amount)
    pedal.tick()
    let down = amount > 0.5
    if down != pedalWasDown {
      pedalWasDown = down
      for i in 0..<strings.count {
        // When the pedal goes up, multiply the feedback by 0.72: a string with a delay of about 300 frames then stops within 150 ms.
        strings[i]?.pointee.setFeedback(down ? stringFeedback[i] : stringFeedback[i] * 0.72, within: 2_400)
      }
    }
  }

  /// Adds the resonance of the strings, which `input` excites, to `output`.
  mutating func resonate(_ input: StereoBlock, into output: StereoBlock) {
    guard strings.count > 0 else { return }
    let source = scratch.block(input.count)
    let work = scratch.block(input.count, from: Grid.frames)
    for i in source.indices { source[i] = input[i] * (pedal.next() * stringSend) }
    for s in 0..<strings.count {
      work.copy(source)
      strings[s]?.pointee.render(work)
      let side = strings.count > 1 ? Float(s) / Float(strings.count - 1) - 0.5 : 0
      let place = Stereo(1 - 0.5 * side, 1 + 0.5 * side)
      for i in work.indices { output[i] += work[i] * place }
    }
  }

  /// Sends `input`, which is modified, through chain `c` (from 0) and adds the result to `output`.
  mutating func process(_ c: Int, _ input: StereoBlock, sounding: Bool, piano: StereoBlock, into output: StereoBlock) {
    var chain = chains[c]
    if sounding { chain.ringing = 480_000 }
    guard chain.ringing > 0, chain.first < chain.end else { return }
    for n in chain.first..<chain.end {
      switch units[n] {
      case .comb(let comb, _, _, _): comb.pointee.render(input)
      case .ring(let ring): ring.pointee.render(input)
      case .matcher(let matcher): matcher.pointee.render(input, after: piano)
      case .room(let room): room.pointee.render(input)
      case .gain(let gain): for i in input.indices { input[i] *= gain }
      }
    }
    output.add(input)
    chain.ringing = max(0, chain.ringing - input.count)
    chains[c] = chain
  }
}
