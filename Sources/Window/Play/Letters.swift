import Base
import Interface
import Records
import Screen
import TicTacToe
import WindowLogic

/// The store of games played by links: a file for each game, which all windows and tabs of a player share.
final class Letters {
  private let services: PlatformServices
  private let screen: RootScreen
  private var random: SplitMix64
  /// The path for which `address` was called last, and its result.
  private var addressed = (path: "", address: "")

  /// `seed` and the time determine the ids of new games.
  init(_ services: PlatformServices, _ screen: RootScreen, seed: UInt64) {
    (self.services, self.screen) = (services, screen)
    random = SplitMix64(seed: seed)
  }

  private static let suffix = ".letter"
  /// The maximum number of listed games.
  private static let most = 200
  private var folder: String { services.dataFolder() + "/letters" }

  private func path(of name: String) -> String { "\(folder)/\(name)\(Letters.suffix)" }

  private func entry(_ name: String) -> LetterBox.Entry? {
    services.files.read(path(of: name)).flatMap { LetterBox.Entry(text: String(decoding: $0, as: UTF8.self)) }
  }

  func answer(_ request: LetterRequest) -> LetterNews? {
    let now = services.timeStamp()
    switch request {
    case .begin(let variant):
      // The time makes the id different in windows that were started with the same seed.
      let id = random.next() ^ SHA256.hash(Array(now.utf8)).bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
      return .game(.init(Letter(id: id, variant: variant), you: .x, since: now), known: 0)
    case .open(let text):
      rememberPage(of: text)
      var read: Letter?
      do throws(NotationError) { read = try Letter(link: Letter.link(in: text) ?? text) } catch { return .damaged }
      guard let letter = read else { return .damaged }
      return change(letter) { $0.take(letter, at: now) }
    case .show(let id):
      guard let entry = entry(Letter.name(of: id)) else { return nil }
      return .game(entry, known: .max)
    case .keep(let letter, let you, let isRematch):
      let news = change(letter) { box in
        let relation = box.keep(.init(letter, you: you, since: now))
        return isRematch ? .same : relation
      }
      if isRematch { return news }
      if case .game = news { return nil }
      return news
    case .copy(let path):
      services.copy(address(of: path), screen)
    case .list: list()
    case .delete(let id):
      if services.files.delete(path(of: Letter.name(of: id))) { screen.say("\(.deleted)") }
      list()
    }
    return nil
  }

  /// Reads the stored game again before `body` changes the game, because another window may have changed the file.
  private func change(_ letter: Letter, _ body: (inout LetterBox) -> LetterBox.Relation) -> LetterNews? {
    let path = path(of: letter.name)
    guard services.files.locks.take(path) else {
      screen.say("\(.otherWindow)")
      return nil
    }
    defer { services.files.locks.release(path) }
    var box = LetterBox(entry(letter.name))
    let before = box
    let relation = body(&box)
    guard let entry = box.entries[letter.id] else { return .damaged }
    if box != before {
      do throws(WriteFault) { try services.files.write(path, Array((entry.text + "\n").utf8)) } catch {
        screen.say("\(.saveFailed)\(error.reason)")
      }
    }
    switch relation {
    case .first: return .game(entry, known: 0)
    case .newer(let known): return .game(entry, known: known)
    case .same: return .game(entry, known: .max)
    case .old: return .old(entry)
    case .fork: return .fork(entry, letter)
    }
  }

  private func list() {
    let names = services.files.list(folder).filter { $0.hasSuffix(Letters.suffix) }
      .map { String($0.dropLast(Letters.suffix.count)) }
    let language = screen.settings.language
    let entries = names.compactMap(entry).sorted { $0.since > $1.since }
    screen.pages.letters = entries.prefix(Letters.most).map { entry in
      let letter = entry.letter
      let name = letter[entry.you.opponent]
      let opponent: Message = name.isEmpty ? "\(.player)" : Message(name)
      let result: Message =
        switch letter.game.end?.outcome {
        case nil where letter.game.isOver: "\(.abandoned)"
        case nil: entry.isYourTurn ? "\(.yourMove)" : "\(.waitingFor, opponent)"
        case .draw: "\(.draw)"
        case .win(let winner): winner == entry.you ? "\(.youWin)" : "\(.youLose)"
        }
      let players: Message = "\(opponent) · \(letter.game.variant.phrase)"
      return GameEntry(
        path: "\(letter.id)", players: players.text(in: language),
        date: Library.moment(entry.since), result: result.text(in: language), board: BoardFacts(of: letter.game))
    }
  }

  // MARK: - Links

  /// The link of a path: to the program's own page, else to the page of the last opened letter, else only `#/` and the path.
  func address(of path: String) -> String {
    if path != addressed.path {
      addressed = (path, services.address?(path) ?? "\(screen.settings.letterPage)#/\(path)")
    }
    return addressed.address
  }

  /// Stores the page to which an opened link leads; the links of the player's answers then lead to the same page.
  private func rememberPage(of text: String) {
    guard !services.isPage, text.hasPrefix("http://") || text.hasPrefix("https://"), let word = Letter.link(in: text)
    else { return }
    let page = text.split { $0.isWhitespace }[0].dropLast(word.count + 2)
    screen.settings.letterPage = String(page.hasSuffix("#/") ? page.dropLast(2) : page)
  }
}
