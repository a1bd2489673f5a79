/// Writes one JSON object to a byte array, field by field, without building a tree.
public struct JSONWriter {
  /// A complete object only after `finish` or `finishLine`.
  public private(set) var bytes: [UInt8]
  private var first = true

  /// Starts an object and reserves `capacity` bytes.
  public init(capacity: Int = 160) {
    bytes = []
    bytes.reserveCapacity(capacity)
    bytes.append(UInt8(ascii: "{"))
  }

  /// Writes a field.
  public mutating func field(_ name: StaticString, _ value: some FieldValue) {
    key(name)
    value.append(to: &bytes)
  }

  /// Writes a field, unless the value is `nil`.
  public mutating func field<V: FieldValue>(_ name: StaticString, _ value: V?) {
    if let value { field(name, value) }
  }

  /// Writes a field whose value is already JSON text, such as a stored event body.
  public mutating func raw(_ name: StaticString, _ json: some Sequence<UInt8>) {
    key(name)
    bytes.append(contentsOf: json)
  }

  /// Closes the object.
  public mutating func finish() { bytes.append(UInt8(ascii: "}")) }

  /// Closes the object and the line.
  public mutating func finishLine() {
    bytes.append(UInt8(ascii: "}"))
    bytes.append(UInt8(ascii: "\n"))
  }

  private mutating func key(_ name: StaticString) {
    if first { first = false } else { bytes.append(UInt8(ascii: ",")) }
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
  }

  /// Appends a decimal number.
  public static func append(_ value: Int64, to bytes: inout [UInt8]) {
    // Digits go into a buffer from the right: reversing them inside `bytes` would copy a slice.
    var digits = InlineArray<20, UInt8>(repeating: 0)
    var first = digits.count
    var rest = value.magnitude
    repeat {
      first -= 1
      digits[first] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    } while rest > 0
    if value < 0 { bytes.append(UInt8(ascii: "-")) }
    for i in first..<digits.count { bytes.append(digits[i]) }
  }

  /// Appends a quoted string. Escapes control characters, quotes and backslashes; other characters stay UTF-8.
  public static func append(_ value: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    defer { bytes.append(UInt8(ascii: "\"")) }
    if value.utf8.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
      return bytes.append(contentsOf: value.utf8)
    }
    for byte in value.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0x0A: bytes.append(contentsOf: #"\n"#.utf8)
      case 0x0D: bytes.append(contentsOf: #"\r"#.utf8)
      case 0x09: bytes.append(contentsOf: #"\t"#.utf8)
      case 0..<0x20:
        bytes.append(contentsOf: #"\u00"#.utf8)
        bytes.append(hexDigit(byte >> 4))
        bytes.append(hexDigit(byte & 15))
      default: bytes.append(byte)
      }
    }
  }

  /// Appends any value.
  public static func append(_ value: JSON, to bytes: inout [UInt8]) {
    switch value {
    case .null: bytes.append(contentsOf: "null".utf8)
    case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
    case .int(let value): append(value, to: &bytes)
    case .double(let value): bytes.append(contentsOf: (value.isFinite ? "\(value)" : "null").utf8)
    case .string(let value): append(value, to: &bytes)
    case .array(let values):
      bytes.append(UInt8(ascii: "["))
      for (i, value) in values.enumerated() {
        if i > 0 { bytes.append(UInt8(ascii: ",")) }
        append(value, to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let object):
      bytes.append(UInt8(ascii: "{"))
      for (i, field) in object.fields.enumerated() {
        if i > 0 { bytes.append(UInt8(ascii: ",")) }
        append(field.name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        append(field.value, to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }
}

package func hexDigit(_ nibble: UInt8) -> UInt8 { nibble < 10 ? 0x30 + nibble : UInt8(ascii: "a") + nibble - 10 }
