import Base
import TicTacToe

extension Variant {
  /// The most plies of a game in any variant, after which Infinite is drawn.
  static let longestGame = 100

  /// The name of the rules in file headers: `standard` predates the variants.
  var headerName: String { self == .classic ? "standard" : rawValue }

  /// The variant of a header's `rules`.
  init?(headerName: String) {
    guard let variant = Variant.allCases.first(where: { $0.headerName == headerName }) else { return nil }
    self = variant
  }

  /// The name in UCI's option `UCI_Variant`.
  var uciName: String { self == .classic ? "tictactoe" : rawValue }

  /// The variant of the option `--rules`.
  package init(option text: String) throws(ArenaError) {
    guard let variant = Variant(rawValue: text) else {
      throw ArenaError("--rules '\(text)': \(Variant.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    self = variant
  }
}
