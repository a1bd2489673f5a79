import Records
import ScoreModel
import TicTacToe

/// An annotation of a record: something that the music responded to besides the moves in the record, such as a move taken back.
package struct Annotation: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    /// A move that was later taken back. `choices` are the numbers of the candidate melodies of its bar and the bars after it.
    case taken(Cell, choices: [Int])
    case undone
    case connection(lost: Bool)
  }

  /// The time of the annotated event, in frames at 48 kHz from the session's first sound.
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

extension Annotation {
  /// The annotations before the first `taken` without an `undone`: replaying this move would leave a mark that the game does not have.
  fileprivate static func whole(_ annotations: [Annotation]) -> [Annotation] {
    var taken: [Int] = []
    for (index, aside) in annotations.enumerated() {
      switch aside.kind {
      case .taken: taken.append(index)
      case .undone: _ = taken.popLast()
      case .connection: break
      }
    }
    return Array(annotations.prefix(taken.first ?? annotations.count))
  }

  /// Parses an annotation such as `undo@96000` or `b2@48000:3` (the move b2 at frame 48,000 with candidate 3); `nil` if invalid.
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
  /// The annotations of the tag `Asides`, sorted by time. The setter drops the last annotations, so that the tag fits `Limit.tagValue`.
  package var annotations: [Annotation] {
    get {
      Annotation.whole((self[tag: "Asides"] ?? "").split(separator: " ").compactMap { Annotation($0, game.variant) })
    }
    set {
      var fitting: [Annotation] = []
      var left = Limit.tagValue
      for aside in newValue.sorted(by: { $0.frame < $1.frame }) {
        left -= aside.text(game.variant).utf8.count
        if left < 0 { break }
        fitting.append(aside)
        left -= 1
      }
      let texts = Annotation.whole(fitting).map { $0.text(game.variant) }
      self[tag: "Asides"] = texts.isEmpty ? nil : texts.joined(separator: " ")
    }
  }
}
