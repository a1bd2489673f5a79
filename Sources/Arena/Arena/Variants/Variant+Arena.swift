import Base
import TicTacToe

extension Variant {
  /// The most plies of a game of any variant.
  static let longestGame = allCases.map { $0.plyLimit }.max() ?? 0

  /// Whether `PackedGame` contains the moves of a game; otherwise `GameMoves` has them.
  var isPacked: Bool { isImplied }

  /// Whether players search with learnt values, because no table has the exact values.
  var hasLearntValue: Bool { !isSolved }

  /// The maximum of `--openings random:N`: after more random plies some games would already be over.
  var randomPlies: Int { isOneBoard ? 4 : 16 }

  /// The number of random plies in the openings of `alina-arena compare`.
  package var comparedPlies: Int { isOneBoard ? 2 : 4 }

  /// The name in UCI's option `UCI_Variant`.
  var uciName: String { isImplied ? "tictactoe" : rawValue }

  package init(option text: String) throws(ArenaError) {
    guard let variant = Variant(rawValue: text) else {
      throw ArenaError("--rules '\(text)': \(Variant.names)")
    }
    self = variant
  }
}
