import Arena
import Base
import Foundation
import TicTacToe

package enum RunText {
  package static func text(_ report: RunReport) -> String {
    let configuration = report.configuration
    let names = configuration.names
    var out = ""
    if report.results.count == 1 {
      out += matchText(report.results[0], names, configuration)
    } else {
      out += standingsText(report, names)
      for result in report.results {
        let total = result.statistics.total
        out +=
          "\(names[result.a]) – \(names[result.b]): won \(total.wins), drawn \(total.draws), lost \(total.losses), "
          + "Elo \(result.statistics.estimate.eloText)\n"
      }
    }
    for match in report.knockout {
      let winner = match.winner.map { names[$0] } ?? "nobody"
      out +=
        "round \(match.round): \(names[match.pairing.a]) – \(names[match.pairing.b]): \(winner) after \(match.pairs) "
        + "pair\(match.pairs == 1 ? "" : "s")\(match.bySeed ? ", level, by order of entry" : "")\n"
    }
    if !report.byes.isEmpty { out += "byes: \(report.byes.map { names[$0] }.joined(separator: ", "))\n" }
    for forfeit in report.forfeits {
      out +=
        "forfeited by \(names[forfeit.player]), \(forfeit.kind.rawValue), \(forfeit.count)×: \(forfeit.reason)\n"
    }
    for late in report.lateMoves {
      out +=
        "late within the margin: \(names[late.player]), \(late.count) move\(late.count == 1 ? "" : "s"), by "
        + "\(late.most) ms at most\n"
    }
    if report.results.count > 1, !configuration.isFrozen {
      for (entrant, name) in zip(configuration.entrants, names) where entrant.spec.isLearner(in: configuration.variant)
      {
        out += "\(name) began anew in each pairing, and learned there alone\n"
      }
    }
    out += "games \(report.games): X \(report.bySeat.wins), draws \(report.bySeat.draws), O \(report.bySeat.losses)"
    if let plies = report.meanPlies { out += String(format: "; mean plies %.4f", plies) }
    let played = report.games - report.resumedGames
    out += String(format: "; %.2f s", report.seconds)
    if report.seconds > 0, played > 0 { out += ", \(Int(Double(played) / report.seconds)) games/s" }
    out += "\n"
    for highlight in report.highlights where !highlight.files.isEmpty {
      out +=
        "game \(highlight.game) (\(highlight.choices.joined(separator: ", "))): \(highlight.record.resultToken), drama "
        + "\(highlight.drama); \(highlight.files.joined(separator: " "))\n"
    }
    return out
  }

  private static func points(_ value: Double) -> String {
    value == value.rounded()
      ? "\(Int(value))" : String(format: value * 10 == (value * 10).rounded() ? "%.1f" : "%.2f", value)
  }

  private static func matchText(
    _ result: RunReport.Result, _ names: [String], _ configuration: RunConfiguration
  ) -> String {
    let statistics = result.statistics
    var out = "\(names[result.a]) – \(names[result.b])\n"
    for (label, tally) in [("as X", statistics.asX), ("as O", statistics.asO), ("both", statistics.total)] {
      out +=
        "  \(label)  won \(tally.wins), drawn \(tally.draws), lost \(tally.losses), "
        + String(format: "score %.4f\n", tally.score)
    }
    out += "  Elo   \(statistics.estimate.eloText)\n"
    out += String(format: "  LOS   %.2f %%", statistics.estimate.los * 100)
    out += ", normalised Elo \(Elo.signed(statistics.normalisedElo))\n"
    out += "  pairs \(statistics.pentanomial.map { "\($0)" }.joined(separator: " ")) (0 ½ 1 1½ 2 points)\n"
    if let sprt = configuration.sprt {
      let (lower, upper) = sprt.bounds
      out += String(
        format: "  SPRT  %@, model %@, elo0 %g, elo1 %g: LLR %.3f (%.3f, %.3f)\n",
        sprt.verdict(statistics) == .inconclusive ? "inconclusive" : "\(sprt.verdict(statistics).rawValue) accepted",
        sprt.model.rawValue, sprt.elo0, sprt.elo1, sprt.llr(statistics), lower, upper)
    }
    return out
  }

  private static func standingsText(_ report: RunReport, _ names: [String]) -> String {
    let width = names.map(\.count).max() ?? 0
    var out = ""
    for (place, standing) in report.standings.enumerated() {
      let name = names[standing.player] + String(repeating: " ", count: width - names[standing.player].count)
      out += "\(place + 1). \(name)  \(points(standing.points))"
      if report.ratings.indices.contains(standing.player) {
        let rating = report.ratings[standing.player]
        out +=
          "  rating \(Elo.signed(rating.elo)) ± " + (rating.error.isFinite ? String(format: "%.2f", rating.error) : "?")
      }
      if report.configuration.format == .swiss { out += String(format: "  Buchholz %.2f", standing.buchholz) }
      out += "\n"
    }
    return out
  }

  package static func json(_ report: RunReport) -> String {
    let configuration = report.configuration
    let results = report.results.map { resultJSON($0, configuration.sprt) }
    let standings = report.standings.map { standing -> JSON in
      let rating = report.ratings.isEmpty ? nil : report.ratings[standing.player]
      var members: JSONObject = [
        "player": .int(standing.player), "points": .double(standing.points), "buchholz": .double(standing.buchholz),
      ]
      members.add("rating", rating.map { .double($0.elo) })
      members.add("error", rating.map { .double($0.error) })
      return .object(members)
    }
    let forfeits = report.forfeits.map { forfeit -> JSON in
      [
        "player": .int(forfeit.player), "kind": .string(forfeit.kind.rawValue), "reason": .string(forfeit.reason),
        "count": .int(forfeit.count),
      ]
    }
    let scores = report.highlights.map { highlight -> JSON in
      .object([
        "choices": .array(highlight.choices.map { .string($0) }), "game": .int(highlight.game),
        "drama": .int(highlight.drama), "result": .string(highlight.record.resultToken),
        "files": .array(highlight.files.map { .string($0) }),
      ])
    }
    return JSON.object([
      "players": .array(configuration.names.map { .string($0) }),
      "format": .string(configuration.format.rawValue), "ending": .string(report.ending.rawValue),
      "games": .int(report.games), "xWins": .int(report.bySeat.wins),
      "draws": .int(report.bySeat.draws), "oWins": .int(report.bySeat.losses),
      "meanPlies": report.meanPlies.map { .double($0) } ?? .null,
      "results": .array(results),
      "standings": .array(standings),
      "byes": .array(report.byes.map { .int($0) }),
      "knockout": .array(report.knockout.map { $0.json(undecided: .null) }),
      "forfeits": .array(forfeits),
      "lateMoves": .array(
        report.lateMoves.map { ["player": .int($0.player), "count": .int($0.count), "most": .int($0.most)] }),
      "scores": .array(scores), "seconds": .double(report.seconds),
    ]).text
  }

  private static func resultJSON(_ result: RunReport.Result, _ sprt: SPRT?) -> JSON {
    let statistics = result.statistics
    let (low, high) = statistics.estimate.interval
    var members: JSONObject = [
      "a": .int(result.a), "b": .int(result.b), "asX": tally(statistics.asX),
      "asO": tally(statistics.asO), "total": tally(statistics.total),
      "pentanomial": .array(statistics.pentanomial.map { .int($0) }),
      "elo": bound(statistics.estimate.elo), "eloLow": bound(low), "eloHigh": bound(high),
      "los": .double(statistics.estimate.los),
      "normalisedElo": .double(statistics.normalisedElo),
      "forfeits": .int(statistics.forfeits),
    ]
    if let sprt {
      members.add(
        "sprt",
        [
          "model": .string(sprt.model.rawValue), "elo0": .double(sprt.elo0), "elo1": .double(sprt.elo1),
          "llr": .double(sprt.llr(statistics)), "lower": .double(sprt.bounds.lower),
          "upper": .double(sprt.bounds.upper), "verdict": .string(sprt.verdict(statistics).rawValue),
        ])
    }
    return .object(members)
  }

  private static func tally(_ tally: Tally) -> JSON {
    [
      "wins": .int(tally.wins), "draws": .int(tally.draws), "losses": .int(tally.losses),
      "score": .double(tally.score),
    ]
  }

  private static func bound(_ elo: Elo) -> JSON {
    switch elo {
    case .exactly(let value): .double(value)
    case .atLeast(let value): .object(["atLeast": .double(value)])
    case .atMost(let value): .object(["atMost": .double(value)])
    case .unknown: .null
    }
  }
}
