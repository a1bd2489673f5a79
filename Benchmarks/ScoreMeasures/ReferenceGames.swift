import Base
import Records
import TicTacToe

/// For measurements: players win if they can, else block, else move at random. In Misère they avoid lines and else move at random.
package enum ReferenceGames {
  /// Game number `index`, from 0, of the series `seed`. In Ultimate a player wins or blocks on the small board in which the move is made.
  package static func game(_ variant: Variant = .classic, seed: UInt64, index: Int) -> Record {
    var generator = SplitMix64(seed: seed, index: UInt64(index))
    var game = Game(from: VariantState(startOf: variant))
    while !game.isOver {
      let moves = Array(game.state.moves)
      func completing(_ player: Player) -> [Cell] {
        moves.filter { game.state.winningSquares(for: player, on: $0.index / 9).contains(Square($0.index % 9)) }
      }
      let (wins, blocks) = (completing(game.turn), completing(game.turn.opponent))
      var safe: [Cell] = []
      if case .misere(let position) = game.state {
        safe = moves.filter { !position.winningSquares(for: position.turn).contains(Square($0.index)) }
      }
      let cells = [wins, blocks, safe].first { !$0.isEmpty } ?? moves
      guard (try? game.play(cells[generator.below(cells.count)])) != nil else { break }
    }
    var record = Record(game: game)
    record.seed = generator.next()
    return record
  }

  package static func games(_ count: Int, of variant: Variant = .classic, seed: UInt64 = 1) -> [Record] {
    (0..<count).map { game(variant, seed: seed, index: $0) }
  }
}
