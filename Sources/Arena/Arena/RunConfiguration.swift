import Base
import Foundation
import TicTacToe

package enum Format: String, Sendable, Hashable, CaseIterable {
  case match
  case roundRobin = "round-robin"
  /// The first player plays against every other player.
  case gauntlet
  /// In each round players of similar score meet; no pairing is repeated.
  case swiss
  case knockout
}

/// One of several equal shares of a run's games.
package struct Shard: Sendable, Hashable {
  /// From 1.
  package var number: Int
  package var count: Int

  package init(_ text: String) throws(ArenaError) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
    guard parts.count == 2, (1...100_000).contains(parts[1]), (1...parts[1]).contains(parts[0]) else {
      throw ArenaError("--shard '\(text)': NUMBER/COUNT, as 3/16")
    }
    (number, count) = (parts[0], parts[1])
  }

  package var text: String { "\(number)/\(count)" }
}

/// All parameters that determine the games; stored in the header of a file of games.
package struct RunConfiguration: Sendable, Hashable {
  package struct Entrant: Sendable, Hashable {
    package var spec: PlayerSpec
    /// The engine's own name from its handshake (`id name`).
    package var id: String?
    package var engine = EngineSettings()
    package var files: [File] = []
    /// The hash of Ultimate's value function, if the player uses it.
    package var values: String?

    /// A file that a word of the specification names.
    package struct File: Sendable, Hashable {
      /// The index of the word, from 0.
      package var word: Int
      package var sha256: String
    }

    package init(_ spec: PlayerSpec) { self.spec = spec }

    /// Not necessarily unique.
    fileprivate var displayName: String { engine.name ?? id ?? spec.portable.text }

    var members: JSONObject {
      var members: JSONObject = ["spec": .string(spec.portable.text)]
      members.add("id", id.map { .string($0) })
      engine.add(to: &members)
      let hashes = files.map { ["word": .int($0.word), "sha256": .string($0.sha256)] as JSON }
      members.add("files", files.isEmpty ? nil : .array(hashes))
      members.add("values", values.map { .string($0) })
      return members
    }
  }

  package var variant = Variant.classic
  package var format = Format.match
  /// The number of games of each pairing; even.
  package var games = 2
  /// Of a Swiss tournament.
  package var rounds = 0
  package var seed: UInt64 = 0
  package var entrants: [Entrant] = []
  package var openings = Openings.none
  /// May end a match early.
  package var sprt: SPRT?
  /// The time limit of engines without a limit of their own.
  package var time = TimeLimit()
  package var adjudication = Adjudication()
  /// Whether learning players play as they are at the start of the run, and learn nothing.
  package var isFrozen = false
  /// `nil` for all games.
  package var shard: Shard?
  package var date = "????.??.??"

  package static let playerLimit = 64
  /// The most games of each pairing.
  package static let gameLimit = 1_000_000_000

  package init() {}

  /// Whether the same arguments give the same games.
  package var isDeterministic: Bool { !entrants.contains { $0.spec.isEngine || $0.spec.isTimed } }

  /// A number distinguishes equal names.
  package var names: [String] {
    var taken: Set<String> = []
    return entrants.map { entrant in
      var (name, number) = (entrant.displayName, 1)
      while !taken.insert(name).inserted {
        number += 1
        name = "\(entrant.displayName) (\(number))"
      }
      return name
    }
  }

  /// The shard's games, always whole pairs. `nil` without a shard, or if the number of games depends on results.
  var indices: Range<Int>? {
    guard let shard, let games = Schedule.totalGames(self) else { return nil }
    let pairs = games / 2
    func begin(_ number: Int) -> Int { 2 * Int((Double(pairs) * Double(number) / Double(shard.count)).rounded(.down)) }
    return begin(shard.number - 1)..<(shard.number == shard.count ? games : begin(shard.number))
  }

  func recipe(of player: Int, _ guardExecutable: String, trace: EngineTrace? = nil) -> EngineClient.Recipe {
    guard case .engine(let command) = entrants[player].spec else {
      preconditionFailure("player \(player) is no engine")
    }
    let settings = entrants[player].engine
    return EngineClient.Recipe(
      command: command, guardExecutable: guardExecutable, time: settings.time ?? time, seed: seed, settings: settings,
      variant: variant, trace: trace, player: player)
  }

  package func validate() throws(ArenaError) {
    let count = entrants.count
    guard count >= 2, count <= RunConfiguration.playerLimit else {
      throw ArenaError("2–\(RunConfiguration.playerLimit) players are needed, \(count) given")
    }
    if format == .match, count != 2 { throw ArenaError("a match has 2 players, \(count) given; see --format") }
    guard games >= 2, games <= RunConfiguration.gameLimit, games % 2 == 0 else {
      throw ArenaError(
        "--games \(games): an even number 2–\(RunConfiguration.gameLimit), since seats are swapped in pairs")
    }
    for entrant in entrants where !entrant.spec.plays(variant) { throw entrant.spec.refusal(in: variant) }
    for limit in [time] + entrants.compactMap(\.engine.time) { try limit.validate(for: variant) }
    guard adjudication.ending == .rules || !variant.isOneBoard else {
      throw ArenaError("--ending \(adjudication.ending.rawValue): only ultimate has boards to count")
    }
    guard openings.variant == nil || openings.variant == variant else {
      throw ArenaError("the openings are for a game other than \(variant.rawValue)")
    }
    if format == .swiss {
      let most = count % 2 == 0 ? count - 1 : count
      guard (1...most).contains(rounds) else {
        throw ArenaError("--rounds \(rounds): 1–\(most) for \(count) players without meeting twice")
      }
    }
    if sprt != nil, format != .match { throw ArenaError("--sprt needs a match of two players") }
    try sprt?.validate()
    guard shard == nil || (sprt == nil && Schedule.totalGames(self) != nil && format != .swiss) else {
      throw ArenaError(
        "--shard needs a match, round-robin or gauntlet without --sprt: games that do not depend on others")
    }
    guard shard == nil || isFrozen || !entrants.contains(where: { $0.spec.isLearner(in: variant) }) else {
      throw ArenaError("--shard: a player that learns has to play all its games in order; see --freeze")
    }
  }

  // MARK: - Header

  /// The version of the file format.
  static let version = 2

  /// One line of JSON, without the line end.
  package var headerLine: String {
    // Add a checksum, which shows whether the header was edited.
    var members = members
    members.add("check", .string(String(SHA256.hash(JSON.object(members).text.utf8).hex.prefix(16))))
    return JSON.object(members).text
  }

  private var members: JSONObject {
    var members: JSONObject = [
      "alina": .string("arena"), "version": .int(RunConfiguration.version),
      "format": .string(format.rawValue), "games": .int(games),
    ]
    members.add("rounds", format == .swiss ? .int(rounds) : nil)
    members.add("seed", .string("\(seed)"))
    members.add("rules", .string(variant.headerName))
    members.add("players", .array(entrants.map { .object($0.members) }))
    if case .random(let plies) = openings { members.add("openings", .string("random:\(plies)")) }
    if let lines = openings.lines {
      members.add("openings", .array(lines.map { .string($0) }))
      members.add("openingsHash", .string(SHA256.hash(lines.joined(separator: "\n").utf8).hex))
    }
    members.add("sprt", sprt?.json)
    members.add("time", isDeterministic ? nil : time.json)
    adjudication.add(to: &members)
    members.add("frozen", isFrozen ? .bool(true) : nil)
    members.add("shard", shard.map { .string($0.text) })
    members.add("date", .string(date))
    members.add("deterministic", .bool(isDeterministic))
    return members
  }

  package init(headerLine: String) throws(ArenaError) {
    let json: JSON
    do {
      json = try JSON(headerLine)
    } catch {
      throw ArenaError("the header is not JSON: \(error)")
    }
    func missing(_ name: String) -> ArenaError { ArenaError("the header's '\(name)' is missing or wrong") }
    guard json["alina"]?.string == "arena" else { throw ArenaError("this is not a file of the arena's games") }
    guard json["version"]?.int == RunConfiguration.version else {
      throw ArenaError(
        "the file's version is not \(RunConfiguration.version): finish it with the program that began it")
    }
    guard let variant = json["rules"]?.string.flatMap({ Variant(headerName: $0) }) else { throw missing("rules") }
    self.variant = variant
    guard let format = json["format"]?.string.flatMap(Format.init) else { throw missing("format") }
    guard let games = json["games"]?.int else { throw missing("games") }
    guard let seed = json["seed"]?.string.flatMap({ UInt64($0) }) else { throw missing("seed") }
    guard let players = json["players"]?.array else { throw missing("players") }
    (self.format, self.games, self.seed) = (format, games, seed)
    for player in players {
      guard let text = player["spec"]?.string else { throw missing("players") }
      var entrant = Entrant(try PlayerSpec(text))
      entrant.id = player["id"]?.string
      guard let settings = EngineSettings(player) else { throw missing("players") }
      entrant.engine = settings
      for file in player["files"]?.array ?? [] {
        guard let word = file["word"]?.int, let hash = file["sha256"]?.string else { throw missing("players") }
        entrant.files.append(Entrant.File(word: word, sha256: hash))
      }
      entrant.values = player["values"]?.string
      entrants.append(entrant)
    }
    if format == .swiss {
      guard let rounds = json["rounds"]?.int else { throw missing("rounds") }
      self.rounds = rounds
    }
    switch json["openings"] {
    case nil: break
    case .string(let text) where text.hasPrefix("random:"): openings = try Openings(argument: text, variant)
    case .array(let lines):
      openings = try Openings(lines: lines.compactMap(\.string), name: "the header's openings", variant)
    default: throw missing("openings")
    }
    if let test = json["sprt"] {
      guard let read = SPRT(test) else { throw missing("sprt") }
      sprt = read
    }
    if let limits = json["time"] {
      guard let read = TimeLimit(limits) else { throw missing("time") }
      time = read
    }
    adjudication = try Adjudication(header: json)
    if let share = json["shard"] { shard = try Shard(share.string ?? "") }
    isFrozen = json["frozen"]?.bool ?? false
    guard let date = json["date"]?.string else { throw missing("date") }
    self.date = date
    guard headerLine == self.headerLine else { throw ArenaError("the header was changed since it was written") }
    try validate()
  }

  /// The differences between the headers of two configurations, in words for an error message.
  package func differences(from other: RunConfiguration) -> [String] {
    func compare(_ mine: JSONObject, _ theirs: JSONObject, _ whose: String = "") -> [String] {
      func text(_ value: JSON?) -> String { value.map { $0.string ?? $0.text } ?? "none" }
      return (mine.fields + theirs.fields.filter { mine[$0.name] == nil }).map(\.name)
        .filter { mine[$0] != theirs[$0] && $0 != "players" }
        .map { "\($0)\(whose) is \(text(theirs[$0]).prefix(120)) in the file, now \(text(mine[$0]).prefix(120))" }
    }
    func names(_ configuration: RunConfiguration) -> String {
      configuration.entrants.map(\.spec.portable.text).joined(separator: ", ")
    }
    let result = compare(members, other.members)
    guard names(self) == names(other) else {
      return result + ["players are \(names(other)) in the file, now \(names(self))"]
    }
    return zip(entrants, other.entrants).reduce(result) {
      $0 + compare($1.0.members, $1.1.members, " of \($1.0.spec.portable.text)")
    }
  }
}
