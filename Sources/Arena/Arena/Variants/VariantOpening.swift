import Base
import TicTacToe

/// The start of a pair of games of any variant: a position as text, and moves of both sides.
package struct VariantOpening: Sendable, Hashable {
  /// The position before the moves; `nil` for the usual initial position of the variant.
  package var start: String?
  package var cells: [Cell] = []

  /// The opening as a line: `startpos`, `b2 a1`, `fen POSITION` or `fen POSITION moves b2 a1`.
  func text(_ variant: Variant) -> String {
    if start == nil, cells.isEmpty { return "startpos" }
    let moves = cells.map { variant.name(of: $0) }.joined(separator: " ")
    return start.map { cells.isEmpty ? "fen \($0)" : "fen \($0) moves \(moves)" } ?? moves
  }
}

extension VariantOpening {
  /// Makes an opening from a game of an opening book.
  init(_ game: Game) {
    self.init(start: game.isFromStart ? nil : game.startState.notation, cells: game.cells)
  }

  /// Parses a line: moves alone, or `fen POSITION moves …`, in which `fen` and `moves …` are optional. The game must not be over.
  init(_ line: String, _ variant: Variant) throws(ArenaError) {
    var words = line.split(whereSeparator: \.isWhitespace).map(String.init)
    var game = Game(from: VariantState(startOf: variant))
    let hasPosition = words.first == "fen" || words.first?.contains("/") == true
    if words.first == "fen" { words.removeFirst() }
    if hasPosition {
      let end = words.firstIndex(of: "moves") ?? words.endIndex
      let notation = words[..<end].joined(separator: " ")
      do {
        game = Game(from: try VariantState(variant, notation: notation))
      } catch {
        throw ArenaError("opening '\(line)': '\(notation)', column \(error.column): \(error.message)")
      }
      words.removeSubrange(..<end)
    }
    if words.first == "moves" || words.first == "startpos" { words.removeFirst() }
    do { try game.play(words) } catch { throw ArenaError("opening '\(line)': \(error)") }
    guard !game.isOver else { throw ArenaError("opening '\(line)': the game is over already") }
    self.init(game)
  }

  /// Makes an opening of random moves from the start.
  init<R: Rules>(_ rules: R.Type, plies: Int, using generator: inout SplitMix64) {
    var (state, cells) = (R.start, [Cell]())
    for _ in 0..<plies {
      let cell = R.moves(state).randomCell(using: &generator)
      _ = R.play(cell, &state)
      cells.append(cell)
    }
    self.init(cells: cells)
  }

  /// The position before the opening's moves. Does not throw, because `init` has checked the text.
  func state<R: Rules>(_ rules: R.Type) -> R.State { VariantOpening.state(start, rules) }

  static func state<R: Rules>(_ start: String?, _ rules: R.Type) -> R.State {
    guard let start else { return R.start }
    guard let state = try? R.state(notation: start) else { preconditionFailure("opening from '\(start)'") }
    return state
  }
}

extension Game {
  /// Plays moves by the names of their cells.
  mutating func play(_ names: [String]) throws(ArenaError) {
    for name in names {
      guard let cell = variant.cell(named: name) else {
        throw ArenaError("'\(name.prefix(16))' is not a cell (\(variant.cellRange))")
      }
      do throws(RuleViolation) { try play(cell) } catch {
        let reason = isOver ? "comes after the end of the game" : state.refusal(of: cell)
        throw ArenaError("'\(name)' \(reason)")
      }
    }
  }
}
