import GameScore
import Records
import ScoreModel
import TicTacToe
import Tintinnabuli

/// Games with remote players: the owner of the connection passes their moves in and sends local ones out.
extension GameSession {
  /// Joins a match in its current state: a new one from its first move, a running one by replaying its moves silently,
  /// so that its music continues as for all others. `seed`, `station` and `times` are the match's.
  package func join(
    _ players: Participants, variant: Variant = .classic, seed: UInt64, station: Int = 0, moves: [Cell] = [],
    times: [Int64] = [],
    clocks: ((Player) -> Int?)? = nil
  ) {
    participants = players
    clockSeconds = nil
    clocksElsewhere = clocks
    begin(Game(from: VariantState(startOf: variant)), match: .matchStarted(variant, seed: seed, station: station))
    let heard = voices
    voices = .none
    syncBoard(moves, times: times)
    voices = heard
    // The next downbeat must have a later time.
    lastHandled = lastHandled + .milliseconds(10)
    for index in self.times.indices { self.times[index].frame = nil }
    generations = Array(repeating: nil, count: game.cells.count)
  }

  /// Updates the board to the state of a match: adds missing moves and takes back premature ones. The score uses the
  /// log's times in milliseconds as far as they are known.
  package func syncBoard(_ moves: [Cell], times: [Int64] = []) {
    let common = zip(game.cells, moves).prefix { $0 == $1 }.count
    if common < game.cells.count {
      settled = min(settled, common)
      let taken = takeBack(game.cells.count - common)
      // Sounds as a refusal and the bars backwards.
      submit([.refused] + Array(repeating: .undone, count: taken.count))
    }
    let known = Tempo.slots(times)
    slots = known
    // The time of a move shown early is known only now.
    if common > settled, common <= known.count { submit([.logged], logged: Tempo.moment(known[common - 1])) }
    for (ply, cell) in moves.enumerated().dropFirst(common) {
      mark(cell, at: nil, logged: ply < known.count ? Tempo.moment(known[ply]) : nil)
    }
    settled = known.count
  }

  /// The connection to the other side or the server was lost or is restored.
  package func connection(lost: Bool) { submit([.connection(lost: lost)]) }

  /// The sound of a move that is not allowed now.
  package func refuse() { submit([.refused]) }
}
