package struct JSONError: Error, Sendable, Hashable {
  package enum Reason: String, Sendable {
    case unexpected = "unexpected byte"
    case truncated = "the line ends too early"
    case trailing = "text after the value"
    case badNumber = "not a JSON number"
    case badString = "invalid UTF-8, control character or escape in a string"
    case duplicate = "the same field twice"
    case tooDeep = "nested too deep"
  }
  package let reason: Reason
  /// The offset, from 0, of the byte at which the parser found the error.
  package let offset: Int

  package init(reason: Reason, offset: Int) { (self.reason, self.offset) = (reason, offset) }
}

/// Parses one JSON value (RFC 8259) in one pass. Stricter than the RFC: duplicate field names, invalid UTF-8 and lone surrogates are
/// errors.
package struct JSONParser {
  private let bytes: UnsafeRawBufferPointer
  private let maxDepth: Int
  private var i = 0

  /// Allocates only for strings longer than 15 bytes, and for arrays and objects that are not empty.
  package static func parse(_ bytes: UnsafeRawBufferPointer, maxDepth: Int) throws(JSONError) -> JSON {
    var parser = JSONParser(bytes: bytes, maxDepth: maxDepth)
    parser.skipSpace()
    let value = try parser.value(depth: 1)
    parser.skipSpace()
    guard parser.i == bytes.count else { throw parser.error(.trailing) }
    return value
  }

  package static func parse(_ bytes: [UInt8], maxDepth: Int) throws(JSONError) -> JSON {
    let result: Result<JSON, JSONError> = bytes.withUnsafeBytes { raw in
      do throws(JSONError) { return .success(try parse(raw, maxDepth: maxDepth)) } catch { return .failure(error) }
    }
    return try result.get()
  }

  private func error(_ reason: JSONError.Reason) -> JSONError { JSONError(reason: reason, offset: i) }

  private mutating func skipSpace() {
    while i < bytes.count, bytes[i] == 0x20 || bytes[i] == 0x09 || bytes[i] == 0x0A || bytes[i] == 0x0D { i += 1 }
  }

  private mutating func value(depth: Int) throws(JSONError) -> JSON {
    guard i < bytes.count else { throw error(.truncated) }
    switch bytes[i] {
    case UInt8(ascii: "{"): return .object(try object(depth: depth))
    case UInt8(ascii: "["): return .array(try array(depth: depth))
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try literal("true", .bool(true))
    case UInt8(ascii: "f"): return try literal("false", .bool(false))
    case UInt8(ascii: "n"): return try literal("null", .null)
    case UInt8(ascii: "-"), 0x30...0x39: return try number()
    default: throw error(.unexpected)
    }
  }

  private mutating func literal(_ text: StaticString, _ value: JSON) throws(JSONError) -> JSON {
    let n = text.utf8CodeUnitCount
    guard i + n <= bytes.count else { throw error(.truncated) }
    for k in 0..<n where bytes[i + k] != text.utf8Start[k] { throw error(.unexpected) }
    i += n
    return value
  }

  private mutating func object(depth: Int) throws(JSONError) -> JSONObject {
    guard depth <= maxDepth else { throw error(.tooDeep) }
    var result = JSONObject()
    i += 1
    skipSpace()
    if i < bytes.count, bytes[i] == UInt8(ascii: "}") {
      i += 1
      return result
    }
    result.fields.reserveCapacity(8)
    // Used from the 17th name on: with fewer names, comparing each pair is faster than hashing.
    var names: Set<String> = []
    while true {
      guard i < bytes.count else { throw error(.truncated) }
      guard bytes[i] == UInt8(ascii: "\"") else { throw error(.unexpected) }
      let name = try string()
      if result.fields.count == 16 { names = Set(result.fields.map { $0.name }) }
      let isNew = result.fields.count < 16 ? result[name] == nil : names.insert(name).inserted
      guard isNew else { throw error(.duplicate) }
      skipSpace()
      guard i < bytes.count else { throw error(.truncated) }
      guard bytes[i] == UInt8(ascii: ":") else { throw error(.unexpected) }
      i += 1
      skipSpace()
      let value = try value(depth: depth + 1)
      result.fields.append(.init(name: name, value: value))
      if try isEnd(UInt8(ascii: "}")) { return result }
    }
  }

  /// Skips a comma or the closing byte after an element; true if it was the closing byte.
  private mutating func isEnd(_ closer: UInt8) throws(JSONError) -> Bool {
    skipSpace()
    guard i < bytes.count else { throw error(.truncated) }
    let byte = bytes[i]
    guard byte == closer || byte == UInt8(ascii: ",") else { throw error(.unexpected) }
    i += 1
    if byte != closer { skipSpace() }
    return byte == closer
  }

  private mutating func array(depth: Int) throws(JSONError) -> [JSON] {
    guard depth <= maxDepth else { throw error(.tooDeep) }
    var result: [JSON] = []
    i += 1
    skipSpace()
    if i < bytes.count, bytes[i] == UInt8(ascii: "]") {
      i += 1
      return result
    }
    while true {
      result.append(try value(depth: depth + 1))
      if try isEnd(UInt8(ascii: "]")) { return result }
    }
  }

  private mutating func number() throws(JSONError) -> JSON {
    let start = i
    var whole: Int64? = 0
    let negative = bytes[i] == UInt8(ascii: "-")
    if negative { i += 1 }
    guard i < bytes.count, isDigit(bytes[i]) else { throw error(.badNumber) }
    let leadingZero = bytes[i] == 0x30
    var digits = 0
    while i < bytes.count, isDigit(bytes[i]) {
      let digit = Int64(bytes[i] - 0x30)
      if let w = whole {
        let (product, overflow) = w.multipliedReportingOverflow(by: 10)
        let (sum, overflow2) = product.subtractingReportingOverflow(digit)  // sums −digits: −2⁶³ fits, 2⁶³ does not
        whole = overflow || overflow2 ? nil : sum
      }
      digits += 1
      i += 1
    }
    guard !(leadingZero && digits > 1) else { throw error(.badNumber) }
    var isInteger = true
    if i < bytes.count, bytes[i] == UInt8(ascii: ".") {
      isInteger = false
      i += 1
      try digitRun()
    }
    if i < bytes.count, bytes[i] | 0x20 == UInt8(ascii: "e") {
      isInteger = false
      i += 1
      if i < bytes.count, bytes[i] == UInt8(ascii: "+") || bytes[i] == UInt8(ascii: "-") { i += 1 }
      try digitRun()
    }
    if isInteger, let whole {
      if negative { return .int(whole) }
      if whole != Int64.min { return .int(-whole) }
    }
    let text = String(decoding: UnsafeRawBufferPointer(rebasing: bytes[start..<i]), as: UTF8.self)
    guard let value = Double(text), value.isFinite else { throw error(.badNumber) }
    return .double(value)
  }

  private mutating func digitRun() throws(JSONError) {
    guard i < bytes.count, isDigit(bytes[i]) else { throw error(.badNumber) }
    while i < bytes.count, isDigit(bytes[i]) { i += 1 }
  }

  private func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

  private mutating func string() throws(JSONError) -> String {
    i += 1
    let start = i
    var plain = true
    var end = i
    while true {
      guard end < bytes.count else { throw error(.truncated) }
      let byte = bytes[end]
      if byte == UInt8(ascii: "\"") { break }
      if byte < 0x20 { throw error(.badString) }
      if byte == UInt8(ascii: "\\") {
        plain = false
        end += 1
        guard end < bytes.count else { throw error(.truncated) }
      }
      end += 1
    }
    defer { i = end + 1 }
    if plain { return try utf8(UnsafeRawBufferPointer(rebasing: bytes[start..<end])) }
    var unescaped: [UInt8] = []
    unescaped.reserveCapacity(end - start)
    while i < end {
      let byte = bytes[i]
      i += 1
      guard byte == UInt8(ascii: "\\") else {
        unescaped.append(byte)
        continue
      }
      let escape = bytes[i]
      i += 1
      switch escape {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): unescaped.append(escape)
      case UInt8(ascii: "b"): unescaped.append(0x08)
      case UInt8(ascii: "f"): unescaped.append(0x0C)
      case UInt8(ascii: "n"): unescaped.append(0x0A)
      case UInt8(ascii: "r"): unescaped.append(0x0D)
      case UInt8(ascii: "t"): unescaped.append(0x09)
      case UInt8(ascii: "u"):
        var unit = try hex4(end: end)
        if (0xD800..<0xDC00).contains(unit) {
          guard i + 1 < end, bytes[i] == UInt8(ascii: "\\"), bytes[i + 1] == UInt8(ascii: "u") else {
            throw error(.badString)
          }
          i += 2
          let low = try hex4(end: end)
          guard (0xDC00..<0xE000).contains(low) else { throw error(.badString) }
          unit = 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(unit) else { throw error(.badString) }
        unescaped.append(contentsOf: String(scalar).utf8)
      default: throw error(.badString)
      }
    }
    guard let text = String(validating: unescaped, as: UTF8.self) else { throw error(.badString) }
    return text
  }

  private mutating func hex4(end: Int) throws(JSONError) -> UInt32 {
    guard i + 4 <= end else { throw error(.badString) }
    var value: UInt32 = 0
    for _ in 0..<4 {
      let byte = bytes[i]
      let lower = byte | 0x20
      let digit: UInt8
      if isDigit(byte) {
        digit = byte - 0x30
      } else if (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(lower) {
        digit = lower - UInt8(ascii: "a") + 10
      } else {
        throw error(.badString)
      }
      value = value << 4 | UInt32(digit)
      i += 1
    }
    return value
  }

  private func utf8(_ raw: UnsafeRawBufferPointer) throws(JSONError) -> String {
    // ASCII is always valid UTF-8 and needs no further check.
    if raw.allSatisfy({ $0 < 0x80 }) { return String(decoding: raw, as: UTF8.self) }
    guard let text = String(validating: raw.bindMemory(to: UInt8.self), as: UTF8.self) else { throw error(.badString) }
    return text
  }
}
