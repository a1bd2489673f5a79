import Interface
import Base
import Locks
import Records
import Screen
import Session
import TicTacToe

/// Games as files and text, pieces and pictures: what the window state wants done with them.
package final class Files {
  private let machine: Machine
  private let session: GameSession
  private let screen: RootScreen
  private let library: Library
  private let music: Music
  private let keeper: GameKeeper?
  private let store: GameStore?
  /// The name of the running game's file, once it has one.
  private var name: String?
  /// What the player calls the running game.
  private var title: String?
  private var asked: (game: Game, times: [Record.MoveTimes])?
  private var nextTry = 0.0
  private var toldFailure = false
  private let mailbox = Mailbox<String>()
  private let filmNews = Mailbox<FilmNews>()
  private var stopFilm: (() -> Void)?
  private var pictureCount = 0
  var say: (String) -> Void = { _ in }

  /// Seconds between two tries to write what a disk has refused.
  private static let retryInterval = 4.0

  init(
    _ machine: Machine, _ session: GameSession, _ screen: RootScreen, _ library: Library, _ music: Music,
    store: GameStore?, resuming unfinished: (name: String, record: Record)?
  ) {
    (self.machine, self.session, self.screen, self.library) = (machine, session, screen, library)
    (self.music, self.store) = (music, store)
    keeper = store.map { GameKeeper($0, inBackground: machine.services.inBackground) }
    if let (name, record) = unfinished {
      (self.name, title) = (name, record[tag: "Event"])
      asked = (record.game, record.game.cells.indices.map { record.times(ofMove: $0) })
    }
    screen.pages.mayFilm = machine.film != nil
  }

  private var services: PlatformServices { machine.services }

  /// The game under review, while its page is open.
  private var reviewed: Record? { screen.currentScene == .review ? music.reviewed?.record : nil }

  func answer(_ intent: Intent) {
    switch intent {
    case .saveGame: saveGame()
    case .listGames:
      flush()
      screen.pages.games = library.entries()
    case .openGame(let path): open(path: path)
    case .deleteGame(let path):
      say(services.deleteFile(path) ? screen.text(.deleted) : screen.text(.saveFailed))
      screen.pages.games = library.entries()
    case .renameGame(let path, let name): rename(path, name)
    case .playGame(let path):
      open(path: path)
      if screen.currentScene == .review { screen.perform(.playAll) }
    case .shareSaved(let path): if let record = saved(path) { share(place(of: record)) }
    case .openPieces: services.openFolder("\(services.dataFolder())/pieces")
    case .copyGame:
      services.setClipboard(shown.text)
      say(screen.text(.copied))
    case .copyText(let text):
      services.setClipboard(text)
      say(screen.text(.copied))
    case .shareGame: share(place(of: shown))
    case .pasteGame:
      let open = { [self] (text: String) in
        guard text.contains(where: { !$0.isWhitespace }) else { return say(screen.text(.clipboardEmpty)) }
        self.open(record(from: text, in: "the clipboard"))
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

  /// Gives the page's address away with so much behind it.
  func share(_ path: String) {
    if services.share?(path) == true { say(screen.text(.copied)) }
  }

  /// Gives today's board away: its words by the clipboard, and a picture.
  func share(_ card: DayCard) {
    services.setClipboard(card.text)
    let kept = machine.giveCard(card) { [screen] in screen.draw(card, into: $0) }
    say(kept.map { "\(screen.text($0.isWritten ? .pictureAs : .pictureFailed)) \($0.path)" } ?? screen.text(.copied))
  }

  // MARK: - The running game

  /// The game that begins gets a file of its own.
  func newName() {
    (name, title, asked) = (nil, nil, nil)
  }

  /// Has the game written after every change, so that a kill at any moment loses nothing that was kept.
  func keepGame(at now: Double, isResumable: Bool, isWanted: Bool) {
    for line in mailbox.takeAll() { say(line) }
    for news in filmNews.takeAll() { hear(news) }
    let game = session.game
    if let keeper, keeper.failures > 0, now >= nextTry {
      nextTry = now + Files.retryInterval
      if !toldFailure { say(screen.text(.saveFailed)) }
      toldFailure = true
      keeper.retry()
    } else if keeper?.failures == 0 {
      toldFailure = false
    }
    guard let keeper, isWanted, asked?.game != game || asked?.times != session.times, !game.cells.isEmpty else {
      return
    }
    asked = (game, session.times)
    let name = runningName
    self.name = name
    keeper.keep(.init(running, as: name, isResumable: isResumable))
  }

  /// Writes what waits; call before the program ends.
  func flush() { keeper?.flush() }

  /// The name of the running game's file: that of the local time, so that a folder of them reads as a diary.
  private var runningName: String {
    if let name { return name }
    let stamp = services.timeStamp()
    // Another window may begin a game in the same second.
    return (1...99).lazy.map { "\(stamp)-\($0)" }.first { [store] in store?.take($0) ?? true } ?? stamp
  }

  private func path(of name: String) -> String { "\(services.dataFolder())/games/\(name)\(GameStore.suffix)" }

  /// The game on the board as its file has it.
  private var running: Record {
    var record = Library.dated(session.record, as: name ?? services.timeStamp())
    record[tag: "Event"] = title
    return record
  }

  /// The game under review, or else the one on the board.
  private var shown: Record { reviewed ?? running }

  /// Saves the game under review, or else the running one, at once.
  private func saveGame() {
    let name = reviewed == nil ? runningName : "\(services.timeStamp())-copy"
    if reviewed == nil { self.name = name }
    let record = shown
    let path = path(of: name)
    let isSaved = services.writeFile(path, Array(record.text.utf8))
    say(isSaved ? "\(screen.text(.savedAs)) \(path)" : screen.text(.saveFailed))
  }

  /// The game of a file; `nil`, with a word about it, where the file is gone or damaged.
  private func saved(_ path: String) -> Record? {
    guard let bytes = services.readFile(path) else {
      say("\(path): no such file, or it cannot be read")
      return nil
    }
    return record(from: String(decoding: bytes, as: UTF8.self), in: path)
  }

  /// The game, or the position, of a text; `nil`, with the line that is wrong, where it is none.
  private func record(from text: String, in source: String) -> Record? {
    do throws(NotationError) { return try Library.record(from: text) } catch {
      say("\(source): \(error.description)")
      return nil
    }
  }

  /// Gives a saved game a name, or takes it away.
  private func rename(_ path: String, _ name: String) {
    guard var record = saved(path) else { return }
    let name = name.split(whereSeparator: { $0.isWhitespace }).joined(separator: " ")
    record[tag: "Event"] = name.isEmpty ? nil : name
    if services.writeFile(path, Array(record.text.utf8)) {
      // The next move writes the file anew.
      if let running = self.name, path == self.path(of: running) { title = record[tag: "Event"] }
    } else {
      say(screen.text(.saveFailed))
    }
    screen.pages.games = library.entries()
  }

  // MARK: - Review

  /// What the page's address names while a game is under review.
  private(set) var reviewedPlace = ""

  /// A game as addresses name it; to others nobody is called "you".
  private func place(of record: Record) -> String {
    var record = record
    let name = screen.settings.name
    for side in Player.allCases where record[player: side] == "you" {
      record[player: side] = name.isEmpty ? screen.text(.player) : name
    }
    return record.link.map { "g/\($0)" } ?? ""
  }

  private func review(_ record: Record, human: Player?) {
    music.review(record, human: human, title: library.title(of: record))
    reviewedPlace = services.isPage ? place(of: record) : ""
  }

  /// Takes the game on the board to the review page.
  func review() {
    review(running, human: session.participants.loneHuman)
  }

  /// Opens a game file for review; what is wrong with it is shown with its line.
  package func open(path: String) { open(saved(path)) }

  /// Opens a game that came with the page's address.
  package func open(words: String) { open(record(from: words, in: "the address")) }

  private func open(_ record: Record?) {
    guard let record else { return }
    review(record, human: Library.human(of: record))
    screen.show(.review)
  }

  // MARK: - Pieces and pictures

  /// Writes the piece of the game under review, or else of the one on the board, in every form, on a worker.
  private func keepPiece() {
    guard let piece else { return }
    say(piece.keeping)
    let mailbox = mailbox
    machine.keep(piece) { mailbox.add($0) }
  }

  /// The game under review, or else the one on the board, with its music.
  private var piece: Piece? {
    let (record, isRunning) = (shown, reviewed == nil)
    guard !record.game.cells.isEmpty else { return nil }
    return Piece(
      name: isRunning ? name ?? services.timeStamp() : services.timeStamp(), record: record, rules: session.rules,
      human: isRunning ? session.participants.loneHuman : Library.human(of: record), names: library.names(in: record),
      keeping: screen.text(.keeping), kept: screen.text(.keptIn), isGrand: screen.pianos.playing == .grand,
      a4: screen.settings.a4)
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

  private func hear(_ news: FilmNews) {
    switch news {
    case .percent(let percent): screen.pages.filmPercent = percent
    case .kept(let place): say("\(screen.text(.filmIn)) \(place)")
    case .failed(let line): say(line)
    case .stopped: break
    }
    if case .percent = news { return }
    screen.pages.filmPercent = nil
    stopFilm = nil
  }

  func takePicture() {
    pictureCount += 1
    machine.takePicture("\(services.dataFolder())/pictures/\(services.timeStamp())-\(pictureCount).png")
  }
}

/// News from workers for the window.
final class Mailbox<News: Sendable>: Sendable {
  private let news = Mutex<[News]>([])

  func add(_ one: News) { news.withLock { $0.append(one) } }

  func takeAll() -> [News] {
    news.withLock { news in
      defer { news = [] }
      return news
    }
  }
}
