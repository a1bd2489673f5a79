import GameScore
import Oracle
import ScoreModel
import TicTacToe
import Tintinnabuli

/// What the score hears of a game: classic ones by the facts of their moves, the others by cells, lines and ends.
extension GameSession {
  /// Something for the conductor at a moment, with the time that a match's log gives it.
  typealias Hearing = (inout GameConductor, Tick, Tick?) -> [ScoreEvent]

  func hearing(_ happening: Happening) -> Hearing { { $0.handle(happening, at: $1, logged: $2) } }

  /// A game as it begins.
  func beginning(of game: Game, awoke: Bool = false) -> Hearing {
    let human = participants.loneHuman
    if case .classic(let position) = game.state {
      return hearing(.gameStarted(position, human: human, awoke: awoke))
    }
    let facts = BoardFacts(of: game)
    return { conductor, moment, _ in
      conductor.music.begin(
        at: moment, number: game.state.plies, marks: GameSession.marks(facts, conductor.music.rules))
    }
  }

  /// A move, by the game before and after it.
  func move(_ cell: Cell, from before: Game, to after: Game) -> Hearing {
    if case .classic(let position) = before.state {
      let facts = Solver.shared.facts(of: Square(cell.index), in: position)
      return hearing(.moved(facts))
    }
    let (mover, facts) = (before.turn, BoardFacts(of: after))
    let end = ending(of: after)
    let line = facts.lines.reduce(into: MoveSet()) { $0.rawValue |= $1.rawValue }
    return { conductor, moment, logged in
      let rules = conductor.music.rules
      func degree(_ cell: Cell) -> Int { rules.degree(of: rules.cells[after.variant.place(of: cell).index]) ?? 0 }
      let event = Event(
        voice: mover.voice, degree: degree(cell), number: after.state.plies, marks: GameSession.marks(facts, rules),
        line: line.filter { $0 != cell }.map { degree($0) }, end: end)
      return conductor.music.strike(event, at: moment, logged: logged)
    }
  }

  /// An end that no move has brought.
  func ending(_ end: GameEnd) -> Hearing {
    if game.variant == .classic { return hearing(.ended(end)) }
    let heard = ending(of: game)
    return { conductor, moment, _ in conductor.music.end(heard, at: moment) }
  }

  /// The last move is taken back.
  var undoing: Hearing {
    if game.variant == .classic { return hearing(.undone) }
    return { conductor, moment, _ in conductor.music.undo(at: moment) }
  }

  /// A hand rests on a cell, or on none.
  func resting(on cell: Cell?) -> Hearing {
    let place = cell.map { game.variant.place(of: $0) }
    if game.variant == .classic { return hearing(.previewed(place)) }
    let voice = game.turn.voice
    return { conductor, moment, _ in
      let rules = conductor.music.rules
      let degree = place.map { rules.degree(of: rules.cells[$0.index]) ?? 0 }
      return conductor.music.preview(degree, as: voice, at: moment)
    }
  }

  private func ending(of game: Game) -> End? {
    game.end?.outcome.map { outcome in
      guard case .win(let winner) = outcome else { return End(.draw) }
      let isLost = participants.loneHuman.map { $0 != winner } ?? false
      return End(isLost ? .loss : .win, winner: winner.voice)
    }
  }

  private static func marks(_ facts: BoardFacts, _ rules: ScoreRules) -> Marks {
    func degrees(_ cells: MoveSet) -> [Int] {
      let places = Set(cells.map { facts.variant.place(of: $0) }).sorted()
      return places.map { rules.degree(of: rules.cells[$0.index]) ?? 0 }
    }
    return Marks(first: degrees(facts.x), second: degrees(facts.o))
  }
}
