import Base
import GameScore
import Interface
import Records
import ScoreModel
import Screen
import TicTacToe
import Tintinnabuli

/// Draws the frames of a film: a board on which a recorded game, or free play, is played in time with its music.
package struct FilmStage {
  let screen = RootScreen(services: PlatformServices(locks: .none))
  private var gameEvents: ArraySlice<(moment: Tick, event: GameEvent)>

  /// A move takes two seconds, or in a long game an equal share of 50 s, so that the film lasts about a minute.
  package static func music(of record: Record, rules: ScoreRules, seed: UInt64? = nil, human: Player?) -> Rendition {
    var record = record
    record.logSlots = nil
    let plies = record.game.cells.count
    record.times = (0..<plies).map { _ in
      var times = Record.MoveTimes()
      times.elapsed = Int64(min(2_000, 50_000 / plies))
      return times
    }
    return Rendition(of: record, rules: rules, seed: seed, human: human, trimmed: true, opens: false)
  }

  package init(_ record: Record, _ rendition: Rendition, names: (x: String, o: String)) {
    gameEvents = rendition.gameEvents[...]
    screen.model.game = Game(from: record.game.startState)
    screen.model.setup = GameSetup(
      x: .remote(name: names.x), o: .remote(name: names.o), variant: record.game.variant)
    screen.model.acceptsMove = false
    screen.model.isFilm = true
    screen.model.isFree = record.freePlay != nil
    screen.model.bars = rendition.bars
    let (scale, cells) = (rendition.rules.scale, rendition.rules.cells)
    screen.model.tonality = Tonality(scale: scale, x: cells, o: cells)
  }

  /// `now` is in seconds and may not decrease. Returns the changed rectangles; with `isNew` everything is drawn.
  package mutating func draw(into bitmap: Surface, isNew: Bool, at now: Double) -> [PixelRect] {
    while let next = gameEvents.first, next.moment.seconds <= now {
      gameEvents.removeFirst()
      switch next.event {
      case .touched(let square, _): screen.showTouch(square)
      case .moved(let move): try? screen.model.game.play(move.cell)
      case .undone: _ = screen.model.game.undo()
      case .ended(let end): screen.model.game.finish(end)
      default: break
      }
    }
    screen.model.soundNow = .seconds(now)
    screen.handle([], at: now)
    return screen.draw(into: bitmap, isNew: isNew, at: now)
  }
}
