import Base
import Records
import TicTacToe

/// The population the measures are taken over: players that win if they can, else block, else move at random.
package enum ReferenceGames {
  /// Game `index` of a seed, as a record whose music has a seed of its own.
  package static func game(seed: UInt64, index: Int) -> Record {
    var generator = SplitMix64(seed: seed, index: UInt64(index))
    var game = Game()
    while !game.isOver {
      let wins = game.position.winningSquares(for: game.turn)
      let blocks = game.position.winningSquares(for: game.turn.opponent)
      let choice = !wins.isEmpty ? wins : !blocks.isEmpty ? blocks : game.position.legalMoves
      let squares = Array(choice)
      guard (try? game.play(squares[generator.below(squares.count)])) != nil else { break }
    }
    var record = Record(game: game)
    record.seed = generator.next()
    return record
  }

  /// The games `0..<count` of a seed.
  package static func games(_ count: Int, seed: UInt64 = 1) -> [Record] {
    (0..<count).map { game(seed: seed, index: $0) }
  }
}
