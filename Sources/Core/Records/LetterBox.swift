import Base
import TicTacToe

/// The newest known letter of each game that is played by links. It only ever takes a letter that continues what is known.
package struct LetterBox: Sendable, Hashable {
  /// The newest letter of a game, the own side, and the local time at which it was written or opened (`2026-11-22-154210`).
  package struct Entry: Sendable, Hashable {
    package var letter: Letter
    package var you: Player
    package var since: String

    package init(_ letter: Letter, you: Player, since: String) {
      (self.letter, self.you, self.since) = (letter, you, since)
    }

    package var isYourTurn: Bool { !letter.game.isOver && letter.game.turn == you }

    /// The entry as a line of text.
    package var text: String { "\(you.text) \(since) \(letter.link)" }

    /// Parses `text`; `nil` for other texts.
    package init?(text: String) {
      let parts = text.split { $0.isWhitespace }
      guard parts.count == 3, let you = Player(text: String(parts[0])) else { return nil }
      do throws(NotationError) { letter = try Letter(link: String(parts[2])) } catch { return nil }
      (self.you, since) = (you, String(parts[1]))
    }
  }

  /// The relation of a letter to what is known of its game.
  package enum Relation: Sendable, Hashable {
    /// The game was not known.
    case first
    /// It continues the known game, which had this number of moves.
    case newer(known: Int)
    /// It says what is known.
    case same
    /// The known game is further.
    case old
    /// It has another move or another end than the known game.
    case fork
  }

  package private(set) var entries: [UInt64: Entry] = [:]

  /// A box with what is known of one game, or an empty one.
  package init(_ entry: Entry? = nil) { if let entry { entries[entry.letter.id] = entry } }

  /// Takes a letter that was opened, unless it is old or contradicts the known game, and returns its relation to that.
  @discardableResult
  package mutating func take(_ letter: Letter, at since: String) -> Relation {
    guard let entry = entries[letter.id] else {
      entries[letter.id] = Entry(letter, you: letter.sender.opponent, since: since)
      return .first
    }
    let relation = LetterBox.relation(of: letter, to: entry.letter)
    if case .newer = relation { entries[letter.id] = Entry(letter, you: entry.you, since: since) }
    return relation
  }

  /// Keeps an own letter, unless it is old or contradicts the known game; returns its relation to that.
  @discardableResult
  package mutating func keep(_ own: Entry) -> Relation {
    guard let entry = entries[own.letter.id] else {
      entries[own.letter.id] = own
      return .first
    }
    let relation = LetterBox.relation(of: own.letter, to: entry.letter)
    switch relation {
    case .newer: entries[own.letter.id] = own
    // The same state with another text.
    case .same where own.letter.sender == entry.you: entries[own.letter.id]?.letter = own.letter
    default: break
    }
    return relation
  }

  /// Compares a letter with the known one of the same game.
  static func relation(of letter: Letter, to known: Letter) -> Relation {
    let (game, before) = (letter.game, known.game)
    let common = zip(game.cells, before.cells).prefix { $0 == $1 }.count
    guard game.variant == before.variant, common == min(game.cells.count, before.cells.count) else { return .fork }
    if game.cells.count < before.cells.count { return letter.isEndedByHand ? .fork : .old }
    let newer = Relation.newer(known: before.cells.count)
    if game.cells.count > before.cells.count { return known.isEndedByHand ? .fork : newer }
    switch (before.end, game.end) {
    case (let end?, let other?): return end == other ? .same : .fork
    case (_?, nil): return .old
    case (nil, let end?): return end.termination == .agreement && before.drawOffer == nil ? .fork : newer
    case (nil, nil): return before.drawOffer == game.drawOffer ? .same : game.drawOffer == nil ? .old : newer
    }
  }
}
