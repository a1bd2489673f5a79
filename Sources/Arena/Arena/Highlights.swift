import Records
import TicTacToe

/// The games of a run that are worth hearing. Games may be added in any order.
struct Highlights: Sendable {
  enum Choice: String, Sendable, Hashable, CaseIterable {
    case first, shortest, longest, dramatic
  }

  /// Of several candidates with the greatest `score`, the earliest is selected.
  struct Candidate: Sendable, Hashable {
    var score: Int
    var line: GameLine.Content
  }

  /// One for each choice, in the order of `Choice`.
  private var best = [Candidate?](repeating: nil, count: Choice.allCases.count)

  init() {}

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

  mutating func merge(_ other: Highlights) {
    for (place, found) in other.best.enumerated() {
      guard let found else { continue }
      if let known = best[place], (known.score, -known.line.index) >= (found.score, -found.line.index) { continue }
      best[place] = found
    }
  }

  /// In the order of `Choice`. A game that was selected for several reasons appears once, with all these reasons.
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

package struct Highlight: Sendable {
  /// The reasons for the selection, such as `longest`.
  package let choices: [String]
  /// The index of the game in the run.
  package let game: Int
  /// The points of the game by `Drama`.
  package let drama: Int
  package let record: Record
  /// The paths of the files with the game's music; empty until these files are written.
  package var files: [String] = []

  package static let names = Highlights.Choice.allCases.map(\.rawValue)
}
