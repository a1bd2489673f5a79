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
  /// The name of the running game's file, once it has one, and the names that this window has given.
  private var name: String?
  private var usedNames: Set<String> = []
  /// What the player calls the running game.
  private var title: String?
  private var asked: (game: Game, times: [Record.MoveTimes])?
  /// Whether the player has deleted the running game: the moves that follow are not written.
  private var isDeleted = false
  private var nextTry = 0.0
  private var toldFailure = false
  private let pieceNews = Mailbox<MakingNews>()
  private let filmNews = Mailbox<MakingNews>()
  private var isKeeping = false
  private var stopFilm: (() -> Void)?
  /// How many of the newest games are listed.
  private var listLimit = Library.listStep
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

  /// The game under review, while its page is open.
  private var reviewed: Record? { screen.currentScene == .review ? music.reviewed?.record : nil }

  func answer(_ intent: Intent) {
    switch intent {
    case .saveGame: saveGame()
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
      copy(shown.text)
    case .copyText(let text):
      copy(text)
    case .shareGame: share(place(of: shown))
    case .pasteGame:
      let open = { [self] (text: String) in
        guard text.contains(where: { !$0.isWhitespace }) else { return say(screen.text(.clipboardEmpty)) }
        self.open(record(from: text, in: screen.text(.game)))
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
    services.share?(path) { [self] outcome in
      if outcome != .sent { say(screen.text(outcome == .copied ? .copied : .copyFailed)) }
    }
  }

  private func copy(_ text: String) {
    services.setClipboard(text) { [self] in say(screen.text($0 ? .copied : .copyFailed)) }
  }

  /// Gives today's board away: its words by the clipboard, and a picture.
  func share(_ card: DayCard) {
    let kept = machine.giveCard(card) { [screen] in screen.draw(card, into: $0) }
    copy(card.text)
    if let kept { say("\(screen.text(kept.isWritten ? .pictureAs : .writeFailed)) \(kept.path)") }
  }

  // MARK: - The running game

  /// The game that begins gets a file of its own.
  func newName() {
    (name, title, asked, isDeleted) = (nil, nil, nil, false)
  }

  /// Has the game written after every change, so that a kill at any moment loses nothing that was kept.
  func keepGame(at now: Double, isResumable: Bool, isWanted: Bool) {
    for news in pieceNews.takeAll() { hear(news, isFilm: false) }
    for news in filmNews.takeAll() { hear(news, isFilm: true) }
    let game = session.game
    if let failures = keeper?.failures, failures.count > 0, now >= nextTry {
      nextTry = now + Files.retryInterval
      if !toldFailure { say(screen.text(.saveFailed, because: failures.fault)) }
      toldFailure = true
      keeper?.retry()
    } else if keeper?.failures.count == 0 {
      toldFailure = false
    }
    guard let keeper, isWanted, !isDeleted, asked?.game != game || asked?.times != session.times, !game.cells.isEmpty
    else {
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
    return newName("-")
  }

  /// A name for a new file: the local time, an ending and a number. Another window may name a game in the same second, and
  /// the clock may have been set back.
  private func newName(_ ending: String) -> String {
    let start = services.timeStamp() + ending
    let names = (1...99).lazy.map { "\(start)\($0)" }
    let name = names.first { [store, usedNames] in !usedNames.contains($0) && store?.takeNew($0) ?? true } ?? start
    usedNames.insert(name)
    return name
  }

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
    guard let keeper, let store else { return say(screen.text(.nothingKept)) }
    let name = reviewed == nil ? runningName : newName("-\(Library.copyMark)")
    if reviewed == nil { (self.name, isDeleted) = (name, false) }
    let record = shown
    do throws(WriteFault) {
      try keeper.save(record, as: name)
      say("\(screen.text(.savedAs)) \(store.path(of: name))")
    } catch {
      say(screen.text(.saveFailed, because: error))
    }
  }

  /// The game of a file; `nil`, with a notice, where the file is gone or damaged.
  private func saved(_ path: String) -> Record? {
    guard let bytes = services.readFile(path) else {
      say(screen.text(.unreadable, path))
      return nil
    }
    return record(from: String(decoding: bytes, as: UTF8.self), in: path)
  }

  /// The game, or the position, of a text; `nil`, with a notice of the line that is wrong, where it is none.
  private func record(from text: String, in source: String) -> Record? {
    do throws(NotationError) { return try Library.record(from: text) } catch {
      // Why it is wrong is known in English only.
      let reason = screen.settings.language == .english ? " \(error.description)" : ""
      say(screen.text(.unreadableLine, source, "\(error.line)") + reason)
      return nil
    }
  }

  private func listGames() { (screen.pages.games, screen.pages.hasOlderGames) = library.entries(atMost: listLimit) }

  /// Does something with a saved game, unless another window plays it, and lists the games again.
  private func withGame(_ path: String, _ body: (_ name: String, GameKeeper) -> Void) {
    guard let keeper, let store, let name = store.name(of: path) else { return say(screen.text(.saveFailed)) }
    guard store.take(name) else { return say(screen.text(.otherWindow)) }
    body(name, keeper)
    if name != self.name { store.release(name) }
    listGames()
  }

  private func delete(_ path: String) {
    withGame(path) { name, keeper in
      let isGone = keeper.delete(name)
      if isGone, name == self.name { (self.name, isDeleted) = (nil, true) }
      say(screen.text(isGone ? .deleted : .saveFailed))
    }
  }

  /// Gives a saved game a name, or removes it.
  private func rename(_ path: String, _ title: String) {
    withGame(path) { name, keeper in
      let words = title.split(whereSeparator: { $0.isWhitespace }).joined(separator: " ")
      let title = words.isEmpty ? nil : words
      do throws(WriteFault) {
        guard try keeper.change(name, { $0[tag: "Event"] = title }) else { return say(screen.text(.unreadable, path)) }
        // The next move writes the file anew.
        if name == self.name { self.title = title }
      } catch {
        say(screen.text(.saveFailed, because: error))
      }
    }
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
  package func open(words: String) { open(record(from: words, in: screen.text(.game))) }

  private func open(_ record: Record?) {
    guard let record else { return }
    review(record, human: Library.human(of: record))
    screen.show(.review)
  }

  // MARK: - Pieces and pictures

  /// Writes the piece of the game under review, or else of the one on the board, in every form, on a worker.
  private func keepPiece() {
    guard let piece else { return }
    say(screen.text(.keeping))
    guard !isKeeping else { return }
    isKeeping = true
    let (news, wake) = (pieceNews, services.wake)
    machine.keep(piece) {
      news.add($0)
      wake()
    }
  }

  /// The game under review, or else the one on the board, with its music.
  private var piece: Piece? {
    let (record, isRunning) = (shown, reviewed == nil)
    guard !record.game.cells.isEmpty else { return nil }
    return Piece(
      name: isRunning ? name ?? services.timeStamp() : services.timeStamp(), record: record, rules: session.rules,
      human: isRunning ? session.participants.loneHuman : Library.human(of: record), names: library.names(in: record),
      isGrand: screen.pianos.playing == .grand,
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

  private func hear(_ news: MakingNews, isFilm: Bool) {
    switch news {
    case .percent(let percent) where isFilm: return screen.pages.filmPercent = percent
    case .percent(let percent): return say("\(screen.text(.keeping)) \(percent) %")
    case .kept(let place): say("\(screen.text(isFilm ? .filmIn : .keptIn)) \(place)")
    case .failed(let fault): say(words(for: fault))
    case .stopped: break
    }
    if isFilm { (screen.pages.filmPercent, stopFilm) = (nil, nil) } else { isKeeping = false }
  }

  private func words(for fault: MakingFault) -> String {
    switch fault {
    case .noFFmpeg: screen.text(.needsFFmpeg)
    case .write(let path, let fault): screen.text(.writeFailed, because: fault, path)
    case .other(let line): "\(screen.text(.writeFailed)) \(line)"
    }
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

extension RootScreen {
  /// Words about something that could not be written, and why.
  package func text(_ phrase: Phrase, because fault: WriteFault, _ path: String? = nil) -> String {
    let reason: Phrase? =
      switch fault {
      case .noRoom: .noRoom
      case .notAllowed: .notAllowed
      case .other: nil
      }
    return [text(phrase), path, reason.map { text($0) }].compactMap { $0 }.joined(separator: " ")
  }
}
