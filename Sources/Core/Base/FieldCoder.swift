// The coder and the types in its interface are public, though no other package imports them: across modules, the compiler specialises
// only public generic code. Without specialisation this code took 6 % of a server's processor time.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public enum FieldError: Error, Sendable, Hashable {
  /// The named field is missing or has the wrong type.
  case missing(String)
  /// The named field has a value that is not allowed. The second text describes the allowed values.
  case invalid(String, String)

  public var message: String {
    switch self {
    case .missing(let field): "the field \"\(field)\" is missing or has the wrong type"
    case .invalid(let field, let allowed): "the field \"\(field)\" must be \(allowed)"
    }
  }
}

/// Writes the fields of a JSON object, or reads them: a type lists its fields once, for both.
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

  public init(reading object: JSONObject) { self.object = object }

  private init(capacity: Int) {
    writer = JSONWriter(capacity: capacity)
    object = JSONObject()
  }

  /// The object that `body` writes, followed by a line feed if `isLine`.
  public static func bytes(
    capacity: Int = 160, isLine: Bool = false, _ body: (inout FieldCoder) throws(FieldError) -> Void
  ) -> [UInt8] {
    var coder = FieldCoder(capacity: capacity)
    do throws(FieldError) { try body(&coder) } catch { preconditionFailure("writing refused: \(error.message)") }
    if isLine { coder.writer?.finishLine() } else { coder.writer?.finish() }
    return coder.writer?.bytes ?? []
  }

  public var isReading: Bool { writer == nil }

  /// Writes or reads a required field.
  public mutating func field<V: FieldValue>(_ name: StaticString, _ value: V) throws(FieldError) -> V {
    writer?.field(name, value)
    return isReading ? try present(read(name, as: V.self), name) : value
  }

  /// Reading a missing field throws if `isRequired`, else returns `nil`.
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

  /// Always writes the field; reads `usual` if the field is absent.
  public mutating func field<V: FieldValue>(_ name: StaticString, _ value: V, or usual: V) throws(FieldError) -> V {
    writer?.field(name, value)
    return isReading ? try read(name, as: V.self) ?? usual : value
  }

  /// Omits a field whose value is `usual`; reads `usual` if the field is absent.
  public mutating func field<V: FieldValue & Equatable>(
    _ name: StaticString, _ value: V, unless usual: V
  ) throws(FieldError) -> V {
    if value != usual { writer?.field(name, value) }
    return isReading ? try read(name, as: V.self) ?? usual : value
  }

  public mutating func code<V: FieldValue>(_ name: StaticString, _ value: inout V) throws(FieldError) {
    value = try field(name, value)
  }

  public mutating func code<V: FieldValue>(_ name: StaticString, _ value: inout V?) throws(FieldError) {
    value = try field(name, value)
  }

  public mutating func code<V: FieldValue>(_ name: StaticString, _ value: inout V, or usual: V) throws(FieldError) {
    value = try field(name, value, or: usual)
  }

  /// Writes or reads a text of at most `max` Unicode scalars.
  public mutating func text(_ name: StaticString, _ value: String, max: Int) throws(FieldError) -> String {
    try text(name, value, max: max, isRequired: true) ?? value
  }

  public mutating func text(
    _ name: StaticString, _ value: String?, max: Int, isRequired: Bool = false
  ) throws(FieldError) -> String? {
    let value = try field(name, value, isRequired: isRequired)
    try require((value?.unicodeScalars.count ?? 0) <= max, name, "at most \(max) characters long")
    return value
  }

  /// Throws if `holds` is false, but only when reading. `allowed` describes the allowed values for the message.
  public func require(
    _ holds: Bool, _ name: StaticString, _ allowed: @autoclosure () -> String
  ) throws(FieldError) {
    if isReading, !holds { throw .invalid("\(name)", allowed()) }
  }

  /// Writes a field that is derived from other fields; reading ignores it.
  public mutating func tell(_ name: StaticString, _ value: some FieldValue) { writer?.field(name, value) }

  public mutating func tell(_ name: StaticString, json: some Sequence<UInt8>) { writer?.raw(name, json) }

  private func read<V: FieldValue>(_ name: StaticString, as type: V.Type) throws(FieldError) -> V? {
    guard let json = object["\(name)"] else { return nil }
    return try V(json, name)
  }
}

private func present<V>(_ value: V?, _ name: StaticString) throws(FieldError) -> V {
  guard let value else { throw .missing("\(name)") }
  return value
}

public protocol FieldValue {
  init(_ json: JSON, _ name: StaticString) throws(FieldError)
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

  package init(_ object: JSONObject) throws(FieldError) {
    self.init()
    var coder = FieldCoder(reading: object)
    try code(&coder)
  }

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
  /// Clamps a number to 30 bits and its sign: an `Int` has only 32 bits in the browser, where the sum or difference of two clamped numbers
  /// must not overflow either.
  public init(_ json: JSON, _ name: StaticString) throws(FieldError) {
    let limit: Int64 = (1 << 30) - 1
    self = Int(Swift.min(Swift.max(try present(json.int64, name), -limit), limit))
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
