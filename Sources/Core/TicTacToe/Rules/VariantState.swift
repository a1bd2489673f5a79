import Base

/// A position of any game, for code that is not specialised to one of them.
package enum VariantState: Sendable, Hashable {
  case classic(Position)
  case infinite(Infinite.State)
  case misere(Position)
  case ultimate(Ultimate.State)

  package init(startOf variant: Variant) {
    switch variant {
    case .classic: self = .classic(Classic.start)
    case .infinite: self = .infinite(Infinite.start)
    case .misere: self = .misere(Misere.start)
    case .ultimate: self = .ultimate(Ultimate.start)
    }
  }

  /// Parses a text that `notation` writes.
  package init(_ variant: Variant, notation: String) throws(NotationError) {
    switch variant {
    case .classic: self = .classic(try Classic.state(notation: notation))
    case .infinite: self = .infinite(try Infinite.state(notation: notation))
    case .misere: self = .misere(try Misere.state(notation: notation))
    case .ultimate: self = .ultimate(try Ultimate.state(notation: notation))
    }
  }

  package var notation: String {
    switch self {
    case .classic(let state), .misere(let state): state.notation
    case .infinite(let state): Infinite.notation(of: state)
    case .ultimate(let state): Ultimate.notation(of: state)
    }
  }

  package var variant: Variant {
    switch self {
    case .classic: .classic
    case .infinite: .infinite
    case .misere: .misere
    case .ultimate: .ultimate
    }
  }

  package var turn: Player {
    switch self {
    case .classic(let state), .misere(let state): state.turn
    case .infinite(let state): Infinite.turn(in: state)
    case .ultimate(let state): state.turn
    }
  }

  package var plies: Int {
    switch self {
    case .classic(let state), .misere(let state): state.ply
    case .infinite(let state): state.plies
    case .ultimate(let state): state.plies
    }
  }

  /// The cells that may be marked; none after the end.
  package var moves: MoveSet {
    switch self {
    case .classic(let state), .misere(let state): Classic.moves(state)
    case .infinite(let state): Infinite.moves(state)
    case .ultimate(let state): Ultimate.moves(state)
    }
  }

  package var outcome: Outcome? {
    switch self {
    case .classic(let state): Classic.outcome(of: state)
    case .infinite(let state): Infinite.outcome(of: state)
    case .misere(let state): Misere.outcome(of: state)
    case .ultimate(let state): Ultimate.outcome(of: state)
    }
  }

  /// Marks a cell and returns the result if the game ends. A cell outside `moves` is a programming error.
  @discardableResult
  package mutating func play(_ cell: Cell) -> Outcome? {
    switch self {
    case .classic(var state):
      defer { self = .classic(state) }
      return Classic.play(cell, &state)
    case .infinite(var state):
      defer { self = .infinite(state) }
      return Infinite.play(cell, &state)
    case .misere(var state):
      defer { self = .misere(state) }
      return Misere.play(cell, &state)
    case .ultimate(var state):
      defer { self = .ultimate(state) }
      return Ultimate.play(cell, &state)
    }
  }

  /// The reason a cell outside `moves` may not be marked in a live game, as the end of a sentence that begins with the cell's name.
  package func refusal(of cell: Cell) -> String {
    if case .ultimate(let state) = self, !isMarked(cell) {
      if state.closed.contains(Square(cell.index / 9)) { return "is on a board that is won or full" }
      return "is not on board \(Square(Int(state.target)).name), to which the last move sends"
    }
    return "is taken"
  }

  package func isMarked(_ cell: Cell) -> Bool { position(on: cell.index / 9)[Square(cell.index % 9)] != nil }
}
