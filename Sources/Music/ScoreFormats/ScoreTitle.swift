import Records
import TicTacToe

package enum ScoreTitle {
  /// The players' names; `called` converts the record's form of a name to the form that is shown.
  package static func title(_ record: Record, called: (String) -> String = { $0 }) -> String {
    guard let x = record[player: .x], let o = record[player: .o] else { return "Alina" }
    return "\(called(x)) – \(called(o))"
  }

  /// Date, moves (only their number in a long game) and result.
  package static func subtitle(_ record: Record) -> String {
    let (variant, cells) = (record.game.variant, record.game.cells)
    let moves =
      cells.count > 9
      ? "\(variant.title), \(cells.count) moves" : cells.map { variant.name(of: $0) }.joined(separator: " ")
    let date = record[tag: "Date"].map { String($0.map { $0 == "." ? "-" : $0 }) }
    return [date, moves, record.resultToken].compactMap { $0 }.joined(separator: "   ")
  }
}
