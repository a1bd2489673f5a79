import Base
import Foundation
import Records
import TicTacToe

/// The start of a pair of games of Classic.
package struct Opening: Sendable, Hashable {
  /// The position before the moves.
  package var start: Position
  /// The opening's moves, of both sides.
  package var moves: [Square]

  /// The empty board and no moves.
  package static let none = Opening(start: .start, moves: [])

  /// The opening as a `VariantOpening`, the type for all variants.
  var general: VariantOpening {
    VariantOpening(start: start == .start ? nil : start.notation, cells: moves.map { Cell(rawValue: $0.rawValue) })
  }
}

extension Opening {
  /// Reads a line: moves, `fen POSITION`, `fen POSITION moves …`, or a position alone; the game must not be over.
  package init(_ line: String) throws(ArenaError) {
    var words = line.split(whereSeparator: \.isWhitespace).map(String.init)
    var start = Position.start
    if words.first == "fen" { words.removeFirst() }
    if let first = words.first, first.contains("/") {
      let hasSide = words.count > 1 && ["x", "o", "w", "b"].contains(words[1].lowercased())
      let notation = Array(words.prefix(hasSide ? 2 : 1))
      guard let read = UCINotation.position(notation) else {
        throw ArenaError("opening '\(line)': '\(notation.joined(separator: " "))' is not a position")
      }
      start = read
      words.removeFirst(hasSide ? 2 : 1)
      // Ignore the fields of an EPD line (extended position description) that follow the position.
      if words.first == "-" { words = Array(words.drop { $0 != "moves" }) }
    }
    if words.first == "moves" || words.first == "startpos" { words.removeFirst() }
    var position = start
    var moves: [Square] = []
    for word in words {
      guard let square = Square(name: word) else { throw ArenaError("opening '\(line)': '\(word)' is not a cell") }
      guard position.legalMoves.contains(square) else { throw ArenaError("opening '\(line)': \(word) is not legal") }
      position = position.playing(square)
      moves.append(square)
    }
    guard position.outcome == nil else { throw ArenaError("opening '\(line)': the game is over already") }
    self.init(start: start, moves: moves)
  }
}

/// The openings of a run. In one round, each pairing plays a pair of games, and all these pairs have the same opening.
package enum Openings: Sendable, Hashable {
  /// Every game starts from the empty board.
  case none
  /// A number of random moves, different for each pair of games.
  case random(plies: Int)
  /// The openings of a list in turn, for Classic.
  case list([Opening])
  /// The openings of a list in turn, for a variant other than Classic.
  case variantList(Variant, [VariantOpening])

  /// The maximum number of openings in a file.
  package static let limit = 10_000

  /// The variant of the openings in a list; `nil` if the openings fit every variant.
  var variant: Variant? {
    switch self {
    case .none, .random: nil
    case .list: .classic
    case .variantList(let variant, _): variant
    }
  }

  /// The lines of a list for the header of a file of games; `nil` for other openings.
  var lines: [String]? {
    switch self {
    case .none, .random: nil
    case .list(let list): list.map { $0.general.text(.classic) }
    case .variantList(let variant, let list): list.map { $0.text(variant) }
    }
  }

  /// Parses `random:N` or the lines of a file; `#` starts a comment.
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
    // If the file is a book of games, each game is an opening.
    let games: [Game]
    do { games = try Record.all(in: String(text), variants: [variant]).map(\.game) } catch {
      throw ArenaError("--openings \(argument): \(error)")
    }
    try Openings.check(games.count, argument)
    if let place = games.firstIndex(where: { $0.state.outcome != nil }) {
      throw ArenaError("--openings \(argument), game \(place + 1): the game is over already")
    }
    self =
      variant.isPacked
      ? .list(games.map { Opening(start: $0.start, moves: $0.moves) })
      : .variantList(variant, games.map { VariantOpening($0) })
  }

  init(lines: [String], name: String, _ variant: Variant = .classic) throws(ArenaError) {
    func read<Line>(_ opening: (String) throws(ArenaError) -> Line) throws(ArenaError) -> [Line] {
      var list: [Line] = []
      for (number, line) in lines.enumerated() {
        let content = line.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)[0]
        guard content.contains(where: { !$0.isWhitespace }) else { continue }
        do { list.append(try opening(String(content).trimmingCharacters(in: .whitespaces))) } catch {
          throw ArenaError("\(name), line \(number + 1): \(error)")
        }
      }
      try Openings.check(list.count, name)
      return list
    }
    self =
      variant.isPacked
      ? .list(try read { (line) throws(ArenaError) in try Opening(line) })
      : .variantList(variant, try read { (line) throws(ArenaError) in try VariantOpening(line, variant) })
  }

  private static func check(_ count: Int, _ name: String) throws(ArenaError) {
    guard (1...Openings.limit).contains(count) else {
      throw ArenaError("\(name): 1–\(Openings.limit) openings are needed, found \(count)")
    }
  }

  /// The position in which a pair of games starts, before the moves of its opening.
  func start(pair: Int) -> Position { if case .list(let list) = self { list[pair % list.count].start } else { .start } }

  /// The opening of a pair of games.
  func opening<R: Rules>(pair: Int, seed: UInt64, _ rules: R.Type) -> VariantOpening {
    switch self {
    case .none: return VariantOpening()
    case .list(let list): return list[pair % list.count].general
    case .variantList(_, let list): return list[pair % list.count]
    case .random(let plies):
      // The games draw random numbers from the run's seed. XOR with a constant gives the openings a seed of their own, so that openings do
      // not repeat the games' random numbers.
      var generator = SplitMix64(seed: seed ^ 0x6F70_656E_696E_6773, index: UInt64(pair))
      return VariantOpening(R.self, plies: plies, using: &generator)
    }
  }

  /// The opening of a pair of games of Classic.
  func opening(pair: Int, seed: UInt64) -> Opening {
    switch self {
    case .none, .variantList: return .none
    case .list(let list): return list[pair % list.count]
    case .random:
      let cells = opening(pair: pair, seed: seed, Classic.self).cells
      return Opening(start: .start, moves: cells.map { Square($0.index) })
    }
  }
}
