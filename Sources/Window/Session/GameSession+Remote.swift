import GameScore
import Records
import ScoreModel
import TicTacToe
import Tintinnabuli

/// Games with remote players: the owner of the connection passes remote moves to `syncBoard` and sends local moves to the server.
extension GameSession {
  /// Composes the moves made so far without sound, so that the music continues as in all other windows that show the match.
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
    // Keep the next downbeat 10 ms after that of the last silent move: `earliestDownbeat` cannot, because its frame is removed below.
    lastHandled = lastHandled + .milliseconds(10)
    for index in self.times.indices { self.times[index].frame = nil }
    generations = Array(repeating: nil, count: game.cells.count)
  }

  /// Plays missing moves, and takes back moves that differ from `moves`. `times` are those of the match's log, in milliseconds since 1970;
  /// the last moves have no time while they are not in the log.
  package func syncBoard(_ moves: [Cell], times: [Int64] = []) {
    let common = zip(game.cells, moves).prefix { $0 == $1 }.count
    if common < game.cells.count {
      settled = min(settled, common)
      let taken = takeBack(game.cells.count - common)
      // Play the sound of a refusal, then the bars of the removed moves backwards.
      submit([.refused] + Array(repeating: .undone, count: taken.count))
    }
    let known = Tempo.slots(times)
    slots = known
    // A move that was shown before the server confirmed it gets its time from the log only now.
    if common > settled, common <= known.count { submit([.logged], logged: Tempo.moment(known[common - 1])) }
    for (ply, cell) in moves.enumerated().dropFirst(common) {
      mark(cell, at: nil, logged: ply < known.count ? Tempo.moment(known[ply]) : nil)
    }
    settled = known.count
  }

  /// Plays the sound of a connection that was lost or restored: the opponent's, or this window's own to the server.
  package func connection(lost: Bool) { submit([.connection(lost: lost)]) }

  package func refuse() { submit([.refused]) }
}
