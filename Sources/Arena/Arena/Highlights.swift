import Records
import TicTacToe

/// The games of a run that are worth hearing. Each game is looked at once, in any order, with little memory.
///
/// Of equally good games the one with the lowest index is taken, so the choice depends only on the games. A game that
/// ended by forfeit can only be the first.
struct Highlights: Sendable {
  /// Why a game is chosen.
  enum Choice: String, Sendable, Hashable, CaseIterable {
    case first, shortest, longest, dramatic
  }

  /// A game and its score.
  struct Candidate: Sendable, Hashable {
    var score: Int
    var line: GameLine.Content
  }

  /// The best so far, in the order of the choices.
  private var best = [Candidate?](repeating: nil, count: Choice.allCases.count)

  init() {}

  /// The games of a batch.
  init(_ batch: GameBatch, _ stage: Stage, _ configuration: RunConfiguration) {
    for index in batch.indices {
      let (game, scheduled) = (batch[index], stage.game(index))
      let moves = batch.variantMoves[index]
      let start = configuration.openings.start(pair: scheduled.opening)
      for (place, choice) in Choice.allCases.enumerated() where choice == .first || game.ending == .normal {
        let score =
          switch choice {
          case .first: 0
          case .shortest: -game.plies
          case .longest: game.plies
          case .dramatic: Drama.points(of: game, start: start, moves, configuration.variant)
          }
        if let known = best[place], known.score >= score { continue }
        let line = GameLine.Content(
          index: index, x: scheduled.x, o: scheduled.o, start: start, game: game, notes: batch.notes[index],
          moves: moves)
        best[place] = Candidate(score: score, line: line)
      }
    }
  }

  /// Merges what was found in other games.
  mutating func merge(_ other: Highlights) {
    for (place, found) in other.best.enumerated() {
      guard let found else { continue }
      if let known = best[place], (known.score, -known.line.index) >= (found.score, -found.line.index) { continue }
      best[place] = found
    }
  }

  /// The chosen games, in the order of the choices. A game that was chosen twice comes once, with all its names.
  var chosen: [(choices: [Choice], line: GameLine.Content)] {
    var result: [(choices: [Choice], line: GameLine.Content)] = []
    for (choice, candidate) in zip(Choice.allCases, best) {
      guard let candidate else { continue }
      if let place = result.firstIndex(where: { $0.line.index == candidate.line.index }) {
        result[place].choices.append(choice)
      } else {
        result.append(([choice], candidate.line))
      }
    }
    return result
  }
}

/// A game that was chosen to be heard.
package struct Highlight: Sendable {
  /// The names by which it was chosen: first, shortest, longest, dramatic.
  package let choices: [String]
  /// Its index in the run.
  package let game: Int
  /// Its drama, in points.
  package let drama: Int
  /// Its record.
  package let record: Record
  /// The place of its written score.
  package var files: [String] = []

  /// Every name by which a game can be chosen.
  package static let names = Highlights.Choice.allCases.map(\.rawValue)
}
