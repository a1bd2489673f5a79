import MatchProtocol

/// A parameter or column value in PostgreSQL's binary format.
package enum PGValue: Sendable, Hashable {
  case null
  case bool(Bool)
  /// The PostgreSQL type `bigint`.
  case int(Int64)
  case double(Double)
  case text(String)
  case bytes([UInt8])
  case array([PGValue], of: Kind)

  /// The supported types by their OIDs in `pg_type`.
  package enum Kind: UInt32, Sendable {
    case bool = 16, bytea = 17, int8 = 20, int4 = 23, text = 25, float8 = 701, textArray = 1009, int8Array = 1016
  }

  static func id(_ m: MatchID) -> PGValue { .text(m.rawValue) }
  static func optional(_ value: Int64?) -> PGValue { value.map(PGValue.int) ?? .null }
  static func optional(_ value: String?) -> PGValue { value.map(PGValue.text) ?? .null }
  static func optional(_ value: [UInt8]?) -> PGValue { value.map(PGValue.bytes) ?? .null }
  static func ints(_ values: [Int64?]) -> PGValue { .array(values.map { .optional($0) }, of: .int8) }
  static func doubles(_ values: [Double?]) -> PGValue { .array(values.map { $0.map(double) ?? .null }, of: .float8) }
  static func texts(_ values: [String?]) -> PGValue { .array(values.map { .optional($0) }, of: .text) }
  static func blobs(_ values: [[UInt8]]) -> PGValue { .array(values.map(bytes), of: .bytea) }

  /// `nil` for NULL or a value of another type.
  package var int: Int64? { if case .int(let value) = self { value } else { nil } }
  var text: String? { if case .text(let value) = self { value } else { nil } }
  var bytes: [UInt8]? { if case .bytes(let value) = self { value } else { nil } }
  var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  var double: Double? { if case .double(let value) = self { value } else { nil } }
  var ints: [Int64]? { if case .array(let values, .int8) = self { values.compactMap(\.int) } else { nil } }
  var texts: [String]? { if case .array(let values, .text) = self { values.compactMap(\.text) } else { nil } }

  /// Appends the value in the binary format and returns `true`; for NULL appends nothing and returns `false`.
  func encode(into out: inout [UInt8]) -> Bool {
    switch self {
    case .null: return false
    case .bool(let value): out.append(value ? 1 : 0)
    case .int(let value): out.appendBig(value)
    case .double(let value): out.appendBig(value.bitPattern)
    case .text(let value): out += value.utf8
    case .bytes(let value): out += value
    case .array(let values, let kind):
      // An array: dimensions, whether it has NULLs, element type, number of elements, first index, then each element's length and bytes.
      for word in [values.isEmpty ? 0 : 1, values.contains(.null) ? 1 : 0, kind.rawValue] { out.appendBig(word) }
      if values.isEmpty { break }
      for word in [UInt32(values.count), 1] { out.appendBig(word) }
      for value in values {
        let start = out.count
        out.appendBig(Int32(-1))
        guard value.encode(into: &out) else { continue }
        let length = UInt32(out.count - start - 4)
        for i in 0..<4 { out[start + i] = UInt8(truncatingIfNeeded: length >> UInt32(24 - 8 * i)) }
      }
    }
    return true
  }

  /// Unsupported types become bytes.
  init(_ bytes: Slice<UnsafeRawBufferPointer>, type: UInt32) {
    let number = { (part: Slice<UnsafeRawBufferPointer>) in part.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
    switch Kind(rawValue: type) {
    case .bool: self = .bool(number(bytes) != 0)
    case .int8: self = .int(Int64(bitPattern: number(bytes)))
    case .int4: self = .int(Int64(Int32(truncatingIfNeeded: number(bytes))))
    case .float8: self = .double(Double(bitPattern: number(bytes)))
    case .text: self = .text(String(decoding: bytes, as: UTF8.self))
    case .int8Array, .textArray:
      let kind = type == Kind.int8Array.rawValue ? Kind.int8 : .text
      var (rest, values) = (bytes.dropFirst(20), [PGValue]())
      while rest.count >= 4 {
        let length = Int(Int32(truncatingIfNeeded: number(rest.prefix(4))))
        rest = rest.dropFirst(4)
        values.append(length < 0 ? .null : PGValue(rest.prefix(length), type: kind.rawValue))
        rest = rest.dropFirst(max(0, length))
      }
      self = .array(values, of: kind)
    case .bytea, nil: self = .bytes(Array(bytes))
    }
  }
}

extension [UInt8] {
  /// Appends an integer, most significant byte first.
  fileprivate mutating func appendBig(_ value: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
  }
}
