import Base
import TicTacToe

/// A game as it is kept: who played, every move with its times, and what the score needs to sound the same again.
///
/// Written and read as PGN-shaped text (`text`, `init(text:)`, `RecordReader`) and as one line of JSON (`jsonLine`,
/// `init(jsonLine:)`), both without loss.
package struct Record: Sendable, Hashable {
  /// The game: start position, moves, standing draw offer, end.
  package var game: Game

  /// The times kept of each move, at its index.
  ///
  /// May be shorter than the game; trailing entries that hold nothing are dropped.
  package var times: [MoveTimes] = [] {
    didSet { while times.last == MoveTimes() { times.removeLast() } }
  }

  /// Tags other than those that follow from the game, in the order in which they are written.
  package internal(set) var tags: [Tag] = []

  /// Music candidates chosen for the bars that began after ply `p` and before the next move, at index `p`.
  ///
  /// `bars[0]` holds those before the first move (the opening), `bars[1].first` belongs to the bar of the first move,
  /// and what follows it after the last move is the closing arch. May be shorter than the game; empty where unknown, trailing empty
  /// lists are dropped.
  package var bars: [[Int]] = [] {
    didSet { while bars.last?.isEmpty == true { bars.removeLast() } }
  }

  /// The audio frame at which the game started (48 kHz from the session's first sound), if kept.
  package var startFrame: Int64?

  /// The audio frame of an end that no move brought (resignation, flag, agreement), if kept.
  package var endFrame: Int64?

  /// What people wrote, in order.
  package internal(set) var comments: [Comment] = []

  package init(game: Game = Game()) { self.game = game }

  /// What is kept of a move besides its cell.
  package struct MoveTimes: Sendable, Hashable {
    /// Thinking time in milliseconds (`[%emt]`).
    package var elapsed: Int64?
    /// Time left on the mover's clock in milliseconds (`[%clk]`).
    package var clock: Int64?
    /// The audio frame at which the move was heard (`[%frame]`).
    package var frame: Int64?

    package init(elapsed: Int64? = nil, clock: Int64? = nil, frame: Int64? = nil) {
      (self.elapsed, self.clock, self.frame) = (elapsed, clock, frame)
    }
  }

  /// The times kept of a move.
  package func times(ofMove index: Int) -> MoveTimes { times.indices.contains(index) ? times[index] : MoveTimes() }

  /// A name and a value.
  package struct Tag: Sendable, Hashable {
    /// The name: letters, digits and `_`.
    package let name: String
    /// The value: any text in one line.
    package let value: String
  }

  /// A remark at a place in the game.
  package struct Comment: Sendable, Hashable {
    /// The number of moves played before it, 0 before the first.
    package let ply: Int
    /// The text, without braces.
    package let text: String
  }

  /// Which musical rules a game was heard with.
  package struct ScoreRules: Sendable, Hashable {
    /// The name of the rule file.
    package var name: String
    /// The hash of its content, hexadecimal.
    package var hash: String

    /// Makes a reference to a rule file; `hash` has no spaces.
    package init(name: String, hash: String) {
      (self.name, self.hash) = (name, hash)
    }
  }

  /// Sizes beyond which a record is refused, so that a hostile file costs little.
  package enum Limit {
    /// Bytes of one text handed to a reader (64 MiB: a million games).
    package static let bytes = 1 << 26
    /// Plies of a game: Infinite is drawn then.
    package static let plies = 100
    /// Tags of a game.
    package static let tags = 64
    /// Bytes of a tag's name.
    package static let tagName = 64
    /// Bytes of a tag's value.
    package static let tagValue = 1024
    /// Comments of a game.
    package static let comments = 256
    /// Bytes of a comment.
    package static let comment = 4096
    /// Bars that begin between two moves (twelve close the longest arch).
    package static let bars = 64
    /// The largest music candidate.
    package static let candidate = 1_000_000
    /// The largest time in milliseconds (a year) …
    package static let milliseconds: Int64 = 31_536_000_000
    /// … and the largest frame (a year at 48 kHz).
    package static let frame: Int64 = 1_513_728_000_000
  }
}

// MARK: - Tags

extension Record {
  /// The tags of the PGN roster but `Result`, in order, then ours; others follow as they came.
  static let tagOrder = [
    "Event", "Site", "Date", "Round", "White", "Black", "Seed", "ScoreRules", "TimeControl",
  ]

  /// Names whose value follows from the game and cannot be set.
  package static let derivedTags: Set<String> = ["Result", "SetUp", "FEN", "Rules", "Termination", "DrawOffer"]

  /// What the tag `Variant` of a classic game may say; it is kept as it came.
  static let classicNames = ["classic", "standard", "tictactoe"]

  /// What a roster tag reads when nothing is known.
  static func unknownValue(of name: String) -> String? {
    switch name {
    case "Event", "Site", "Round", "White", "Black": "?"
    case "Date": "????.??.??"
    default: nil
    }
  }

  /// The value of a tag; `nil` where it is absent or unknown (`?`). X is `White` and O is `Black`, for PGN's readers.
  ///
  /// Setting turns control characters into spaces and cuts values at `Limit.tagValue` bytes; setting a derived tag or a
  /// name that is not of letters, digits and `_` is a programming error.
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

  /// The value of a tag that follows from the game; `nil` where it is not written.
  func derivedTag(_ name: String) -> String? {
    switch name {
    case "Result": resultToken
    case "SetUp": game.isFromStart ? nil : "1"
    case "FEN": game.isFromStart ? nil : game.startState.notation
    case "Rules": game.variant == .classic ? "standard" : nil
    case "Termination": game.end?.termination.rawValue
    case "DrawOffer": game.drawOffer?.text
    default: nil
    }
  }

  /// The results as PGN writes them.
  static let results: [(token: String, outcome: Outcome?)] = [
    ("1-0", .win(.x)), ("0-1", .win(.o)), ("1/2-1/2", .draw), ("*", nil),
  ]

  /// The result as PGN writes it: `1-0` X won, `0-1` O won, `1/2-1/2`, or `*` where there is none.
  package var resultToken: String { Record.results.first { $0.outcome == game.end?.outcome }?.token ?? "*" }

  /// The name of a side's player (tags `White` for X and `Black` for O).
  package subscript(player player: Player) -> String? {
    get { self[tag: player == .x ? "White" : "Black"] }
    set { self[tag: player == .x ? "White" : "Black"] = newValue }
  }

  /// The seed of the game's music and players.
  package var seed: UInt64? {
    get { self[tag: "Seed"].flatMap { UInt64($0) } }
    set { self[tag: "Seed"] = newValue.map { "\($0)" } }
  }

  /// The musical rules the game was heard with (`ScoreRules "NAME HASH"`).
  package var scoreRules: ScoreRules? {
    get {
      guard let value = self[tag: "ScoreRules"], let space = value.lastIndex(of: " ") else { return nil }
      return ScoreRules(name: String(value[..<space]), hash: String(value[value.index(after: space)...]))
    }
    set { self[tag: "ScoreRules"] = newValue.map { "\($0.name) \($0.hash)" } }
  }

  /// The one side that a person at the machine played, if there was exactly one (`Human "x"`): endings differ by it.
  package var human: Player? {
    get { self[tag: "Human"].flatMap { Player(text: $0) } }
    set { self[tag: "Human"] = newValue?.text }
  }

  /// The pace the music was played at (`Pace "1.15"`), 0.7–1.3; `nil` for 1 and for what cannot be read.
  package var pace: Double? {
    get { self[tag: "Pace"].flatMap { Double($0) }.flatMap { (0.7...1.3).contains($0) ? $0 : nil } }
    set { self[tag: "Pace"] = newValue.flatMap { $0 == 1 ? nil : "\($0)" } }
  }

  /// The time control as PGN writes it: `300+3` seconds and increment, `-` for none.
  package var timeControl: String? {
    get { self[tag: "TimeControl"] }
    set { self[tag: "TimeControl"] = newValue }
  }

  /// The seconds that each side had at the start, 1–86,400; `nil` where the time control gives none.
  package var clockSeconds: Int? {
    timeControl.flatMap { Int($0.prefix { $0 != "+" }) }.flatMap { (1...86_400).contains($0) ? $0 : nil }
  }
}

// MARK: - Comments and bars

extension Record {
  /// Adds a remark after `ply` moves; blanks around it are dropped.
  ///
  /// Throws for a `}` (the text form cannot hold one), for one of our own commands (`[%emt …]`) and past the limits.
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

  /// Notes the candidate chosen for the next bar that begins after `ply` moves.
  package mutating func addBar(_ candidate: Int, ply: Int) {
    precondition((0...Limit.plies).contains(ply), "ply \(ply) is outside 0–\(Limit.plies)")
    precondition((0...Limit.candidate).contains(candidate), "candidate \(candidate) is outside 0–\(Limit.candidate)")
    var longer = bars
    while longer.count <= ply { longer.append([]) }
    longer[ply].append(candidate)
    bars = longer
  }

  /// The candidates of the bars that began after `ply` moves; empty where unknown.
  package func bars(ply: Int) -> [Int] { bars.indices.contains(ply) ? bars[ply] : [] }

  /// The commands kept in comments.
  enum Command: String, CaseIterable {
    case emt, clk, frame, bar, end
  }

  /// A command of ours that stands in a text, whole or not.
  static func strayCommand(in text: String) -> Command? {
    Command.allCases.first { command in
      let mark = Array("[%\(command.rawValue)".utf8)
      return text.utf8.indices.contains { text.utf8[$0...].starts(with: mark) }
    }
  }

  /// Control characters that no text of ours holds (tabs and line ends are fine in comments).
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
