import Base
import TicTacToe

/// Collects the parts of a record that a reader finds and checks them against the rules of the game.
struct RecordBuilder {
  private let variants: [Variant]
  private var record = Record()
  /// The values of the tags that must agree with the game, and the tags' byte offsets in the text, for errors.
  private var derived: [String: (value: String, place: Int)] = [:]
  private var seen: Set<String> = []
  private var tagCount = 0
  /// One entry for each move so far, also for moves without times.
  private var times: [Record.MoveTimes] = []
  private var result: (token: String, place: Int)?

  init(variants: [Variant]) { self.variants = variants }

  mutating func addTag(
    _ rawName: String, _ value: String, at place: Int, valueAt: Int, _ cursor: ByteCursor
  ) throws(NotationError) {
    let name = rawName == "X" ? "White" : rawName == "O" ? "Black" : rawName
    tagCount += 1
    guard tagCount <= Record.Limit.tags else {
      throw cursor.error(at: place, "a game has at most \(Record.Limit.tags) tags")
    }
    guard seen.insert(name).inserted else { throw cursor.error(at: place, "tag \(name) appears twice") }
    if name == "Seed", UInt64(value).map({ "\($0)" }) != value {
      throw cursor.error(at: valueAt, "a seed is a whole number from 0 to \(UInt64.max)")
    }
    if name == "Variant", !Record.classicNames.contains(value.lowercased()) {
      guard let variant = Variant(rawValue: value.lowercased()) else {
        throw cursor.error(at: valueAt, "the game \(quoted(value)) is unknown; allowed: \(Variant.names)")
      }
      try check(variant, at: valueAt, cursor)
      record.game = Game(from: VariantState(startOf: variant))
    } else if Record.derivedTags.contains(name) {
      derived[name] = (value, valueAt)
    } else {
      record.setTag(name, value)
    }
  }

  private func check(_ variant: Variant, at place: Int, _ cursor: ByteCursor) throws(NotationError) {
    guard !variants.contains(variant) else { return }
    let names = variants.map { $0.rawValue }.joined(separator: ", ")
    throw cursor.error(at: place, "games of \(variant.rawValue) are not read here; allowed: \(names)")
  }

  /// Starts the game once all tags are read.
  mutating func start(_ cursor: ByteCursor) throws(NotationError) {
    try check(record.game.variant, at: cursor.offset, cursor)
    if let rules = derived["Rules"], rules.value != Variant.standardName {
      throw cursor.error(at: rules.place, "rules \(quoted(rules.value)) are unknown; this program plays 'standard'")
    }
    guard let fen = derived["FEN"] else {
      if let setUp = derived["SetUp"], setUp.value == "1" {
        throw cursor.error(at: setUp.place, "SetUp is 1, but there is no FEN tag")
      }
      return
    }
    do {
      record.game = Game(from: try VariantState(record.game.variant, notation: fen.value))
    } catch {
      let at = cursor.error(at: fen.place, "")
      throw NotationError(line: at.line, column: at.column + error.column - 1, message: error.message)
    }
  }

  /// Adds a move number, a move or the result; `true` for the result.
  mutating func addToken(_ range: Range<Int>, _ cursor: inout ByteCursor) throws(NotationError) -> Bool {
    let token = String(decoding: cursor.bytes[range], as: UTF8.self)
    if Record.results.contains(where: { $0.token == token }) {
      result = (token, range.lowerBound)
      return true
    }
    // "1.", "1...", and "1.b2" without a blank: reads the number and leaves the rest for the next call.
    let digits = cursor.bytes[range].prefix { (0x30...0x39).contains($0) }
    let dots = cursor.bytes[range].dropFirst(digits.count).prefix { $0 == UInt8(ascii: ".") }
    if !digits.isEmpty, !dots.isEmpty {
      let ply = record.game.state.plies
      guard dots.count <= 3, Int(String(decoding: digits, as: UTF8.self)) == ply / 2 + 1 else {
        throw cursor.error(at: range.lowerBound, "move number \(quoted(token)) where \(ply / 2 + 1). is due")
      }
      cursor.offset = range.lowerBound + digits.count + dots.count
      return false
    }
    // "1. ... a1": separate dots after a move number are ignored.
    if digits.isEmpty, dots.count == range.count, dots.count <= 3 { return false }
    let variant = record.game.variant
    guard let cell = variant.cell(named: token) else {
      let moves = "\(variant.cellRange)\(variant.isOneBoard ? " or 1–9" : "")"
      throw cursor.error(
        at: range.lowerBound, "\(quoted(token)) is neither a move (\(moves)) nor a result (1-0, 0-1, 1/2-1/2, *)")
    }
    do {
      try record.game.play(cell)
    } catch .gameIsOver {
      throw cursor.error(at: range.lowerBound, "the game is over before \(quoted(token)); only the result may follow")
    } catch {
      throw cursor.error(at: range.lowerBound, "\(quoted(token)) \(record.game.state.refusal(of: cell))")
    }
    times.append(Record.MoveTimes())
    return false
  }

  /// Ends the game, and checks that result and termination tag agree with the board.
  mutating func finish(_ cursor: ByteCursor) throws(NotationError) -> Record {
    guard let result else { throw cursor.error("the game has no result") }
    if let tag = derived["Result"], tag.value != result.token {
      throw cursor.error(at: tag.place, "tag Result says \(quoted(tag.value)), the game ends with \(result.token)")
    }
    record.times = times
    let termination = try terminationTag(cursor)
    if record.game.isOver {
      guard record.resultToken == result.token else {
        throw cursor.error(at: result.place, "the board says \(record.resultToken), not \(result.token)")
      }
      guard termination == nil || termination == .normal else {
        throw cursor.error(
          at: derived["Termination"]?.place ?? result.place, "the board ended this game: its termination is 'normal'")
      }
    } else {
      try endByHand(termination, result, cursor)
    }
    try readOffer(cursor)
    return record
  }

  private func terminationTag(_ cursor: ByteCursor) throws(NotationError) -> Termination? {
    guard let tag = derived["Termination"] else { return nil }
    switch tag.value {
    case "unterminated": return nil
    case "time forfeit": return .time
    case "rules infraction": return .forfeit
    default: break
    }
    guard let termination = Termination(rawValue: tag.value) else {
      let allowed = Termination.allCases.map { $0.rawValue }.joined(separator: ", ")
      throw cursor.error(at: tag.place, "termination \(quoted(tag.value)) is unknown; allowed: \(allowed)")
    }
    return termination
  }

  private mutating func endByHand(
    _ termination: Termination?, _ result: (token: String, place: Int), _ cursor: ByteCursor
  ) throws(NotationError) {
    let outcome = Record.results.first { $0.token == result.token }?.outcome
    let allowed = Termination.byHand(outcome)
    if outcome == nil, termination == nil { return }
    let chosen = termination ?? allowed[0]
    guard allowed.contains(chosen) else {
      let names = allowed.map { $0.rawValue }.joined(separator: ", ")
      throw cursor.error(
        at: derived["Termination"]?.place ?? result.place,
        "the board has not ended this game; with \(result.token) its termination is one of: \(names)")
    }
    record.game.finish(GameEnd(outcome: outcome, termination: chosen))
  }

  private mutating func readOffer(_ cursor: ByteCursor) throws(NotationError) {
    guard let tag = derived["DrawOffer"] else { return }
    guard let side = Player(text: tag.value) else { throw cursor.error(at: tag.place, "a draw offer is by x or o") }
    guard !record.game.isOver else { throw cursor.error(at: tag.place, "no draw offer stands in a finished game") }
    record.game.drawOffer = side
  }
}

// MARK: - Comments

extension RecordBuilder {
  /// Applies Alina's commands in a comment (`[%emt 0:00:02.750]`) and adds the rest of the text to the record.
  mutating func addComment(_ range: Range<Int>, _ cursor: ByteCursor) throws(NotationError) {
    guard range.count <= Record.Limit.comment + 512 else {
      throw cursor.error(at: range.lowerBound, "a comment has at most \(Record.Limit.comment) bytes")
    }
    let bytes = cursor.bytes[range]
    if let bad = bytes.firstIndex(where: { Record.isForbidden($0) || $0 == UInt8(ascii: "}") }) {
      throw cursor.error(at: bad, "a comment cannot hold '}' or control characters")
    }
    guard String(validating: bytes, as: UTF8.self) != nil else {
      throw cursor.error(at: range.lowerBound, "this comment is not UTF-8")
    }
    var words: [String] = []
    var textStart = range.lowerBound
    var offset = range.lowerBound
    func keepText(upTo end: Int) {
      let text = Record.trimmed(String(decoding: cursor.bytes[textStart..<end], as: UTF8.self))
      if !text.isEmpty { words.append(text) }
    }
    while offset + 1 < range.upperBound {
      if cursor.bytes[offset] == UInt8(ascii: "["), cursor.bytes[offset + 1] == UInt8(ascii: "%"),
        let close = cursor.bytes[offset..<range.upperBound].firstIndex(of: UInt8(ascii: "]"))
      {
        let content = String(decoding: cursor.bytes[offset + 2..<close], as: UTF8.self)
        let parts = content.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
        if let name = parts.first, !content.hasPrefix(" "), let command = Record.Command(rawValue: String(name)) {
          keepText(upTo: offset)
          let value = parts.count > 1 ? Record.trimmed(String(parts[1])) : ""
          if let problem = apply(command, value) { throw cursor.error(at: offset, problem) }
          textStart = close + 1
          offset = close + 1
          continue
        }
      }
      offset += 1
    }
    keepText(upTo: range.upperBound)
    guard !words.isEmpty else { return }
    let text = words.joined(separator: " ")
    if let command = Record.strayCommand(in: text) {
      throw cursor.error(at: range.lowerBound, "the command [%\(command.rawValue) …] in this comment is not finished")
    }
    guard record.comments.count < Record.Limit.comments, text.utf8.count <= Record.Limit.comment else {
      throw cursor.error(
        at: range.lowerBound,
        "a game has at most \(Record.Limit.comments) comments of \(Record.Limit.comment) bytes")
    }
    record.comments.append(Record.Comment(ply: times.count, text: text))
  }

  /// Stores the value of a command, such as a thinking time. Returns an error message, or `nil`.
  private mutating func apply(_ command: Record.Command, _ value: String) -> String? {
    let ply = times.count
    switch command {
    case .emt, .clk:
      guard ply > 0 else { return "[%\(command.rawValue)] belongs after a move" }
      guard let time = Record.milliseconds(value) else {
        return "[%\(command.rawValue)] needs a time h:mm:ss, not \(quoted(value))"
      }
      if command == .emt { times[ply - 1].elapsed = time } else { times[ply - 1].clock = time }
    case .frame, .end:
      guard let frame = Int64(value), (0...Record.Limit.frame).contains(frame) else {
        return "[%\(command.rawValue)] needs a frame number 0–\(Record.Limit.frame), not \(quoted(value))"
      }
      if command == .end {
        record.endFrame = frame
      } else if ply == 0 {
        record.startFrame = frame
      } else {
        times[ply - 1].frame = frame
      }
    case .bar:
      let fields = value.split(separator: ",", omittingEmptySubsequences: false)
      let candidates = fields.compactMap { Int(Record.trimmed(String($0))) }
        .filter { (0...Record.Limit.candidate).contains($0) }
      guard candidates.count == fields.count, fields.count + record.bars(ply: ply).count <= Record.Limit.bars else {
        return "[%bar] needs at most \(Record.Limit.bars) candidate numbers 0–\(Record.Limit.candidate), "
          + "separated by commas, not \(quoted(value))"
      }
      for candidate in candidates { record.addBar(candidate, ply: ply) }
    }
    return nil
  }
}

extension Record {
  /// Parses `h:mm:ss`, `m:ss` or seconds, with up to three decimals.
  static func milliseconds(_ text: String) -> Int64? {
    let halves = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    let fields = halves[0].split(separator: ":", omittingEmptySubsequences: false)
    guard (1...3).contains(fields.count) else { return nil }
    var seconds: Int64 = 0
    for field in fields {
      guard (1...9).contains(field.utf8.count), field.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
        let number = Int64(field)
      else { return nil }
      seconds = seconds * 60 + number
    }
    var milliseconds = seconds * 1000
    if halves.count == 2 {
      guard (1...3).contains(halves[1].utf8.count), halves[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
        let number = Int64(halves[1])
      else { return nil }
      milliseconds += number * [100, 10, 1][halves[1].utf8.count - 1]
    }
    return milliseconds <= Limit.milliseconds ? milliseconds : nil
  }
}
