import Base
import Foundation
import Oracle
import TestSupport
import Testing
import TicTacToe

@testable import Opponents

@Suite("Opponents") struct OpponentsTests {
  static let simple: [any MemorylessOpponent] = SimpleOpponent.allCases
  static let everyone: [any MemorylessOpponent] = simple + Level.all

  static let states: [(Position, Square?)] = {
    var result: [(Position, Square?)] = [(.start, nil)]
    for position in Solver.positions where position.outcome == nil {
      for square in position[position.turn.opponent] {
        let taken = SquareSet(square)
        let before = Position(x: position.x.subtracting(taken), o: position.o.subtracting(taken))
        if before.isReachable, before.outcome == nil { result.append((position, square)) }
      }
    }
    return result
  }()

  @Test func `exact results equal the reference values`() throws {
    let file = repository.appending(path: "Tests/Data/facts-3x3.json")
    let root = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as! [String: Any]
    let results = (root["standard"] as! [String: Any])["exact_match_results"] as! [String: [String: Any]]
    let players: [String: any MemorylessOpponent] = [
      "random": SimpleOpponent.random, "perfect": SimpleOpponent.perfect,
      "perfect_distance": SimpleOpponent.perfectDistance,
      "win_block_random": SimpleOpponent.winBlock,
    ]
    #expect(results.count == 9)
    for (title, result) in results {
      let names = title.replacing(" (X) vs ", with: "|").replacing(" (O)", with: "").split(separator: "|")
      let (x, o) = (players[String(names[0])]!, players[String(names[1])]!)
      let odds = Odds.ofX(x.distribution, against: o.distribution)
      for (ours, key) in [(odds.win, "x_win_f"), (odds.draw, "draw_f"), (odds.loss, "o_win_f")] {
        #expect(abs(ours - (result[key] as! Double)) < 1e-9, "\(title) \(key)")
      }
    }
  }

  @Test func `every player chooses legal moves in every state, with chances that sum to one`() {
    // A state is a position with its last move. Moves reach 16,167 states. The 2,862 finished ones are left out, and the start is added.
    #expect(OpponentsTests.states.count == 16_167 - 2_862 + 1)
    for player in OpponentsTests.everyone {
      for (position, last) in OpponentsTests.states {
        let distribution = player.distribution(in: position, lastMove: last)
        #expect(distribution.support.isSubset(of: position.legalMoves))
        #expect(Square.all.reduce(0) { $0 + distribution[$1] } == distribution.total)
      }
    }
  }

  @Test func `moves are drawn as often as their chances say`() {
    let distribution = MoveDistribution(weights: [(Square(0), 6), (Square(4), 3), (Square(8), 1)])
    var generator = SplitMix64(seed: 5)
    var counts = [Int](repeating: 0, count: 9)
    for _ in 0..<100_000 { counts[distribution.draw(using: &generator).index] += 1 }
    for square in Square.all {
      let p = distribution.probability(of: square)
      #expect(abs(Double(counts[square.index]) - 1e5 * p) <= 4 * (1e5 * p * (1 - p)).squareRoot())
    }
  }

  @Test func `a mixture of players chooses moves with the given chances`() {
    let rest = MoveDistribution(uniformOver: [Square(0), Square(1), Square(2)])
    let mixed = MoveDistribution([Square(2), Square(3)], taken: 3, of: 5, otherwise: rest)
    // The move is cell 2 or 3 with the chance 3/5, else cell 0, 1 or 2. So cells 0 and 1 have 2/5 · 1/3 = 4/30 each, cell 3 has 3/5 · 1/2 =
    // 9/30, and cell 2 the sum, 13/30.
    #expect(mixed.total == 30)
    #expect(Square.all.map { mixed[$0] } == [4, 4, 13, 9, 0, 0, 0, 0, 0])
  }

  @Test func `the same state and seed give the same move`() {
    for player in OpponentsTests.everyone {
      for (index, (position, last)) in OpponentsTests.states.enumerated() where index % 37 == 0 {
        var (a, b) = (SplitMix64(seed: UInt64(index)), SplitMix64(seed: UInt64(index)))
        #expect(
          player.move(in: position, lastMove: last, using: &a) == player.move(in: position, lastMove: last, using: &b))
      }
    }
  }
}

@Suite("The levels of the opponent") struct LevelTests {
  @Test func `each level scores more than the level below it, against random and against perfect`() {
    let random = Odds.of(SimpleOpponent.random.distribution, against: SimpleOpponent.random.distribution).score
    var (below, belowPerfect) = (
      random, Odds.of(SimpleOpponent.random.distribution, against: SimpleOpponent.perfect.distribution).score
    )
    for level in Level.all {
      let (a, b) = (level.oddsAgainstRandom, level.oddsAgainstPerfect)
      #expect(abs(a.win + a.draw + a.loss - 1) < 1e-12)
      #expect(abs(b.win + b.draw + b.loss - 1) < 1e-12)
      #expect(a.score > below + 0.005, "\(level.name)")
      #expect(b.score > belowPerfect + 0.005, "\(level.name)")
      (below, belowPerfect) = (a.score, b.score)
    }
  }

  @Test func `the top level never loses, and its traps raise its Elo against random from 467 to 594`() {
    let top = Level.all[5]
    #expect(top.oddsAgainstRandom.loss == 0)
    #expect(top.oddsAgainstPerfect == Odds(win: 0, draw: 1, loss: 0))
    func elo(_ score: Double) -> Double { 400 * log10(score / (1 - score)) }
    #expect(
      elo(Odds.of(SimpleOpponent.perfect.distribution, against: SimpleOpponent.random.distribution).score).rounded()
        == 467)
    #expect(elo(top.oddsAgainstRandom.score).rounded() == 594)
    for (position, last) in OpponentsTests.states {
      let moves = top.distribution(in: position, lastMove: last).support
      #expect(moves.isSubset(of: Solver.shared.valuePreservingMoves(in: position)))
    }
  }

  @Test func `a level overlooks wins, blocks and forks at most as often as its rates say`() {
    for level in Level.all where level.number < 6 {
      for (position, last) in OpponentsTests.states where position.ply >= 2 {
        let distribution = level.distribution(in: position, lastMove: last)
        let me = position.turn
        // A level plays a win rather than a block, and both rather than a fork. So `seen` keeps the cells of the earlier kinds.
        var seen: SquareSet = []
        for (cells, rate) in [
          (position.winningSquares(for: me), level.rates.win),
          (position.winningSquares(for: me.opponent), level.rates.block),
          (position.forkSquares(for: me), level.rates.fork),
        ] where !cells.isEmpty {
          seen = seen.union(cells)
          let chance = seen.reduce(0) { $0 + distribution.probability(of: $1) }
          #expect(
            chance >= 1 - Double(rate.upperBound) / 20 - 1e-12, "\(level.name) in \(position) after \(last as Any)")
        }
      }
    }
  }

  @Test func `a level sees a win next to the last move more often than a win far from it`() {
    let position = Position(x: [Square(0), Square(1)], o: [Square(4), Square(8)])
    for level in Level.all where level.number < 6 {
      func chance(after last: Int) -> Double {
        level.distribution(in: position, lastMove: Square(last)).probability(of: Square(2))
      }
      let (near, far) = (chance(after: 4), chance(after: 8))
      if level.rates.win.lowerBound < level.rates.win.upperBound {
        #expect(near > far, "\(level.name)")
      } else {
        #expect(near == far, "\(level.name)")
      }
    }
  }

  @Test func `six levels have a number, a name and a character of their own`() {
    #expect(Level(number: 0) == nil)
    #expect(Level(number: 7) == nil)
    #expect(Level(number: 3)?.name == "levels:3")
    #expect(Set(Level.all.map(\.character)).count == 6)
  }
}
