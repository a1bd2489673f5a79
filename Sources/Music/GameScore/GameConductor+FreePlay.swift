import Records
import ScoreModel
import TicTacToe
import Tintinnabuli

/// Free play: each touch of a cell is an event without facts. Touches that follow each other closely are a sentence.
extension GameConductor {
  /// Milliseconds without a touch after which the next one begins another sentence.
  private static let pause: Int64 = 2_500
  /// The number of a sentence's touches from which on its bars are longest and loudest.
  private static let grown = 8
  /// The number of last touches that melodies visit.
  private static let visited = 6

  /// The first time, not before `moment`, that is a whole number of milliseconds after the start of free play: such times are kept.
  /// During a game `moment` itself.
  package func kept(_ moment: Tick) -> Tick {
    guard freePlay != nil else { return moment }
    let millisecond = Tick.milliseconds(1).rawValue
    let since = max((moment - freePlayStart).rawValue, 0)
    return freePlayStart + Tick(rawValue: (since + millisecond - 1) / millisecond * millisecond)
  }

  /// Composes a touch; before free play without effect.
  mutating func touch(_ square: Square, _ side: Player, at moment: Tick) -> [ScoreEvent] {
    guard var play = freePlay else { return [] }
    let milliseconds = (moment - freePlayStart).rawValue / Tick.milliseconds(1).rawValue
    let isNew = play.touches.last.map { milliseconds - $0.milliseconds > GameConductor.pause } ?? false
    sentence = isNew ? (sentence.number + 1, 1) : (sentence.number, sentence.touches + 1)
    play.touches.append(FreePlay.Touch(milliseconds: milliseconds, square: square, side: side))
    let last = play.touches.suffix(GameConductor.visited)
    func degrees(_ side: Player) -> [Int] { last.filter { $0.side == side }.map { degree($0.square) } }
    var event = Event(
      voice: side.voice, degree: degree(square), marks: Marks(first: degrees(.x), second: degrees(.o)))
    event.isFree = true
    event.sentence = sentence.number
    // Half of the way, as free play has no end to which it could grow.
    event.phase = Double(min(sentence.touches, GameConductor.grown)) / Double(2 * GameConductor.grown)
    // Every second sentence changes its bars, so that a plain one follows.
    event.endsSentence = sentence.touches == 1 && sentence.number % 2 == 1
    freePlay = play
    return music.compose(event, at: moment)
  }
}
