import Composer
import ScoreFiles
import ScoreModel
import Screen
import Synth
import TicTacToe

/// Music beside the running game's: replays, the signs of the help page, listening, keeping a piece.
extension App {
  /// Answers the intents about music.
  func answerMusic(_ intent: Intent) {
    switch intent {
    case .replay(let ply?): playReplay(from: ply)
    case .replay(nil): stopInterlude()
    case .playSign(let sign): play(sign)
    case .listen: listen()
    case .keepPiece: keepPiece()
    case .review:
      let record = dated(parts.session.record, as: savedGame?.name ?? gameName)
      review(record, human: parts.session.participants.loneHuman)
    case .playOn(let position): playOn(from: position)
    case .reloadRules: loadRules(screen.settings.scoreRules)
    default: break
    }
  }

  // MARK: - Interludes

  private func start(_ events: [ScoreEvent], from: Tick, to: Tick) {
    stopInterlude()
    interludeCount += 1
    parts.session.isResting = true
    interlude = Interlude(events, from: from, to: to, number: interludeCount, engine: parts.engine)
    carryOnInterlude()
  }

  /// Ends what sounds in place of the score, which then goes on.
  func stopInterlude() {
    guard let interlude else { return }
    interlude.stop(parts.engine)
    endInterlude()
  }

  private func endInterlude() {
    interlude = nil
    parts.session.isResting = false
    screen.replay?.soundNow = nil
  }

  /// Posts what the interlude plays next.
  func carryOnInterlude() {
    guard interlude != nil else { return }
    if interlude?.advance(parts.engine) == false { return endInterlude() }
    screen.replay?.soundNow = interlude?.position(parts.engine)
  }

  /// Takes a game to the review page, with the music it had for the one local human.
  func review(_ record: Record, human: Player?) {
    stopInterlude()
    let music = Rendition(of: record, rules: parts.session.rules, human: human)
    kept = (record, music)
    screen.replay = ReplayModel(game: record.game, title: title(of: record), bars: music.bars)
  }

  /// The game under review, while its page is open.
  var reviewed: (record: Record, music: Rendition)? { screen.currentScene == .review ? kept : nil }

  /// Plays the music of the game under review from the bar of a ply.
  private func playReplay(from ply: Int) {
    guard let music = reviewed?.music else { return }
    let bar = music.bars.first { $0.kind == .move && $0.ply >= ply } ?? music.bars.last
    start(music.events, from: ply == 0 ? .zero : bar?.start ?? .zero, to: music.end)
  }

  /// A new game from a position, with the players of the running one.
  private func playOn(from position: Position) {
    stopInterlude()
    isListening = false
    if ![setup.x, setup.o].contains(.human) { setup = GameSetup(x: .human, o: setup.o) }
    setup.clockSeconds = nil
    savedGame = nil
    parts.session.newGame(participants(of: setup), from: position)
    screen.show(.board)
  }

  /// Sounds one sign of the music.
  private func play(_ sign: MusicSign) {
    guard let example = SignExample(of: sign, rules: parts.session.rules) else { return }
    start(example.events, from: example.from, to: example.to)
  }

  // MARK: - Listening

  /// Two opponents compose without end, in musical time.
  private func listen() {
    stopInterlude()
    savedGame = nil
    isListening = true
    setup = GameSetup(x: .level(5), o: .level(6))
    parts.session.newGame(setup.participants)
    screen.show(.board)
    showSession()
  }

  /// Begins the next game a breath after the arch of the last.
  func listenOn(at now: Double) {
    guard isListening, parts.session.game.isOver, !parts.session.isClosing else {
      listenPause = nil
      return
    }
    guard let since = listenPause else {
      listenPause = now
      return
    }
    guard now - since > 12 else { return }
    listenPause = nil
    // Not always the same two: a strong one always, so that games are long and threats are parried.
    let levels = [3, 4, 5, 6]
    let number = parts.session.gameNumber
    setup = GameSetup(x: .level(levels[number % 4]), o: .level(levels[(number / 4 + 3) % 4]))
    parts.session.newGame(setup.participants)
  }

  // MARK: - Keeping

  /// Writes the piece of the game under review, or else of the one on the board, in every form, on a worker.
  private func keepPiece() {
    let record = reviewed?.record ?? dated(parts.session.record, as: savedGame?.name ?? gameName)
    guard !record.game.moves.isEmpty else { return }
    let name = reviewed == nil ? savedGame?.name ?? gameName : gameName
    let keeper = PieceKeeper(
      record: record, rules: parts.session.rules,
      human: reviewed == nil ? parts.session.participants.loneHuman : App.human(of: record), title: players(of: record),
      grand: screen.pianos.playing == .grand ? parts.grandFont : nil, a4: screen.settings.a4,
      writeFile: parts.services.writeFile)
    let folder = "\(parts.services.dataFolder())/pieces/\(name)"
    let (outcome, words) = (keptPieces, screen.text(.keptIn))
    show(notice: screen.text(.keeping), at: parts.services.now())
    parts.services.inBackground { outcome.add(keeper.write(to: folder) ?? "\(words) \(folder)") }
  }
}
