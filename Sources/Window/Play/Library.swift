import Base
import Interface
import Opponents
import Oracle
import Records
import Screen
import Session
import TicTacToe

/// Reads the folder of saved games, and makes lists, statistics and learning players from them.
package struct Library {
  let services: PlatformServices
  let screen: RootScreen
  let knowledge: UltimateKnowledge

  /// Parses a game as PGN-like text, a line of JSON or a link, or a position in its one-line notation.
  package static func record(from text: String) throws(NotationError) -> Record {
    if let link = FreePlay.link(in: text) { return Record(try FreePlay(link: link)) }
    if let link = Record.link(in: text) { return try Record(link: link) }
    let words = text.drop { $0.isWhitespace }
    let line = words.prefix { !$0.isNewline }
    let isPosition = line.contains("/") && words.dropFirst(line.count).allSatisfy { $0.isWhitespace }
    let states = Variant.allCases.lazy.compactMap { try? VariantState($0, notation: String(line)) }
    if isPosition, let state = states.first { return Record(game: Game(from: state)) }
    let records = try RecordLines.all(in: Array(text.utf8))
    guard records.count == 1 else {
      throw NotationError(
        column: 1, message: "there \(records.isEmpty ? "is no" : "is more than one") game in this text")
    }
    return records[0]
  }

  /// A record without a date gets the date with which the file name `name` begins.
  static func dated(_ record: Record, as name: String) -> Record {
    var record = record
    if record[tag: "Date"] == nil { record[tag: "Date"] = String(name.prefix(10)).replacing("-", by: ".") }
    return record
  }

  /// The name, players and date of a game, as one line of text.
  func title(of record: Record) -> String {
    let players = (record[tag: "Event"].map { "\($0): " } ?? "") + players(of: record)
    return record[tag: "Date"].map { "\(players), \($0.replacing(".", by: "-"))" } ?? players
  }

  func players(of record: Record) -> String {
    Library.title(names(in: record))
  }

  static func title(_ names: (x: String, o: String)) -> String {
    names.o.isEmpty ? names.x : "\(names.x) – \(names.o)"
  }

  /// For free play `x` is the name of free play and `o` is empty.
  func names(in record: Record) -> (x: String, o: String) {
    record.freePlay == nil ? (name(of: .x, in: record), name(of: .o, in: record)) : (screen.text(.touchBoard), "")
  }

  func name(of side: Player, in record: Record) -> String {
    guard let name = record[player: side] else { return "\(side.letter)" }
    return Library.displayName(of: name, on: screen)
  }

  /// The displayed name of a player in a record: an opponent's character, `you`, or a person's name.
  static func displayName(of name: String, on screen: RootScreen) -> String {
    let seat = Seat(recordName: name)
    return seat != .human ? screen.name(of: seat) : name == "you" ? screen.text(.you) : name
  }

  /// The side of the only local person in a saved game; `nil` if no local person or two local people played.
  static func human(of record: Record) -> Player? {
    if let human = record.human { return human }
    let me = Player.allCases.filter { record[player: $0] == "you" }
    let people = Player.allCases.filter { Seat(recordName: record[player: $0]) == .human }
    return me.count == 1 ? me.first : people.count == 1 ? people.first : nil
  }

  // MARK: - The folder

  /// The number of games listed at first, and added on each request for older games.
  static let listStep = 500
  /// The part of a file name that marks a copy, saved while a game was reviewed: copies are listed, but statistics and learning skip them.
  static let copyMark = "copy"

  private var folder: String { "\(services.dataFolder())/games" }

  /// The file names of the saved games without the suffix, newest first.
  private var names: [String] {
    services.files.list(folder).filter { $0.hasSuffix(GameStore.suffix) }
      .map { String($0.dropLast(GameStore.suffix.count)) }.sorted(by: >)
  }

  private func path(of name: String) -> String { "\(folder)/\(name)\(GameStore.suffix)" }

  private func record(of name: String) -> Record? {
    services.files.read(path(of: name)).flatMap {
      try? Record(text: String(decoding: $0, as: UTF8.self), variants: Variant.allCases)
    }
  }

  /// Oldest first, without the copies that were saved from a review.
  private func playedRecords() -> [Record] {
    names.reversed().compactMap { name in
      name.split(separator: "-").contains { $0.hasPrefix(Library.copyMark) } ? nil : record(of: name)
    }
  }

  /// The newest games. An unreadable file is listed by its name, so that the player can delete the file.
  func entries(atMost limit: Int) -> (games: [GameEntry], hasOlder: Bool) {
    let names = names
    let games = names.prefix(limit).map { name in
      guard let record = record(of: name) else {
        return GameEntry(
          path: path(of: name), players: name, date: Library.moment(name), result: "",
          board: BoardFacts(of: Game()))
      }
      return GameEntry(
        path: path(of: name), name: record[tag: "Event"] ?? "", players: players(of: record),
        date: Library.moment(name), result: result(of: record), board: BoardFacts(of: record.game))
    }
    return (games, names.count > limit)
  }

  /// Formats a file name such as `2026-11-21-154210-1` for display; returns other names unchanged.
  static func moment(_ name: String) -> String {
    let parts = name.split(separator: "-")
    guard parts.count >= 4, parts[0].count == 4, parts[3].count == 6, parts[3].allSatisfy({ $0.isNumber }) else {
      return name
    }
    return "\(parts[0])-\(parts[1])-\(parts[2]), \(parts[3].prefix(2)):\(parts[3].dropFirst(2).prefix(2))"
  }

  private func result(of record: Record) -> String {
    switch record.game.end?.outcome {
    case .draw: return screen.text(.drawn)
    case .win(let winner):
      guard winner != Library.human(of: record) else { return screen.text(.youWon) }
      return "\(name(of: winner, in: record)) \(screen.text(.hasWon))"
    case nil: return record.freePlay == nil ? screen.text(.unfinished) : ""
    }
  }

  func statistics() -> [Variant: StatisticsModel] {
    let games = playedRecords()
    var models: [Variant: StatisticsModel] = [:]
    for variant in Variant.allCases {
      let model = statistics(of: games.filter { $0.game.variant == variant })
      if !model.results.isEmpty { models[variant] = model }
    }
    return models
  }

  private func statistics(of games: [Record]) -> StatisticsModel {
    var model = StatisticsModel()
    var opponents: [String: Tally] = [:]
    for record in games {
      guard let outcome = record.game.end?.outcome else { continue }
      guard let side = Library.human(of: record) else { continue }
      let result = outcome == .draw ? 0 : outcome == .win(side) ? 1 : -1
      func add(_ tally: inout Tally) {
        if result > 0 { tally.wins += 1 } else if result < 0 { tally.losses += 1 } else { tally.draws += 1 }
      }
      add(&opponents[record[player: side.opponent] ?? "?", default: Tally()])
      if side == .x { add(&model.asX) } else { add(&model.asO) }
      if side == .x, let first = record.game.cells.first {
        add(&model.openings[record.game.variant.board(of: first)?.index ?? first.index])
      }
      model.results.append(result)
    }
    // Weakest first: random, the levels by number, all other players, the perfect player.
    model.opponents = opponents.sorted { Library.rank($0.key) < Library.rank($1.key) }.map {
      .init(name: Library.displayName(of: $0.key, on: screen), tally: $0.value)
    }
    return model
  }

  private static func rank(_ name: String) -> String {
    name == "random" ? "0" : name.hasPrefix("levels:") ? "1\(name)" : name == "perfect" ? "3" : "2\(name)"
  }

  // MARK: - Learning players: they learn anew from the saved games whenever a game begins, and so forget a deleted game

  package func participants(of setup: GameSetup, learning: Bool = true) -> Participants {
    var participants = setup.participants(knowing: setup.variant.isSolved ? nil : knowledge.value)
    guard learning else { return participants }
    if let x = learned(setup.x) { participants.x = x }
    if let o = learned(setup.o) { participants.o = o }
    return participants
  }

  private func learned(_ seat: Seat) -> Participant? {
    switch seat {
    case .adaptive: .opponent(taught(Adaptive()))
    case .menace: .opponent(taught(Menace()))
    default: nil
    }
  }

  private func taught<Player: LearningOpponent>(_ pupil: Player) -> Player {
    var pupil = pupil
    for record in playedRecords() where record.game.variant.isImplied {
      guard let outcome = record.game.end?.outcome else { continue }
      for side in [TicTacToe.Player.x, .o] where record[player: side] == pupil.name {
        pupil.learn(
          from: record.game.moves, start: record.game.start, as: side, outcome: outcome)
      }
    }
    return pupil
  }
}

extension GameSession {
  /// MENACE's beads for the position, by cell; `nil` if it is not MENACE's turn.
  var beads: [Int]? {
    guard !game.isOver, case .machine(let player) = participants[game.turn],
      let distribution = player.beads(in: game)
    else { return nil }
    return Square.all.map { Int(clamping: distribution[$0]) }
  }
}
