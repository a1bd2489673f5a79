import Testing

@testable import Screen

@Suite("The animator and its easings")
struct AnimatorTests {
  @Test("every easing starts at 0, ends at 1, and stays there outside its time")
  func ends() {
    for easing in [Easing.linear, .quadOut, .cubicOut, .cubicInOut, .sineOut, .sineInOut, .backOut] {
      #expect(easing(0, 2) == 0)
      #expect(easing(2, 2) == 1)
      #expect(easing(-1, 2) == 0)
      #expect(easing(9, 2) == 1)
      #expect(easing(0, 0) == 1)
      #expect(abs(easing(1e-9, 2)) < 2e-3 && abs(easing(2 - 1e-9, 2) - 1) < 2e-3)
    }
  }

  @Test("the in-out easings are symmetric about their middle; the easing `back` overshoots by a tenth")
  func character() {
    for both in [Easing.cubicInOut, .sineInOut] {
      for step in 1..<100 {
        let t = Double(step) / 100
        #expect(abs(both(t, 1) + both(1 - t, 1) - 1) < 1e-9)
      }
    }
    let back = (0...1000).map { Easing.backOut(Double($0) / 1000, 1) }.max() ?? 0
    #expect(abs(back - 1.1) < 0.001)
  }

  @Test("a number can move by any function of the time and the duration")
  func anyFunction() {
    let animator = Animator()
    let motion = Motion(0)
    animator.move(motion, to: 10, seconds: 2, Easing { t, duration in t < duration / 2 ? 0.1 : t / 4 })
    for (moment, value) in [(0.5, 1.0), (1.5, 3.75), (2.5, 10)] {
      animator.advance(to: moment)
      #expect(motion.value == value)
    }
  }

  @Test("values do not depend on how often the clock is advanced")
  func independence() {
    func run(_ moments: [Double]) -> [Double] {
      let animator = Animator()
      let a = Motion(0)
      let b = Motion(5)
      animator.play(
        .sequence([
          .tween(a, to: 1, seconds: 0.5, .cubicInOut), .pause(seconds: 0.25),
          .together([.tween(a, to: -3, seconds: 1, .backOut), .tween(b, to: 0, seconds: 0.4, .quadOut)]),
        ])
      ) { _ in animator.move(b, to: 9, seconds: 1, .sineOut) }
      for moment in moments { animator.advance(to: moment) }
      return [a.value, b.value]
    }
    for end in [0.3, 0.6, 0.9, 1.3, 1.75, 2.2, 4] {
      let once = run([end])
      let fine = run(stride(from: 0, to: end, by: 1 / 240).map { $0 } + [end])
      for (x, y) in zip(once, fine) { #expect(abs(x - y) < 1e-9, "at \(end): \(once) and \(fine)") }
    }
  }

  @Test("an interrupted motion continues from its current value, and both completions run once")
  func interruption() {
    let animator = Animator()
    let x = Motion(0)
    var heard: [String] = []
    animator.move(x, to: 10, seconds: 1, .linear) { heard.append("first \($0)") }
    animator.advance(to: 0.5)
    #expect(x.value == 5)
    animator.move(x, to: 0, seconds: 1, .linear) { heard.append("second \($0)") }
    animator.advance(to: 0.5)
    #expect(x.value == 5)
    animator.advance(to: 1)
    #expect(x.value == 2.5)
    for moment in [1.5, 2, 3, 4] { animator.advance(to: moment) }
    #expect(x.value == 0)
    #expect(heard == ["first false", "second true"])
    #expect(animator.nextChange(after: 0) == .infinity)
  }

  @Test("a group of animations ends with its longest part, also if groups are nested")
  func nesting() {
    let animator = Animator()
    let motions = (0..<4).map { _ in Motion(0) }
    var end = 0.0
    animator.play(
      .together([
        .sequence([.tween(motions[0], to: 1, seconds: 1, .linear), .tween(motions[1], to: 1, seconds: 1, .linear)]),
        .together([.tween(motions[2], to: 1, seconds: 0.5, .linear), .tween(motions[3], to: 1, seconds: 2.5, .linear)]),
      ])
    ) { _ in end = animator.now }
    animator.advance(to: 1.5)
    #expect(motions.map(\.value) == [1, 0.5, 1, 0.6])
    animator.advance(to: 10)
    #expect(end == 2.5)
  }

  @Test("with reduced motion animations jump to their end, keep their pauses, and still complete")
  func reduced() {
    let animator = Animator()
    animator.isReduced = true
    let x = Motion(0)
    var done = 0
    animator.play(
      .sequence([.tween(x, to: 1, seconds: 3, .linear), .pause(seconds: 2), .tween(x, to: 2, seconds: 3, .linear)])
    ) {
      _ in done += 1
    }
    animator.advance(to: 0)
    #expect(x.value == 1)
    animator.advance(to: 1.9)
    #expect(x.value == 1)
    animator.advance(to: 2)
    #expect(x.value == 2)
    #expect(done == 1)
  }

  @Test("without animations no frame is requested")
  func idle() {
    let animator = Animator()
    let x = Motion(0)
    #expect(animator.nextChange(after: 0) == .infinity)
    animator.move(x, to: 1, seconds: 1, after: 2)
    #expect(animator.nextChange(after: 0) == 2)
    animator.advance(to: 2.5)
    #expect(animator.nextChange(after: 2.5) == 2.5)
    animator.advance(to: 3)
    #expect(animator.nextChange(after: 3) == .infinity)
  }
}
