import Base
import TicTacToe

/// A stored game: the players, every move with its times, and the data with which its music can be reproduced exactly.
///
/// Written and read without loss as PGN-like text (`text`) and as one line of JSON (`jsonLine`).
package struct Record: Sendable, Hashable {
  package var game: Game

  /// May be shorter than the game: empty entries at the end are dropped.
  package var times: [MoveTimes] = [] {
    didSet { while times.last == MoveTimes() { times.removeLast() } }
  }

  /// The tags that are not derived from the game, in writing order.
  package internal(set) var tags: [Tag] = []

  /// By ply, the numbers of the melodies that the composer chose, among its numbered candidates, for the bars after this ply and before the
  /// next move.
  ///
  /// `bars[0]` holds the bars before the first move, and `bars[1].first` is the first move's bar. The bars after the last move's bar are
  /// the arch. Empty if unknown; trailing empty lists are dropped.
  package var bars: [[Int]] = [] {
    didSet { while bars.last?.isEmpty == true { bars.removeLast() } }
  }

  /// The audio frame of the game's start (48 kHz, from the session's first sound), if known.
  package var startFrame: Int64?

  /// The audio frame (48 kHz, from the session's first sound) of an end without a move, if known.
  package var endFrame: Int64?

  package internal(set) var comments: [Comment] = []

  package init(game: Game = Game()) { self.game = game }

  package struct MoveTimes: Sendable, Hashable {
    /// Thinking time in milliseconds (`[%emt]`).
    package var elapsed: Int64?
    /// Time left on the mover's clock in milliseconds (`[%clk]`).
    package var clock: Int64?
    /// The audio frame at which the move sounded, at 48 kHz from the session's first sound (`[%frame]`).
    package var frame: Int64?

    package init(elapsed: Int64? = nil, clock: Int64? = nil, frame: Int64? = nil) {
      (self.elapsed, self.clock, self.frame) = (elapsed, clock, frame)
    }
  }

  package func times(ofMove index: Int) -> MoveTimes { times.indices.contains(index) ? times[index] : MoveTimes() }

  /// A PGN tag.
  package struct Tag: Sendable, Hashable {
    /// Letters, digits and `_`.
    package let name: String
    /// Any text in one line.
    package let value: String
  }

  package struct Comment: Sendable, Hashable {
    /// The number of moves before the comment.
    package let ply: Int
    /// The text without its braces.
    package let text: String
  }

  /// The score rules by which a game's music was composed.
  package struct ScoreRules: Sendable, Hashable {
    package var name: String
    /// The hash of the rule file's content, hexadecimal.
    package var hash: String

    package init(name: String, hash: String) {
      (self.name, self.hash) = (name, hash)
    }
  }

  /// Bounds the cost of reading a hostile file. Lengths are in bytes.
  package enum Limit {
    /// The most bytes given to a reader at once: 64 MiB, about a million games.
    package static let bytes = 1 << 26
    /// The most plies: a game of Infinite is drawn after 100.
    package static let plies = 100
    package static let tags = 64
    package static let tagName = 64
    package static let tagValue = 1024
    package static let comments = 256
    package static let comment = 4096
    /// The most bars between two moves, or after the last one: the longest closing music has twelve.
    package static let bars = 64
    /// The highest number of a candidate, one of the melodies among which the composer chose.
    package static let candidate = 1_000_000
    /// The longest time: a year.
    package static let milliseconds: Int64 = 31_536_000_000
    /// The highest number of an audio frame: the frames of a year at 48 kHz.
    package static let frame: Int64 = 1_513_728_000_000
  }
}

// MARK: - Tags

extension Record {
  /// In writing order: the Seven Tag Roster that PGN demands, except `Result`, then other tags that Alina writes. All further tags follow
  /// in the order of reading.
  static let tagOrder = [
    "Event", "Site", "Date", "Round", "White", "Black", "Seed", "ScoreRules", "TimeControl",
  ]

  /// Tags that are derived from the game and cannot be set.
  package static let derivedTags: Set<String> = ["Result", "SetUp", "FEN", "Rules", "Termination", "DrawOffer"]

  /// The values of the tag `Variant` that mean the classic game; a record keeps the value that was read.
  static let classicNames = ["classic", "standard", "tictactoe"]

  /// The value that PGN demands for an unknown player, event, site, round or date; `nil` for other tags.
  static func unknownValue(of name: String) -> String? {
    switch name {
    case "Event", "Site", "Round", "White", "Black": "?"
    case "Date": "????.??.??"
    default: nil
    }
  }

  /// A tag's value; `nil` if absent or unknown (`?`). `White` is X and `Black` is O, for PGN readers.
  ///
  /// Setting replaces control characters by spaces and cuts the value at `Limit.tagValue` bytes.
  package subscript(tag name: String) -> String? {
    get {
      if Record.derivedTags.contains(name) { return derivedTag(name) }
      return tags.first { $0.name == name }?.value
    }
    set {
      precondition(!Record.derivedTags.contains(name), "tag \(name) follows from the game")
      precondition(Record.isTagName(name), "\(quoted(name)) is not a tag name")
      setTag(name, newValue.map(Record.cleaned))
    }
  }

  static func isTagName(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= Limit.tagName
      && name.utf8.allSatisfy { isNameByte($0) }
  }

  static func isNameByte(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x5F
  }

  private static func cleaned(_ value: String) -> String {
    var result = String.UnicodeScalarView()
    var bytes = 0
    for scalar in value.unicodeScalars {
      bytes += UTF8.width(scalar)
      if bytes > Limit.tagValue { break }
      result.append(scalar.value < 0x20 || scalar.value == 0x7F ? " " : scalar)
    }
    return String(result)
  }

  mutating func setTag(_ name: String, _ value: String?) {
    tags.removeAll { $0.name == name }
    guard let value, value != Record.unknownValue(of: name) else { return }
    guard let rank = Record.tagOrder.firstIndex(of: name) else {
      tags.append(Tag(name: name, value: value))
      return
    }
    let place = tags.firstIndex { (Record.tagOrder.firstIndex(of: $0.name) ?? .max) > rank } ?? tags.count
    tags.insert(Tag(name: name, value: value), at: place)
  }

  /// A tag's value that follows from the game; `nil` if the text form omits the tag.
  func derivedTag(_ name: String) -> String? {
    switch name {
    case "Result": resultToken
    case "SetUp": game.isFromStart ? nil : "1"
    case "FEN": game.isFromStart ? nil : game.startState.notation
    case "Rules": game.variant.isImplied ? Variant.standardName : nil
    case "Termination": game.end?.termination.rawValue
    case "DrawOffer": game.drawOffer?.text
    default: nil
    }
  }

  static let results: [(token: String, outcome: Outcome?)] = [
    ("1-0", .win(.x)), ("0-1", .win(.o)), ("1/2-1/2", .draw), ("*", nil),
  ]

  /// PGN's token: `1-0` X won, `0-1` O won, `1/2-1/2` a draw, `*` no result.
  package var resultToken: String { Record.results.first { $0.outcome == game.end?.outcome }?.token ?? "*" }

  package subscript(player player: Player) -> String? {
    get { self[tag: player == .x ? "White" : "Black"] }
    set { self[tag: player == .x ? "White" : "Black"] = newValue }
  }

  /// The seed of the game's music and players.
  package var seed: UInt64? {
    get { self[tag: "Seed"].flatMap { UInt64($0) } }
    set { self[tag: "Seed"] = newValue.map { "\($0)" } }
  }

  /// The tag `ScoreRules "NAME HASH"`.
  package var scoreRules: ScoreRules? {
    get {
      guard let value = self[tag: "ScoreRules"], let space = value.lastIndex(of: " ") else { return nil }
      return ScoreRules(name: String(value[..<space]), hash: String(value[value.index(after: space)...]))
    }
    set { self[tag: "ScoreRules"] = newValue.map { "\($0.name) \($0.hash)" } }
  }

  /// The side that a person plays at this computer, on which the music's ending depends; `nil` if persons play both sides or neither.
  package var human: Player? {
    get { self[tag: "Human"].flatMap { Player(text: $0) } }
    set { self[tag: "Human"] = newValue?.text }
  }

  /// The tempo as a multiple of the score rules' tempo (`Pace "1.15"`), 0.7–1.3; `nil` for 1 and for invalid values.
  package var pace: Double? {
    get { self[tag: "Pace"].flatMap { Double($0) }.flatMap { (0.7...1.3).contains($0) ? $0 : nil } }
    set { self[tag: "Pace"] = newValue.flatMap { $0 == 1 ? nil : "\($0)" } }
  }

  /// PGN's time control: `300+3` for seconds and increment, `-` for none.
  package var timeControl: String? {
    get { self[tag: "TimeControl"] }
    set { self[tag: "TimeControl"] = newValue }
  }

  /// The seconds on each side's clock at the start, 1–86,400; `nil` if the time control names none.
  package var clockSeconds: Int? {
    timeControl.flatMap { Int($0.prefix { $0 != "+" }) }.flatMap { (1...86_400).contains($0) ? $0 : nil }
  }
}

// MARK: - Comments and bars

extension Record {
  /// Throws if the comment has a `}`, which the text form cannot hold, or one of Alina's commands (`[%emt …]`), or exceeds a limit.
  package mutating func addComment(_ text: String, ply: Int) throws(NotationError) {
    let trimmed = Record.trimmed(text)
    guard (0...game.cells.count).contains(ply) else {
      throw NotationError(column: 1, message: "a comment belongs to ply 0–\(game.cells.count), not \(ply)")
    }
    guard trimmed.utf8.count <= Limit.comment, comments.count < Limit.comments else {
      throw NotationError(
        column: 1, message: "a game has at most \(Limit.comments) comments of \(Limit.comment) bytes")
    }
    guard !trimmed.utf8.contains(where: { $0 == UInt8(ascii: "}") || Record.isForbidden($0) }) else {
      throw NotationError(column: 1, message: "a comment cannot hold '}' or control characters")
    }
    if let command = Record.strayCommand(in: trimmed) {
      throw NotationError(column: 1, message: "a comment cannot hold the command [%\(command.rawValue)]")
    }
    guard !trimmed.isEmpty else { return }
    let place = comments.firstIndex { $0.ply > ply } ?? comments.count
    comments.insert(Comment(ply: ply, text: trimmed), at: place)
  }

  /// Appends a bar to `bars[ply]`: the number of the candidate melody that was chosen for the bar.
  package mutating func addBar(_ candidate: Int, ply: Int) {
    precondition((0...Limit.plies).contains(ply), "ply \(ply) is outside 0–\(Limit.plies)")
    precondition((0...Limit.candidate).contains(candidate), "candidate \(candidate) is outside 0–\(Limit.candidate)")
    var longer = bars
    while longer.count <= ply { longer.append([]) }
    longer[ply].append(candidate)
    bars = longer
  }

  /// The numbers of the candidate melodies for the bars after `ply` moves; empty if unknown.
  package func bars(ply: Int) -> [Int] { bars.indices.contains(ply) ? bars[ply] : [] }

  /// Alina's commands inside comments, such as `[%emt 0:00:02.750]`.
  enum Command: String, CaseIterable {
    case emt, clk, frame, bar, end
  }

  /// A command of Alina's that begins in a text (`[%NAME`), complete or not; `nil` if there is none.
  static func strayCommand(in text: String) -> Command? {
    Command.allCases.first { command in
      let mark = Array("[%\(command.rawValue)".utf8)
      return text.utf8.indices.contains { text.utf8[$0...].starts(with: mark) }
    }
  }

  /// Whether tags and comments may not contain the byte: a control character other than white space such as tabs.
  static func isForbidden(_ byte: UInt8) -> Bool { (byte < 0x20 && !(0x09...0x0D).contains(byte)) || byte == 0x7F }

  static func trimmed(_ text: String) -> String {
    let isSpace = { (scalar: Unicode.Scalar) in scalar.value == 0x20 || (0x09...0x0D).contains(scalar.value) }
    let scalars = text.unicodeScalars
    guard let first = scalars.firstIndex(where: { !isSpace($0) }),
      let last = scalars.lastIndex(where: { !isSpace($0) })
    else { return "" }
    return String(scalars[first...last])
  }
}
