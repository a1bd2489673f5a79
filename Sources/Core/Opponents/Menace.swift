import Base
import Oracle
import TicTacToe

/// Michie's Matchbox Educable Noughts and Crosses Engine. A bead drawn from the position's box selects the move; after a game, beads are
/// added to the boxes used, or removed from them.
///
/// Source: D. Michie, "Experiments on the mechanization of game-learning", The Computer Journal 6, 1963.
package struct Menace: LearningOpponent {
  /// The beads of each box, by cell of its canonical position.
  package private(set) var beads: [[UInt32]]
  package private(set) var gamesLearned = 0

  /// The most beads of one cell in a box. More beads would only make the box slower to unlearn the cell.
  package static let beadLimit: UInt32 = 1_000_000
  /// The change of a cell's beads for each move of a game that was won, drawn or lost.
  package static let rewards = (win: 3, draw: 1, loss: -1)

  package var name: String { "menace" }

  /// Fills every box as Michie did: each move has 4 beads at the side's first move, and 3, 2 and 1 at its second, third and fourth.
  package init() { beads = MenaceBoxes.shared.boxes.map { MenaceBoxes.firstBeads(of: $0) } }

  /// Restores saved boxes; `nil` if they are invalid.
  package init?(beads: [[UInt32]], gamesLearned: Int) {
    let boxes = MenaceBoxes.shared.boxes
    guard beads.count == boxes.count, gamesLearned >= 0 else { return nil }
    for (box, content) in zip(boxes, beads) {
      guard content.count == 9, content.contains(where: { $0 > 0 }) else { return nil }
      for square in Square.all where content[square.index] > 0 {
        guard box.distinctMoves.contains(square), content[square.index] <= Menace.beadLimit else { return nil }
      }
    }
    (self.beads, self.gamesLearned) = (beads, gamesLearned)
  }

  /// A move's chance is its share of the beads in the position's box. Without a box, all chances are equal.
  package func distribution(in position: Position) -> MoveDistribution {
    guard let (box, symmetry) = MenaceBoxes.shared.find(position) else {
      return MoveDistribution(uniformOver: position.legalMoves)
    }
    let back = symmetry.inverse
    return MoveDistribution(
      weights: Square.all.compactMap { beads[box][$0.index] > 0 ? (back($0), UInt64(beads[box][$0.index])) : nil })
  }

  package func beads(in position: Position) -> MoveDistribution? { distribution(in: position) }

  package func move(in position: Position, lastMove: Square?, using generator: inout SplitMix64) -> Square {
    distribution(in: position).draw(using: &generator)
  }

  /// Adds or removes beads in every box used in the game; refills a box that becomes empty.
  package mutating func learn(from moves: [Square], start: Position, as side: Player, outcome: Outcome?) {
    guard let outcome else { return }
    gamesLearned += 1
    let change: Int
    switch outcome {
    case .draw: change = Menace.rewards.draw
    case .win(let winner): change = winner == side ? Menace.rewards.win : Menace.rewards.loss
    }
    var position = start
    for square in moves {
      if position.turn == side, let (box, symmetry) = MenaceBoxes.shared.find(position) {
        let boxPosition = MenaceBoxes.shared.boxes[box]
        let bead = MenaceBoxes.representative(of: symmetry(square), in: boxPosition)
        let count = Int(beads[box][bead.index]) + change
        beads[box][bead.index] = UInt32(max(0, min(count, Int(Menace.beadLimit))))
        if beads[box].allSatisfy({ $0 == 0 }) { beads[box] = MenaceBoxes.firstBeads(of: boxPosition) }
      }
      position = position.playing(square)
    }
  }

  package var frozen: FrozenPlayer {
    FrozenPlayer(name: "menace:frozen") { (position, _) in distribution(in: position) }
  }
}

/// A learning player that has stopped learning.
package struct FrozenPlayer: MemorylessOpponent {
  package let name: String
  let chances: @Sendable (Position, Square?) -> MoveDistribution

  package func distribution(in position: Position, lastMove: Square?) -> MoveDistribution {
    chances(position, lastMove)
  }
}

/// The boxes of `Menace`. A box stands for a position with two or more moves and for all its images under symmetries.
package struct MenaceBoxes: Sendable {
  package static let shared = MenaceBoxes()

  /// The boxes' canonical positions, ordered by ply and base-3 key.
  package let boxes: [Position]
  /// At a position's base-3 key: 8 times the number of its box, plus the number of the symmetry that maps the position to the box's
  /// position. −1 without a box.
  private let index: [Int16]

  private init() {
    var boxes: [Position] = []
    var index = [Int16](repeating: -1, count: Position.keyCount)
    var numbers: [Position: Int] = [:]
    for position in Solver.positions where position.outcome == nil && position.empty.count > 1 {
      let (canonical, symmetry) = position.canonical
      // The canonical position has the least key of its images, so its box exists before its other positions are reached.
      if canonical == position {
        numbers[position] = boxes.count
        boxes.append(position)
      }
      if let number = numbers[canonical] { index[position.ternaryKey] = Int16(number * 8 + symmetry.index) }
    }
    (self.boxes, self.index) = (boxes, index)
  }

  /// `by` is the symmetry that maps the position to the box's canonical position.
  package func find(_ position: Position) -> (box: Int, by: Symmetry)? {
    let entry = Int(index[position.ternaryKey])
    return entry < 0 ? nil : (entry / 8, Symmetry.all[entry % 8])
  }

  /// The cell whose beads stand for a move in the box of the position `label`: the lowest of the cells to which symmetries that leave
  /// `label` unchanged map the move's cell.
  static func representative(of square: Square, in label: Position) -> Square {
    label.symmetries.map { $0(square) }.min() ?? square
  }

  static func firstBeads(of label: Position) -> [UInt32] {
    let count = UInt32(max(1, 4 - label.ply / 2))
    return Square.all.map { label.distinctMoves.contains($0) ? count : 0 }
  }
}
