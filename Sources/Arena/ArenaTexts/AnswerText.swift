import Arena
import Base
import Foundation
import Opponents
import Oracle
import Records
import TicTacToe

/// The output of the commands `exact`, `perft`, `solve`, `analyse` and `menace`.
package enum AnswerText {
  package static func exact(_ match: ExactMatch, _ a: String, _ b: String) -> String {
    func chance(_ fraction: Fraction) -> String { "\(fraction) = \(String(format: "%.9f", fraction.double))" }
    var out = ""
    for (x, o, seating) in [(a, b, match.asX), (b, a, match.asO)] {
      out += "\(x) (X) – \(o) (O)\n"
      out += "  X wins \(chance(seating.xWin))\n  draw   \(chance(seating.draw))\n  O wins \(chance(seating.oWin))\n"
      out += "  plies  \(chance(seating.meanPlies))\n"
    }
    out += "pairs for \(a), seats swapped\n"
    for (points, fraction) in zip(["0", "½", "1", "1½", "2"], match.pentanomial) {
      out += "  \(points)\(String(repeating: " ", count: 3 - points.count))  \(chance(fraction))\n"
    }
    out += "  score \(chance(match.score))\(eloText(match.score))\n"
    return out
  }

  private static func eloText(_ score: Fraction) -> String {
    let value = score.double
    guard value > 0, value < 1 else { return value > 0 ? ", never loses or draws" : ", never scores" }
    return ", Elo \(Elo.signed(Elo.of(score: value)))"
  }

  package static func exactJSON(_ match: ExactMatch, _ a: String, _ b: String, _ variant: Variant) -> String {
    func chance(_ fraction: Fraction) -> JSON {
      .object(["exact": .string("\(fraction)"), "value": .double(fraction.double)])
    }
    func seating(_ seating: ExactMatch.Seating, _ x: String, _ o: String) -> JSON {
      .object([
        "x": .string(x), "o": .string(o), "xWin": chance(seating.xWin), "draw": chance(seating.draw),
        "oWin": chance(seating.oWin), "meanPlies": chance(seating.meanPlies),
      ])
    }
    return line(
      variant,
      [
        "seatings": .array([seating(match.asX, a, b), seating(match.asO, b, a)]),
        "pentanomial": .array(match.pentanomial.map(chance)), "score": chance(match.score),
      ])
  }

  /// By ply, the number of move sequences (nodes) and of games that end at this ply.
  package static func perft(_ perft: Perft, seconds: Double) -> String {
    var out = "ply        nodes    X wins    O wins     draws\n"
    for ply in perft.nodes.indices {
      out += String(
        format: "%3ld%13ld%10ld%10ld%10ld\n", ply, perft.nodes[ply], perft.xWins[ply], perft.oWins[ply],
        perft.draws[ply])
    }
    return out + "nodes \(perft.totalNodes), games \(perft.totalGames); "
      + String(format: "%.2f ms\n", seconds * 1000)
  }

  package static func perftJSON(_ perft: Perft, seconds: Double) -> String {
    func list(_ values: [Int]) -> JSON { .array(values.map { .int($0) }) }
    return JSON.object([
      "nodes": list(perft.nodes), "xWins": list(perft.xWins), "oWins": list(perft.oWins),
      "draws": list(perft.draws), "totalNodes": .int(perft.totalNodes),
      "totalGames": .int(perft.totalGames), "seconds": .double(seconds),
    ]).text
  }

  package static func solve(_ position: Position, by solver: Solver) -> String {
    var out = "position  \(position.notation)\n"
    guard position.outcome == nil else {
      let result = if case .win(let winner)? = solver.outcome(of: position) { "\(winner.letter) won" } else { "a draw" }
      return out + "finished: \(result)\n" + board(position) { _ in nil }
    }
    let evaluation = solver.evaluation(of: position)
    out += "\(position.turn.letter) to move: \(evaluation.text), \(evaluation.distance) plies to the end\n"
    out += "keep it   \(names(solver.valuePreservingMoves(in: position)))\n"
    out += "best      \(names(solver.distanceOptimalMoves(in: position)))\n"
    if !solver.lineLoses {
      let threats = position.winningSquares(for: position.turn.opponent)
      if !threats.isEmpty { out += "threats   \(position.turn.opponent.letter) wins at \(names(threats))\n" }
      let forks = position.forkSquares(for: position.turn)
      if !forks.isEmpty { out += "forks     \(names(forks))\n" }
    }
    let legal = position.legalMoves
    return out
      + board(position) { square in
        guard legal.contains(square) else { return nil }
        let move = solver.evaluation(of: square, in: position)
        return (move.value == .win ? "+" : move.value == .draw ? "=" : "-") + "\(move.distance)"
      } + "(+N wins, =N draws, -N loses; N plies to the end)\n"
  }

  private static func names(_ squares: SquareSet) -> String { squares.map(\.name).joined(separator: " ") }

  private static func board(_ position: Position, _ cell: (Square) -> String?) -> String {
    var out = ""
    for row in 0..<3 {
      out += "  \(3 - row) "
      for column in 0..<3 {
        let square = Square(row * 3 + column)
        let text = position[square].map { "\($0.letter)" } ?? cell(square) ?? "."
        out += " " + text + String(repeating: " ", count: 3 - text.count)
      }
      out += "\n"
    }
    return out + "     a   b   c\n"
  }

  /// The column `keep` has the moves that keep the value, `best` those of them that win soonest, lose latest or draw latest.
  package static func table(by solver: Solver) -> String {
    var out = "position\tvalue\tdistance\tkeep\tbest\n"
    for position in Solver.positions {
      let evaluation = solver.evaluation(of: position)
      let keep = names(solver.valuePreservingMoves(in: position))
      let best = names(solver.distanceOptimalMoves(in: position))
      out += "\(position.notation)\t\(evaluation.value)\t\(evaluation.distance)\t\(keep)\t\(best)\n"
    }
    return out
  }

  /// The numbers of move sequences by length, from 1.
  package static func perft(_ nodes: [Int], _ variant: Variant, asJSON: Bool) -> String {
    guard !asJSON else {
      let object: JSON = ["rules": .string(variant.rawValue), "nodes": .array(nodes.map { .int($0) })]
      return object.text + "\n"
    }
    return nodes.enumerated().map { "\($0.offset + 1) \($0.element)\n" }.joined()
  }

  package static func solveJSON(_ position: Position, _ variant: Variant, by solver: Solver) -> String {
    let evaluation = solver.evaluation(of: position)
    func list(_ squares: SquareSet) -> JSON { .array(squares.map { .string($0.name) }) }
    return line(
      variant,
      [
        "position": .string(position.notation), "over": .bool(position.outcome != nil),
        "value": .string("\(evaluation.value)"), "distance": .int(evaluation.distance),
        "valuePreserving": list(position.outcome == nil ? solver.valuePreservingMoves(in: position) : []),
        "distanceOptimal": list(position.outcome == nil ? solver.distanceOptimalMoves(in: position) : []),
        "cells": .object(
          JSONObject(
            fields: position.legalMoves.map { square in
              let move = solver.evaluation(of: square, in: position)
              return .init(
                name: square.name, value: ["value": .string("\(move.value)"), "distance": .int(move.distance)])
            })),
      ])
  }

  /// The first member is the name of the game, unless the game is Classic.
  static func line(_ variant: Variant, _ members: JSONObject) -> String {
    var object: JSONObject = variant.isImplied ? [:] : ["rules": .string(variant.rawValue)]
    object.fields += members.fields
    return JSON.object(object).text + "\n"
  }

  /// For games of solved variants.
  package static func analysis(_ record: Record) -> String {
    let (analysis, variant) = (Analysis(of: record.game), record.game.variant)
    let decided = analysis.entries.firstIndex { $0.move.isDecisive }
    func name(_ place: Int) -> String {
      let move = analysis.entries[place].move
      return "\(move.mover.letter) \(variant.name(of: move.cell))"
    }
    var out = heading(record)
    for (index, entry) in analysis.entries.enumerated() {
      let move = entry.move
      var notes: [String] = []
      if move.isMistake {
        let better = entry.best.map { variant.name(of: $0) }.joined(separator: " ")
        notes.append("mistake: \(entry.before.value) to \(entry.after.value), better \(better)")
      }
      if move.isOnlyMove { notes.append("only move") }
      if move.isBlock { notes.append("block") }
      if let gone = move.removed { notes.append("\(gone.name) goes") }
      if !variant.isLong {
        if !move.threats.isEmpty { notes.append("\(move.isFork ? "fork at" : "threatens") \(names(move.threats))") }
        if index == decided { notes.append("decided") }
        if let outcome = move.outcome {
          notes.append(outcome == .draw ? "full board" : "line \(names(move.completed))")
        }
      }
      out += "\(index + 1). \(name(index))  \(entry.after.text)\(list(notes))\n"
    }
    out += analysis.firstMistake.map { "first mistake: move \($0 + 1), \(name($0))\n" } ?? "no mistakes\n"
    let accuracy = Player.allCases.map { analysis.accuracy(of: $0) * 100 }
    return out + String(format: "accuracy: X %.1f %%, O %.1f %%\n", accuracy[0], accuracy[1])
  }

  package static func analysisJSON(_ record: Record) -> String {
    let (analysis, variant) = (Analysis(of: record.game), record.game.variant)
    let moves = analysis.entries.map { entry -> JSON in
      let move = entry.move
      var fields: JSONObject = [
        "move": .string(variant.name(of: move.cell)), "side": .string(move.mover.text),
        "valueBefore": .string("\(entry.before.value)"), "valueAfter": .string("\(entry.after.value)"),
        "distance": .int(entry.after.distance), "best": .array(entry.best.map { .string(variant.name(of: $0)) }),
        "mistake": .bool(move.isMistake), "onlyMove": .bool(move.isOnlyMove), "block": .bool(move.isBlock),
      ]
      if !variant.isLong {
        fields.add("fork", .bool(move.isFork))
        fields.add("threats", .array(move.threats.map { .string($0.name) }))
        fields.add("accuracy", .double(entry.accuracy))
      }
      return .object(fields)
    }
    return line(
      variant,
      [
        "result": .string(record.resultToken), "moves": .array(moves),
        "firstMistake": analysis.firstMistake.map { .int($0 + 1) } ?? .null,
        "accuracyX": .double(analysis.accuracy(of: .x)), "accuracyO": .double(analysis.accuracy(of: .o)),
      ])
  }

  package static func boxes(_ menace: Menace) -> String {
    let labels = MenaceBoxes.shared.boxes
    var out = "\(labels.count) boxes, \(menace.gamesLearned) games learned\n"
    for ply in 0..<8 {
      let chosen = labels.indices.filter { labels[$0].ply == ply }
      out += "\nply \(ply), \(ply % 2 == 0 ? "X" : "O") to move: \(chosen.count) boxes\n"
      for index in chosen {
        let label = labels[index]
        out +=
          "\(label.notation)\n"
          + board(label) { menace.beads[index][$0.index] > 0 ? "\(min(999, menace.beads[index][$0.index]))" : "." }
      }
    }
    return out
  }
}
