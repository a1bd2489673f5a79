import Base
import TicTacToe

extension Variant {
  /// The most plies of a game of any variant: Infinite is drawn then.
  static let longestGame = 100

  /// The name of the rules in the headers of files: `standard` has been there before the others.
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
