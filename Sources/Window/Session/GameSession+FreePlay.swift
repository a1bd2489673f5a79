import Base
import GameScore
import Records
import ScoreModel
import TicTacToe
import Tintinnabuli

/// Free play: touching the board without a game. Each touch of a cell sounds; no cell is marked.
extension GameSession {
  /// `nil` unless this is free play.
  package var freePlay: FreePlay? { conductor.freePlay }

  /// Whether the next touch begins a new piece: after the most touches that can be saved, or ten minutes without a touch.
  package var isFreePlayOver: Bool {
    guard let play = freePlay else { return false }
    return play.touches.count >= FreePlay.Limit.touches || untouched >= .milliseconds(Int(FreePlay.Limit.gap) - 1_000)
  }

  /// The time since the last touch, or since the start of free play.
  package var untouched: Tick { max(sound.now(), lastHandled) - lastTouch }

  private var lastTouch: Tick {
    conductor.freePlayStart + .milliseconds(Int(freePlay?.touches.last?.milliseconds ?? 0))
  }

  /// If free play is in progress, the new piece has the next tonic of the cycle of tonics.
  package func beginFreePlay() {
    let place = freePlay.map { $0.place + 1 } ?? conductor.music.pieceStation.place
    var generator = SplitMix64(seed: conductor.music.pieceSeed, index: UInt64(gameNumber))
    participants = Participants(x: .human(name: "human"), o: .human(name: "human"))
    clockSeconds = nil
    clocksElsewhere = nil
    begin(Game(), match: .freePlayStarted(seed: generator.next(), place: place))
  }

  /// Sounds a cell in the register of a side. Touches sound at least 10 ms apart; a touch that would sound 50 ms late is dropped.
  package func touch(_ square: Square, as side: Player) {
    guard let play = freePlay else { return }
    let earliest = play.touches.isEmpty ? .zero : lastTouch + .milliseconds(10)
    guard earliest - sound.now() < .milliseconds(50) else { return }
    submit([.touched(square, side)], at: earliest)
  }

  func freePlayRecord(_ play: FreePlay) -> Record {
    var play = play
    play.pace = Int((pace * 100).rounded())
    var record = Record(play)
    record.scoreRules = rulesReference
    return record
  }
}
