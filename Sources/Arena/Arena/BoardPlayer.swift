import Base
import Opponents
import Oracle
import TicTacToe

/// A player of the game `R`, used by one thread.
enum BoardPlayer<R: Rules> {
  typealias Choice = (
    _ state: R.State, _ last: Cell?, _ generator: inout SplitMix64, _ isStopped: () -> Bool
  ) -> Cell

  /// `Choice` must return a legal move, early once `isStopped` is true. Only a learning player of Classic has a `learner`.
  case own(Choice, learner: Learner? = nil)
  case engine(EngineClient)

  var client: EngineClient? { if case .engine(let client) = self { client } else { nil } }

  /// A resumed run calls this also for the games in its file, to restore what the player had learnt.
  func learn(from cells: [Cell], _ opening: GameMoves, as side: Player, _ outcome: Outcome?) {
    guard case .own(_, let learner?) = self else { return }
    var start = opening.state(Classic.self)
    for cell in opening.cells { _ = Classic.play(cell, &start) }
    let moves = cells.dropFirst(opening.cells.count).map { Square($0.index) }
    learner.player.learn(from: moves, start: start, as: side, outcome: outcome)
  }
}

extension BoardPlayer where R: PositionRules {
  static func table(_ table: DistributionTable) -> BoardPlayer {
    .own { position, last, generator, _ in
      Cell(table.move(key: position.ternaryKey, last: last?.index ?? 9, using: &generator))
    }
  }
}

extension BoardPlayer<Classic> {
  static func learner(_ learner: Learner) -> BoardPlayer {
    let choose: Choice = { position, last, generator, _ in
      Cell(learner.player.move(in: position, lastMove: last.map { Square($0.index) }, using: &generator).index)
    }
    return .own(choose, learner: learner)
  }
}

/// A learning player and what it has learnt in one pairing. Used by one thread at a time.
final class Learner: @unchecked Sendable {
  var player: any LearningOpponent

  init(_ player: any LearningOpponent) { self.player = player }
}

struct MoveReport: Sendable, Hashable {
  /// As in PGN comments: `+0.31/8` is 0.31 pawns ahead, found at depth 8; `+M1/8` wins with this move, `+M2/8` one move later.
  var evaluation: String?
  var milliseconds: Int

  /// In hundredths of a pawn, −100,000…100,000; `+M…`, a win of the mover, counts as 100,000.
  var score: Int? {
    guard let text = evaluation?.prefix(while: { $0 != "/" }), let sign = text.first else { return nil }
    let size = text.dropFirst()
    let value = size.hasPrefix("M") ? 100_000 : Double(size).map { Int(min($0 * 100, 100_000).rounded()) }
    return value.map { sign == "-" ? -$0 : $0 }
  }
}

struct GameNotes: Sendable, Hashable {
  /// Why the game ended by forfeit or by the referee's decision; `nil` for other endings.
  var reason: String?
  /// One report for each move, `nil` unless an engine made the move; empty in games without an engine.
  var reports: [MoveReport?] = []
}

struct PlayedGame {
  var game: PackedGame
  /// `nil` in Classic, where `game` contains the moves.
  var moves: GameMoves?
  var notes: GameNotes?
}

extension ArenaRules {
  /// `nil` if the run is stopped. Throws if the system refuses a process for an engine.
  static func playGame(
    x: BoardPlayer<Self>, o: BoardPlayer<Self>, opening: GameMoves, adjudication: Adjudication,
    stop: StopSignal, using generator: inout SplitMix64
  ) throws(ArenaError) -> PlayedGame? {
    var state = opening.state(Self.self)
    var (cells, outcome): ([Cell], Outcome?) = (opening.cells, nil)
    for cell in opening.cells { outcome = play(cell, &state) }
    let clients = [x.client, o.client]
    for client in clients { try client?.beginGame() }
    let hasEngine = clients.contains { $0 != nil }
    var reports: [MoveReport?] = hasEngine ? .init(repeating: nil, count: cells.count) : []
    var referee = Referee(adjudication)
    var (loss, verdict): (EngineLoss?, Referee.Verdict?)
    while outcome == nil, loss == nil, verdict == nil {
      let turn = turn(in: state)
      let (mover, waiting) = turn == .x ? (x, o) : (o, x)
      var report: MoveReport?
      let cell: Cell
      switch mover {
      case .own(let choose, _): cell = choose(state, cells.last, &generator) { stop.isSet }
      case .engine(let client):
        switch client.move(Self.self, opening.start, cells, state, otherClock: waiting.client?.clock) {
        case .success(let answer): (cell, report) = answer
        case .failure(let failure):
          loss = failure
          continue
        }
      }
      if stop.isSet { return nil }
      outcome = play(cell, &state)
      cells.append(cell)
      if hasEngine { reports.append(report) }
      if outcome == nil { verdict = referee.verdict(after: report, by: turn, plies: cells.count) }
    }
    if stop.isSet { return nil }
    for client in clients { client?.endGame() }
    if outcome == .draw, let boards = wonBoards(state) { verdict = referee.verdict(onDraw: boards) }
    let result: Outcome = verdict?.outcome ?? outcome ?? .win(turn(in: state).opponent)
    let ending = loss?.ending ?? (verdict == nil ? .normal : .adjudication)
    let reason = loss?.reason ?? verdict?.reason
    x.learn(from: cells, opening, as: .x, result)
    o.learn(from: cells, opening, as: .o, result)
    let notes = hasEngine || reason != nil ? GameNotes(reason: reason, reports: reports) : nil
    if variant.isPacked {
      let game = PackedGame(moves: cells.map { Square($0.index) }, outcome: result, ending: ending)
      return PlayedGame(game: game, notes: notes)
    }
    return PlayedGame(
      game: PackedGame(variantMoves: cells.count, outcome: result, ending: ending),
      moves: GameMoves(start: opening.start, cells: cells), notes: notes)
  }
}

/// Plays a game of Classic between two players given as tables.
package func playTables(
  _ x: DistributionTable, _ o: DistributionTable, _ opening: GameMoves, using generator: inout SplitMix64
) -> PackedGame {
  let start = opening.state(Classic.self)
  var masks = (x: start.x.rawValue, o: start.o.rawValue)
  var key = start.ternaryKey
  var isX = start.turn == .x
  var (nibbles, shift, last) = (UInt64(0), UInt64(0), 9)
  var marks = start.ply
  var forced = opening.cells.makeIterator()
  while true {
    let cell =
      forced.next()?.index
      ?? (isX ? x.move(key: key, last: last, using: &generator) : o.move(key: key, last: last, using: &generator))
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
