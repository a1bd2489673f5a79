import Base
import Foundation
import Records
import TicTacToe

/// In one round, each pairing plays a pair of games, and all these pairs have the same opening.
package enum Openings: Sendable, Hashable {
  case none
  /// Drawn anew for each round.
  case random(plies: Int)
  /// Each round takes the next opening of the list.
  case list(Variant, [GameMoves])

  package static let limit = 10_000

  /// `nil` if the openings fit every variant.
  var variant: Variant? { if case .list(let variant, _) = self { variant } else { nil } }

  /// The lines of a list for the header of a file of games.
  var lines: [String]? {
    if case .list(let variant, let list) = self { list.map { $0.text(variant) } } else { nil }
  }

  /// `argument` is `random:N`, or the path of a file with an opening a line (`#` starts a comment) or with records.
  package init(argument: String, _ variant: Variant = .classic) throws(ArenaError) {
    if argument.hasPrefix("random:") {
      let most = variant.randomPlies
      guard let plies = Int(argument.dropFirst(7)), (0...most).contains(plies) else {
        throw ArenaError("--openings '\(argument)': random:0 to random:\(most)")
      }
      self = .random(plies: plies)
      return
    }
    let bytes = try readFile(argument, limit: 1 << 20)
    guard let text = String(validating: bytes, as: UTF8.self)?.trimmingPrefix("\u{FEFF}") else {
      throw ArenaError("--openings \(argument): not UTF-8")
    }
    guard text.drop(while: \.isWhitespace).first == "[" else {
      self = try Openings(
        lines: text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init),
        name: argument, variant)
      return
    }
    // A file that begins with `[` has records of games, each of which is an opening.
    let games: [Game]
    do { games = try Record.all(in: String(text), variants: [variant]).map(\.game) } catch {
      throw ArenaError("--openings \(argument): \(error)")
    }
    try Openings.check(games.count, argument)
    if let place = games.firstIndex(where: { $0.state.outcome != nil }) {
      throw ArenaError("--openings \(argument), game \(place + 1): the game is over already")
    }
    self = .list(variant, games.map { GameMoves($0) })
  }

  init(lines: [String], name: String, _ variant: Variant = .classic) throws(ArenaError) {
    var list: [GameMoves] = []
    for (number, line) in lines.enumerated() {
      let content = line.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)[0]
      guard content.contains(where: { !$0.isWhitespace }) else { continue }
      do { list.append(try GameMoves(String(content).trimmingCharacters(in: .whitespaces), variant)) } catch {
        throw ArenaError("\(name), line \(number + 1): \(error)")
      }
    }
    try Openings.check(list.count, name)
    self = .list(variant, list)
  }

  private static func check(_ count: Int, _ name: String) throws(ArenaError) {
    guard (1...Openings.limit).contains(count) else {
      throw ArenaError("\(name): 1–\(Openings.limit) openings are needed, found \(count)")
    }
  }

  /// The position in which the games of the round `pair` begin; `nil` for the usual initial position.
  func start(pair: Int) -> VariantState? {
    if case .list(_, let list) = self { list[pair % list.count].start } else { nil }
  }

  func opening<R: Rules>(pair: Int, seed: UInt64, _ rules: R.Type) -> GameMoves {
    switch self {
    case .none: return .none
    case .list(_, let list): return list[pair % list.count]
    case .random(let plies):
      // XOR with a constant, so that the openings do not repeat the random numbers of the games, which are drawn from the run's seed.
      var generator = SplitMix64(seed: seed ^ 0x6F70_656E_696E_6773, index: UInt64(pair))
      return GameMoves(R.self, plies: plies, using: &generator)
    }
  }
}
