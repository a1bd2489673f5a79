import GameScore
import Interface
import Records
import ScoreModel
import Screen
import Session
import TicTacToe
import Tintinnabuli
import WindowLogic

/// Plays other music than the running game's: replays, mottos, musical signs of the help page, and examples of the player's own music.
final class Music {
  private let sound: SoundOutput
  private let session: GameSession
  private let screen: RootScreen
  private var playback: PiecePlayback?
  private var count: UInt32 = 0
  /// The game last reviewed, with its music.
  private(set) var reviewed: (record: Record, music: Rendition)?
  /// The music of the example that plays on the page of the player's own music.
  private var example: Rendition?
  private var mottos: ArraySlice<Motto> = []
  /// The rank in the tournament of the player whose motto is being played.
  private(set) var soundingPlace: Int?
  /// Whether sympathetic strings and drone are tuned for other score rules than the running game's.
  private var isAway = false

  /// Whether other music plays instead of the running game's score.
  var isPlaying: Bool { playback != nil }

  init(_ sound: SoundOutput, _ session: GameSession, _ screen: RootScreen) {
    (self.sound, self.session, self.screen) = (sound, session, screen)
  }

  func answer(_ intent: Intent) {
    switch intent {
    case .replay(let ply?): playReplay(from: ply)
    case .playSign(let sign): play(sign)
    default: stop()
    }
  }

  private func start(_ events: [ScoreEvent], from: Tick, to: Tick, rules: ScoreRules) {
    stop()
    begin(events, from: from, to: to, rules: rules)
  }

  private func begin(_ events: [ScoreEvent], from: Tick, to: Tick, rules: ScoreRules) {
    count += 1
    session.isResting = true
    isAway = rules != session.rulesInForce
    if isAway { tune(rules) }
    playback = PiecePlayback(events, from: from, to: to, number: count, sound: sound.port)
    carryOn()
  }

  /// Stops the music that plays instead of the running game's score; the score continues.
  func stop() {
    mottos = []
    guard let playback else { return }
    playback.stop(sound.port)
    end()
  }

  /// Plays the closing music of won games one after another, each from the winner's motto on: the notes of the winner's first three moves.
  func play(_ mottos: [Motto]) {
    stop()
    self.mottos = mottos[...]
    playNextMotto()
  }

  private func playNextMotto() {
    guard let motto = mottos.popFirst() else { return }
    let record = Record(of: motto.state, tonics: session.rules.tonics.count)
    let music = Rendition(of: record, rules: session.rules)
    guard let from = music.mottoStart else { return playNextMotto() }
    begin(music.events, from: from, to: music.end, rules: music.rules)
    soundingPlace = motto.place
  }

  private func end() {
    (playback, soundingPlace) = (nil, nil)
    session.isResting = false
    screen.pages.replay?.soundNow = nil
    example = nil
    screen.pages.ownMusic.isPlaying = false
    if isAway { tune(session.rulesInForce) }
    isAway = false
  }

  /// Tunes the sympathetic strings and the drone to the tonic of score rules.
  private func tune(_ rules: ScoreRules) {
    sound.load(rules)
    sound.port.post([rules.drone.bed(at: sound.port.now(), seconds: 0.3, generation: 0)])
  }

  /// Posts the next events of the music that plays instead of the game's, or begins the next motto.
  func carryOn() {
    guard playback != nil else { return }
    if playback?.advance(sound.port) == false {
      end()
      return playNextMotto()
    }
    screen.pages.replay?.soundNow = playback?.position(sound.port)
  }

  /// Opens a game for review. The music is composed for the only local person, who plays the side `human`.
  func review(_ record: Record, human: Player?, title: String) {
    stop()
    let music = Rendition(of: record, rules: session.rules, human: human)
    reviewed = (record, music)
    screen.pages.replay = ReplayModel(
      game: record.game, title: title, bars: music.bars, scale: music.rules.scale)
  }

  private func playReplay(from ply: Int) {
    guard let music = reviewed?.music else { return }
    let bar = music.bars.first { $0.kind == .move && $0.ply >= ply } ?? music.bars.last
    start(music.events, from: ply == 0 ? .zero : bar?.start ?? .zero, to: music.end, rules: music.rules)
  }

  /// If an example plays already, the new example begins at the bar that the old example has reached.
  func playExample(_ rules: ScoreRules) {
    var game = Game()
    // A game of seven moves with threats of both sides, a block, a fork and a win.
    for cell in [4, 1, 0, 8, 6, 2, 3] { try? game.play(Cell(cell)) }
    let next = Rendition(of: Record(game: game), rules: rules, human: .x)
    let bar = playback.flatMap { playback in
      example?.bars.lastIndex { $0.start <= playback.position(sound.port) }
    }
    start(
      next.events, from: bar.map { next.bars[min($0, next.bars.count - 1)].start } ?? .zero, to: next.end,
      rules: next.rules)
    example = next
    screen.pages.ownMusic.isPlaying = true
  }

  private func play(_ sign: MusicSign) {
    guard let example = SignExample(of: sign, rules: session.rules) else { return }
    start(example.events, from: example.from, to: example.to, rules: session.rules)
  }
}
