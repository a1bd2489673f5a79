import Base
import Oracle
import TicTacToe

/// Michie's Matchbox Educable Noughts and Crosses Engine. Each position (up to symmetry) has a box of beads, and a bead drawn from this box
/// selects the move. After a game, beads are added to the boxes used, or removed from them.
///
/// Has 304 boxes as X (plies 0, 2, 4, 6) and 289 as O (plies 1, 3, 5, 7). Source: D. Michie, "Experiments on the mechanization of
/// game-learning", The Computer Journal 6, 1963.
package struct Menace: LearningOpponent {
  /// The beads of each box, by cell of its canonical position; 0 for cells without a bead.
  package private(set) var beads: [[UInt32]]
  /// The number of games learned from.
  package private(set) var gamesLearned = 0

  /// The most beads of one cell in a box. More beads would only make the box slower to unlearn the cell.
  package static let beadLimit: UInt32 = 1_000_000
  /// The change of a cell's beads for each move of a game that was won, drawn or lost.
  package static let rewards = (win: 3, draw: 1, loss: -1)

  package var name: String { "menace" }

  /// Fills every box as Michie did: 4 beads for each of the `distinctMoves` of its position at the side's first move, 3, 2 and 1 at its
  /// second, third and fourth move.
  package init() { beads = MenaceBoxes.shared.boxes.map { MenaceBoxes.firstBeads(of: $0) } }

  /// Restores saved boxes. `nil` if `gamesLearned` is negative, if a box is missing or has no bead, if a cell has more than `beadLimit`
  /// beads, or if a cell has beads that is not in `distinctMoves` of the box's position.
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

  /// The chance of each legal move: the move's share of the beads in the position's box; equal chances if the position has no box.
  package func distribution(in position: Position) -> MoveDistribution {
    guard let (box, symmetry) = MenaceBoxes.shared.find(position) else {
      return MoveDistribution(uniformOver: position.legalMoves)
    }
    let back = symmetry.inverse
    return MoveDistribution(
      weights: Square.all.compactMap { beads[box][$0.index] > 0 ? (back($0), UInt64(beads[box][$0.index])) : nil })
  }

  /// The beads of the position's box as chances of the moves; equal chances if the position has no box.
  package func beads(in position: Position) -> MoveDistribution? { distribution(in: position) }

  /// Draws a bead, which selects the move.
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

  /// A copy of the player with the current beads. The copy does not learn.
  package var frozen: FrozenPlayer {
    FrozenPlayer(name: "menace:frozen") { (position, _) in distribution(in: position) }
  }
}

/// A learning player that has stopped learning.
package struct FrozenPlayer: MemorylessOpponent {
  /// The player's name followed by `:frozen`.
  package let name: String
  let chances: @Sendable (Position, Square?) -> MoveDistribution

  /// The chances at the time the player was frozen.
  package func distribution(in position: Position, lastMove: Square?) -> MoveDistribution {
    chances(position, lastMove)
  }
}

/// The boxes of `Menace`, and the box of each position. A box stands for a position with two or more moves and for all its images under
/// symmetries; the canonical one of these positions is the box's position.
package struct MenaceBoxes: Sendable {
  package static let shared = MenaceBoxes()

  /// The boxes' canonical positions, ordered by ply and base-3 key.
  package let boxes: [Position]
  /// At the base-3 key of a position: 8 times the number of its box, plus the number of the symmetry that maps the position to the box's
  /// position. −1 for positions without a box.
  private let index: [Int16]

  private init() {
    var boxes: [Position] = []
    var index = [Int16](repeating: -1, count: Position.keyCount)
    var numbers: [Position: Int] = [:]
    for position in Solver.positions where position.outcome == nil && position.empty.count > 1 {
      let (canonical, symmetry) = position.canonical
      // A box is made at its canonical position. This position has the least key of its images, and positions of a ply come in the order of
      // keys, so the box exists before its other positions are reached.
      if canonical == position {
        numbers[position] = boxes.count
        boxes.append(position)
      }
      if let number = numbers[canonical] { index[position.ternaryKey] = Int16(number * 8 + symmetry.index) }
    }
    (self.boxes, self.index) = (boxes, index)
  }

  /// The number of a position's box, and the symmetry that maps the position to the box's canonical position; `nil` without a box.
  package func find(_ position: Position) -> (box: Int, by: Symmetry)? {
    let entry = Int(index[position.ternaryKey])
    return entry < 0 ? nil : (entry / 8, Symmetry.all[entry % 8])
  }

  /// In the box of the position `label`, the cell whose beads stand for a move: the lowest of the cells to which the symmetries that leave
  /// `label` unchanged map the move's cell.
  static func representative(of square: Square, in label: Position) -> Square {
    label.symmetries.map { $0(square) }.min() ?? square
  }

  /// By cell, the beads of a newly filled box of the position `label`.
  static func firstBeads(of label: Position) -> [UInt32] {
    let count = UInt32(max(1, 4 - label.ply / 2))
    return Square.all.map { label.distinctMoves.contains($0) ? count : 0 }
  }
}
