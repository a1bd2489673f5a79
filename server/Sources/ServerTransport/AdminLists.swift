import Foundation
import MatchProtocol
import MatchStore
import NIOHTTP1
import TicTacToe

/// Lists for administrators: a line of titles, a line of tab-separated fields for each row, and a line with the next page's address.
extension AdminPage {
  /// The most rows of a page: a chosen number, not a measured limit.
  static let rowsOfPage = 100

  func players(_ request: HTTPRequest) async throws -> HTTPReply {
    let lists = PlayerList.allCases.map(\.rawValue)
    guard let given = request.parameters(["list", "after"]), let list = PlayerList(rawValue: given["list"] ?? "named"),
      let after = Self.number(given["after"], else: 0)
    else {
      let all = lists.joined(separator: "|")
      return .refusal(.badRequest, "/players takes list=\(all) and after=ID, the number of an account")
    }
    let question = StoreQuestion.players(list, after: after, limit: Self.rowsOfPage + 1)
    guard case .accounts(let found) = try await host.look(question) else { return Self.noAnswer }
    return Self.page(
      ["id", "name", "rating", "matches", "guest", "muted", "banned"], found,
      next: "players?list=\(list.rawValue)&after"
    ) { account in
      let standings = Variant.allCases.map { account[$0] }
      let games = standings.reduce(0) { $0 + $1.won + $1.drawn + $1.lost }
      return ["\(account.id)", account.name, "\(Int(account.rating.value.rounded()))", "\(games)"]
        + [account.guest, account.muted, account.banned].map { $0 ? "yes" : "no" }
    }
  }

  func reports(_ request: HTTPRequest) async throws -> HTTPReply {
    guard let given = request.parameters(["before"]), let before = Self.number(given["before"], else: .max) else {
      return .refusal(.badRequest, "/reports takes before=ID, the number of a report")
    }
    let question = StoreQuestion.reports(before: before, limit: Self.rowsOfPage + 1)
    guard case .reports(let found) = try await host.look(question) else { return Self.noAnswer }
    return Self.page(
      ["id", "at", "account", "name", "opponent", "match", "text"], found, next: "reports?before"
    ) { report in
      let at = Date(timeIntervalSince1970: Double(report.at) / 1000).formatted(.iso8601)
      let names = [report.name, report.opponent]
      return ["\(report.id)", at, "\(report.account)"] + names + [report.m.rawValue, report.text]
    }
  }

  private static var noAnswer: HTTPReply { .refusal(.serviceUnavailable, "the store does not answer") }

  /// Parses a number of at least 0. Returns `none` if there is no text, and `nil` for any other text.
  private static func number(_ text: String?, else none: Int64) -> Int64? {
    guard let text else { return none }
    return Int64(text).flatMap { $0 >= 0 ? $0 : nil }
  }

  /// If `found` has more than `rowsOfPage` rows, the page ends with the next page's address.
  private static func page<Row>(
    _ titles: [String], _ found: [Row], next: String, fields: (Row) -> [String]
  ) -> HTTPReply {
    let rows = found.prefix(rowsOfPage).map(fields)
    var text = ([titles] + rows).map { $0.joined(separator: "\t") + "\n" }.joined()
    if found.count > rowsOfPage, let last = rows.last?.first { text += "next: /\(next)=\(last)\n" }
    return HTTPReply(text: text)
  }
}

extension HTTPRequest {
  /// The parameters behind the question mark; `nil` if a parameter is not allowed, repeated or without a value.
  fileprivate func parameters(_ allowed: [String]) -> [String: String]? {
    var found: [String: String] = [:]
    for part in query.split(separator: "&") {
      let sides = part.split(separator: "=", maxSplits: 1).map(String.init)
      guard sides.count == 2, allowed.contains(sides[0]), found.updateValue(sides[1], forKey: sides[0]) == nil else {
        return nil
      }
    }
    return found
  }
}
