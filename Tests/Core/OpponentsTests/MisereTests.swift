import Base
import Oracle
import Testing
import TicTacToe

@testable import Opponents

/// Plain, slow rules and a solver that share no code with the implementation under test.
@Suite("Misère") struct MisereTests {
  /// Nine characters in reading order.
  private struct Plain {
    static let lines = ["012", "345", "678", "036", "147", "258", "048", "246"].map {
      $0.map { $0.wholeNumberValue ?? 0 }
    }
    var cells: [Character]

    var turn: Character { cells.count { $0 == "x" } == cells.count { $0 == "o" } ? "x" : "o" }
    var free: [Int] { cells.indices.filter { cells[$0] == "." } }
    /// Whether the side that moved last has completed a line, and so lost.
    var isLost: Bool { Plain.lines.contains { line in line.allSatisfy { cells[$0] == (turn == "x" ? "o" : "x") } } }

    func marking(_ cell: Int) -> Plain {
      var next = self
      next.cells[cell] = turn
      return next
    }

    /// 1 is a win of the side to move, 0 a draw, −1 a loss; `plies` is the number until then. `known` collects the results found so far.
    func value(_ known: inout [String: (Int, Int)]) -> (value: Int, plies: Int) {
      if let found = known[String(cells)] { return found }
      if isLost { return (1, 0) }
      var best: (Int, Int)?
      for cell in free {
        let other = marking(cell).value(&known)
        let mine = (-other.value, other.plies + 1)
        let isBetter = best.map { mine.0 != $0.0 ? mine.0 > $0.0 : mine.0 > 0 ? mine.1 < $0.1 : mine.1 > $0.1 }
        if isBetter ?? true { best = mine }
      }
      known[String(cells)] = best ?? (0, 0)
      return best ?? (0, 0)
    }
  }

  @Test func `the table has the value and the distance of a plain search in every position`() {
    var known: [String: (Int, Int)] = [:]
    for position in Solver.positions {
      let plain = Plain(cells: Square.all.map { position[$0]?.letter.lowercased().first ?? "." })
      let (value, plies) = plain.value(&known)
      let found = Solver.misere.evaluation(of: position)
      #expect(Int(found.value.rawValue) == value && found.distance == plies, "\(position.notation)")
      #expect((Misere.outcome(of: position) != nil) == (plain.isLost || plain.free.isEmpty))
      #expect(Misere.outcome(of: position) == Solver.misere.outcome(of: position))
    }
    #expect(VariantState(startOf: .misere).valuePreservingMoves == [Cell(4)], "X holds the draw only in the centre")
  }

  @Test func `a completed line loses, and no move counts as a threat, fork or block`() throws {
    var game = Game(from: VariantState(startOf: .misere))
    for name in ["b2", "a1", "c3", "a2"] { try game.play(try #require(Variant.misere.cell(named: name))) }
    let moves = game.variantMoves
    #expect(moves.allSatisfy { $0.threats.isEmpty && !$0.isFork && !$0.isBlock && !$0.isDecisive })
    let last = try game.playValued(Cell(1))
    #expect(last.outcome == nil && last.after.refusal(of: Cell(1)) == "is taken")
    let end = try game.playValued(Cell(0))
    #expect(end.outcome == .win(.x) && end.mover == .o && end.completed.count == 3 && game.end?.outcome == .win(.x))
    #expect(BoardFacts(of: game).lines.count == 1 && end.isMistake)
  }

  @Test func `a move is decisive exactly if each answer to it loses at once`() throws {
    var found = 0
    for position in Solver.positions where Misere.outcome(of: position) == nil {
      let before = VariantState.misere(position)
      for cell in before.moves {
        let move = VariantMove(cell, in: before)
        let answers = move.after.moves.map { VariantMove($0, in: move.after).outcome }
        let isLost = move.outcome == nil && answers.allSatisfy { $0 == .win(move.mover) }
        #expect(move.isDecisive == isLost, "\(position.notation) \(cell.index)")
        found += isLost ? 1 : 0
      }
    }
    #expect(found > 100, "\(found)")
  }

  @Test func `each level scores more than the one below it, and the last never loses`() {
    func odds(_ a: MisereOpponent, _ b: MisereOpponent) -> Odds {
      Odds.of(a.distribution, against: b.distribution, solver: .misere)
    }
    for (below, level) in zip(MisereLevel.all, MisereLevel.all.dropFirst()) {
      #expect(odds(.level(level), .level(below)).score > 0.55)
      for other in SimpleOpponent.allCases {
        #expect(
          odds(.level(level), .simple(other)).score > odds(.level(below), .simple(other)).score, "\(level.number)")
      }
    }
    for other in SimpleOpponent.allCases { #expect(odds(.level(MisereLevel.all[5]), .simple(other)).loss == 0) }
  }
}
