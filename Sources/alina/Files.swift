import Base
import Glibc
import Records
import Screen
import ScoreFiles
import Session
import Synchronization
import TicTacToe

/// Games as files and text, pieces and pictures: what the table wants done with them.
final class Files {
  private let parts: App.Parts
  private let screen: RootScreen
  private let library: Library
  private let music: Music
  private let keeper: GameKeeper?
  /// The name of the running game's file, once it has one.
  private var name: String?
  private var asked: Game?
  private var nextTry = 0.0
  private var toldFailure = false
  private let mailbox = Mailbox()
  /// Pictures to write from the next frame.
  var pictures: [String] = []
  private(set) var failedPictures: [String] = []
  private var pictureCount = 0
  /// Shows a line for a while.
  var say: (String) -> Void = { _ in }

  /// Seconds between two tries to write what a disk has refused.
  private static let retryInterval = 4.0

  init(_ parts: App.Parts, _ screen: RootScreen, _ library: Library, _ music: Music, resuming name: String?) {
    (self.parts, self.screen, self.library, self.music, self.name) = (parts, screen, library, music, name)
    keeper = parts.store.map { GameKeeper($0, inBackground: parts.services.inBackground) }
    if name != nil { asked = parts.session.game }
  }

  /// The game under review, while its page is open.
  private var reviewed: Record? { screen.currentScene == .review ? music.reviewed?.record : nil }

  /// Answers the intents about files.
  func answer(_ intent: Intent) {
    switch intent {
    case .saveGame: saveGame()
    case .listGames:
      flush()
      screen.games = library.entries()
    case .openGame(let path): open(path: path)
    case .deleteGame(let path):
      say(parts.services.deleteFile(path) ? screen.text(.deleted) : screen.text(.saveFailed))
      screen.games = library.entries()
    case .openPieces: parts.services.openFolder("\(parts.services.dataFolder())/pieces")
    case .copyGame:
      parts.services.setClipboard((reviewed ?? parts.session.record).text)
      say(screen.text(.copied))
    case .copyText(let text):
      parts.services.setClipboard(text)
      say(screen.text(.copied))
    case .pasteGame:
      let text = parts.services.clipboard() ?? ""
      guard text.contains(where: { !$0.isWhitespace }) else { return say(screen.text(.clipboardEmpty)) }
      open(text: text, from: "the clipboard")
    case .statistics:
      flush()
      screen.statistics = library.statistics()
    case .keepPiece: keepPiece()
    default: break
    }
  }

  // MARK: - The running game

  /// The game that begins gets a file of its own.
  func newName() {
    name = nil
    asked = nil
  }

  /// Has the game written after every change, so that a kill at any moment loses nothing that was kept.
  func keepGame(at now: Double, isResumable: Bool, isWanted: Bool) {
    for line in mailbox.takeAll() { say(line) }
    let game = parts.session.game
    if let keeper, keeper.failures > 0, now >= nextTry {
      nextTry = now + Files.retryInterval
      if !toldFailure { say(screen.text(.saveFailed)) }
      toldFailure = true
      keeper.retry()
    } else if keeper?.failures == 0 {
      toldFailure = false
    }
    guard let keeper, isWanted, asked != game, !game.moves.isEmpty else { return }
    asked = game
    let name = runningName
    self.name = name
    keeper.keep(.init(Library.dated(parts.session.record, as: name), as: name, isResumable: isResumable))
  }

  /// Writes what waits; call before the program ends.
  func flush() { keeper?.flush() }

  /// The name of the running game's file: that of the local time, so that a folder of them reads as a diary.
  private var runningName: String {
    if let name { return name }
    let stamp = newStamp
    // Another window may begin a game in the same second.
    return (1...99).lazy.map { "\(stamp)-\($0)" }.first { [parts] in parts.store?.take($0) ?? true } ?? stamp
  }

  private var newStamp: String {
    var now = time(nil)
    var local = tm()
    localtime_r(&now, &local)
    var buffer = [CChar](repeating: 0, count: 64)
    strftime(&buffer, buffer.count, "%Y-%m-%d-%H%M%S", &local)
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Saves the game under review, or else the running one, at once.
  private func saveGame() {
    let name = reviewed == nil ? runningName : "\(newStamp)-copy"
    let record = reviewed ?? Library.dated(parts.session.record, as: name)
    if reviewed == nil { self.name = name }
    let path = "\(parts.services.dataFolder())/games/\(name)\(GameStore.suffix)"
    let isSaved = parts.services.writeFile(path, Array(record.text.utf8))
    say(isSaved ? "\(screen.text(.savedAs)) \(path)" : screen.text(.saveFailed))
  }

  // MARK: - Review

  /// Takes the game on the board to the review page.
  func review() {
    let record = Library.dated(parts.session.record, as: name ?? newStamp)
    music.review(record, human: parts.session.participants.loneHuman, title: library.title(of: record))
  }

  /// Opens a game file for review; what is wrong with it is shown with its line.
  func open(path: String) {
    guard let bytes = parts.services.readFile(path) else {
      return say("\(path): no such file, or it cannot be read")
    }
    open(text: String(decoding: bytes, as: UTF8.self), from: path)
  }

  /// Opens a game, or a position, that came as text.
  private func open(text: String, from source: String) {
    do throws(NotationError) {
      let record = try Library.record(from: text)
      music.review(record, human: Library.human(of: record), title: library.title(of: record))
      screen.show(.review)
    } catch {
      say("\(source): \(error.description)")
    }
  }

  // MARK: - Pieces and pictures

  /// Writes the piece of the game under review, or else of the one on the board, in every form, on a worker.
  private func keepPiece() {
    let name = reviewed == nil ? self.name ?? newStamp : newStamp
    let record = reviewed ?? Library.dated(parts.session.record, as: name)
    guard !record.game.moves.isEmpty else { return }
    let services = parts.services
    let keeper = PieceKeeper(
      record: record, rules: parts.session.rules,
      human: reviewed == nil ? parts.session.participants.loneHuman : Library.human(of: record),
      title: library.players(of: record), grand: screen.pianos.playing == .grand ? parts.grandFont : nil,
      a4: screen.settings.a4, writeFile: services.writeFile)
    let folder = "\(services.dataFolder())/pieces/\(name)"
    let (outcome, words) = (mailbox, screen.text(.keptIn))
    say(screen.text(.keeping))
    services.inBackground { outcome.add(keeper.write(to: folder) ?? "\(words) \(folder)") }
  }

  /// Whether a picture is waiting to be written.
  var wantsPicture: Bool { !pictures.isEmpty }

  func takePicture() {
    pictureCount += 1
    pictures.append("\(parts.services.dataFolder())/pictures/\(newStamp)-\(pictureCount).png")
  }

  func writePictures(_ bitmap: Bitmap) {
    for path in pictures {
      let isWritten = parts.services.writeFile(path, bitmap.png())
      if !isWritten { failedPictures.append(path) }
      say("\(screen.text(isWritten ? .pictureAs : .pictureFailed)) \(path)")
    }
    pictures = []
  }
}

/// Lines from workers for the window.
final class Mailbox: Sendable {
  private let lines = Mutex<[String]>([])

  func add(_ line: String) { lines.withLock { $0.append(line) } }

  func takeAll() -> [String] {
    lines.withLock { lines in
      defer { lines = [] }
      return lines
    }
  }
}
