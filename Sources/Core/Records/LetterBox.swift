import Base
import TicTacToe

/// The newest letter of each game played by links. Ignores a letter that is older than the stored letter or contradicts it.
package struct LetterBox: Sendable, Hashable {
  /// `you` is the side of this device's user, `since` the local time at which the letter was written or opened (`2026-11-22-154210`).
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

    package init?(text: String) {
      let parts = text.split { $0.isWhitespace }
      guard parts.count == 3, let you = Player(text: String(parts[0])) else { return nil }
      do throws(NotationError) { letter = try Letter(link: String(parts[2])) } catch { return nil }
      (self.you, since) = (you, String(parts[1]))
    }
  }

  package enum Relation: Sendable, Hashable {
    /// No letter of the game is stored.
    case first
    /// The letter continues the stored game, which has `known` moves.
    case newer(known: Int)
    /// Both letters have the same moves, end and draw offer.
    case same
    /// The stored game has a move, an end or a draw offer that the letter lacks.
    case old
    /// The letter contradicts the stored game: another move, another end, or the rules of another variant.
    case fork
  }

  package private(set) var entries: [UInt64: Entry] = [:]

  package init(_ entry: Entry? = nil) { if let entry { entries[entry.letter.id] = entry } }

  /// Stores an opened letter that begins a game or continues the stored game.
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

  /// Stores a letter of the device's user, unless it is old or contradicts the stored letter.
  @discardableResult
  package mutating func keep(_ own: Entry) -> Relation {
    guard let entry = entries[own.letter.id] else {
      entries[own.letter.id] = own
      return .first
    }
    let relation = LetterBox.relation(of: own.letter, to: entry.letter)
    switch relation {
    case .newer: entries[own.letter.id] = own
    // The game is the same, but the user may have changed the letter's `words`.
    case .same where own.letter.sender == entry.you: entries[own.letter.id]?.letter = own.letter
    default: break
    }
    return relation
  }

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
