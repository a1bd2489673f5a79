import Records
import ScoreModel
import TicTacToe
import Tintinnabuli

/// Free play: each touch of a cell is an event without facts. Touches at most 2.5 s apart form a sentence.
extension GameConductor {
  /// Milliseconds without a touch after which the next touch begins another sentence.
  private static let pause: Int64 = 2_500
  /// From this number of touches on, a sentence has its longest and loudest bars.
  private static let grown = 8
  /// Melodies may visit the cells of this number of latest touches.
  private static let visited = 6

  /// In free play rounds `moment` up to whole milliseconds since free play began: a link to a piece stores touches in milliseconds.
  package func kept(_ moment: Tick) -> Tick {
    guard freePlay != nil else { return moment }
    let millisecond = Tick.milliseconds(1).rawValue
    let since = max((moment - freePlayStart).rawValue, 0)
    return freePlayStart + Tick(rawValue: (since + millisecond - 1) / millisecond * millisecond)
  }

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
    // The phase stops at ½, because free play has no decision.
    event.phase = Double(min(sentence.touches, GameConductor.grown)) / Double(2 * GameConductor.grown)
    // The first touch of every second sentence counts as the end of a sentence, so that `sentences.changes` change the next bars.
    event.endsSentence = sentence.touches == 1 && sentence.number % 2 == 1
    freePlay = play
    return music.compose(event, at: moment)
  }
}
