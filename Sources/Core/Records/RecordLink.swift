import Base
import TicTacToe

/// A record as one word of a URL: bytes compressed by a context-mixing coder, as letters, digits, `-` and `_`. A game takes fewer than a
/// hundred characters, a few hundred with its music; a game of Ultimate fewer than a thousand.
///
/// The format is permanent: any change below needs a new version number. Links of version 1, whose bytes are the record's whole text,
/// remain readable.
extension Record {
  private static let version: UInt8 = 2
  /// The most bytes of text in a link.
  fileprivate static let mostText = 1 << 15

  /// The record as one word of a URL; `nil` if its comments make the word too long.
  package var link: String? {
    var coder = LinkCoder()
    var bare = Record(game: Game(from: game.startState))
    bare.tags = tags
    guard coder.code(text: Array(bare.text.utf8), atMost: Record.mostText) != nil else { return nil }
    bare = self
    return coder.code(movesOf: &bare) && coder.code(commentsOf: &bare) && coder.code(numbersOf: &bare)
      ? Record.word(Record.version, coder) : nil
  }

  private static func word(_ version: UInt8, _ coder: LinkCoder) -> String { coder.word(version, countBytes: 2) }

  /// The word of a record's link in a text that is only this word, or a URL that ends with it; `nil` for other texts.
  package static func link(in text: String) -> String? {
    if let word = linkWord("g", in: text) { return word }
    let parts = addressParts(of: text)
    guard parts.count == 1, parts[0].utf8.count > 8, parts[0].first == "A" else { return nil }
    return String(parts[0])
  }

  /// Decodes a link. Throws a one-line message if the link was cut off, changed, or made by a newer version.
  package init(link: String) throws(NotationError) { try self.init(link: link, atMost: .max) }

  /// `limit`: the most bytes that are decoded. A link whose text is declared longer is refused before the text is decoded.
  init(link: String, atMost limit: Int) throws(NotationError) {
    guard link.utf8.count <= 2 * Record.mostText, let word = Base64URL.bytes(link), word.count > 4 else {
      throw .damagedLink
    }
    guard (1...Record.version).contains(word[0]) else { throw .foreignLink }
    var decoder = LinkCoder(reading: Array(word[4...]), atMost: limit)
    guard let text = decoder.code(text: [], atMost: min(Record.mostText, limit, 100 * word.count)) else {
      throw .damagedLink
    }
    if word[0] == 1 {
      var coder = LinkCoder()
      guard coder.code(text: text, atMost: Record.mostText) != nil, Record.word(1, coder) == link else {
        throw .damagedLink
      }
      self = try Record(text: String(decoding: text, as: UTF8.self), variants: Variant.allCases)
      return
    }
    guard var record = try? Record(text: String(decoding: text, as: UTF8.self), variants: Variant.allCases),
      decoder.code(movesOf: &record), decoder.code(commentsOf: &record), decoder.code(numbersOf: &record),
      record.link == link
    else { throw .damagedLink }
    // The text parser checks everything that a record may contain.
    self = try Record(text: record.text, variants: Variant.allCases)
  }
}

/// Codes the parts of a link in their order. Each function writes its part, or reads it if `isReading`.
extension LinkCoder {
  /// Writes a text, or reads one; `nil` if the text has more than `limit` bytes.
  fileprivate mutating func code(text: [UInt8], atMost limit: Int) -> [UInt8]? {
    guard text.count <= limit else { return nil }
    let count = Int(code(UInt8(text.count >> 8))) << 8 | Int(code(UInt8(text.count & 0xFF)))
    guard count <= limit else { return nil }
    return (0..<count).map { code(isReading ? 0 : text[$0]) }
  }

  /// Writes moves and end of a game, or reads them; `false` if the rules do not allow them.
  fileprivate mutating func code(movesOf record: inout Record) -> Bool {
    let cells = record.game.cells
    guard let count = code(count: cells.count, .moves, atMost: Record.Limit.plies) else { return false }
    var game = Game(from: record.game.startState)
    for ply in 0..<count {
      let allowed = Array(game.state.moves)
      let index = isReading ? 0 : allowed.firstIndex(of: cells[ply]) ?? 0
      guard let index = code(count: index, .move, atMost: allowed.count - 1) else { return false }
      guard (try? game.play(allowed[index])) != nil else { return false }
    }
    let ends: [Outcome?] = [nil, .win(.x), .win(.o), .draw]
    let terminations = Termination.allCases
    let end = game.isOver ? nil : record.game.end
    let number = end.map { end in
      Int64(
        (ends.firstIndex(of: end.outcome) ?? 0) * terminations.count
          + (terminations.firstIndex(of: end.termination) ?? 0))
    }
    if let number = code(number, .ending) {
      guard !game.isOver, number < Int64(ends.count * terminations.count) else { return false }
      game.finish(
        GameEnd(
          outcome: ends[Int(number) / terminations.count], termination: terminations[Int(number) % terminations.count]))
    }
    if let offer = code(record.game.drawOffer.map { $0 == .x ? 0 : 1 }, .offer) {
      guard !game.isOver else { return false }
      game.drawOffer = offer == 0 ? .x : .o
    }
    record.game = game
    return true
  }

  /// Writes the comments of a record, or reads them; `false` if they exceed a limit of records.
  fileprivate mutating func code(commentsOf record: inout Record) -> Bool {
    let comments = record.comments
    guard let count = code(count: comments.count, .comments, atMost: Record.Limit.comments) else { return false }
    record.comments = []
    for index in 0..<count {
      let comment = isReading ? nil : comments[index]
      guard let ply = code(count: comment?.ply ?? 0, .comments, atMost: Record.Limit.plies),
        let text = code(text: Array((comment?.text ?? "").utf8), atMost: Record.Limit.comment),
        coded.count < Record.mostText
      else { return false }
      record.comments.append(Record.Comment(ply: ply, text: String(decoding: text, as: UTF8.self)))
    }
    return true
  }

  /// Codes times, frames and bars; `false` if a number exceeds its limit, or if there are more entries than the moves allow.
  fileprivate mutating func code(numbersOf record: inout Record) -> Bool {
    guard let count = code(count: record.times.count, .times, atMost: record.game.cells.count) else { return false }
    var times = isReading ? [Record.MoveTimes](repeating: .init(), count: count) : record.times
    for ply in times.indices { times[ply].elapsed = code(times[ply].elapsed, .elapsed) }
    for ply in times.indices { times[ply].clock = code(times[ply].clock, .clock) }
    record.startFrame = code(record.startFrame, .start)
    var last = record.startFrame ?? 0
    for ply in times.indices {
      // Predicts that each move sounds right after its thinking time (48 frames per ms); only the difference is coded.
      last &+= (times[ply].elapsed ?? 0) &* 48
      times[ply].frame = code(times[ply].frame, .frame, after: last)
      last = times[ply].frame ?? last
    }
    record.endFrame = code(record.endFrame, .end, after: last)
    record.times = times
    guard let lists = code(count: record.bars.count, .lists, atMost: record.game.cells.count + 1) else { return false }
    var bars = isReading ? [[Int]](repeating: [], count: lists) : record.bars
    for ply in bars.indices {
      guard let count = code(count: bars[ply].count, .bars, atMost: Record.Limit.bars) else { return false }
      if isReading { bars[ply] = [Int](repeating: 0, count: count) }
      for bar in bars[ply].indices {
        guard let candidate = code(count: bars[ply][bar], .bar, atMost: Record.Limit.candidate) else { return false }
        bars[ply][bar] = candidate
      }
    }
    record.bars = bars
    return true
  }

  /// The kind of a number in a link. Its bytes are predicted from earlier numbers of the same kind.
  enum Column: UInt64 {
    case moves = 1, move, ending, offer, comments, times, elapsed, clock, start, frame, end, lists, bars, bar
    // The kinds of numbers in free play (`FreePlay`).
    case touches, gap, touch
  }

  mutating func code(count: Int, _ column: Column, atMost limit: Int) -> Int? {
    code(Int64(count), column).flatMap { $0 <= Int64(limit) ? Int($0) : nil }
  }

  /// Codes `number` minus `last`, with the sign in the lowest bit.
  private mutating func code(_ number: Int64?, _ column: Column, after last: Int64) -> Int64? {
    let step = number.map { $0 &- last }
    return code(step.map { ($0 << 1 ^ $0 >> 63) & .max }, column).map { last &+ ($0 >> 1 ^ -($0 & 1)) }
  }

  /// Codes an optional number ≥ 0 as the number plus one, or as 0 for `nil`: seven bits a byte, the lowest first. Bit 7 means that another
  /// byte follows.
  mutating func code(_ number: Int64?, _ column: Column) -> Int64? {
    var rest = number.map { UInt64($0) + 1 } ?? 0
    var (value, shift) = (UInt64(0), UInt64(0))
    while shift < 63 {
      let byte = code(UInt8(rest & 127) | (rest > 127 ? 128 : 0), history: column.rawValue << 56 | shift)
      value |= UInt64(byte & 127) << shift
      if byte < 128 { break }
      (rest, shift) = (rest >> 7, shift + 7)
    }
    return value == 0 ? nil : Int64(value - 1)
  }
}

/// An arithmetic coder of bytes. Each bit's probability is a weighted mean of predictions from the last 1, 2, 3, 4 and 6 bytes.
struct LinkCoder {
  private static let orders = [1, 2, 3, 4, 6]
  /// The bits of a context's hash. A context is the last bytes, as many as one of `orders` says, and the coded bits of the current byte.
  private static let bits = 15
  /// A typical record, learned before the first byte, so that links need not spend bits on its common parts.
  private static let example = """
    [Event "?"]
    [Site "?"]
    [Date "2026.11.22"]
    [Round "?"]
    [White "human"]
    [Black "levels:3"]
    [Result "1-0"]
    [Seed "20261122"]
    [Rules "standard"]
    [ScoreRules "score 0123456789abcdef"]
    [TimeControl "300+3"]
    [Termination "normal"]
    [Human "x"]

    {[%frame 48000] [%bar 0,1,2]} 1. b2
    {[%emt 0:00:06.200] [%clk 0:04:58.500] [%frame 148000] [%bar 3]} a1
    {[%emt 0:00:01.001] [%clk 0:05:01.000] [%frame 1048576] [%bar 12]} 2. c3 {[%emt 0:00:02.750]} c1
    {[%emt 0:00:03.333]} 3. a3 {[%emt 0:00:00.419]} a2 {[%emt 0:00:14.068]} 4. b3 {[%emt 0:00:09.587]} c2
    {[%emt 0:00:05.942]} 5. b1 {[%bar 1,0] [%end 999999]} 1-0

    0-1 1/2-1/2 * [Result "0-1"] [Result "1/2-1/2"] [Termination "resignation"] 1... a1
    """

  /// At [index in `orders`][hash of the context]: the probability that the next bit is 1, in units of 1/65,536. `counts` has the number of
  /// bits seen in this context, up to 30.
  private var chances = [UInt16](repeating: 1 << 15, count: orders.count << bits)
  private var counts = [UInt8](repeating: 0, count: orders.count << bits)
  private var history: UInt64 = 0
  private var places = [Int](repeating: 0, count: orders.count)
  private var (low, high, window) = (UInt32.min, UInt32.max, UInt32(0))
  /// The bytes written, or the bytes to read.
  private var bytes: [UInt8] = []
  private var next = 0
  /// The most bytes that are coded. After them only zeros are read, which mean an absent number, so the link fails its check.
  private var most = Int.max
  private(set) var isReading = false
  /// All uncompressed bytes that were written or read so far.
  private(set) var coded: [UInt8] = []

  /// Made once, because learning takes longer than copying the tables.
  private static let learned = LinkCoder(learning: example)

  init() { self = LinkCoder.learned }

  init(reading bytes: [UInt8], atMost most: Int = .max) {
    self = LinkCoder.learned
    (self.bytes, self.most, isReading) = (bytes, most, true)
    for _ in 0..<4 { window = window << 8 | UInt32(take()) }
  }

  private init(learning text: String) {
    for byte in text.utf8 { each { _, i in byte >> i & 1 == 1 } }
  }

  /// The next byte to read; zeros after the end.
  private mutating func take() -> UInt8 {
    defer { next += 1 }
    return next < bytes.count ? bytes[next] : 0
  }

  /// Writes a byte, or reads and returns one, with `history` as the context instead of the last bytes.
  mutating func code(_ byte: UInt8, history: UInt64) -> UInt8 {
    self.history = history
    return code(byte)
  }

  /// Writes a byte, or reads and returns one.
  mutating func code(_ byte: UInt8) -> UInt8 {
    guard coded.count < most else { return 0 }
    let byte = each { coder, i in
      let middle = coder.middle()
      let bit = coder.isReading ? coder.window <= middle : byte >> i & 1 == 1
      if bit { coder.high = middle } else { coder.low = middle + 1 }
      coder.shift()
      return bit
    }
    coded.append(byte)
    return byte
  }

  /// The compressed bytes: those written, and as few more as select a number within the coder's interval. `take` reads zeros after the end.
  func finished() -> [UInt8] {
    // With zeros after them, `length` bytes are a 32-bit number that is a multiple of `unit`.
    var end: [UInt8] = []
    for length in UInt32(1)...4 {
      let unit = UInt64(1) << (32 - 8 * length)
      let number = (UInt64(low) + unit - 1) / unit * unit
      guard number <= UInt64(high) else { continue }
      for i in 0..<length { end.append(UInt8(truncatingIfNeeded: number >> (24 - 8 * UInt64(i)))) }
      break
    }
    return bytes + end
  }

  /// A word of a URL: the version, three bytes of a hash, then the coder's output. The hash leaves out the first `countBytes` bytes, which
  /// tell the length of the text.
  func word(_ version: UInt8, countBytes: Int) -> String {
    Base64URL.text([version] + SHA256.hash(Array(coded.dropFirst(countBytes))).bytes.prefix(3) + finished())
  }

  /// Codes the eight bits of a byte, highest first, and updates the model after each.
  @discardableResult
  private mutating func each(_ bit: (inout LinkCoder, UInt8) -> Bool) -> UInt8 {
    var node: UInt64 = 1
    for i in (UInt8(0)..<8).reversed() {
      for (place, order) in LinkCoder.orders.enumerated() {
        let before = history & (UInt64.max >> (64 - 8 * UInt64(order)))
        let hash = ((before &* 0x9E37_79B9_7F4A_7C15) ^ (node &* 0xD6E8_FEB8_6659_FD93)) &* 0xFF51_AFD7_ED55_8CCD
        places[place] = place << LinkCoder.bits | Int(truncatingIfNeeded: hash >> (64 - UInt64(LinkCoder.bits)))
      }
      let isOne = bit(&self, i)
      for place in places {
        let count = Int(counts[place]), chance = Int(chances[place])
        chances[place] = UInt16(chance + ((isOne ? 65_535 : 0) - chance) * 2 / (2 * count + 3))
        if count < 30 { counts[place] += 1 }
      }
      node = node << 1 | (isOne ? 1 : 0)
    }
    history = history << 8 | (node & 0xFF)
    return UInt8(node & 0xFF)
  }

  /// The point at which the next bit splits the coder's interval: the part up to the point codes a 1. A context weighs more if it is
  /// longer, more certain or seen more often.
  private func middle() -> UInt32 {
    var (sum, weights) = (UInt64(0), UInt64(0))
    for (order, place) in places.enumerated() where counts[place] > 0 {
      let sureness = UInt64((Int(chances[place]) - 32_768).magnitude >> 11)
      let weight = UInt64(counts[place]) * (1 + sureness) << UInt64(2 * order)
      sum += UInt64(chances[place]) * weight
      weights += weight
    }
    let chance = weights == 0 ? 32_768 : min(max(sum / weights, 32), 65_504)
    return low + UInt32((UInt64(high - low) * chance) >> 16)
  }

  /// Removes the leading bytes that are equal at both ends of the interval.
  private mutating func shift() {
    while (low ^ high) >> 24 == 0 {
      if isReading { window = window << 8 | UInt32(take()) } else { bytes.append(UInt8(high >> 24)) }
      (low, high) = (low << 8, high << 8 | 0xFF)
    }
  }
}

/// RFC 4648, base64url without padding: characters that need no escaping in URLs.
enum Base64URL {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  static func text(_ bytes: [UInt8]) -> String {
    var out: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let value = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
      for i in 0...group.count { out.append(alphabet[value >> (18 - 6 * i) & 63]) }
    }
    return String(decoding: out, as: UTF8.self)
  }

  /// `nil` for invalid text, also if the bits left over after the last whole byte are not 0.
  static func bytes(_ text: String) -> [UInt8]? {
    var out: [UInt8] = []
    var (value, count) = (0, 0)
    for character in text.utf8 {
      guard let digit = alphabet.firstIndex(of: character) else { return nil }
      (value, count) = (value << 6 | digit, count + 6)
      guard count >= 8 else { continue }
      count -= 8
      out.append(UInt8(value >> count))
      value &= (1 << count) - 1
    }
    return count < 6 && value == 0 ? out : nil
  }
}

// MARK: - URLs of all links

extension NotationError {
  static var damagedLink: NotationError {
    NotationError(column: 1, message: "this link is damaged: some of it is missing or was changed")
  }
  static var foreignLink: NotationError {
    NotationError(column: 1, message: "this link was made by another version of Alina")
  }
}

/// The parts between the slashes of a text that is a single word, as a URL is; empty for other texts.
private func addressParts(of text: String) -> [Substring] {
  let words = text.split { $0.isWhitespace }
  return words.count == 1 ? words[0].split(separator: "/") : []
}

/// The last part of a URL, if the part before it is `kind`, the letter of a kind of link; `nil` for other texts.
func linkWord(_ kind: Substring, in text: String) -> String? {
  let parts = addressParts(of: text)
  return parts.count > 1 && parts[parts.count - 2] == kind ? parts.last.map { String($0) } : nil
}
