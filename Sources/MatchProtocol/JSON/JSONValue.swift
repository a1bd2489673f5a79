/// A JSON value as our flat messages use it; objects keep the order of their fields.
public enum JSONValue: Sendable, Hashable {
  case null
  case bool(Bool)
  /// A number without fraction or exponent that fits 64 bits.
  case int(Int64)
  /// Any other number; always finite.
  case double(Double)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)

  /// The string, if it is one.
  public var string: String? { if case .string(let value) = self { value } else { nil } }
  /// The whole number, if it is one.
  public var int64: Int64? { if case .int(let value) = self { value } else { nil } }
  /// The whole number, if it is one that fits an `Int`.
  public var int: Int? { int64.flatMap { Int(exactly: $0) } }
  /// The truth value, if it is one.
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  /// The elements, if it is an array.
  public var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
  /// The fields, if it is an object.
  public var object: JSONObject? { if case .object(let value) = self { value } else { nil } }
}

/// The fields of a JSON object, in order, each name once.
public struct JSONObject: Sendable, Hashable {
  /// One named value.
  public struct Field: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The value.
    public var value: JSONValue
  }

  /// The fields in the order they were read or added.
  public var fields: [Field] = []

  /// Makes an empty object.
  public init() {}

  /// Adds a field at the end; its name must be new.
  public mutating func add(_ name: String, _ value: JSONValue) { fields.append(Field(name: name, value: value)) }

  /// The value of a field, or `nil`; linear in the number of fields, which our messages keep below twenty.
  public subscript(name: String) -> JSONValue? {
    for field in fields where field.name == name { return field.value }
    return nil
  }
}
