import Foundation
import Oracle
import Records
import TicTacToe

enum Aim {
  case best
  case worst
}

extension WindowProgram {
  /// Plays the running game to its end. The program rewrites the saved game, from which the positions are read, at every move.
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
    return values.max { ($0.1.value, -$0.1.distance) < ($1.1.value, -$1.1.distance) }?.0 ?? Square(0)
  }
}
