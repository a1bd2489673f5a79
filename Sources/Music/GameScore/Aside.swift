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
  /// The asides before the first move whose undo is not among them: a replay that took it up would go on from a position
  /// that the game never kept.
  fileprivate static func whole(_ asides: [Aside]) -> [Aside] {
    var taken: [Int] = []
    for (index, aside) in asides.enumerated() {
      switch aside.kind {
      case .taken: taken.append(index)
      case .undone: _ = taken.popLast()
      case .connection: break
      }
    }
    return Array(asides.prefix(taken.first ?? asides.count))
  }

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
  /// The annotations of the tag `Asides`, in order. A tag that would be too long is cut after the last complete take-back.
  package var asides: [Aside] {
    get { Aside.whole((self[tag: "Asides"] ?? "").split(separator: " ").compactMap { Aside($0, game.variant) }) }
    set {
      var fitting: [Aside] = []
      var left = Limit.tagValue
      for aside in newValue.sorted(by: { $0.frame < $1.frame }) {
        left -= aside.text(game.variant).utf8.count
        if left < 0 { break }
        fitting.append(aside)
        left -= 1
      }
      let texts = Aside.whole(fitting).map { $0.text(game.variant) }
      self[tag: "Asides"] = texts.isEmpty ? nil : texts.joined(separator: " ")
    }
  }
}
