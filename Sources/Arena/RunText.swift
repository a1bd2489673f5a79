import Foundation
import Opponents
import TicTacToe

/// Reports as people and programs read them.
public enum RunText {
  /// A report as text.
  public static func text(_ report: RunReport) -> String {
    let configuration = report.configuration
    let names = configuration.entrants.map(\.displayName)
    var out = ""
    if report.results.count == 1 {
      out += matchText(report.results[0], names, configuration)
    } else {
      out += standingsText(report, names)
      for result in report.results {
        let total = result.statistics.total
        out +=
          "\(names[result.a]) – \(names[result.b]): \(points(total.points)) of \(total.games), "
          + "Elo \(result.statistics.estimate.eloText)\n"
      }
    }
    for match in report.knockout {
      let winner = match.winner.map { names[$0] } ?? "nobody"
      out +=
        "round \(match.round): \(names[match.a]) – \(names[match.b]): \(winner) after \(match.pairs) "
        + "pair\(match.pairs == 1 ? "" : "s")\(match.bySeed ? ", level, by order of entry" : "")\n"
    }
    if !report.byes.isEmpty { out += "byes: \(report.byes.map { names[$0] }.joined(separator: ", "))\n" }
    for forfeit in report.forfeits {
      out += "forfeited by \(names[forfeit.player]), \(forfeit.count)×: \(forfeit.reason)\n"
    }
    let plies = report.lengths.enumerated().reduce(0) { $0 + $1.offset * $1.element }
    out += "games \(report.games): X \(report.bySeat.wins), draws \(report.bySeat.draws), O \(report.bySeat.losses)"
    if report.games > 0 { out += String(format: "; mean plies %.4f", Double(plies) / Double(report.games)) }
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

  /// A report as one line of JSON.
  public static func json(_ report: RunReport) -> String {
    typealias M = JSON.Member
    let configuration = report.configuration
    func integer(_ value: Int) -> JSON { .integer(Int64(value)) }
    func tally(_ tally: Tally) -> JSON {
      .object([
        M("wins", integer(tally.wins)), M("draws", integer(tally.draws)), M("losses", integer(tally.losses)),
        M("score", .number(tally.score)),
      ])
    }
    let results = report.results.map { result -> JSON in
      let statistics = result.statistics
      let (low, high) = statistics.estimate.interval
      var members = [
        M("a", integer(result.a)), M("b", integer(result.b)), M("asX", tally(statistics.asX)),
        M("asO", tally(statistics.asO)), M("total", tally(statistics.total)),
        M("pentanomial", .array(statistics.pentanomial.map(integer))),
        M("elo", bound(statistics.estimate.elo)), M("eloLow", bound(low)), M("eloHigh", bound(high)),
        M("los", .number(statistics.estimate.los)),
        M("normalisedElo", .number(statistics.normalisedElo)),
        M("forfeits", integer(statistics.forfeits)),
      ]
      if let sprt = configuration.sprt {
        members.append(
          M(
            "sprt",
            .object([
              M("model", .string(sprt.model.rawValue)), M("elo0", .number(sprt.elo0)),
              M("elo1", .number(sprt.elo1)), M("llr", .number(sprt.llr(statistics))),
              M("lower", .number(sprt.bounds.lower)), M("upper", .number(sprt.bounds.upper)),
              M("verdict", .string(sprt.verdict(statistics).rawValue)),
            ])))
      }
      return .object(members)
    }
    let plies = report.lengths.enumerated().reduce(0) { $0 + $1.offset * $1.element }
    let scores = report.highlights.map { highlight -> JSON in
      .object([
        M("choices", .array(highlight.choices.map { .string($0) })), M("game", integer(highlight.game)),
        M("drama", integer(highlight.drama)), M("result", .string(highlight.record.resultToken)),
        M("files", .array(highlight.files.map { .string($0) })),
      ])
    }
    return JSON.object([
      M("players", .array(configuration.entrants.map { .string($0.displayName) })),
      M("format", .string(configuration.format.rawValue)), M("ending", .string(report.ending.rawValue)),
      M("games", integer(report.games)), M("xWins", integer(report.bySeat.wins)),
      M("draws", integer(report.bySeat.draws)), M("oWins", integer(report.bySeat.losses)),
      M("meanPlies", report.games > 0 ? .number(Double(plies) / Double(report.games)) : .null),
      M("results", .array(results)),
      M(
        "standings",
        .array(
          report.standings.map {
            .object(
              [
                M("player", integer($0.player)), M("points", .number($0.points)), M("buchholz", .number($0.buchholz)),
              ]
                + (report.ratings.isEmpty
                  ? []
                  : [
                    M("rating", .number(report.ratings[$0.player].elo)),
                    M("error", .number(report.ratings[$0.player].error)),
                  ]))
          })),
      M("byes", .array(report.byes.map(integer))),
      M(
        "knockout",
        .array(
          report.knockout.map {
            .object([
              M("round", integer($0.round)), M("a", integer($0.a)), M("b", integer($0.b)),
              M("pairs", integer($0.pairs)), M("winner", $0.winner.map(integer) ?? .null),
              M("bySeed", .bool($0.bySeed)),
            ])
          })),
      M(
        "forfeits",
        .array(
          report.forfeits.map {
            .object([
              M("player", integer($0.player)), M("reason", .string($0.reason)), M("count", integer($0.count)),
            ])
          })),
      M("scores", .array(scores)), M("seconds", .number(report.seconds)),
    ]).text
  }

  /// A number, or an object that names the bound it is.
  private static func bound(_ elo: Elo) -> JSON {
    switch elo {
    case .exactly(let value): .number(value)
    case .atLeast(let value): .object([JSON.Member("atLeast", .number(value))])
    case .atMost(let value): .object([JSON.Member("atMost", .number(value))])
    case .unknown: .null
    }
  }
}

extension Run {
  /// The boxes of the one `menace` of a match, after it was played.
  public var trainedMenace: Menace? {
    let boxes = learners.values.compactMap { $0 as? Menace }
    return boxes.count == 1 ? boxes[0] : nil
  }
}
