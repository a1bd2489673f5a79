import Records
import TicTacToe

/// What a game's score is called.
package enum ScoreTitle {
  /// The players.
  package static func title(_ record: Record) -> String {
    guard let x = record[player: .x], let o = record[player: .o] else { return "Alina" }
    return "\(x) – \(o)"
  }

  /// Date, moves and result.
  package static func subtitle(_ record: Record) -> String {
    let moves = record.game.moves.map { $0.name }.joined(separator: " ")
    return [record[tag: "Date"], moves, record.resultToken].compactMap { $0 }.joined(separator: "   ")
  }
}
