import Foundation
import Oracle
import Records
import TicTacToe

/// The aim of the simulated player.
enum Aim {
  /// Plays perfectly.
  case best
  /// Loses as fast as possible.
  case worst
}

extension WindowProgram {
  /// Plays the running game to its end. Reads each position from the saved game, which the program rewrites at every move, chooses a cell
  /// by `aim`, and lets `mark` make the move.
  func play(_ side: Player, _ aim: Aim, mark: (Int) throws -> Void) throws -> Record {
    var played = 0
    while true {
      let record = try waitFor(seconds: 30, "the answer to \(played) moves; \(complaints)") { () -> Record? in
        guard let file = games.last, let text = try? String(contentsOf: file, encoding: .utf8) else {
          return side == .x && played == 0 ? Record() : nil
        }
        guard let record = try? Record(text: text), record.game.moves.count >= played else { return nil }
        return record.game.isOver || record.game.turn == side ? record : nil
      }
      if record.game.isOver { return record }
      let square = choose(record.game.position, aim)
      try mark(square.index)
      played = record.game.moves.count + 1
    }
  }

  private func choose(_ position: Position, _ aim: Aim) -> Square {
    let solver = Solver.shared
    if aim == .best { return solver.distanceOptimalMoves(in: position).first ?? Square(0) }
    let values = position.legalMoves.map { ($0, solver.evaluation(of: position.playing($0))) }
    // The worst move is the one after which the opponent's value is highest; of several such moves, the one that ends the game soonest.
    return values.max { ($0.1.value, -$0.1.distance) < ($1.1.value, -$1.1.distance) }?.0 ?? Square(0)
  }
}
