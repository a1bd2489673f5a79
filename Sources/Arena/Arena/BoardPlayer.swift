import Base
import Opponents
import Oracle
import TicTacToe

/// A player as one thread uses it.
enum BoardPlayer {
  case table(DistributionTable)
  case search(MonteCarloSearch, simulations: Int)
  case learner(Learner)
  case engine(EngineClient)
}

extension BoardPlayer {
  /// Chooses a move, with an engine's comment on it; or says how the engine lost the game. A search ends early when it
  /// `isStopped`.
  func move(
    start: Position, moves: [Square], position: Position, otherClock: Double?,
    using generator: inout SplitMix64, isStopped: () -> Bool
  ) -> Result<(Square, MoveReport?), EngineLoss> {
    switch self {
    case .table(let table):
      .success((Square(table.move(key: position.ternaryKey, last: moves.last?.index ?? 9, using: &generator)), nil))
    case .search(let search, let simulations):
      .success(
        (search.bestMove(in: position, simulations: simulations, using: &generator, isStopped: isStopped), nil))
    case .learner(let learner):
      .success((learner.player.move(in: position, lastMove: moves.last, using: &generator), nil))
    case .engine(let client):
      client.move(start: start, moves: moves, position: position, otherClock: otherClock)
        .map { ($0.0, $0.1) }
    }
  }
}

/// A learning player of one pairing. One thread at a time uses it.
final class Learner: @unchecked Sendable {
  var player: any LearningOpponent

  init(_ player: any LearningOpponent) { self.player = player }
}

/// An engine's evaluation of its move, and the time it took.
struct MoveReport: Sendable, Hashable {
  /// As PGN writes it: `+0.31` pawns for the mover, or `+M2` moves to the end, then a slash and the depth.
  var evaluation: String?
  var milliseconds: Int

  /// The evaluation in hundredths; ±100,000 where the end is seen.
  var score: Int? {
    guard let text = evaluation?.prefix(while: { $0 != "/" }), let sign = text.first else { return nil }
    let size = text.dropFirst()
    let value = size.hasPrefix("M") ? 100_000 : Double(size).map { Int(($0 * 100).rounded()) }
    return value.map { sign == "-" ? -$0 : $0 }
  }
}

/// What is kept of a game besides its moves.
struct GameNotes: Sendable, Hashable {
  /// The reason of a forfeit.
  var reason: String?
  /// The comment on each move of an engine; empty where no engine played.
  var reports: [MoveReport?] = []
}

/// Plays one game; `nil` if the run was stopped in the middle. Throws what the system refuses.
func playGame(
  x: BoardPlayer, o: BoardPlayer, opening: Opening, adjudication: Adjudication, stop: StopSignal,
  using generator: inout SplitMix64
) throws(ArenaError) -> (game: PackedGame, notes: GameNotes?)? {
  if !adjudication.isActive, case .table(let a) = x, case .table(let b) = o {
    return (playTables(a, b, opening, using: &generator), nil)
  }
  var position = opening.position
  var moves = opening.moves
  var reports: [MoveReport?] = []
  for case .engine(let client) in [x, o] {
    try client.beginGame()
    reports = .init(repeating: nil, count: moves.count)
  }
  let hasEngine = if case .engine = x { true } else if case .engine = o { true } else { false }
  var loss: EngineLoss?
  var (referee, verdict): (Referee, Referee.Verdict?) = (Referee(adjudication), nil)
  while position.outcome == nil, loss == nil, verdict == nil {
    let (mover, waiting) = position.turn == .x ? (x, o) : (o, x)
    let other: EngineClient? = if case .engine(let client) = waiting { client } else { nil }
    let answer = mover.move(
      start: opening.start, moves: moves, position: position, otherClock: other?.clock,
      using: &generator
    ) { stop.isSet }
    if stop.isSet { return nil }
    switch answer {
    case .success(let (square, report)):
      position = position.playing(square)
      moves.append(square)
      if hasEngine { reports.append(report) }
      if position.outcome == nil {
        verdict = referee.verdict(after: report, by: position.turn.opponent, plies: moves.count)
      }
    case .failure(let failure): loss = failure
    }
  }
  let outcome = position.outcome ?? verdict?.outcome ?? .win(position.turn.opponent)
  let ending = loss?.ending ?? (verdict == nil ? .normal : .adjudication)
  let game = PackedGame(moves: moves, outcome: outcome, ending: ending)
  for case .engine(let client) in [x, o] { client.endGame() }
  teach(x, .x, game, opening)
  teach(o, .o, game, opening)
  return (
    game, hasEngine || verdict != nil ? GameNotes(reason: loss?.reason ?? verdict?.reason, reports: reports) : nil
  )
}

/// Lets a learning player learn from a game. Resuming a run uses the same function to rebuild the player's state.
func teach(_ player: BoardPlayer, _ side: Player, _ game: PackedGame, _ opening: Opening) {
  guard case .learner(let learner) = player else { return }
  learner.player.learn(
    from: Array(game.moves.dropFirst(opening.moves.count)), start: opening.position, as: side, outcome: game.outcome)
}

/// Plays fast: two tables, masks and a key.
package func playTables(
  _ x: DistributionTable, _ o: DistributionTable, _ opening: Opening, using generator: inout SplitMix64
) -> PackedGame {
  var masks = (x: opening.start.x.rawValue, o: opening.start.o.rawValue)
  var key = opening.start.ternaryKey
  var isX = opening.start.turn == .x
  var (nibbles, shift, last) = (UInt64(0), UInt64(0), 9)
  var marks = opening.start.ply
  var forced = opening.moves.makeIterator()
  while true {
    let cell: Int
    if let square = forced.next() {
      cell = square.index
    } else {
      cell = isX ? x.move(key: key, last: last, using: &generator) : o.move(key: key, last: last, using: &generator)
    }
    nibbles |= UInt64(truncatingIfNeeded: cell) &<< shift
    shift &+= 4
    marks &+= 1
    let bit: UInt16 = 1 &<< UInt16(truncatingIfNeeded: cell)
    key &+= isX ? TernaryKey.power(cell) : 2 &* TernaryKey.power(cell)
    if isX { masks.x |= bit } else { masks.o |= bit }
    if Line.hasLine(SquareSet(rawValue: isX ? masks.x : masks.o)) {
      return PackedGame(nibbles: nibbles, count: Int(shift / 4), outcome: .win(isX ? .x : .o))
    }
    if marks == 9 { return PackedGame(nibbles: nibbles, count: Int(shift / 4), outcome: .draw) }
    isX.toggle()
    last = cell
  }
}
