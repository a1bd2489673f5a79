import Base
import TicTacToe

/// A letter of a correspondence game, whose players send each other links: the whole game so far and a line of text.
///
/// A letter is written after a move of its sender, a resignation, the agreement to a draw, or before the first move of a rematch. Its link
/// is the link of a `Record` with the tags `Letter` and `Words`.
package struct Letter: Sendable, Hashable {
  /// The number of the game, drawn at random for its first letter.
  package let id: UInt64
  package private(set) var game: Game
  /// The sender's line of text; may be empty.
  package private(set) var words = ""
  private var names = ["", ""]

  /// `words` and `name` are in grapheme clusters; a server allows names of the same length.
  package enum Limit {
    package static let words = 80
    package static let name = 20
    /// Bytes allowed for each cluster, as one cluster can have any number of combining marks.
    static let bytesPerCluster = 8
    /// The most characters of a link. The longest game with the longest texts has about 1,300.
    static let link = 2_000
    /// The most bytes into which a link is decoded, as a server decodes the links of strangers. The longest texts, in which each cluster
    /// needs a backslash, and the longest game, with a byte for each move, have about 1,350.
    static let decoded = 1_500
  }

  package init(id: UInt64, variant: Variant) {
    (self.id, game) = (id, Game(from: VariantState(startOf: variant)))
  }

  /// As 16 hexadecimal digits.
  package var name: String { Letter.name(of: id) }

  package static func name(of id: UInt64) -> String {
    let digits = String(id, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  // MARK: - State

  package var sender: Player {
    isEndedByHand ? game.turn : game.cells.isEmpty ? .o : game.mover(ofMove: game.cells.count - 1)
  }

  /// By a resignation or an agreement.
  var isEndedByHand: Bool { game.end.map { $0.termination != .normal } ?? false }

  /// The player's name; empty if unknown.
  package subscript(player: Player) -> String {
    get { names[player == .x ? 0 : 1] }
    set {
      let line = Letter.line(newValue, atMost: Limit.name)
      // Records write a question mark for an unknown name.
      names[player == .x ? 0 : 1] = line == "?" ? "" : line
    }
  }

  package mutating func write(_ text: String) { words = Letter.line(text, atMost: Limit.words) }

  /// Converts a text to one line of at most `count` characters: replaces control characters by blanks, and removes marks that change the
  /// direction of the text around them.
  private static func line(_ text: String, atMost count: Int) -> String {
    let visible = text.unicodeScalars.filter { !$0.changesDirection }.map { $0.isControl ? " " : $0 }
    var line = ""
    for (index, character) in Record.trimmed(String(String.UnicodeScalarView(visible))).enumerated() {
      guard index < count, line.utf8.count + String(character).utf8.count <= count * Limit.bytesPerCluster else {
        break
      }
      line.append(character)
    }
    return Record.trimmed(line)
  }

  // MARK: - Answers of the side to move

  /// Clears `words`, the line of text of the letter before.
  package mutating func play(_ cell: Cell) throws(RuleViolation) {
    try game.play(cell)
    words = ""
  }

  /// Attaches an offer of a draw to the sender's last move, or removes it.
  package mutating func setOffer(_ isOffered: Bool) {
    guard !game.isOver, !game.cells.isEmpty else { return }
    game.drawOffer = isOffered ? sender : nil
  }

  /// Ends the game by resignation of the side to move, or by its agreement to the offered draw.
  package mutating func end(_ termination: Termination) {
    guard !game.isOver, termination == .resignation || game.drawOffer != nil else { return }
    let outcome: Outcome = termination == .resignation ? .win(game.turn.opponent) : .draw
    game.finish(GameEnd(outcome: outcome, termination: termination))
    words = ""
  }

  /// The next game with swapped sides. Its number follows from this game's number, so that both players begin the same game.
  package var rematch: Letter {
    var random = SplitMix64(seed: id)
    var next = Letter(id: random.next(), variant: game.variant)
    next.names = names.reversed()
    return next
  }

  // MARK: - Link

  private static let (idTag, wordsTag) = ("Letter", "Words")

  private var record: Record {
    var record = Record(game: game)
    for player in Player.allCases { record[player: player] = self[player].isEmpty ? nil : self[player] }
    record[tag: Letter.idTag] = name
    record[tag: Letter.wordsTag] = words.isEmpty ? nil : words
    return record
  }

  /// The game as a record to be played as music, with two seconds between moves instead of days.
  package var piece: Record {
    var record = record
    record.times = game.cells.map { _ in .init(elapsed: Letter.pause) }
    return record
  }

  /// In milliseconds.
  package static let pause: Int64 = 2_000

  package var link: String {
    guard let link = record.link else { preconditionFailure("a letter is shorter than any limit of links") }
    return link
  }

  /// Throws a one-line message if the link was cut off or changed, or is not a letter's.
  package init(link: String) throws(NotationError) {
    let foreign = NotationError(column: 1, message: "this link is not a letter")
    guard link.utf8.count <= Limit.link else { throw foreign }
    let record = try Record(link: link, atMost: Limit.decoded)
    guard let id = UInt64(record[tag: Letter.idTag] ?? "", radix: 16), record.game.isFromStart else { throw foreign }
    (self.id, game) = (id, record.game)
    for player in Player.allCases { self[player] = record[player: player] ?? "" }
    write(record[tag: Letter.wordsTag] ?? "")
    // Refuses a record that a letter would write differently: one with times or other tags, or with another spelling of the number or the
    // texts.
    guard self.record == record, isPossible else { throw foreign }
  }

  /// Whether a player can have written the letter: an open draw offer comes from the side that made the last move, for example.
  private var isPossible: Bool {
    if let offer = game.drawOffer { return !game.isOver && !game.cells.isEmpty && offer == sender }
    guard let end = game.end, isEndedByHand else { return true }
    return end.termination == .resignation && end.outcome == .win(game.turn.opponent)
      || end.termination == .agreement && !game.cells.isEmpty
  }

  /// The word of a letter's link in a text that is one URL; `nil` for other texts.
  package static func link(in text: String) -> String? { linkWord("l", in: text) }
}
