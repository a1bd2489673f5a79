import Base
import TicTacToe

/// The moves of a variant's game, which do not fit into the eight bytes of a classic one.
struct VariantMoves: Sendable, Hashable {
  /// The position it began from; `nil` for the start of the rules.
  var start: String?
  var cells: [Cell]
}

/// A player at the board of a variant, as one thread uses it.
enum VariantPlayer<R: Rules> {
  typealias Choice = (_ state: R.State, _ generator: inout SplitMix64, _ isStopped: () -> Bool) -> Cell

  /// One of ours: chooses a legal move of a live state; a search ends early when it is stopped.
  case own(Choice)
  case engine(EngineClient)

  var client: EngineClient? { if case .engine(let client) = self { client } else { nil } }
}

/// A game that was played, as a batch keeps it.
struct PlayedVariantGame {
  var game: PackedGame
  var moves: VariantMoves
  var notes: GameNotes?
}

extension Rules {
  /// Plays one game; `nil` where it was stopped in the middle. What the system refuses is thrown.
  static func playGame(
    x: VariantPlayer<Self>, o: VariantPlayer<Self>, opening: VariantOpening, adjudication: Adjudication,
    stop: StopSignal, using generator: inout SplitMix64
  ) throws(ArenaError) -> PlayedVariantGame? {
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
      case .own(let choose): cell = choose(state, &generator) { stop.isSet }
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
    let result: Outcome = outcome ?? verdict?.outcome ?? .win(turn(in: state).opponent)
    let ending = loss?.ending ?? (verdict == nil ? .normal : .adjudication)
    let reason = loss?.reason ?? verdict?.reason
    return PlayedVariantGame(
      game: PackedGame(variantMoves: cells.count, outcome: result, ending: ending),
      moves: VariantMoves(start: opening.start, cells: cells),
      notes: hasEngine || reason != nil ? GameNotes(reason: reason, reports: reports) : nil)
  }

  /// What is wrong with a recorded game; `nil` where the rules allow it and its result follows.
  static func fault(in moves: VariantMoves, _ game: PackedGame, opening: VariantOpening) -> String? {
    guard moves.start == opening.start, moves.cells.starts(with: opening.cells) else {
      return "the game does not begin as the header says"
    }
    var (state, outcome): (Self.State, Outcome?) = (opening.state(Self.self), nil)
    for cell in moves.cells {
      guard outcome == nil, self.moves(state).contains(cell) else { return "the game breaks the rules" }
      outcome = play(cell, &state)
    }
    let isRight =
      switch game.ending {
      case .normal: outcome == game.outcome
      case .forfeit, .time: outcome == nil && game.outcome == .win(turn(in: state).opponent)
      case .adjudication: outcome == nil
      }
    return isRight ? nil : "the game breaks the rules"
  }
}
