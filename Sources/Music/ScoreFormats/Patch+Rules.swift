import ScoreModel
import Synth
import Tintinnabuli

extension Patch {
  package init(_ rules: ScoreRules) {
    self.init()
    let mix = rules.mix
    levels = mix.levels
    strings = mix.strings.map { pitch in
      FeedbackComb.Parameters.string(
        frequency: Pitch.frequency(midi: Double(pitch.midi)), t60: mix.stringSeconds, damping: Float(mix.stringDamping))
    }
    chains = rules.chains.map { $0.units.map(Node.init) + [.gain(Float($0.level))] }
    bellDecay = Float(mix.bellSeconds)
    if case .reverb(let room) = Node(mix.room) { reverb = room }
    if case .matcher(let matcher) = Node(mix.breath) { breath = matcher }
  }
}

extension Patch.Node {
  package init(_ unit: ScoreRules.Unit) {
    func set(_ target: inout Float, _ name: String) { if let value = unit.values[name] { target = Float(value) } }
    switch unit.kind {
    case "comb":
      var comb =
        switch unit.preset {
        case "metallic-ring": FeedbackComb.Parameters.metallicRing
        case "light-delay": FeedbackComb.Parameters.lightDelay
        case "wax-comb": FeedbackComb.Parameters.waxComb
        default: FeedbackComb.Parameters()
        }
      set(&comb.delay, "delay")
      set(&comb.feedback, "feedback")
      set(&comb.damping, "damping")
      set(&comb.dry, "dry")
      set(&comb.wet, "wet")
      set(&comb.glide, "glide")
      self = .comb(comb, melt: Float(unit.values["melt"] ?? 0))
    case "ring-modulator":
      var ring = unit.preset == "shimmer" ? StereoRingModulator.Parameters.shimmer : .bell
      set(&ring.left, "left")
      set(&ring.right, "right")
      set(&ring.dry, "dry")
      set(&ring.wet, "wet")
      self = .ringModulator(ring)
    case "matcher":
      var matcher = unit.preset == "breath" ? EnvelopeMatcher.Parameters.breath : .follow
      set(&matcher.extractor.window, "window")
      set(&matcher.match, "match")
      set(&matcher.gain, "gain")
      self = .matcher(matcher)
    case "reverb":
      var reverb = unit.preset == "room" ? Reverb.Parameters.room : .church
      set(&reverb.decay, "decay")
      set(&reverb.treble, "treble")
      set(&reverb.predelay, "predelay")
      set(&reverb.dry, "dry")
      set(&reverb.wet, "wet")
      self = .reverb(reverb)
    default: self = .gain(Float(unit.values["decibels"] ?? 0))
    }
  }
}
