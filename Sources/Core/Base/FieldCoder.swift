// The coder and the types in its interface are public, though no other package imports them: across modules, the compiler specialises
// only public generic code. Without specialisation this code took 6 % of a server's processor time.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// An error in a field of a JSON object.
public enum FieldError: Error, Sendable, Hashable {
  /// The named field is missing or has the wrong type.
  case missing(String)
  /// The named field has a value that is not allowed. The second text describes the allowed values.
  case invalid(String, String)

  /// The error as one sentence, for the author of the JSON object.
  public var message: String {
    switch self {
    case .missing(let field): "the field \"\(field)\" is missing or has the wrong type"
    case .invalid(let field, let allowed): "the field \"\(field)\" must be \(allowed)"
    }
  }
}

/// Writes the fields of a JSON object, or reads them: a type lists its fields once, for writing and for reading.
///
/// When writing, each call returns the value it was given. When reading, it returns the value of the object's field, or throws.
///
/// ```swift
/// func code(_ c: inout FieldCoder) throws(FieldError) {
///   try c.code("m", &match)
///   note = try c.text("note", note, max: 200)
/// }
/// ```
public struct FieldCoder {
  private var writer: JSONWriter?
  private let object: JSONObject

  /// Reads from an object.
  public init(reading object: JSONObject) { self.object = object }

  private init(capacity: Int) {
    writer = JSONWriter(capacity: capacity)
    object = JSONObject()
  }

  /// Runs `body` and returns the object that `body` writes, followed by a line feed if `isLine`.
  public static func bytes(
    capacity: Int = 160, isLine: Bool = false, _ body: (inout FieldCoder) throws(FieldError) -> Void
  ) -> [UInt8] {
    var coder = FieldCoder(capacity: capacity)
    do throws(FieldError) { try body(&coder) } catch { preconditionFailure("writing refused: \(error.message)") }
    if isLine { coder.writer?.finishLine() } else { coder.writer?.finish() }
    return coder.writer?.bytes ?? []
  }

  /// Whether the coder reads an object rather than writing one.
  public var isReading: Bool { writer == nil }

  /// Writes or reads a required field.
  public mutating func field<V: FieldValue>(_ name: StaticString, _ value: V) throws(FieldError) -> V {
    writer?.field(name, value)
    return isReading ? try present(read(name, as: V.self), name) : value
  }

  /// Writes or reads an optional field. Reading a missing field throws if `isRequired`, else returns `nil`.
  public mutating func field<V: FieldValue>(
    _ name: StaticString, _ value: V?, isRequired: Bool = false
  ) throws(FieldError) -> V? {
    if !isReading {
      if let value { writer?.field(name, value) }
      return value
    }
    let found = try read(name, as: V.self)
    if isRequired, found == nil { throw .missing("\(name)") }
    return found
  }

  /// Writes or reads a field with a default: always writes the field, and reads `usual` if the field is absent.
  public mutating func field<V: FieldValue>(_ name: StaticString, _ value: V, or usual: V) throws(FieldError) -> V {
    writer?.field(name, value)
    return isReading ? try read(name, as: V.self) ?? usual : value
  }

  /// Writes or reads a field with a default: omits a field whose value is `usual`, and reads `usual` if the field is absent.
  public mutating func field<V: FieldValue & Equatable>(
    _ name: StaticString, _ value: V, unless usual: V
  ) throws(FieldError) -> V {
    if value != usual { writer?.field(name, value) }
    return isReading ? try read(name, as: V.self) ?? usual : value
  }

  /// Writes a required field, or reads it into `value`.
  public mutating func code<V: FieldValue>(_ name: StaticString, _ value: inout V) throws(FieldError) {
    value = try field(name, value)
  }

  /// Writes an optional field, or reads it into `value`.
  public mutating func code<V: FieldValue>(_ name: StaticString, _ value: inout V?) throws(FieldError) {
    value = try field(name, value)
  }

  /// Writes a field with a default, or reads it into `value`. Writing never omits the field.
  public mutating func code<V: FieldValue>(_ name: StaticString, _ value: inout V, or usual: V) throws(FieldError) {
    value = try field(name, value, or: usual)
  }

  /// Writes or reads a required text of at most `max` Unicode scalars.
  public mutating func text(_ name: StaticString, _ value: String, max: Int) throws(FieldError) -> String {
    try text(name, value, max: max, isRequired: true) ?? value
  }

  /// Writes or reads an optional text of at most `max` Unicode scalars.
  public mutating func text(
    _ name: StaticString, _ value: String?, max: Int, isRequired: Bool = false
  ) throws(FieldError) -> String? {
    let value = try field(name, value, isRequired: isRequired)
    try require((value?.unicodeScalars.count ?? 0) <= max, name, "at most \(max) characters long")
    return value
  }

  /// When reading, throws if `holds` is false; `allowed` describes the allowed values in the message. Does nothing when writing.
  public func require(
    _ holds: Bool, _ name: StaticString, _ allowed: @autoclosure () -> String
  ) throws(FieldError) {
    if isReading, !holds { throw .invalid("\(name)", allowed()) }
  }

  /// Writes a field that is derived from other fields; reading ignores it.
  public mutating func tell(_ name: StaticString, _ value: some FieldValue) { writer?.field(name, value) }

  /// Writes a field whose value is given as JSON text.
  public mutating func tell(_ name: StaticString, json: some Sequence<UInt8>) { writer?.raw(name, json) }

  private func read<V: FieldValue>(_ name: StaticString, as type: V.Type) throws(FieldError) -> V? {
    guard let json = object["\(name)"] else { return nil }
    return try V(json, name)
  }
}

/// Returns a field's value; throws if the value is `nil`.
private func present<V>(_ value: V?, _ name: StaticString) throws(FieldError) -> V {
  guard let value else { throw .missing("\(name)") }
  return value
}

/// A type that can be the value of a field.
public protocol FieldValue {
  /// Reads a value. Throws an error that names the field if the value has another type or is not allowed.
  init(_ json: JSON, _ name: StaticString) throws(FieldError)
  /// Writes the value.
  func append(to bytes: inout [UInt8])
}

/// A value that is written as a JSON string.
package protocol FieldText: FieldValue {
  init?(text: String)
  var text: String { get }
  /// The allowed texts, for the error message.
  static var allowed: String { get }
}

extension FieldText {
  package init(_ json: JSON, _ name: StaticString) throws(FieldError) {
    guard let value = Self(text: try present(json.string, name)) else { throw .invalid("\(name)", Self.allowed) }
    self = value
  }
  package func append(to bytes: inout [UInt8]) { JSONWriter.append(text, to: &bytes) }
}

extension FieldText where Self: RawRepresentable & CaseIterable, RawValue == String {
  package init?(text: String) { self.init(rawValue: text) }
  package var text: String { rawValue }
  /// The texts of all cases, as `a, b or c`.
  package static var allowed: String {
    let all = allCases.map { $0.rawValue }
    return all.dropLast().joined(separator: ", ") + " or " + (all.last ?? "")
  }
}

/// A value that is written as a JSON object.
package protocol FieldObject: FieldValue {
  /// Makes a value with placeholders in its fields; `code` then reads the fields.
  init()
  mutating func code(_ coder: inout FieldCoder) throws(FieldError)
}

extension FieldObject {
  package init(_ json: JSON, _ name: StaticString) throws(FieldError) {
    try self.init(present(json.object, name))
  }

  /// Reads the fields of an object.
  package init(_ object: JSONObject) throws(FieldError) {
    self.init()
    var coder = FieldCoder(reading: object)
    try code(&coder)
  }

  /// The object as JSON text, followed by a line feed if `isLine`.
  package func bytes(capacity: Int = 160, isLine: Bool = false) -> [UInt8] {
    FieldCoder.bytes(capacity: capacity, isLine: isLine) { coder throws(FieldError) in
      var copy = self
      try copy.code(&coder)
    }
  }

  package func append(to bytes: inout [UInt8]) { bytes.append(contentsOf: self.bytes()) }
}

extension String: FieldValue {
  public init(_ json: JSON, _ name: StaticString) throws(FieldError) {
    self = try present(json.string, name)
  }
  public func append(to bytes: inout [UInt8]) { JSONWriter.append(self, to: &bytes) }
}

extension Int: FieldValue {
  /// Clamps a number to 32 bits: an `Int` has only 32 bits in the browser. On 64-bit machines the sum of two clamped numbers cannot
  /// overflow.
  public init(_ json: JSON, _ name: StaticString) throws(FieldError) {
    self = Int(Int32(clamping: try present(json.int64, name)))
  }
  public func append(to bytes: inout [UInt8]) { JSONWriter.append(Int64(self), to: &bytes) }
}

extension Int64: FieldValue {
  public init(_ json: JSON, _ name: StaticString) throws(FieldError) {
    self = try present(json.int64, name)
  }
  public func append(to bytes: inout [UInt8]) { JSONWriter.append(self, to: &bytes) }
}

extension Bool: FieldValue {
  public init(_ json: JSON, _ name: StaticString) throws(FieldError) {
    self = try present(json.bool, name)
  }
  public func append(to bytes: inout [UInt8]) { JSONWriter.append(.bool(self), to: &bytes) }
}

extension JSONObject: FieldValue {
  public init(_ json: JSON, _ name: StaticString) throws(FieldError) {
    self = try present(json.object, name)
  }
  public func append(to bytes: inout [UInt8]) { JSONWriter.append(.object(self), to: &bytes) }
}

extension Array: FieldValue where Element: FieldValue {
  public init(_ json: JSON, _ name: StaticString) throws(FieldError) {
    self = []
    for value in try present(json.array, name) { append(try Element(value, name)) }
  }
  public func append(to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "["))
    for (i, value) in enumerated() {
      if i > 0 { bytes.append(UInt8(ascii: ",")) }
      value.append(to: &bytes)
    }
    bytes.append(UInt8(ascii: "]"))
  }
}
