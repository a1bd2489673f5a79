import Base
import TicTacToe

/// The touches of the board outside of a game, with all other data from which their music follows, except the score rules.
package struct FreePlay: Sendable, Hashable {
  package struct Touch: Sendable, Hashable {
    /// Since the start of free play.
    package var milliseconds: Int64
    package var square: Square
    /// The side in whose register the touch sounds.
    package var side: Player

    package init(milliseconds: Int64, square: Square, side: Player) {
      (self.milliseconds, self.square, self.side) = (milliseconds, square, side)
    }
  }

  package enum Limit {
    /// The most touches. Their link has fewer than 4,000 characters, and fits into a comment of a record.
    package static let touches = 640
    /// The most milliseconds between touches: after ten minutes the last echo has ended, and the next touch begins a new piece.
    package static let gap: Int64 = 600_000
  }

  /// The seed of the music, below 2³².
  package var seed: UInt64
  /// The place of the music's tonic in the cycle of tonics, 0–23.
  package var place: Int
  /// Per cent of the score rules' tempo, 70–130.
  package var pace = 100
  package var touches: [Touch] = []

  package init(seed: UInt64, place: Int) { (self.seed, self.place) = (seed & 0xFFFF_FFFF, place % 24) }

  // MARK: - Links

  private static let version: UInt8 = 1

  package var link: String {
    var (coder, play) = (LinkCoder(), self)
    _ = coder.code(&play)
    return coder.word(FreePlay.version, countBytes: 0)
  }

  /// The word of a link in a text that is a URL ending with this word; `nil` for other texts.
  package static func link(in text: String) -> String? { linkWord("f", in: text) }

  /// Throws a one-line message if the link was cut off, changed, or made by a newer version.
  package init(link: String) throws(NotationError) {
    guard link.utf8.count <= Record.Limit.comment, let word = Base64URL.bytes(link), word.count > 4 else {
      throw .damagedLink
    }
    guard word[0] == FreePlay.version else { throw .foreignLink }
    self.init(seed: 0, place: 0)
    var decoder = LinkCoder(reading: Array(word[4...]))
    guard decoder.code(&self), self.link == link else { throw .damagedLink }
  }
}

extension LinkCoder {
  /// Writes free play, or reads it; `false` if a number exceeds its limit.
  fileprivate mutating func code(_ play: inout FreePlay) -> Bool {
    guard let count = code(count: play.touches.count, .touches, atMost: FreePlay.Limit.touches),
      let seed = code(Int64(play.seed), .start), seed <= 0xFFFF_FFFF,
      let place = code(count: play.place, .bar, atMost: 23),
      let pace = code(count: play.pace, .clock, atMost: 130), pace >= 70
    else { return false }
    (play.seed, play.place, play.pace) = (UInt64(seed), place, pace)
    var last: Int64 = 0
    for index in 0..<count {
      let touch = isReading ? nil : play.touches[index]
      guard let gap = code(touch.map { $0.milliseconds - last } ?? 0, .gap), gap <= FreePlay.Limit.gap,
        let cell = code(count: touch.map { $0.square.index * 2 + ($0.side == .x ? 0 : 1) } ?? 0, .touch, atMost: 17)
      else { return false }
      last += gap
      guard isReading else { continue }
      play.touches.append(
        FreePlay.Touch(milliseconds: last, square: Square(cell / 2), side: cell % 2 == 0 ? .x : .o))
    }
    return true
  }
}

extension Record {
  private static let touches = "[%touches "

  /// A game without moves, whose comment has the touches.
  package init(_ play: FreePlay) {
    self.init(game: Game())
    comments = [Comment(ply: 0, text: Record.touches + play.link + "]")]
  }

  /// `nil` for the record of a game.
  package var freePlay: FreePlay? {
    guard game.cells.isEmpty, let text = comments.first?.text, text.hasPrefix(Record.touches), text.hasSuffix("]")
    else {
      return nil
    }
    return try? FreePlay(link: String(text.dropFirst(Record.touches.count).dropLast()))
  }
}
