import Base
import Foundation
import TicTacToe

/// Successive games of a stage, with their results and lines. The games of a stage can be played in any order.
final class GameBatch: @unchecked Sendable {
  /// The number of games in a full batch. A file's hash is made from the hashes of full batches, so the file format depends on this number.
  static let size = 16_384

  struct Summary {
    /// The numbers of games, by number of moves in a game.
    var lengths = [Int](repeating: 0, count: 10)
    /// The numbers of pairs of games by result, nine for each pairing, beginning with the pairing of the batch's first pair. Number 3 · a +
    /// b counts the pairs whose first game has the result a and whose second has b (0 X won, 1 O won, 2 drawn).
    var pairs: [Int]
    var highlights: Highlights?
    /// The lines of games that are not in the file yet.
    var lines: LineBuffer?
    /// The hash of `lines`; `nil` unless the batch is full and none of its games was in the file before.
    var digest: SHA256.Digest?

    /// Writes the games that are not in the file yet into `lines`, an empty buffer.
    mutating func format(_ batch: GameBatch, _ stage: Stage, _ configuration: RunConfiguration, in lines: LineBuffer) {
      for index in batch.indices.dropFirst(batch.known) {
        let game = stage.game(index)
        if let moves = batch.variantMoves[index] {
          GameLine.write(
            index: index, x: game.x, o: game.o, moves, configuration.variant, game: batch[index],
            notes: batch.notes[index], to: lines)
          continue
        }
        GameLine.write(
          index: index, x: game.x, o: game.o, start: configuration.openings.start(pair: game.opening),
          game: batch[index], notes: batch.notes[index], to: lines)
      }
      if batch.known == 0, batch.indices.count == GameBatch.size { digest = GameHash.digest(of: lines.written) }
      self.lines = lines
    }
  }

  private(set) var indices: Range<Int>
  /// The number of games at the beginning of the batch that are already in the file.
  var known = 0
  /// The number of parts not played yet. A part is the batch's games of some pairings; one thread plays it.
  var partsLeft: Int
  private(set) var notes: [Int: GameNotes] = [:]
  /// The moves by a game's index; empty in Classic.
  private(set) var variantMoves: [Int: GameMoves] = [:]
  private let first: Int
  private let games: UnsafeMutablePointer<PackedGame>

  init(_ indices: Range<Int>, parts: Int) {
    (self.indices, first, partsLeft) = (indices, indices.lowerBound, parts)
    games = .allocate(capacity: indices.count)
    games.initialize(repeating: PackedGame(bits: 0), count: indices.count)
  }

  deinit { games.deallocate() }

  subscript(index: Int) -> PackedGame { games[index - first] }

  func isPlayed(_ index: Int) -> Bool { self[index].bits != 0 }

  @inline(__always)
  func set(_ index: Int, _ game: PackedGame) { games[index &- first] = game }

  func set(_ index: Int, _ played: PlayedGame) {
    set(index, played.game)
    if let found = played.notes { notes[index] = found }
    if let moves = played.moves { variantMoves[index] = moves }
  }

  func played(_ index: Int) -> PlayedGame {
    PlayedGame(game: self[index], moves: variantMoves[index], notes: notes[index])
  }

  /// Pair n is the games with the indices `start` + 2n and `start` + 2n + 1.
  func play(_ random: borrowing RandomGames, seed: UInt64, pairs: StrideTo<Int>, from start: Int) {
    let games = games
    for pair in pairs {
      let index = UInt64(truncatingIfNeeded: start &+ 2 &* pair)
      let place = start &+ 2 &* pair &- first
      games[place] = random.play(seed: seed, index: index)
      games[place &+ 1] = random.play(seed: seed, index: index &+ 1)
    }
  }

  func cut(to end: Int) { indices = indices.lowerBound..<end }

  /// `pairings` is the number of pairings in the stage.
  func counted(pairings: Int) -> Summary {
    let slots = min(pairings, (indices.count + 1) / 2)
    var summary = Summary(pairs: .init(repeating: 0, count: 9 * slots))
    if !variantMoves.isEmpty {
      summary.lengths = .init(repeating: 0, count: Variant.longestGame + 1)
      for place in 0..<indices.count { summary.lengths[games[place].plies] += 1 }
    }
    summary.pairs.withUnsafeMutableBufferPointer { pairs in
      // Count first and second games in different counters. With one counter, two games of the same length would increment it twice in a
      // row, and the second increment would wait for the first.
      var lengths = (InlineArray<16, Int>(repeating: 0), InlineArray<16, Int>(repeating: 0))
      var slot = 0
      for place in stride(from: 0, to: indices.count - 1, by: 2) {
        let (one, two) = (games[place], games[place &+ 1])
        lengths.0[one.count] &+= 1
        lengths.1[two.count] &+= 1
        pairs[9 &* slot &+ 3 &* one.result &+ two.result] &+= 1
        slot = slot &+ 1 == slots ? 0 : slot &+ 1
      }
      guard variantMoves.isEmpty else { return }
      for count in 0..<10 { summary.lengths[count] = lengths.0[count] + lengths.1[count] }
    }
    return summary
  }
}

final class LineBuffer: @unchecked Sendable {
  private(set) var bytes: UnsafeMutableRawBufferPointer
  private(set) var count = 0

  init(capacity: Int) { bytes = .allocate(byteCount: capacity, alignment: 16) }

  deinit { bytes.deallocate() }

  var written: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[..<count]) }

  @inline(__always)
  func reserve(_ more: Int) -> UnsafeMutableRawPointer {
    if bytes.count &- count < more { grow(more) }
    // swift-format-ignore: NeverForceUnwrap
    return bytes.baseAddress! + count
  }

  private func grow(_ more: Int) {
    let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: max(2 * bytes.count, count + more), alignment: 16)
    larger.copyMemory(from: written)
    bytes.deallocate()
    bytes = larger
  }

  /// Ends a write into space from `reserve`: `end` is the address after the last byte written.
  @inline(__always)
  func advance(to end: UnsafeMutableRawPointer) {
    count = end - UnsafeMutableRawPointer(bytes.baseAddress.unsafelyUnwrapped)
  }

  func append(_ text: String) {
    var text = text
    text.withUTF8 {
      guard let base = $0.baseAddress else { return }
      reserve($0.count).copyMemory(from: base, byteCount: $0.count)
      count += $0.count
    }
  }

  func append(_ more: UnsafeRawBufferPointer) {
    guard let base = more.baseAddress else { return }
    reserve(more.count).copyMemory(from: base, byteCount: more.count)
    count += more.count
  }

  func removeAll() { count = 0 }
}
