import Records
import ScoreModel
import TicTacToe

/// Something the music heard that is no move of the game as it is kept: a move taken back, a connection lost.
package struct Aside: Sendable, Hashable {
  /// What it was.
  package enum Kind: Sendable, Hashable {
    /// A move that was taken back later, with the candidates of the bars that followed it.
    case taken(Cell, choices: [Int])
    /// The last move was taken back.
    case undone
    /// The opponent's connection was lost, or is back.
    case connection(lost: Bool)
  }

  /// The frame at which it was heard.
  package var frame: Int64
  package var kind: Kind

  func text(_ variant: Variant) -> String {
    switch kind {
    case .taken(let cell, let choices): "\(variant.name(of: cell))@\(frame)" + choices.map { ":\($0)" }.joined()
    case .undone: "undo@\(frame)"
    case .connection(let lost): "\(lost ? "lost" : "back")@\(frame)"
    }
  }
}

extension Aside {
  /// Reads one; `nil` if it is none.
  init?(_ text: Substring, _ variant: Variant) {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let numbers = parts[1].split(separator: ":").map { Int64($0) ?? -1 }
    guard let frame = numbers.first, numbers.allSatisfy({ (0...Record.Limit.frame).contains($0) }) else { return nil }
    switch parts[0] {
    case "undo": self.init(frame: frame, kind: .undone)
    case "lost", "back": self.init(frame: frame, kind: .connection(lost: parts[0] == "lost"))
    default:
      guard let cell = variant.cell(named: parts[0]) else { return nil }
      self.init(
        frame: frame, kind: .taken(cell, choices: numbers.dropFirst().map { Int(min($0, 1_000_000)) }))
    }
  }
}

extension Record {
  /// What was heard besides the moves (`Asides`), in order; those that fit a tag.
  package var asides: [Aside] {
    get { (self[tag: "Asides"] ?? "").split(separator: " ").compactMap { Aside($0, game.variant) } }
    set {
      var text = ""
      for aside in newValue.sorted(by: { $0.frame < $1.frame }) {
        let word = (text.isEmpty ? "" : " ") + aside.text(game.variant)
        if text.utf8.count + word.utf8.count > Limit.tagValue { break }
        text += word
      }
      self[tag: "Asides"] = text.isEmpty ? nil : text
    }
  }
}
