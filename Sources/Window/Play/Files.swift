import Base
import Interface
import Locks
import MatchProtocol
import Oracle
import Records
import ScoreModel
import ScoreFormats
import Screen
import Session
import TicTacToe
import Tintinnabuli

/// Stores, shares and exports games and pictures, as the window state requests.
package final class Files {
  private let machine: AppEnvironment
  private let session: GameSession
  private let screen: RootScreen
  private let library: Library
  private let music: Music
  private let keeper: GameKeeper?
  private let store: GameStore?
  /// The file name of the running game; `nil` until the game is first saved.
  private var name: String?
  /// All file names that this window has chosen.
  private var usedNames: Set<String> = []
  /// The title that the player has given to the running game.
  private var title: String?
  private var asked: (game: Game, times: [Record.MoveTimes])?
  /// The number of touches of the running free play that are saved.
  private var savedTouches = 0
  /// Whether the player has deleted the running game, so that the game must not be saved again.
  private var isDeleted = false
  private var nextTry = 0.0
  private var toldFailure = false
  private let pieceNews = ResultQueue<MakingNews>()
  private let filmNews = ResultQueue<MakingNews>()
  private var isKeeping = false
  private var stopFilm: (() -> Void)?
  /// The number of newest games that the list shows; `listOlder` raises it.
  private var listLimit = Library.listStep
  private var pictureCount = 0
  var openLetter: (_ link: String) -> Void = { _ in }
  /// Opens a player's own music from its code (`OwnMusic.word`).
  var openMusic: (_ word: String) -> Void = { _ in }
  /// The record of the game played by links, if one is on the board.
  var letterPiece: Record?

  /// Seconds between two attempts to write to a failing disk.
  private static let retryInterval = 4.0
  /// Seconds without a touch after which free play is saved.
  private static let rest = 3.0

  init(
    _ machine: AppEnvironment, _ session: GameSession, _ screen: RootScreen, _ library: Library, _ music: Music,
    store: GameStore?, resuming unfinished: (name: String, record: Record)?
  ) {
    (self.machine, self.session, self.screen, self.library) = (machine, session, screen, library)
    (self.music, self.store) = (music, store)
    keeper = store.map {
      GameKeeper($0, resuming: unfinished?.name, inBackground: machine.services.inBackground)
    }
    if let (name, record) = unfinished {
      (self.name, title) = (name, record[tag: "Event"])
      asked = (record.game, record.game.cells.indices.map { record.times(ofMove: $0) })
    }
    screen.pages.mayFilm = machine.film != nil
  }

  private var services: PlatformServices { machine.services }

  private var reviewed: Record? { screen.currentScene == .review ? music.reviewed?.record : nil }

  func answer(_ intent: Intent) {
    switch intent {
    case .saveGame: saveGame()
    case .tournament: saveTable()
    case .listGames, .listOlder:
      flush()
      listLimit = intent == .listOlder ? listLimit + Library.listStep : Library.listStep
      listGames()
    case .openGame(let path): open(path: path)
    case .deleteGame(let path): delete(path)
    case .renameGame(let path, let name): rename(path, name)
    case .playGame(let path):
      open(path: path)
      if screen.currentScene == .review { screen.perform(.playAll) }
    case .shareSaved(let path): if let record = saved(path) { share(place(of: record)) }
    case .openPieces: services.openFolder("\(services.dataFolder())/pieces")
    case .copyGame:
      services.copy(forOthers(shown).text, screen)
    case .copyText(let text):
      services.copy(text, screen)
    case .shareGame: share(place(of: shown))
    case .pasteGame:
      let open = { [self] (text: String) in
        guard text.contains(where: { !$0.isWhitespace }) else { return screen.say("\(.clipboardEmpty)") }
        if Letter.link(in: text) != nil { return openLetter(text) }
        if let word = OwnMusic.word(in: text) { return openMusic(word) }
        self.open(record(from: text, in: "\(.game)"))
      }
      if let paste = services.paste { paste(open) } else { open(services.clipboard() ?? "") }
    case .statistics:
      flush()
      screen.pages.statistics = library.statistics()
    case .keepPiece: keepPiece()
    case .makeFilm: makeFilm()
    case .stopFilm: stopFilm?()
    default: break
    }
  }

  /// Shares a link to a path. A page in a browser puts its own address before `#/` and the path; a window, which has no address, copies
  /// only `#/` and the path.
  func share(_ path: String) {
    guard let share = services.share else { return services.copy("#/\(path)", screen) }
    share(path) { [self] outcome in
      if outcome != .sent { screen.say(outcome == .copied ? "\(.copied)" : "\(.copyFailed)") }
    }
  }

  /// Copies the text of the daily puzzle's result, and saves or shares its picture.
  func share(_ board: DailyBoard) {
    let card = card(of: board)
    let kept = machine.giveCard(card) { [screen] in screen.draw(card, into: $0) }
    services.copy(card.text, screen)
    if let kept { screen.say("\(kept.isWritten ? .pictureAs : .writeFailed) \(kept.path)") }
  }

  private func card(of board: DailyBoard) -> DayCard {
    func text(_ message: Message) -> String { message.text(in: screen.settings.language) }
    let goal: Message =
      switch board.goal {
      case .win(1): "\(.todayWinNow)"
      case .win(let moves): "\(.todayWin, "\(moves)")"
      case .hold: "\(.todayHold)"
      }
    return DayCard(
      date: board.date, title: text("Alina, \(.today), \(board.date)"),
      goal: text("\(String(board.state.turn.letter)), \(goal)"),
      result: text("\(.solved); \(.daysInARow, "\(screen.settings.streak)")"), state: board.state)
  }

  // MARK: - The running game

  /// Begins a new file for the next game.
  func newName() {
    keepFreePlay()
    (name, title, asked, isDeleted, savedTouches) = (nil, nil, nil, false, 0)
  }

  /// Call it at each update. Saves the running game if it has changed; `isWanted` is `false` for games that are not saved, such as puzzles.
  func keepGame(at now: Double, isResumable: Bool, isWanted: Bool) {
    for news in pieceNews.takeAll() { handle(news, isFilm: false) }
    for news in filmNews.takeAll() { handle(news, isFilm: true) }
    let game = session.game
    if let failures = keeper?.failures, failures.count > 0, now >= nextTry {
      nextTry = now + Files.retryInterval
      if !toldFailure { screen.say("\(.saveFailed)\(failures.fault.reason)") }
      toldFailure = true
      keeper?.retry()
    } else if keeper?.failures.count == 0 {
      toldFailure = false
    }
    if session.untouched > .seconds(Files.rest) { keepFreePlay() }
    guard let keeper, isWanted, !isDeleted, asked?.game != game || asked?.times != session.times, !game.cells.isEmpty
    else {
      return
    }
    asked = (game, session.times)
    let name = runningName
    self.name = name
    keeper.keep(.init(running, as: name, isResumable: isResumable))
  }

  func flush() {
    keepFreePlay()
    keeper?.flush()
  }

  private func keepFreePlay() {
    guard let keeper, !isDeleted, let count = session.freePlay?.touches.count, count > savedTouches else { return }
    let name = runningName
    (self.name, savedTouches) = (name, count)
    keeper.keep(.init(running, as: name, isResumable: false))
  }

  /// Begins with the local time, so that file names sort by date.
  private var runningName: String {
    if let name { return name }
    return newName("-")
  }

  /// The local time, `ending` and, always, a number: the first from 1 that gives a free name. Another window may have chosen a name in the
  /// same second, or the clock may have been set back.
  private func newName(_ ending: String) -> String {
    let start = services.timeStamp() + ending
    let names = (1...99).lazy.map { "\(start)\($0)" }
    let name = names.first { [store, usedNames] in !usedNames.contains($0) && store?.takeNew($0) ?? true } ?? start
    usedNames.insert(name)
    return name
  }

  /// The record of the game on the board, as it is saved.
  private var running: Record {
    var record = Library.dated(letterPiece ?? session.record, as: name ?? services.timeStamp())
    record[tag: "Event"] = title
    return record
  }

  /// The game under review, or else the game on the board.
  private var shown: Record { reviewed ?? running }

  private func saveGame() {
    guard let keeper, let store else { return screen.say("\(.nothingKept)") }
    let name = reviewed == nil ? runningName : newName("-\(Library.copyMark)")
    if reviewed == nil { (self.name, isDeleted) = (name, false) }
    let record = shown
    do throws(WriteFault) {
      try keeper.save(record, as: name)
      screen.say("\(.savedAs) \(store.path(of: name))")
    } catch {
      screen.say("\(.saveFailed)\(error.reason)")
    }
  }

  private func saveTable() {
    guard let table = screen.pages.tournament else { return screen.say("\(.nothingToKeep)") }
    save(table.csv, as: "tournament-\(table.code)-\(services.timeStamp()).csv")
  }

  func saveGames(_ games: [MatchState], code: String, name: String) {
    let (stamp, tonics) = (services.timeStamp(), session.rules.tonics.count)
    let texts = games.map { state in
      var record = Library.dated(Record(of: state, tonics: tonics), as: stamp)
      record[tag: "Event"] = name
      return record.text
    }
    save(texts.joined(separator: "\n"), as: "tournament-\(code)-\(stamp).pgn")
  }

  private func save(_ text: String, as name: String) {
    let path = services.exportPath(name)
    do throws(WriteFault) {
      try services.files.write(path.file, Array(text.utf8))
      screen.say("\(.savedAs) \(path.shown)")
    } catch {
      screen.say("\(.saveFailed)\(error.reason)")
    }
  }

  /// Reads a game file. If the file is missing or damaged, shows a notice and returns `nil`.
  private func saved(_ path: String) -> Record? {
    guard let bytes = services.files.read(path) else {
      screen.say("\(.unreadable, Message(path))")
      return nil
    }
    return record(from: String(decoding: bytes, as: UTF8.self), in: Message(path))
  }

  /// Parses a game or a position; if the text is invalid, shows a notice and returns `nil`.
  private func record(from text: String, in source: Message) -> Record? {
    do throws(NotationError) { return try Library.record(from: text) } catch {
      screen.say("\(.unreadableLine, source, "\(error.line)")\(english: " \(error.description)", else: nil)")
      return nil
    }
  }

  private func listGames() { (screen.pages.games, screen.pages.hasOlderGames) = library.entries(atMost: listLimit) }

  /// Runs `body` on a saved game unless another window plays it, then lists the games again.
  private func withGame(_ path: String, _ body: (_ name: String, GameKeeper) -> Void) {
    guard let keeper, let store, let name = store.name(of: path) else { return screen.say("\(.saveFailed)") }
    guard store.take(name) else { return screen.say("\(.otherWindow)") }
    body(name, keeper)
    if name != self.name { store.release(name) }
    listGames()
  }

  private func delete(_ path: String) {
    withGame(path) { name, keeper in
      let isGone = keeper.delete(name)
      if isGone, name == self.name { (self.name, isDeleted) = (nil, true) }
      screen.say(isGone ? "\(.deleted)" : "\(.saveFailed)")
    }
  }

  /// Names a saved game or removes its name.
  private func rename(_ path: String, _ title: String) {
    withGame(path) { name, keeper in
      let words = title.split(whereSeparator: { $0.isWhitespace }).joined(separator: " ")
      let title = words.isEmpty ? nil : words
      do throws(WriteFault) {
        guard try keeper.change(name, { $0[tag: "Event"] = title }) else {
          return screen.say("\(.unreadable, Message(path))")
        }
        // Set the title of the running game too, because its next move writes the file again with that title.
        if name == self.name { self.title = title }
      } catch {
        screen.say("\(.saveFailed)\(error.reason)")
      }
    }
  }

  // MARK: - Review

  /// The path in the page's address while a game is under review.
  private(set) var reviewedPlace = ""

  /// The path of a game's link: `g/` (`f/` for free play), then the encoded game. Empty if the game cannot be encoded.
  private func place(of record: Record) -> String {
    if let play = record.freePlay { return "f/\(play.link)" }
    return forOthers(record).link.map { "g/\($0)" } ?? ""
  }

  /// A copy for links and exported files, which names the player by the network name instead of "you".
  private func forOthers(_ record: Record) -> Record {
    var record = record
    let name = screen.settings.name
    for side in Player.allCases where record[player: side] == "you" {
      record[player: side] = name.isEmpty ? screen.text(.player) : name
    }
    return record
  }

  private func review(_ record: Record, human: Player?) {
    music.review(record, human: human, title: library.title(of: record))
    reviewedPlace = services.isPage ? place(of: record) : ""
  }

  func review() {
    review(running, human: session.participants.loneHuman)
  }

  package func open(path: String) { open(saved(path)) }

  /// Opens a game contained in the page's URL.
  package func open(words: String) { open(record(from: words, in: "\(.game)")) }

  private func open(_ record: Record?) {
    guard let record else { return }
    review(record, human: Library.human(of: record))
    screen.show(.review)
  }

  // MARK: - Pieces and pictures

  private func keepPiece() {
    guard let piece else { return }
    screen.say("\(.keeping)")
    guard !isKeeping else { return }
    isKeeping = true
    let (news, wake) = (pieceNews, services.wake)
    machine.keep(piece) {
      news.add($0)
      wake()
    }
  }

  /// If the game has no move, shows a notice and returns `nil`.
  private var piece: Piece? {
    let (record, isRunning) = (shown, reviewed == nil)
    guard !record.game.cells.isEmpty || record.freePlay?.touches.isEmpty == false else {
      screen.say("\(.nothingToKeep)")
      return nil
    }
    let shared = forOthers(record)
    return Piece(
      name: isRunning ? name ?? services.timeStamp() : services.timeStamp(), record: shared, rules: session.rules,
      human: isRunning ? session.participants.loneHuman : Library.human(of: record), names: library.names(in: shared),
      isGrand: screen.pianos.playing == .grand,
      a4: screen.settings.a4, isEven: screen.settings.loudness == .even)
  }

  private func makeFilm() {
    guard stopFilm == nil, let film = machine.film, let piece else { return }
    screen.pages.filmPercent = 0
    let (news, wake) = (filmNews, services.wake)
    stopFilm = film(piece, screen.settings.filmShape) {
      news.add($0)
      wake()
    }
  }

  private func handle(_ news: MakingNews, isFilm: Bool) {
    switch news {
    case .percent(let percent) where isFilm: return screen.pages.filmPercent = percent
    case .percent(let percent): return screen.say("\(.keeping) \(percent) %")
    case .kept(let place): screen.say("\(isFilm ? .filmIn : .keptIn) \(place)")
    case .failed(let fault): screen.say(message(for: fault))
    case .stopped: break
    }
    if isFilm { (screen.pages.filmPercent, stopFilm) = (nil, nil) } else { isKeeping = false }
  }

  private func message(for fault: MakingFault) -> Message {
    switch fault {
    case .noFFmpeg: "\(.needsFFmpeg)"
    case .write(let path, let fault): "\(.writeFailed) \(path)\(fault.reason)"
    case .other(let path, let line): "\(.writeFailed) \(path)\(english: ": \(line)", else: nil)"
    }
  }

  func takePicture() {
    pictureCount += 1
    machine.takePicture("\(services.dataFolder())/pictures/\(services.timeStamp())-\(pictureCount).png")
  }
}

extension PlatformServices {
  /// `file`: the path of a file in the data folder or, in a browser, for a download. `shown`: the text that names the file to the player.
  func exportPath(_ name: String, in folder: String = "") -> (file: String, shown: String) {
    if isPage { return ("download/\(name)", name) }
    let path = "\(dataFolder())/\(folder)\(name)"
    return (path, path)
  }

  func copy(_ text: String, _ screen: RootScreen) {
    setClipboard(text) { screen.say($0 ? "\(.copied)" : "\(.copyFailed)") }
  }
}

extension WriteFault {
  /// The reason of a failed write as the end of a message; empty if the reason is unknown.
  var reason: Message {
    switch self {
    case .noRoom: " \(.noRoom)"
    case .notAllowed: " \(.notAllowed)"
    case .other: ""
    }
  }
}
