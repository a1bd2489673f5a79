import TicTacToe

extension Record {
  /// PGN-like text: tags, a blank line, moves in lines of at most 80 columns, the result.
  package var text: String {
    var out = ""
    func write(_ name: String, _ value: String) {
      out += "[\(name) \"\(Record.escaped(value))\"]\n"
    }
    for name in ["Event", "Site", "Date", "Round", "White", "Black"] {
      write(name, self[tag: name] ?? Record.unknownValue(of: name) ?? "?")
    }
    for name in ["Result", "SetUp", "FEN"] { if let value = derivedTag(name) { write(name, value) } }
    if let seed = self[tag: "Seed"] { write("Seed", seed) }
    if game.variant.isImplied { write("Rules", Variant.standardName) } else { write("Variant", game.variant.title) }
    for name in ["ScoreRules", "TimeControl"] { if let value = self[tag: name] { write(name, value) } }
    for name in ["Termination", "DrawOffer"] { if let value = derivedTag(name) { write(name, value) } }
    for tag in tags where !Record.tagOrder.contains(tag.name) { write(tag.name, tag.value) }
    out += "\n"
    var column = 0
    for token in moveTokens() {
      let width = token.unicodeScalars.count
      if column > 0 {
        let wraps = column + 1 + width > 80
        out += wraps ? "\n" : " "
        column = wraps ? 0 : column + 1
      }
      out += token
      column = token.utf8.contains(0x0A) ? (token.split(separator: "\n").last?.count ?? 0) : column + width
    }
    return out + "\n"
  }

  static func escaped(_ value: String) -> String {
    var result = ""
    for character in value.unicodeScalars {
      if character == "\"" || character == "\\" { result += "\\" }
      result.unicodeScalars.append(character)
    }
    return result
  }

  private func moveTokens() -> [String] {
    var tokens: [String] = []
    var needsNumber = true
    func annotate(_ ply: Int) {
      let before = tokens.count
      let commands = commands(ply: ply)
      if !commands.isEmpty { tokens.append("{\(commands)}") }
      for comment in comments where comment.ply == ply { tokens.append("{\(comment.text)}") }
      if tokens.count > before { needsNumber = true }
    }
    annotate(0)
    for (index, cell) in game.cells.enumerated() {
      let (ply, name) = (game.startState.plies + index, game.variant.name(of: cell))
      if ply % 2 == 0 {
        tokens.append("\(ply / 2 + 1). \(name)")
      } else {
        tokens.append(needsNumber ? "\(ply / 2 + 1)... \(name)" : name)
      }
      needsNumber = false
      annotate(index + 1)
    }
    return tokens + [resultToken]
  }

  private func commands(ply: Int) -> String {
    var parts: [String] = []
    let times = times(ofMove: ply - 1)
    if let elapsed = times.elapsed { parts.append("[%emt \(Record.time(elapsed))]") }
    if let clock = times.clock { parts.append("[%clk \(Record.time(clock))]") }
    if let frame = ply > 0 ? times.frame : startFrame { parts.append("[%frame \(frame)]") }
    let bars = bars(ply: ply)
    if !bars.isEmpty { parts.append("[%bar \(bars.map { "\($0)" }.joined(separator: ","))]") }
    if ply == game.cells.count, let endFrame { parts.append("[%end \(endFrame)]") }
    return parts.joined(separator: " ")
  }

  /// Formats milliseconds as `h:mm:ss`, or `h:mm:ss.mmm` if they are not whole seconds.
  static func time(_ elapsed: Int64) -> String {
    let milliseconds = max(0, elapsed)
    func two(_ n: Int64) -> String { n < 10 ? "0\(n)" : "\(n)" }
    let seconds = milliseconds / 1000
    let rest = milliseconds % 1000
    let whole = "\(seconds / 3600):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
    guard rest != 0 else { return whole }
    let digits = "\(rest)"
    return whole + "." + String(repeating: "0", count: 3 - digits.utf8.count) + digits
  }
}
