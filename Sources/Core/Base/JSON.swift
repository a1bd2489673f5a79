/// A JSON value; objects keep the order of their fields.
public enum JSON: Sendable, Hashable {
  case null
  case bool(Bool)
  /// A number that is written without fraction and exponent, and fits 64 bits.
  case int(Int64)
  /// A number that is not an `int`. The parser accepts finite numbers only; the writer writes infinities and NaN as `null`.
  case double(Double)
  case string(String)
  case array([JSON])
  case object(JSONObject)

  package static func int(_ value: Int) -> JSON { .int(Int64(value)) }

  package var string: String? { if case .string(let value) = self { value } else { nil } }
  package var int64: Int64? { if case .int(let value) = self { value } else { nil } }
  /// The value of an `int`, clamped to `Int`, which has 32 bits in the browser.
  package var int: Int? { int64.map { Int(clamping: $0) } }
  package var number: Double? {
    switch self {
    case .int(let value): Double(value)
    case .double(let value): value
    default: nil
    }
  }
  package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  package var array: [JSON]? { if case .array(let value) = self { value } else { nil } }
  package var object: JSONObject? { if case .object(let value) = self { value } else { nil } }

  package subscript(name: String) -> JSON? { object?[name] }

  /// The value as JSON text: one line, without blanks between its parts.
  package var text: String {
    var bytes: [UInt8] = []
    JSONWriter.append(self, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Parses a text that is a single value, nested at most 16 deep.
  package init(_ text: String) throws(NotationError) { try self.init(bytes: Array(text.utf8)) }

  package init(bytes: [UInt8]) throws(NotationError) {
    do throws(JSONError) {
      self = try JSONParser.parse(bytes, maxDepth: 16)
    } catch {
      throw ByteCursor(bytes).error(at: error.offset, error.reason.rawValue)
    }
  }
}

extension JSON {
  /// The value with all its strings, but not the names of fields, without their control characters.
  package var withoutControls: JSON {
    switch self {
    case .string(let text): .string(text.withoutControls)
    case .array(let values): .array(values.map { $0.withoutControls })
    case .object(let object): .object(object.withoutControls)
    default: self
    }
  }
}

extension JSONObject {
  /// The object with all its strings, but not the names of fields, without their control characters.
  package var withoutControls: JSONObject {
    JSONObject(fields: fields.map { Field(name: $0.name, value: $0.value.withoutControls) })
  }
}

extension JSON: ExpressibleByDictionaryLiteral, ExpressibleByStringLiteral {
  /// An object with these fields in this order.
  public init(dictionaryLiteral fields: (String, JSON)...) {
    self = .object(JSONObject(fields: fields.map { .init(name: $0, value: $1) }))
  }

  /// Makes a string.
  public init(stringLiteral value: String) { self = .string(value) }
}

/// The fields of a JSON object, in order. No name occurs twice.
public struct JSONObject: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  package struct Field: Sendable, Hashable {
    package var name: String
    package var value: JSON

    package init(name: String, value: JSON) { (self.name, self.value) = (name, value) }
  }

  package var fields: [Field]

  package init(fields: [Field] = []) { self.fields = fields }

  /// An object with these fields in this order.
  public init(dictionaryLiteral fields: (String, JSON)...) {
    self.fields = fields.map { Field(name: $0, value: $1) }
  }

  /// Appends a field, unless the value is `nil`. The name must be new.
  package mutating func add(_ name: String, _ value: JSON?) {
    if let value { fields.append(Field(name: name, value: value)) }
  }

  /// O(number of fields): the objects in this program have few fields.
  public subscript(name: String) -> JSON? {
    for field in fields where field.name == name { return field.value }
    return nil
  }
}
