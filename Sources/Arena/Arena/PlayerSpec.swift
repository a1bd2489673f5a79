import Foundation
import Opponents
import TicTacToe

/// The specification of a player, such as `mcts:800`, from the command line or from the header of a file of games.
package enum PlayerSpec: Sendable, Hashable {
  /// A memoryless player with a name, such as `random`.
  case simple(SimpleOpponent)
  /// `levels:N`: one of Alina's computer opponents, 1–6.
  case level(Int)
  /// `mcts:BUDGET`: Monte Carlo tree search with random playouts.
  case mcts(SearchBudget)
  /// `search:BUDGET`: Ultimate's tree search with the learned value function, as the highest level uses it.
  case search(SearchBudget)
  case menace(file: String?)
  case adaptive
  /// `cmd:COMMAND ARGUMENT…`: an engine that speaks UCI.
  case engine([String])

  /// In bytes. The header of a file of games contains the command, so the limit bounds the header.
  package static let commandLimit = 4096

  package static let memoryless = SimpleOpponent.allCases.map(\.name).joined(separator: ", ") + ", levels:1–6"
  package static let allowed =
    memoryless + ", mcts:BUDGET, search:BUDGET (Ultimate), menace[:FILE], adaptive, cmd:COMMAND"

  package init(_ text: String) throws(ArenaError) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let argument = parts.count > 1 ? parts[1] : nil
    if argument == nil, let simple = SimpleOpponent(rawValue: parts[0]) {
      self = .simple(simple)
      return
    }
    switch (parts[0], argument) {
    case ("levels", let number?):
      guard let level = Int(number), (1...6).contains(level) else {
        throw ArenaError("player '\(text)': levels are 1–6")
      }
      self = .level(level)
    case ("mcts", let argument?), ("search", let argument?):
      guard let budget = SearchBudget(argument) else {
        throw ArenaError("player '\(text)': \(parts[0]) needs \(SearchBudget.allowed)")
      }
      self = parts[0] == "mcts" ? .mcts(budget) : .search(budget)
    case ("menace", let file):
      guard file != "" else { throw ArenaError("player '\(text)': the file's name is missing") }
      self = .menace(file: file)
    case ("adaptive", nil): self = .adaptive
    case ("cmd", let command?):
      let words = try PlayerSpec.words(of: command)
      guard !words.isEmpty, command.utf8.count <= PlayerSpec.commandLimit else {
        throw ArenaError("player 'cmd:': a command of 1–\(PlayerSpec.commandLimit) bytes must follow")
      }
      self = .engine(words)
    default: throw ArenaError("unknown player '\(text)'; allowed: \(PlayerSpec.allowed)")
    }
  }

  /// Quotes group words; a backslash escapes the next character.
  static func words(of command: String) throws(ArenaError) -> [String] {
    var words: [String] = []
    var word: String?
    var quote: Character?
    var isEscaped = false
    for character in command {
      if isEscaped {
        word = (word ?? "") + String(character)
        isEscaped = false
      } else if character == "\\", quote != "'" {
        isEscaped = true
      } else if let open = quote {
        if character == open { quote = nil } else { word?.append(character) }
      } else if character == "'" || character == "\"" {
        quote = character
        word = word ?? ""
      } else if character.isWhitespace {
        if let word { words.append(word) }
        word = nil
      } else {
        word = (word ?? "") + String(character)
      }
    }
    guard quote == nil, !isEscaped else { throw ArenaError("player 'cmd:\(command)': a quote is not closed") }
    if let word { words.append(word) }
    return words
  }

  /// The form that `init` reads.
  package var text: String {
    switch self {
    case .simple(let player): player.rawValue
    case .level(let number): "levels:\(number)"
    case .mcts(let budget): "mcts:\(budget.text)"
    case .search(let budget): "search:\(budget.text)"
    case .menace(let file): file.map { "menace:\($0)" } ?? "menace"
    case .adaptive: "adaptive"
    case .engine(let words):
      "cmd:"
        + words.map { word in
          word.contains(where: { $0.isWhitespace || "'\"\\".contains($0) }) || word.isEmpty
            ? "'" + word.replacing("'", with: "'\"'\"'") + "'" : word
        }.joined(separator: " ")
    }
  }

  package var isEngine: Bool { if case .engine = self { true } else { false } }

  /// `nil` for players that do not search.
  var budget: SearchBudget? {
    switch self {
    case .mcts(let budget), .search(let budget): budget
    default: nil
    }
  }

  /// Whether the player's search is limited in time, so that its moves depend on the speed of the machine; `false` for engines.
  var isTimed: Bool { if case .milliseconds? = budget { true } else { false } }

  /// For a caller that limits the time: the same player with an unlimited number of simulations.
  var untimed: PlayerSpec {
    guard isTimed else { return self }
    let most = SearchBudget.simulations(SearchBudget.simulationLimit)
    return if case .mcts = self { .mcts(most) } else { .search(most) }
  }
}
