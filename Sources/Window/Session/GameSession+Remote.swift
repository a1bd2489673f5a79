import GameScore
import Records
import ScoreModel
import TicTacToe
import Tintinnabuli

/// A game whose other players, or all of them, sit elsewhere: what they do is brought in, and they are told what is done
/// here by whoever holds the connection.
extension GameSession {
  /// Takes up a match as it stands elsewhere: a new one from its first mark, a running one with its marks made silently,
  /// so that it goes on as it does for everybody. `seed` and `station` are the match's own, `times` are those of its log.
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
    follow(moves, times: times)
    voices = heard
    // The next downbeat is another.
    lastHandled = lastHandled + .milliseconds(10)
    for index in self.times.indices { self.times[index].frame = nil }
    generations = Array(repeating: nil, count: game.cells.count)
  }

  /// Brings the board to where a match is: missing marks are made, those shown too early taken back; the score is
  /// composed by the times of its log, in milliseconds, as far as they are known.
  package func follow(_ moves: [Cell], times: [Int64] = []) {
    let common = zip(game.cells, moves).prefix { $0 == $1 }.count
    if common < game.cells.count {
      settled = min(settled, common)
      let taken = takeBack(game.cells.count - common)
      // Heard as a refusal and the bars backwards.
      submit([.refused] + Array(repeating: .undone, count: taken.count))
    }
    let known = Tempo.slots(times)
    slots = known
    // A mark that was shown at once has its time only now.
    if common > settled, common <= known.count { submit([.logged], logged: Tempo.moment(known[common - 1])) }
    for (ply, cell) in moves.enumerated().dropFirst(common) {
      mark(cell, at: nil, logged: ply < known.count ? Tempo.moment(known[ply]) : nil)
    }
    settled = known.count
  }

  /// The connection to the other side, or to the server, was lost or is back.
  package func connection(lost: Bool) { submit([.connection(lost: lost)]) }

  /// A mark that may not be made now: heard, not shown.
  package func refuse() { submit([.refused]) }
}
