/// A value on its way to or from PostgreSQL, in the binary format of its type.
enum PGValue: Sendable, Hashable {
  case null
  case bool(Bool)
  /// `bigint`; columns of narrower types are not used.
  case int(Int64)
  /// `double precision`.
  case double(Double)
  case text(String)
  case bytes([UInt8])
  /// `bigint[]`.
  case ints([Int64?])
  /// `double precision[]`.
  case doubles([Double?])
  /// `text[]`.
  case texts([String?])
  /// `bytea[]`.
  case blobs([[UInt8]])

  /// A value or NULL.
  static func optional(_ value: Int64?) -> PGValue { value.map(PGValue.int) ?? .null }
  /// A value or NULL.
  static func optional(_ value: String?) -> PGValue { value.map(PGValue.text) ?? .null }
  /// A value or NULL.
  static func optional(_ value: [UInt8]?) -> PGValue { value.map(PGValue.bytes) ?? .null }

  /// The value, if it is a `bigint`.
  var int: Int64? { if case .int(let value) = self { value } else { nil } }
  /// The value, if it is text.
  var text: String? { if case .text(let value) = self { value } else { nil } }
  /// The value, if it is bytes.
  var bytes: [UInt8]? { if case .bytes(let value) = self { value } else { nil } }
  /// The value, if it is a truth.
  var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  /// The value, if it is a number with a fraction.
  var double: Double? { if case .double(let value) = self { value } else { nil } }
  /// The values without NULLs, if it is a `bigint[]`.
  var ints: [Int64]? { if case .ints(let values) = self { values.compactMap { $0 } } else { nil } }
}

/// The types we use, by their numbers in `pg_type`.
private enum PGType: UInt32 {
  case bool = 16
  case bytea = 17
  case int8 = 20
  case int4 = 23
  case text = 25
  case float8 = 701
  case int8Array = 1016
}

extension PGValue {
  /// Appends the binary format and returns true, or false for NULL; O(size).
  func encode(into out: inout [UInt8]) -> Bool {
    switch self {
    case .null: return false
    case .bool(let value): out.append(value ? 1 : 0)
    case .int(let value): out.appendBig(UInt64(bitPattern: value))
    case .double(let value): out.appendBig(value.bitPattern)
    case .text(let value): out += value.utf8
    case .bytes(let value): out += value
    case .ints(let values):
      PGValue.array(values, of: .int8, into: &out) { value, out in
        out.appendBig(UInt32(8))
        out.appendBig(UInt64(bitPattern: value))
      }
    case .doubles(let values):
      PGValue.array(values, of: .float8, into: &out) { value, out in
        out.appendBig(UInt32(8))
        out.appendBig(value.bitPattern)
      }
    case .texts(let values):
      PGValue.array(values, of: .text, into: &out) { value, out in
        out.appendBig(UInt32(value.utf8.count))
        out += value.utf8
      }
    case .blobs(let values):
      PGValue.array(values, of: .bytea, into: &out) { value, out in
        out.appendBig(UInt32(value.count))
        out += value
      }
    }
    return true
  }

  /// Dimensions, a flag for NULLs, the type, length and first index, then each element behind its length.
  private static func array<T>(
    _ values: [T?], of type: PGType, into out: inout [UInt8], _ element: (T, inout [UInt8]) -> Void
  ) {
    out.appendBig(UInt32(values.isEmpty ? 0 : 1))
    out.appendBig(UInt32(values.contains { $0 == nil } ? 1 : 0))
    out.appendBig(type.rawValue)
    guard !values.isEmpty else { return }
    out.appendBig(UInt32(values.count))
    out.appendBig(UInt32(1))
    for value in values { if let value { element(value, &out) } else { out.appendBig(UInt32.max) } }
  }

  /// Reads the binary format of a column; types that no statement of ours asks for come as bytes.
  init(_ bytes: UnsafeRawBufferPointer, type: UInt32) {
    switch PGType(rawValue: type) {
    case .bool where bytes.count == 1: self = .bool(bytes[0] != 0)
    case .int8 where bytes.count == 8: self = .int(Int64(bitPattern: PGValue.big(bytes, 0, 8)))
    case .int4 where bytes.count == 4:
      self = .int(Int64(Int32(truncatingIfNeeded: Int64(bitPattern: PGValue.big(bytes, 0, 4)))))
    case .float8 where bytes.count == 8: self = .double(Double(bitPattern: PGValue.big(bytes, 0, 8)))
    case .text: self = .text(String(decoding: bytes, as: UTF8.self))
    case .int8Array: self = .ints(PGValue.elements(bytes).map { $0.map { Int64(bitPattern: PGValue.big($0, 0, 8)) } })
    default: self = .bytes(Array(bytes))
    }
  }

  private static func big(_ bytes: UnsafeRawBufferPointer, _ start: Int, _ count: Int) -> UInt64 {
    bytes[start..<start + count].reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The elements of a one-dimensional array of eight-byte values; empty if it is anything else.
  private static func elements(_ bytes: UnsafeRawBufferPointer) -> [UnsafeRawBufferPointer?] {
    guard bytes.count >= 20, big(bytes, 0, 4) == 1 else { return [] }
    var at = 20
    var result: [UnsafeRawBufferPointer?] = []
    for _ in 0..<big(bytes, 12, 4) {
      guard at + 4 <= bytes.count else { return [] }
      let length = Int(Int32(truncatingIfNeeded: Int64(big(bytes, at, 4))))
      at += 4
      guard length >= 0 else {
        result.append(nil)
        continue
      }
      guard length == 8, at + length <= bytes.count else { return [] }
      result.append(UnsafeRawBufferPointer(rebasing: bytes[at..<at + length]))
      at += length
    }
    return result
  }
}

extension [UInt8] {
  /// Appends an integer, most significant byte first.
  fileprivate mutating func appendBig(_ value: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
  }
}
