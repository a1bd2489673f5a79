import Oracle
import TicTacToe

extension Odds {
  /// The exact chances that X wins, draws or loses a game of Infinite.
  ///
  /// Threefold repetition is left out, as it depends on the whole game: a game that counts as won may have been drawn before the win.
  /// Boards that are images of each other under a symmetry count as one, because the players treat them alike.
  package static func ofInfinite(x: InfiniteOpponent, o: InfiniteOpponent) -> Odds {
    var chains = [InfiniteChain(x), InfiniteChain(o)]
    var live: [Int32] = [0]
    var chances = [Double](repeating: 0, count: InfiniteTable.boardCount)
    var next = chances
    chances[0] = 1
    var wins = [0.0, 0.0]
    for ply in 0..<Infinite.plyLimit {
      var found: [Int32] = []
      for board in live {
        let chance = chances[Int(board)]
        chances[Int(board)] = 0
        for step in chains[ply % 2].steps(from: board) {
          if step.board < 0 {
            wins[ply % 2] += chance * step.chance
          } else {
            if next[Int(step.board)] == 0 { found.append(step.board) }
            next[Int(step.board)] += chance * step.chance
          }
        }
      }
      (live, chances, next) = (found, next, chances)
    }
    return Odds(win: wins[0], draw: max(0, 1 - wins[0] - wins[1]), loss: wins[1])
  }
}

/// A player as a Markov chain. A step is one move of this player, from a board to the board after the move, both up to symmetry.
private struct InfiniteChain {
  struct Step {
    /// The number of the next board, or −1 if the mover has won.
    var board: Int32
    var chance: Double
  }

  private let player: InfiniteOpponent
  /// By board number, the range in `all` of the board's steps; −1 if the steps are not computed yet.
  private var ranges = [(first: Int32, end: Int32)](repeating: (-1, -1), count: InfiniteTable.boardCount)
  private var all: [Step] = []

  init(_ player: InfiniteOpponent) { self.player = player }

  mutating func steps(from number: Int32) -> ArraySlice<Step> {
    if ranges[Int(number)].first < 0 {
      let board = InfiniteTable.board(number: Int(number))
      let moves = player.distribution(on: board)
      let first = Int32(all.count)
      for square in board.moves where moves[square] > 0 {
        var after = board
        after.play(square)
        let place = after.winner == nil ? Int32(InfiniteTable.canonicalNumber(of: after)) : -1
        all.append(Step(board: place, chance: moves.probability(of: square)))
      }
      ranges[Int(number)] = (first, Int32(all.count))
    }
    let (first, end) = ranges[Int(number)]
    return all[Int(first)..<Int(end)]
  }
}
