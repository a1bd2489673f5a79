import Base
import TicTacToe

/// A record as one word of an address: its text, predicted bit by bit by what came before, in letters, digits, `-` and `_`.
///
/// A whole game has about a hundred characters, with all that its music needs a few hundred. Word and text stand for each other
/// for good: to change anything below is to make another version.
extension Record {
  private static let version: UInt8 = 1
  /// Bytes of text beyond which a game is no link.
  private static let mostText = 1 << 15

  /// The word; `nil` for a game with so many comments that no address would hold it.
  package var link: String? {
    let text = Array(text.utf8)
    return text.count <= Record.mostText ? Record.link(of: text) : nil
  }

  private static func link(of text: [UInt8]) -> String {
    var coder = LinkCoder()
    coder.write(UInt8(text.count >> 8))
    coder.write(UInt8(text.count & 0xFF))
    for byte in text { coder.write(byte) }
    return Base64URL.text([Record.version] + SHA256.hash(text).bytes.prefix(3) + coder.finished())
  }

  /// The word in a text that is an address with one, or nothing but the word; `nil` for any other text.
  package static func link(in text: String) -> String? {
    let words = text.split { $0.isWhitespace }
    guard words.count == 1 else { return nil }
    let parts = words[0].split(separator: "/")
    let isAddress = parts.count > 1 && parts[parts.count - 2] == "g"
    guard isAddress || parts.count == 1 && parts[0].utf8.count > 8 && parts[0].first == "A" else { return nil }
    return parts.last.map { String($0) }
  }

  /// Reads such a word; throws one line for one that was cut off, changed, or made by a newer version.
  package init(link: String) throws(NotationError) {
    let damaged = NotationError(column: 1, message: "this link is damaged: some of it is missing or was changed")
    guard link.utf8.count <= 2 * Record.mostText, let bytes = Base64URL.bytes(link), bytes.count > 4 else {
      throw damaged
    }
    guard bytes[0] == Record.version else {
      throw NotationError(column: 1, message: "this link was made by another version of Alina")
    }
    var decoder = LinkCoder(reading: Array(bytes[4...]))
    let count = Int(decoder.read()) << 8 | Int(decoder.read())
    guard count <= min(Record.mostText, 100 * bytes.count) else { throw damaged }
    var text: [UInt8] = []
    for _ in 0..<count { text.append(decoder.read()) }
    guard Record.link(of: text) == link else { throw damaged }
    try self.init(text: String(decoding: text, as: UTF8.self), variants: Variant.allCases)
  }
}

/// An arithmetic coder of bytes: the probability of each bit is a mean of what followed the last one to six bytes before.
private struct LinkCoder {
  private static let orders = [1, 2, 3, 4, 6]
  private static let bits = 15
  /// What every record looks like: learned before the first byte, so that a link need not say it.
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

  /// For each order and hash of what came before: the chance of a 1 of 65,536, and how often it was asked.
  private var chances = [UInt16](repeating: 1 << 15, count: orders.count << bits)
  private var counts = [UInt8](repeating: 0, count: orders.count << bits)
  private var history: UInt64 = 0
  private var places = [Int](repeating: 0, count: orders.count)
  private var (low, high, window) = (UInt32.min, UInt32.max, UInt32(0))
  private var bytes: [UInt8] = []
  private var next = 0

  /// Begins to write.
  init() { learn() }

  /// Begins to read.
  init(reading bytes: [UInt8]) {
    learn()
    self.bytes = bytes
    for _ in 0..<4 { window = window << 8 | UInt32(take()) }
  }

  private mutating func learn() {
    for byte in LinkCoder.example.utf8 { each { _, i in byte >> i & 1 == 1 } }
  }

  /// The next byte that was written; zeros after the end.
  private mutating func take() -> UInt8 {
    defer { next += 1 }
    return next < bytes.count ? bytes[next] : 0
  }

  mutating func write(_ byte: UInt8) {
    each { coder, i in
      let bit = byte >> i & 1 == 1
      let middle = coder.middle()
      if bit { coder.high = middle } else { coder.low = middle + 1 }
      coder.shift { coder in coder.bytes.append(UInt8(coder.high >> 24)) }
      return bit
    }
  }

  mutating func read() -> UInt8 {
    each { coder, _ in
      let middle = coder.middle()
      let bit = coder.window <= middle
      if bit { coder.high = middle } else { coder.low = middle + 1 }
      coder.shift { coder in coder.window = coder.window << 8 | UInt32(coder.take()) }
      return bit
    }
  }

  /// What was written; zeros at the end go without saying.
  mutating func finished() -> [UInt8] {
    // The shortest number within what is left: its further bytes are zero.
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

  /// Goes through the eight bits of a byte, the first the highest, learns each, and gives the byte.
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

  /// Where the interval is divided: below it lies a 1. Longer memories, surer ones and older ones count for more.
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

  /// Hands over the leading bytes on which both ends of the interval agree.
  private mutating func shift(_ byte: (inout LinkCoder) -> Void) {
    while (low ^ high) >> 24 == 0 {
      byte(&self)
      (low, high) = (low << 8, high << 8 | 0xFF)
    }
  }
}

/// Bytes as characters that an address takes as they are (RFC 4648, base64url without padding).
private enum Base64URL {
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

  /// The bytes; `nil` for what is no such text, also where bits are set that no byte holds.
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
