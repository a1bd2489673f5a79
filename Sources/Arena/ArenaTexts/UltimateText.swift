import Arena
import Base
import Oracle
import TicTacToe

extension AnswerText {
  /// The proved values of a position of Ultimate and of its moves. Searches at most `limit` positions in all.
  package static func solve(_ state: Ultimate.State, nodes limit: Int, asJSON: Bool) -> String {
    let solver = UltimateSolver(entries: max(1 << 12, min(2 * limit, 1 << 23)))
    let value = solver.value(of: state, limit: limit)
    let isOver = Ultimate.outcome(of: state) != nil
    // The moves share the rest of `limit`.
    let moves = Ultimate.moves(state).map { cell in
      var after = state
      _ = after.mark(cell)
      return (cell: cell, value: solver.value(of: after, limit: max(0, limit - solver.nodes))?.negated)
    }
    guard !asJSON else {
      let cells = moves.map { move in
        JSONObject.Field(
          name: Variant.ultimate.name(of: move.cell), value: move.value.map { .string("\($0)") } ?? .null)
      }
      return line(
        .ultimate,
        [
          "position": .string(Ultimate.notation(of: state)), "over": .bool(isOver),
          "value": value.map { .string("\($0)") } ?? .null, "nodes": .int(solver.nodes),
          "cells": .object(JSONObject(fields: cells)),
        ])
    }
    func text(_ value: Value?) -> String { value.map { "\($0)" } ?? "not proved in \(limit) nodes" }
    let out = "position  \(Ultimate.notation(of: state))\n"
    guard !isOver else {
      return out + "finished: \(value == .draw ? "a draw" : "\(state.turn.opponent.letter) won")\n"
    }
    return out + "\(state.turn.letter) to move: \(text(value))\n"
      + moves.map { "  \(Variant.ultimate.name(of: $0.cell))  \(text($0.value))\n" }.joined()
      + "\(solver.nodes) nodes\n"
  }
}
