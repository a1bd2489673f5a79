import Testing

@testable import Synth

@Suite("Requirements of every node")
struct ConformanceTests {
  private static let blocks = [1, 2, 3, 63, 64, 65, 127, 480, 1_024, 8_192]

  private func examine<Node: AudioNode & ~Copyable>(
    _: Node.Type, _ settings: [(String, Node.Parameters)], start: (Bench<Node>) -> Void = { _ in }
  ) {
    let input = Signal.noise(20_000, amplitude: 0.3)
    let other = Signal.sine(330, 20_000)
    for (name, p) in settings {
      let label = "\(Node.self) \(name)"
      func fresh() -> Bench<Node> {
        let bench = Bench<Node>()
        bench.set(p)
        start(bench)
        return bench
      }
      let bench = fresh()
      let golden = bench.render(input, other)
      #expect(golden.0.allSatisfy(\.isFinite) && golden.1.allSatisfy(\.isFinite), "\(label): finite")
      for size in Self.blocks {
        let out = fresh().render(input, other) { size }
        #expect(out.0 == golden.0 && out.1 == golden.1, "\(label): block size \(size)")
      }
      var random = Seeded(3)
      let out = fresh().render(input, other) { 1 + random.next(700) }
      #expect(out.0 == golden.0 && out.1 == golden.1, "\(label): random blocks")
      bench.node.pointee.reset()
      start(bench)
      let again = bench.render(input, other)
      #expect(again.0 == golden.0 && again.1 == golden.1, "\(label): reset")
      // After invalid samples only a reset makes the node like a new one. Without it the output soon has no invalid samples, and the tail
      // has no denormals.
      var poison = input
      poison[100] = .nan
      poison[200] = .infinity
      poison[300] = -.infinity
      _ = bench.render(poison, poison)
      bench.node.pointee.reset()
      start(bench)
      let after = bench.render(input, other)
      #expect(after.0 == golden.0, "\(label): after NaN and reset")
      bench.node.pointee.reset()
      let poisoned = bench.render(poison, poison)
      let tail = bench.render(Signal.silence(960_000))
      for x in [poisoned.0[1_000...], poisoned.1[1_000...], tail.0[...], tail.1[...]] {
        #expect(x.allSatisfy { $0.isFinite && !$0.isSubnormal }, "\(label): tail after NaN")
      }
    }
  }

  @Test("the feedback comb meets the requirements of every node")
  func comb() {
    examine(
      FeedbackComb.self,
      [
        ("metallic ring", .metallicRing), ("light delay", .lightDelay), ("wax comb", .waxComb),
        ("least", .init(delay: 0, feedback: -2, damping: -1, dry: -1, wet: -1, glide: 0)),
        ("most", .init(delay: 1e9, feedback: 2, damping: 2, dry: 2, wet: 2, glide: 1e9)),
      ])
  }

  @Test("the ring modulator meets the requirements of every node")
  func ring() {
    examine(
      StereoRingModulator.self,
      [
        ("bell", .bell), ("shimmer", .shimmer), ("least", .init(left: -1, right: -1, dry: -1, wet: -1)),
        ("most", .init(left: 1e9, right: 1e9, dry: 9, wet: 9)),
      ])
  }

  @Test("the reverb meets the requirements of every node")
  func reverb() {
    examine(
      Reverb.self,
      [
        ("church", .church), ("room", .room), ("least", .init(decay: 0, treble: 0, predelay: -1, dry: 0, wet: 0)),
        ("most", .init(decay: 99, treble: 9, predelay: 999, dry: 9, wet: 9)),
      ])
  }

  @Test("the tone generator meets the requirements of every node")
  func tone() {
    examine(
      ToneGenerator.self,
      [
        ("preview", .init()), ("drone", .init(level: -36, fadeIn: 4_000, fadeOut: 6_000)),
        ("least", .init(level: -999, fadeIn: 0, fadeOut: 0, a4: 1)),
        ("most", .init(level: 9, fadeIn: 1e9, fadeOut: 1e9, a4: 9_999)),
      ],
      start: { $0.node.pointee.start(midi: 71) })
  }

  @Test("the limiter meets the requirements of every node")
  func limiter() {
    examine(Limiter.self, [("", Limiter.Parameters())])
  }
}
