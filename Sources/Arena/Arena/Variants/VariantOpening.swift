import Base
import TicTacToe

/// How the games of a pair begin in a variant: a position as text, and moves played for both sides.
package struct VariantOpening: Sendable, Hashable {
  /// The position before the moves; `nil` for the start of the rules.
  package var start: String?
  package var cells: [Cell] = []
  /// The line that says so: `b2 a1`, or `fen POSITION moves b2 a1`.
  package private(set) var text = ""

  package init() {}

  init<R: Rules>(_ rules: R.Type, start: String? = nil, cells: [Cell] = []) {
    (self.start, self.cells) = (start, cells)
    let moves = cells.map { R.variant.name(of: $0) }.joined(separator: " ")
    text = start.map { cells.isEmpty ? "fen \($0)" : "fen \($0) moves \(moves)" } ?? moves
  }

  /// Reads a line: moves, `fen POSITION`, or `fen POSITION moves …`; the game must not be over.
  init<R: Rules>(_ line: String, _ rules: R.Type) throws(ArenaError) {
    var words = line.split(whereSeparator: \.isWhitespace).map(String.init)
    var (start, state): (String?, R.State) = (nil, R.start)
    if words.first == "fen" {
      let end = words.firstIndex(of: "moves") ?? words.endIndex
      let notation = words[1..<end].joined(separator: " ")
      do {
        state = try R.state(notation: notation)
      } catch {
        throw ArenaError("opening '\(line)': '\(notation)', column \(error.column): \(error.message)")
      }
      start = R.notation(of: state)
      words.removeSubrange(..<end)
    }
    if words.first == "moves" || words.first == "startpos" { words.removeFirst() }
    var cells: [Cell] = []
    for word in words {
      guard let cell = R.variant.cell(named: word) else {
        throw ArenaError("opening '\(line)': '\(word)' is no cell \(R.variant.cellRange)")
      }
      guard R.moves(state).contains(cell) else { throw ArenaError("opening '\(line)': \(word) is not legal") }
      _ = R.play(cell, &state)
      cells.append(cell)
    }
    guard R.outcome(of: state) == nil else { throw ArenaError("opening '\(line)': the game is over already") }
    self.init(R.self, start: start, cells: cells)
  }

  /// Random moves from the start; other ones for each pair of games.
  init<R: Rules>(_ rules: R.Type, plies: Int, using generator: inout SplitMix64) {
    var (state, cells) = (R.start, [Cell]())
    for _ in 0..<plies {
      let cell = R.moves(state).randomCell(using: &generator)
      _ = R.play(cell, &state)
      cells.append(cell)
    }
    self.init(R.self, cells: cells)
  }

  /// The state that games begin from, before the moves of the opening. The text was read before.
  func state<R: Rules>(_ rules: R.Type) -> R.State {
    guard let start else { return R.start }
    guard let state = try? R.state(notation: start) else { preconditionFailure("opening from '\(start)'") }
    return state
  }
}
