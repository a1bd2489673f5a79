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
    let date = record[tag: "Date"].map { String($0.map { $0 == "." ? "-" : $0 }) }
    return [date, moves, record.resultToken].compactMap { $0 }.joined(separator: "   ")
  }
}
