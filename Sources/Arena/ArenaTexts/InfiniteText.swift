import Arena
import Base
import Foundation
import Opponents
import Oracle
import TicTacToe

extension AnswerText {
  /// The chances are exact, except that draws by a third repetition are not counted: whether a position repeats depends on the whole game.
  package static func exact(_ a: InfiniteOpponent, _ b: InfiniteOpponent, asJSON: Bool) -> String {
    let seatings = [(a, b), (b, a)].map { (x: $0.0.name, o: $0.1.name, odds: Odds.ofInfinite(x: $0.0, o: $0.1)) }
    let (first, second) = (seatings[0].odds, seatings[1].odds)
    let score = (first.win + second.loss + (first.draw + second.draw) / 2) / 2
    guard !asJSON else {
      let list = seatings.map { seating -> JSON in
        [
          "x": .string(seating.x), "o": .string(seating.o), "xWin": .double(seating.odds.win),
          "draw": .double(seating.odds.draw), "oWin": .double(seating.odds.loss),
        ]
      }
      return line(
        .infinite, ["seatings": .array(list), "score": .double(score), "countsRepetitions": .bool(false)])
    }
    func chance(_ value: Double) -> String { String(format: "%.9f", value) }
    let elo = score > 0 && score < 1 ? ", Elo \(Elo.signed(Elo.of(score: score)))" : ""
    return seatings.map {
      "\($0.x) (X) – \($0.o) (O)\n  X wins \(chance($0.odds.win))\n  draw   \(chance($0.odds.draw))\n"
        + "  O wins \(chance($0.odds.loss))\n"
    }.joined() + "score of \(a.name) over both seats \(chance(score))\(elo)\n"
      + "a third repetition, which draws a game, is not counted: its chance depends on the whole game\n"
  }

  /// For the start also says how many of all boards are won, lost and drawn for the side to move.
  package static func solve(_ state: Infinite.State, asJSON: Bool) -> String {
    let table = InfiniteTable.shared
    let evaluation = table.evaluation(of: state)
    let moves = Infinite.outcome(of: state) == nil ? table.moveEvaluations(in: state) : []
    // Negate the value after a move, which is for the opponent; the end is one ply farther away.
    let seen = moves.map { ($0.cell, Evaluation(value: $0.after.value.negated, distance: $0.after.distance + 1)) }
    let census = state == Infinite.start ? table.census : nil
    guard !asJSON else {
      var members: JSONObject = [
        "position": .string(Infinite.notation(of: state)), "over": .bool(Infinite.outcome(of: state) != nil),
        "value": .string("\(evaluation.value)"), "distance": .int(evaluation.distance),
        "cells": .object(
          JSONObject(
            fields: seen.map {
              .init(
                name: Variant.infinite.name(of: $0.0),
                value: ["value": .string("\($0.1.value)"), "distance": .int($0.1.distance)])
            })),
      ]
      members.add(
        "boards",
        census.map {
          [
            "all": .int($0.boards), "wins": .int($0.wins), "losses": .int($0.losses), "draws": .int($0.draws),
            "finished": .int($0.finished), "longest": .int($0.longestDistance),
          ]
        })
      return line(.infinite, members)
    }
    var out = "position  \(Infinite.notation(of: state))\n"
    if moves.isEmpty {
      out += "finished: \(evaluation.value == .draw ? "a draw" : "\(state.board.turn.opponent.letter) won")\n"
    } else {
      out += "\(state.board.turn.letter) to move: \(evaluation.text)\n"
      out += seen.map { "  \(Variant.infinite.name(of: $0.0))  \($0.1.text)\n" }.joined()
    }
    guard let census else { return out }
    return out
      + "boards \(census.boards): \(census.wins) won, \(census.losses) lost and \(census.draws) drawn for the side "
      + "to move, \(census.finished) finished; the longest win takes \(census.longestDistance) plies\n"
  }

  /// The column `distance` has the plies to the end, 0 for a draw; `best` the quickest wins, longest losses or drawing moves.
  package static func infiniteTable() -> String {
    let table = InfiniteTable.shared
    var out = "board\tvalue\tdistance\tbest\n"
    func list(_ marks: Infinite.Marks) -> String {
      marks.count == 0 ? "-" : marks.squares.map { $0.name }.joined()
    }
    // Boards that differ only by an exchange of X and O are listed once.
    var (boards, known) = ([Infinite.Board()], Set([InfiniteTable.number(of: Infinite.Board())]))
    var place = 0
    while place < boards.count {
      let board = boards[place]
      place += 1
      let evaluation = table.evaluation(of: board)
      let best = board.winner == nil ? table.bestMoves(on: board, delaying: true) : []
      out += "\(list(board.x))/\(list(board.o)) \(board.turn.text)\t\(evaluation.value)"
      out += "\t\(evaluation.distance)\t\(best.map { $0.name }.joined(separator: " "))\n"
      for square in board.moves {
        var after = board
        after.play(square)
        if known.insert(InfiniteTable.number(of: after)).inserted { boards.append(after) }
      }
    }
    return out
  }
}
