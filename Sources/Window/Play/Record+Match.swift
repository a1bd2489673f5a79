import GameScore
import MatchProtocol
import Records
import TicTacToe
import Tintinnabuli
import WindowLogic

extension Record {
  /// The record of a finished match, with all that determines its music; `tonics` is the number of tonics in the score rules.
  init(of state: MatchState, tonics: Int) {
    var game = Game(from: VariantState(startOf: state.terms.rules))
    for cell in state.moves { try? game.play(cell) }
    if let end = state.end, !game.isOver { game.finish(GameEnd(end)) }
    self.init(game: game)
    for side in Player.allCases { self[player: side] = state.players?[side].name }
    timeControl = state.terms.clock.map { "\($0)" }
    seed = state.id.seed
    let place = state.station % max(tonics, 1)
    (station, inTime) = (Station(game: place, place: place), [])
    guard state.times.count == state.moves.count else { return }
    times = state.times.indices.map { index in
      guard index > 0 else { return MoveTimes() }
      // A longer time could not be read back from the saved game.
      return MoveTimes(elapsed: min(max(0, state.times[index] - state.times[index - 1]), Record.Limit.milliseconds))
    }
    logSlots = Tempo.slots(state.times)
  }
}
