import Arena
import Base
import Foundation
import Opponents
import Oracle
import Records
import TicTacToe

extension AnswerText {
  /// Estimates each move by a search: the expected score of the mover, 0–100 %.
  package static func reviewUltimate(_ record: Record, simulations: Int, asJSON: Bool) throws(ArenaError) -> String {
    let value = try UltimateValueFile.load()
    let review = UltimateReview(record.game, value: value, simulations: simulations)
    let names = Variant.ultimate
    guard !asJSON else {
      let moves = review.entries.map { entry -> JSON in
        [
          "move": .string(names.name(of: entry.cell)), "side": .string(entry.mover.text),
          "before": .double(entry.before), "after": .double(entry.after), "proven": .bool(entry.isProven),
          "best": .string(names.name(of: entry.best)), "loss": .double(entry.loss),
        ]
      }
      return line(
        .ultimate,
        [
          "result": .string(record.resultToken), "simulations": .int(simulations), "learntValue": .bool(true),
          "moves": .array(moves), "lostMost": review.worst.map { .int($0 + 1) } ?? .null,
        ])
    }
    func percent(_ score: Double) -> String { String(format: "%.0f %%", score * 100) }
    var out = heading(record)
    for (index, entry) in review.entries.enumerated() {
      var notes: [String] = []
      if entry.isProven { notes.append("proven") }
      if entry.loss >= UltimateReview.threshold {
        notes.append("better \(names.name(of: entry.best)), \(percent(entry.before))")
      }
      if let board = entry.boardWon { notes.append("wins board \(board.name)") }
      let move = "\(index + 1). \(entry.mover.letter) \(names.name(of: entry.cell))"
      out += "\(move)  \(percent(entry.after))\(list(notes))\n"
    }
    let worst = review.worst.map { place in
      let entry = review.entries[place]
      return "lost most: move \(place + 1), \(entry.mover.letter) \(names.name(of: entry.cell)): "
        + "\(percent(entry.after)), \(percent(entry.before)) with \(names.name(of: entry.best))"
    }
    return out + (worst ?? "no move lost much") + "\nexpected scores of the side that moved, as a search of "
      + "\(simulations) simulations a move with the learnt value believes; not exact\n"
  }

  static func heading(_ record: Record) -> String {
    "\(record[player: .x] ?? "X") – \(record[player: .o] ?? "O"), \(record.resultToken)\n"
  }

  static func list(_ notes: [String]) -> String {
    notes.isEmpty ? "" : "  – " + notes.joined(separator: ", ")
  }
}

/// A search's estimates of the moves of a game. Late in the game, a proved value replaces the estimate wherever a proof succeeds.
struct UltimateReview {
  struct Entry {
    let mover: Player
    let cell: Cell
    /// `best`: the move that the search prefers. `before`: the mover's expected score (0–1) after the better of the preferred and the
    /// played move.
    let best: Cell
    var before = 0.0
    /// The mover's expected score (0–1) after the played move.
    var after = 0.0
    /// Whether `after` is proved.
    var isProven = false
    let boardWon: Square?

    var loss: Double { before - after }
  }

  /// A move that loses at least this much expected score (0–1) is marked; smaller losses are within the search's error.
  static let threshold = 0.1

  private(set) var entries: [Entry] = []
  private let simulations: Int
  private let solver = UltimateSolver(entries: 1 << 18)
  private var generator = SplitMix64(seed: 1)

  /// Evaluates the preferred and the played move by searches of the positions after them, because a search overestimates the move that it
  /// prefers.
  init(_ game: Game, value: UltimateValue?, simulations: Int) {
    guard case .ultimate(var state) = game.startState else { preconditionFailure("a game of \(game.variant)") }
    self.simulations = simulations
    let (search, other) = (UltimateSearch(value: value), UltimateSearch(value: value))
    for cell in game.cells {
      let (mover, before) = (state.turn, state)
      let best = search.bestMove(in: state, simulations: simulations, using: &generator)
      _ = Ultimate.play(cell, &state)
      let won = state.boards(of: mover).subtracting(before.boards(of: mover))
      var entry = Entry(mover: mover, cell: cell, best: best, boardWon: won.first)
      (entry.after, entry.isProven) = score(of: mover, state, search)
      entry.before = entry.after
      if best != cell {
        var better = before
        _ = Ultimate.play(best, &better)
        other.forget()
        entry.before = max(entry.after, score(of: mover, better, other).score)
      }
      entries.append(entry)
    }
  }

  /// The expected score of `player` in a position, 0–1, and whether it is proved.
  mutating func score(
    of player: Player, _ state: Ultimate.State, _ search: UltimateSearch
  ) -> (score: Double, isProven: Bool) {
    // Try a proof first. Of 120 late positions the search alone misjudges 6, proof and search together 3. Positions before ply 24 are
    // rarely proved.
    if state.plies >= 24 || Ultimate.outcome(of: state) != nil,
      let value = solver.value(of: state, limit: 5 * simulations)
    {
      let seen = state.turn == player ? value : value.negated
      return ((1 + Double(seen.rawValue)) / 2, true)
    }
    let best = search.bestMove(in: state, simulations: simulations, using: &generator)
    guard let move = search.rootMoves.first(where: { $0.cell == best }) else { return (0.5, false) }
    let score = Double(move.score)
    return ((1 + (state.turn == player ? score : -score)) / 2, move.proof != .none)
  }

  /// The index in `entries` of the move with the largest `loss`; `nil` if no loss is at least `threshold`.
  var worst: Int? {
    entries.indices.filter { entries[$0].loss >= UltimateReview.threshold }.max { entries[$0].loss < entries[$1].loss }
  }
}
