import Base
import Testing

@Suite struct Glicko2Tests {
  @Test func `the example of Glickman's paper gives the printed results`() {
    let player = Glicko2.Rating(value: 1500, deviation: 200, volatility: 0.06)
    let games: [Glicko2.Game] = [
      (.init(value: 1400, deviation: 30, volatility: 0.06), 1),
      (.init(value: 1550, deviation: 100, volatility: 0.06), 0),
      (.init(value: 1700, deviation: 300, volatility: 0.06), 0),
    ]
    let after = Glicko2.rate(player, games)
    #expect(abs(after.value - 1464.06) < 0.01)
    #expect(abs(after.deviation - 151.52) < 0.01)
    #expect(abs(after.volatility - 0.05999) < 0.00001)
  }

  @Test func `a deviation grows with the days away, up to that of a new player`() {
    let known = Glicko2.Rating(value: 1800, deviation: 50, volatility: 0.06)
    #expect(known.aged(days: 0).deviation == 50)
    #expect(abs(known.aged(days: 1).deviation - 51.07) < 0.01)
    #expect(known.aged(days: 100).deviation > known.aged(days: 10).deviation)
    #expect(known.aged(days: 1_000_000).deviation == 350)
  }

  @Test func `equal players who draw stay equal, and the winner gains what the loser loses`() {
    let new = Glicko2.Rating()
    #expect(abs(Glicko2.rate(new, [(new, 0.5)]).value - 1500) < 1e-9)
    let (won, lost) = (Glicko2.rate(new, [(new, 1)]), Glicko2.rate(new, [(new, 0)]))
    #expect(abs(won.value - 1500 - (1500 - lost.value)) < 1e-9)
    #expect(won.value > 1600 && won.deviation < 350)
  }
}
