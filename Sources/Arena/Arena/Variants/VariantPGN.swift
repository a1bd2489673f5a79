import Records
import TicTacToe

extension PGNExport {
  /// A variant's game as PGN, with an empty line at its end.
  static func variantText(
    _ game: GameLine.Content, _ moves: VariantMoves, _ configuration: RunConfiguration
  ) -> String {
    let variant = configuration.variant
    let result = game.game.result == 0 ? "1-0" : game.game.result == 1 ? "0-1" : "1/2-1/2"
    var tags = [
      ("Event", "alina-arena \(configuration.format.rawValue)"), ("Site", "?"), ("Date", configuration.date),
      ("Round", "\(game.index + 1)"), ("White", configuration.entrants[game.x].displayName),
      ("Black", configuration.entrants[game.o].displayName), ("Result", result),
      ("Variant", variant == .infinite ? "Infinite" : "Ultimate"), ("Seed", "\(configuration.seed)"),
    ]
    if let start = moves.start { tags += [("SetUp", "1"), ("FEN", start)] }
    if game.game.ending != .normal { tags.append(("Termination", "\(game.game.ending)")) }
    if let reason = game.notes?.reason { tags.append(("Reason", reason)) }
    var text = ""
    for (name, value) in tags {
      text += "[\(name) \"\(value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\"]\n"
    }
    // The side to move first follows from the text of the position, which names it.
    let isBlackFirst = moves.start.map { $0.split(separator: " ").dropFirst().first == "o" } ?? false
    var (line, body) = ("", "\n")
    for (index, cell) in moves.cells.enumerated() {
      let ply = index + (isBlackFirst ? 1 : 0)
      let number = ply % 2 == 0 ? "\(ply / 2 + 1). " : index == 0 ? "\(ply / 2 + 1)... " : ""
      let token = number + variant.name(of: cell)
      if line.utf8.count + token.utf8.count + 1 > 80 {
        body += line + "\n"
        line = ""
      }
      line += (line.isEmpty ? "" : " ") + token
    }
    return text + body + line + (line.isEmpty ? "" : " ") + result + "\n\n"
  }
}
