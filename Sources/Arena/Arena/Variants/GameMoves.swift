import Base
import TicTacToe

/// A position and moves of both sides from there: a game, or an opening.
package struct GameMoves: Sendable, Hashable {
  /// `nil` for the usual initial position of the game.
  package var start: VariantState?
  package var cells: [Cell] = []

  package static let none = GameMoves()

  /// The moves as a line of a file of openings: `startpos`, `b2 a1`, `fen POSITION` or `fen POSITION moves b2 a1`.
  func text(_ variant: Variant) -> String {
    if start == nil, cells.isEmpty { return "startpos" }
    let moves = cells.map { variant.name(of: $0) }.joined(separator: " ")
    return start.map { cells.isEmpty ? "fen \($0.notation)" : "fen \($0.notation) moves \(moves)" } ?? moves
  }

  /// The position before the moves.
  func state<R: Rules>(_ rules: R.Type) -> R.State {
    guard let start else { return R.start }
    guard let state = R.state(of: start) else { preconditionFailure("a position of \(start.variant) in \(R.variant)") }
    return state
  }
}

extension GameMoves {
  init(_ game: Game) { self.init(start: game.isFromStart ? nil : game.startState, cells: game.cells) }

  /// Parses an opening such as `b2 a1` or `fen POSITION moves b2 a1`; the game must not be over. In Classic the position may be
  /// cutechess-cli's, or an EPD line (extended position description), whose other fields are ignored.
  init(_ line: String, _ variant: Variant) throws(ArenaError) {
    var words = line.split(whereSeparator: \.isWhitespace).map(String.init)
    var game = Game(from: VariantState(startOf: variant))
    let hasPosition = words.first == "fen" || words.first?.contains("/") == true
    if words.first == "fen" { words.removeFirst() }
    if hasPosition {
      let hasSide = words.count > 1 && ["x", "o", "w", "b"].contains(words[1].lowercased())
      let end = variant.isPacked ? min(words.count, hasSide ? 2 : 1) : words.firstIndex(of: "moves") ?? words.endIndex
      let notation = words[..<end].joined(separator: " ")
      do throws(NotationError) { game = Game(from: try VariantState(words[..<end], variant)) } catch {
        throw ArenaError("opening '\(line)': '\(notation)', column \(error.column): \(error.message)")
      }
      words.removeSubrange(..<end)
      if words.first == "-" { words = Array(words.drop { $0 != "moves" }) }
    }
    if words.first == "moves" || words.first == "startpos" { words.removeFirst() }
    do { try game.play(words) } catch { throw ArenaError("opening '\(line)': \(error)") }
    guard !game.isOver else { throw ArenaError("opening '\(line)': the game is over already") }
    self.init(game)
  }

  init<R: Rules>(_ rules: R.Type, plies: Int, using generator: inout SplitMix64) {
    var state = R.start
    for _ in 0..<plies {
      let cell = R.moves(state).randomCell(using: &generator)
      _ = R.play(cell, &state)
      cells.append(cell)
    }
  }
}

extension VariantState {
  /// Reads the words of a position in Alina's notation or, in Classic, in cutechess-cli's.
  init(_ words: some Collection<String>, _ variant: Variant) throws(NotationError) {
    if variant.isPacked, let position = UCINotation.position(words) {
      self = .classic(position)
    } else {
      try self.init(variant, notation: words.joined(separator: " "))
    }
  }
}

extension Game {
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

extension ArenaRules {
  /// `nil` if the game begins with the opening, its moves are legal and its result follows from the rules.
  static func fault(in moves: GameMoves, _ game: PackedGame, opening: GameMoves, _ adjudication: Adjudication)
    -> String?
  {
    guard moves.start == opening.start, moves.cells.starts(with: opening.cells) else {
      return "the game does not begin as the header says"
    }
    var (state, outcome): (Self.State, Outcome?) = (opening.state(Self.self), nil)
    for cell in moves.cells {
      guard outcome == nil, self.moves(state).contains(cell) else { return "the game breaks the rules" }
      outcome = play(cell, &state)
    }
    let boards = outcome == .draw ? wonBoards(state) : nil
    let verdict = boards.flatMap { Referee(adjudication).verdict(onDraw: $0) }
    let isRight =
      switch game.ending {
      case .normal: outcome == game.outcome && verdict == nil
      case .forfeit, .time: outcome == nil && game.outcome == .win(turn(in: state).opponent)
      case .adjudication: outcome == nil || verdict?.outcome == game.outcome
      }
    return isRight ? nil : "the game breaks the rules"
  }
}
