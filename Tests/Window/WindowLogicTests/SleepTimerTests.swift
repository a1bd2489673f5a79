import Interface
import Testing
import TicTacToe

@testable import WindowLogic

@Suite("The sleep timer of the listening mode")
struct SleepTimerTests {
  private static func fades(_ effects: [Effect]) -> [Double] {
    effects.compactMap { if case .fade(let level) = $0 { level } else { nil } }
  }

  @Test
  func `the sleep timer fades the sound over its last two minutes, then ends the listening mode with the sound off`() {
    var window = TestWindow()
    #expect(window.want(.sleep).contains(.refuse), "only while listening")
    window.want(.listen)
    window.want(.sleep)
    #expect(window.state.sleepMinutes(at: window.now) == 15)
    window.effects = []
    while window.state.mode == .listening, window.now < 2_000 {
      window.step(.tick)
      window.now += 1
    }
    #expect(abs(window.now - 100 - 15 * 60) <= 2)
    let fades = SleepTimerTests.fades(window.effects)
    #expect((118...122).contains(fades.count) && fades.last == 0)
    #expect(zip(fades.dropLast(), fades.dropLast().dropFirst()).allSatisfy { $0 > $1 })
    #expect((-60...(-58)).contains(fades.dropLast().last ?? 0))
    #expect(window.effects.contains(.mute(true)) && window.state.mode == .local)
  }

  @Test func `pressing the sleep timer chooses the next duration, at last none; another game ends the timer`() {
    var window = TestWindow()
    window.want(.listen)
    var minutes: [Int?] = []
    for _ in 0..<5 {
      window.want(.sleep)
      minutes.append(window.state.sleepMinutes(at: window.now))
    }
    #expect(minutes == [15, 30, 60, 120, nil])
    window.want(.sleep)
    window.now += 14 * 60
    window.step(.tick)
    #expect(SleepTimerTests.fades(window.effects).last == -30)
    window.want(.newGame(GameSetup(x: .human, o: .level(1))))
    window.step(.tick)
    #expect(SleepTimerTests.fades(window.effects).last == 0 && window.state.sleepMinutes(at: window.now) == nil)
  }
}
