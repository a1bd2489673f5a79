import Base
import Foundation
import TicTacToe

package struct EngineSettings: Sendable, Hashable {
  package struct Setting: Sendable, Hashable {
    package var name: String
    package var value: String
  }

  /// If `nil`, tables and records show the name that the engine gives itself.
  package var name: String?
  /// The engine's working directory.
  package var folder: String?
  /// Sent with `setoption`, in order.
  package var options: [Setting] = []
  package var environment: [Setting] = []
  /// If `nil`, the run's time limit applies.
  package var time: TimeLimit?
  /// The file to which the engine's standard error is appended.
  package var log: String?

  package init() {}

  /// Stands between the words after `-engine` once they are joined into one argument.
  package static let separator: Character = "\u{1F}"

  /// Reads the words of cutechess-cli's `-each` and then of its `-engine`. Of equal names the last counts; `arg` may repeat.
  package static func entrant(
    _ words: [String], each: [String], default time: TimeLimit
  ) throws(ArenaError) -> RunConfiguration.Entrant {
    var settings = EngineSettings()
    var (command, arguments): (String?, [String]) = (nil, [])
    var limit: TimeLimit?
    func refuse(_ word: String, _ what: String) -> ArenaError { ArenaError("-engine \(word): \(what)") }
    func set(_ list: inout [Setting], _ name: Substring, _ value: String) {
      list.removeAll { $0.name == name }
      list.append(Setting(name: String(name), value: value))
    }
    for word in each + words {
      guard let sign = word.firstIndex(of: "=") else { throw refuse(word, "NAME=VALUE is needed") }
      let (key, value) = (word[..<sign], String(word[word.index(after: sign)...]))
      guard !value.contains(where: \.isNewline) else { throw refuse(word, "a line's end in a value") }
      switch key {
      case "conf":
        let found = try configured(value)
        command = found["command"]?.string
        settings.name = value
        settings.folder = found["workingDirectory"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        for option in found["options"]?.array ?? [] {
          guard let name = option["name"]?.string, let value = option["value"] else { continue }
          set(&settings.options, name[...], value.string ?? value.text)
        }
      case "cmd": command = value
      case "arg": arguments.append(value)
      case "name": settings.name = value.isEmpty ? nil : String(value.prefix(80))
      case "dir": settings.folder = value
      case "stderr": settings.log = value
      case "proto":
        guard value == "uci" else { throw refuse(word, "only engines that speak UCI are played") }
      case "tc", "st", "nodes", "timemargin":
        var changed = limit ?? time
        try changed.apply(String(key), value)
        limit = changed
      case _ where key.hasPrefix("option.") && key.count > 7: set(&settings.options, key.dropFirst(7), value)
      case _ where key.hasPrefix("env.") && key.count > 4: set(&settings.environment, key.dropFirst(4), value)
      default:
        throw refuse(
          word, "unknown; allowed: conf, cmd, arg, name, dir, proto, tc, st, nodes, timemargin, stderr, option.X, env.X"
        )
      }
    }
    guard let command else { throw refuse(words.joined(separator: " "), "cmd= or conf= is missing") }
    var entrant = RunConfiguration.Entrant(.engine(try PlayerSpec.words(of: command) + arguments))
    settings.time = limit
    entrant.engine = settings
    return entrant
  }

  private static func configured(_ name: String) throws(ArenaError) -> JSON {
    let environment = ProcessInfo.processInfo.environment
    let settings = environment["XDG_CONFIG_HOME"] ?? "\(environment["HOME"] ?? "")/.config"
    let paths = ["engines.json", "\(settings)/cutechess/engines.json"]
    for path in paths where access(path, R_OK) == 0 {
      let list: JSON
      do { list = try JSON(bytes: try readFile(path, limit: 1 << 20)) } catch { throw ArenaError("\(path): \(error)") }
      if let engine = list.array?.first(where: { $0["name"]?.string == name }) { return engine }
    }
    throw ArenaError("-engine conf=\(name): no such engine in \(paths.joined(separator: " or "))")
  }

  // MARK: - Header

  /// Adds the settings to a header, without `log`. A `folder` such as `/home/me/bot` becomes `…/bot`.
  func add(to members: inout JSONObject) {
    func list(_ settings: [Setting]) -> JSON? {
      guard !settings.isEmpty else { return nil }
      return .object(JSONObject(fields: settings.map { .init(name: $0.name, value: .string($0.value)) }))
    }
    members.add("name", name.map { .string($0) })
    members.add("folder", folder.map { .string(PlayerSpec.withoutFolders($0)) })
    members.add("options", list(options))
    members.add("environment", list(environment))
    members.add("time", time?.json)
  }

  /// `nil` if the time limit is invalid.
  init?(_ json: JSON) {
    func list(_ name: String) -> [Setting] {
      (json[name]?.object?.fields ?? []).map { Setting(name: $0.name, value: $0.value.string ?? "") }
    }
    (name, folder) = (json["name"]?.string, json["folder"]?.string)
    (options, environment) = (list("options"), list("environment"))
    if let limits = json["time"] {
      guard let read = TimeLimit(limits) else { return nil }
      time = read
    }
  }
}

package struct TimeLimit: Sendable, Hashable {
  /// Milliseconds for each move (`go movetime`), 0 with a clock.
  package var moveTime = 1000
  /// Milliseconds on the clock at the start, 0 without a clock (`go wtime … btime …`).
  package var clock = 0
  /// Milliseconds added after each move.
  package var increment = 0
  /// MOVES in cutechess-cli's `MOVES/TIME`: after this number of moves a side would get its time again; 0 for never. Used only by
  /// `validate`.
  private var period = 0
  /// The most positions searched for each move (`go nodes`); 0 for no limit.
  package var nodes = 0
  /// Milliseconds by which a move may exceed the limit before the game is lost.
  package var margin = 50

  package init() {}

  /// The longest time that a move may take, in milliseconds; `left` is the time on the clock.
  func timeout(left: Int) -> Int { (clock > 0 ? left : moveTime) + margin }

  /// The milliseconds that Alina's own players spend on a move. The last 200 ms of the clock are reserved for delays of the machine and of
  /// transmission.
  static func share(of left: Double, increment: Double = 0) -> Double {
    max(1, min(left / 10 + 0.75 * increment, left - 200))
  }

  /// One hour in milliseconds.
  private static let limit = 3_600_000.0

  /// `st` is in seconds, `tc` in seconds or M:SS, perhaps with MOVES/ before and an increment after a +.
  package mutating func apply(_ name: String, _ text: String) throws(ArenaError) {
    func number(_ text: Substring, _ range: ClosedRange<Double>, _ allowed: String) throws(ArenaError) -> Int {
      guard let value = Double(text), range.contains(value) else { throw ArenaError("\(name) '\(text)': \(allowed)") }
      return Int(value)
    }
    switch name {
    case "movetime": moveTime = try number(text[...], 1...TimeLimit.limit, "1–3600000")
    case "nodes": nodes = try number(text[...], 0...1e9, "0–1000000000")
    case "margin", "timemargin": margin = try number(text[...], 0...TimeLimit.limit, "0–3600000")
    case "st":
      guard let seconds = Double(text), (0.001...3600).contains(seconds) else {
        throw ArenaError("st '\(text)': 0.001–3600 seconds")
      }
      (moveTime, clock, increment, period) = (Int(seconds * 1000), 0, 0, 0)
    default:
      let moves = text.prefixMatch(of: /([0-9]+)\//)
      let time = text.dropFirst(moves?.0.count ?? 0)
      let parts = time.split(separator: "+", omittingEmptySubsequences: false).map { part in
        part.split(separator: ":", omittingEmptySubsequences: false).reduce(0) { 60 * $0 + (Double($1) ?? -.infinity) }
      }
      guard (1...2).contains(parts.count), parts[0] >= 0.001, parts.allSatisfy({ (0...3600).contains($0) }) else {
        throw ArenaError("\(name) '\(text)': SECONDS or SECONDS+INCREMENT, 0.001–3600 and 0–3600; minutes as 1:30")
      }
      (moveTime, clock, increment) = (0, Int(parts[0] * 1000), parts.count > 1 ? Int(parts[1] * 1000) : 0)
      // A number of moves that `Int` cannot hold covers every game, as 0 does.
      period = moves.flatMap { Int($0.1) } ?? 0
    }
  }

  /// Refuses a clock that would get its time again before the longest game of a variant is over.
  func validate(for variant: Variant) throws(ArenaError) {
    let most = (variant.plyLimit + 1) / 2
    guard period == 0 || period >= most else {
      throw ArenaError(
        "tc \(period)/…: a side makes up to \(most) moves, and a clock is for a whole game: 0/… or \(most)/…")
    }
  }

  private nonisolated(unsafe) static let fields: [(String, WritableKeyPath<TimeLimit, Int>)] = [
    ("moveTime", \.moveTime), ("clock", \.clock), ("increment", \.increment), ("nodes", \.nodes), ("margin", \.margin),
  ]

  var json: JSON {
    .object(JSONObject(fields: TimeLimit.fields.map { .init(name: $0.0, value: .int(self[keyPath: $0.1])) }))
  }

  init?(_ json: JSON) {
    for (name, path) in TimeLimit.fields {
      guard let number = json[name]?.int, (0...1_000_000_000).contains(number) else { return nil }
      self[keyPath: path] = number
    }
  }
}
