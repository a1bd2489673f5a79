import Screen
import Session
import TicTacToe

/// Games as files and text: saving, opening, the list, the clipboard, statistics.
extension App {
  /// Answers the intents about files.
  func answerFiles(_ intent: Intent) {
    let now = parts.services.now()
    switch intent {
    case .saveGame: saveGame(at: now)
    case .listGames: screen.games = entries()
    case .openGame(let path): open(path: path)
    case .copyGame:
      parts.services.setClipboard((reviewed?.record ?? parts.session.record).text)
      show(notice: screen.text(.copied), at: now)
    case .pasteGame(let text):
      guard text.contains(where: { !$0.isWhitespace }) else {
        return show(notice: screen.text(.clipboardEmpty), at: now)
      }
      open(text: text, from: "the clipboard")
    case .statistics: screen.statistics = statistics()
    default: break
    }
  }

  /// Opens a game file for review; what is wrong with it is shown with its line.
  func open(path: String) {
    guard let bytes = parts.services.readFile(path) else {
      return show(notice: "\(path): no such file, or it cannot be read", at: parts.services.now())
    }
    open(text: String(decoding: bytes, as: UTF8.self), from: path)
  }

  /// Opens a game, or a position, that came as text.
  private func open(text: String, from source: String) {
    do throws(NotationError) {
      let record = try App.record(from: text)
      review(record, human: App.human(of: record))
      screen.show(.review)
    } catch {
      show(notice: "\(source): \(error.description)", at: parts.services.now())
    }
  }

  /// Reads a game as PGN-shaped text or a line of JSON, or a position as one line of its own notation.
  private static func record(from text: String) throws(NotationError) -> Record {
    let words = text.drop { $0.isWhitespace }
    if words.first == "{" { return try Record(jsonLine: text) }
    let line = words.prefix { !$0.isNewline }
    let isPosition = line.contains("/") && words.dropFirst(line.count).allSatisfy(\.isWhitespace)
    guard isPosition, let position = try? Position(notation: String(line)) else { return try Record(text: text) }
    return Record(game: Game(start: position))
  }

  /// Saves the game under review, or else the running one.
  private func saveGame(at now: Double) {
    let name = reviewed == nil ? savedGame?.name ?? gameName : "\(gameName)-copy"
    let record = reviewed?.record ?? dated(parts.session.record, as: name)
    let isSaved = parts.services.writeFile(path(of: name), Array(record.text.utf8))
    show(notice: isSaved ? "\(screen.text(.savedAs)) \(path(of: name))" : screen.text(.saveFailed), at: now)
  }

  private func path(of name: String) -> String { "\(parts.services.dataFolder())/games/\(name)\(GameStore.suffix)" }

  /// The record with the day its name says.
  func dated(_ record: Record, as name: String) -> Record {
    var record = record
    if record[tag: "Date"] == nil { record[tag: "Date"] = String(name.prefix(10)).replacing("-", with: ".") }
    return record
  }

  /// Who played when, as one line.
  func title(of record: Record) -> String {
    let players = players(of: record)
    return record[tag: "Date"].map { "\(players), \($0)" } ?? players
  }

  /// Who played, as one line.
  func players(of record: Record) -> String { "\(name(of: .x, in: record)) – \(name(of: .o, in: record))" }

  /// What a side's player is called on the pages.
  func name(of side: Player, in record: Record) -> String {
    guard let name = record[player: side] else { return "\(side.letter)" }
    return App.displayName(of: name, on: screen)
  }

  /// What a player of a record is called: opponents by their character, the player by `you`, other people by their name.
  static func displayName(of name: String, on screen: RootScreen) -> String {
    let seat = Seat(recordName: name)
    return seat != .human ? screen.name(of: seat) : name == "you" ? screen.text(.you) : name
  }

  /// The side of the one local human of a kept game, if there was exactly one.
  static func human(of record: Record) -> Player? {
    let me = Player.allCases.filter { record[player: $0] == "you" }
    let people = Player.allCases.filter { Seat(recordName: record[player: $0]) == .human }
    return me.count == 1 ? me.first : people.count == 1 ? people.first : nil
  }

  // MARK: - The folder

  /// The newest files first; a player of many years has more than anyone scrolls through.
  private static let listLimit = 500

  func savedRecords() -> [(path: String, name: String, record: Record)] {
    let folder = "\(parts.services.dataFolder())/games"
    let names = parts.services.listFolder(folder).filter { $0.hasSuffix(GameStore.suffix) }.sorted(by: >)
    return names.prefix(App.listLimit).compactMap { name in
      let path = "\(folder)/\(name)"
      guard let bytes = parts.services.readFile(path),
        let record = try? Record(text: String(decoding: bytes, as: UTF8.self))
      else { return nil }
      return (path, String(name.dropLast(GameStore.suffix.count)), record)
    }
  }

  private func entries() -> [GameEntry] {
    savedRecords().map { path, name, record in
      GameEntry(
        path: path, players: players(of: record), date: App.moment(name), result: result(of: record),
        position: record.game.position)
    }
  }

  /// `2026-11-21-154210-1`, as games are named, in a form people read; other names as they are.
  private static func moment(_ name: String) -> String {
    let parts = name.split(separator: "-")
    guard parts.count >= 4, parts[0].count == 4, parts[3].count == 6, parts[3].allSatisfy(\.isNumber) else {
      return name
    }
    return "\(parts[0])-\(parts[1])-\(parts[2]), \(parts[3].prefix(2)):\(parts[3].dropFirst(2).prefix(2))"
  }

  private func result(of record: Record) -> String {
    switch record.game.end?.outcome {
    case .draw: return screen.text(.drawn)
    case .win(let winner):
      guard record[player: winner] != "you" else { return screen.text(.youWon) }
      return "\(name(of: winner, in: record)) \(screen.text(.hasWon))"
    case nil: return screen.text(.unfinished)
    }
  }

  private func statistics() -> StatisticsModel {
    var model = StatisticsModel()
    var opponents: [String: Tally] = [:]
    for (_, _, record) in savedRecords().reversed() {
      guard let outcome = record.game.end?.outcome else { continue }
      // The player's own games: one side is a person, the other is not.
      guard let side = App.human(of: record) else { continue }
      let result = outcome == .draw ? 0 : outcome == .win(side) ? 1 : -1
      func add(_ tally: inout Tally) {
        if result > 0 { tally.wins += 1 } else if result < 0 { tally.losses += 1 } else { tally.draws += 1 }
      }
      add(&opponents[record[player: side.opponent] ?? "?", default: Tally()])
      if side == .x { add(&model.asX) } else { add(&model.asO) }
      if side == .x, let first = record.game.moves.first { add(&model.openings[first.square.index]) }
      model.results.append(result)
    }
    // Weakest first: random, the levels by number, the perfect player last.
    model.opponents = opponents.sorted { App.rank($0.key) < App.rank($1.key) }.map {
      .init(name: App.displayName(of: $0.key, on: screen), tally: $0.value)
    }
    return model
  }

  private static func rank(_ name: String) -> String {
    name == "random" ? "0" : name.hasPrefix("levels:") ? "1\(name)" : name == "perfect" ? "3" : "2\(name)"
  }
}
