import Base
import Foundation
import Opponents
import TestSupport
import Testing
import TicTacToe

@testable import Session

@Suite struct MoveSearchTests {
  @Test("the top level of Ultimate finds the same move in steps of less than a frame as on another thread")
  func steps() throws {
    let bytes = Array(try Data(contentsOf: repository.appending(path: "Assets/ultimate.values")))
    let value: UltimateValue = try #require(UltimateValue(bytes: bytes))
    let player = MachinePlayer(UltimateLevel.all[5], value: value)
    var generator = SplitMix64(seed: 3)
    var game = Game(from: VariantState(startOf: .ultimate))
    // From ply 52 on the search proves the value, and so ends before it has made all simulations.
    while game.state.plies < 52 || game.isOver {
      if game.isOver { game = Game(from: VariantState(startOf: .ultimate)) }
      try game.play(game.state.moves.randomCell(using: &generator))
    }
    let alone = MoveSearch(player, about: game, seed: 1, on: nil)
    #expect(alone.needsSteps && alone.result == nil)
    while alone.needsSteps { alone.step() }
    let threaded = MoveSearch(player, about: game, seed: 1) { $0() }
    #expect(threaded.result != nil && threaded.result == alone.result && !threaded.needsSteps)
  }
}
