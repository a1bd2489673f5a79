// The coder and what it names are public, though nothing outside the package imports them: the compiler specialises across
// modules only what is public, and unspecialised coding took 6 % of a server's processor time.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// What is wrong with a field of a JSON object.
public enum FieldError: Error, Sendable, Hashable {
  /// The field is missing or has the wrong type.
  case missing(String)
  /// The field has a value that is not allowed. The second text says what is allowed.
  case invalid(String, String)

  /// One sentence for the person who wrote the object.
  public var message: String {
    switch self {
    case .missing(let field): "the field \"\(field)\" is missing or has the wrong type"
    case .invalid(let field, let allowed): "the field \"\(field)\" must be \(allowed)"
    }
  }
}

/// Writes the fields of a JSON object, or reads them: a type lists its fields once, and the list serves both directions.
///
/// Each call takes the value to write and returns the value that the object has: the same when writing, the one that was read
/// when reading. Only reading throws.
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

  /// The object that `body` writes; with `isLine`, followed by a line end.
  public static func bytes(
    capacity: Int = 160, isLine: Bool = false, _ body: (inout FieldCoder) throws(FieldError) -> Void
  ) -> [UInt8] {
    var coder = FieldCoder(capacity: capacity)
    do throws(FieldError) { try body(&coder) } catch { preconditionFailure("writing refused: \(error.message)") }
    if isLine { coder.writer?.finishLine() } else { coder.writer?.finish() }
    return coder.writer?.bytes ?? []
  }

  /// Whether fields are read.
  public var isReading: Bool { writer == nil }

  /// A field that must be there.
  public mutating func field<V: FieldValue>(_ name: StaticString, _ value: V) throws(FieldError) -> V {
    writer?.field(name, value)
    return isReading ? try present(read(name, as: V.self), name) : value
  }

  /// A field that may be absent. With `isRequired` it must be there, although `V?` could be `nil`.
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

  /// A field with a usual value, which holds if the field is absent. The field is always written.
  public mutating func field<V: FieldValue>(_ name: StaticString, _ value: V, or usual: V) throws(FieldError) -> V {
    writer?.field(name, value)
    return isReading ? try read(name, as: V.self) ?? usual : value
  }

  /// A field with a usual value, which holds if the field is absent. The usual value is not written.
  public mutating func field<V: FieldValue & Equatable>(
    _ name: StaticString, _ value: V, unless usual: V
  ) throws(FieldError) -> V {
    if value != usual { writer?.field(name, value) }
    return isReading ? try read(name, as: V.self) ?? usual : value
  }

  /// A field that must be there, in place.
  public mutating func code<V: FieldValue>(_ name: StaticString, _ value: inout V) throws(FieldError) {
    value = try field(name, value)
  }

  /// A field that may be absent, in place.
  public mutating func code<V: FieldValue>(_ name: StaticString, _ value: inout V?) throws(FieldError) {
    value = try field(name, value)
  }

  /// A field that has its usual value where it is absent, in place.
  public mutating func code<V: FieldValue>(_ name: StaticString, _ value: inout V, or usual: V) throws(FieldError) {
    value = try field(name, value, or: usual)
  }

  /// A text of at most `max` Unicode scalars that must be there.
  public mutating func text(_ name: StaticString, _ value: String, max: Int) throws(FieldError) -> String {
    try text(name, value, max: max, isRequired: true) ?? value
  }

  /// A text of at most `max` Unicode scalars that may be absent.
  public mutating func text(
    _ name: StaticString, _ value: String?, max: Int, isRequired: Bool = false
  ) throws(FieldError) -> String? {
    let value = try field(name, value, isRequired: isRequired)
    try require((value?.unicodeScalars.count ?? 0) <= max, name, "at most \(max) characters long")
    return value
  }

  /// Refuses the value that was read unless a condition holds. `allowed` says what is allowed.
  public func require(
    _ holds: Bool, _ name: StaticString, _ allowed: @autoclosure () -> String
  ) throws(FieldError) {
    if isReading, !holds { throw .invalid("\(name)", allowed()) }
  }

  /// Writes a field that follows from others and is never read.
  public mutating func tell(_ name: StaticString, _ value: some FieldValue) { writer?.field(name, value) }

  /// Writes a field whose value is complete JSON already.
  public mutating func tell(_ name: StaticString, json: some Sequence<UInt8>) { writer?.raw(name, json) }

  private func read<V: FieldValue>(_ name: StaticString, as type: V.Type) throws(FieldError) -> V? {
    guard let json = object["\(name)"] else { return nil }
    return try V(json, name)
  }
}

/// A field's value; throws where there is none.
private func present<V>(_ value: V?, _ name: StaticString) throws(FieldError) -> V {
  guard let value else { throw .missing("\(name)") }
  return value
}

/// What a field can hold.
public protocol FieldValue {
  /// Reads a value; throws, naming its field, if it has another type or is not allowed.
  init(_ json: JSON, _ name: StaticString) throws(FieldError)
  /// Writes the value.
  func append(to bytes: inout [UInt8])
}

/// A value that is written as a text.
package protocol FieldText: FieldValue {
  init?(text: String)
  var text: String { get }
  /// The allowed texts, for the message about another one.
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
  /// `a, b or c`.
  package static var allowed: String {
    let all = allCases.map { $0.rawValue }
    return all.dropLast().joined(separator: ", ") + " or " + (all.last ?? "")
  }
}

/// A value that is written as an object.
package protocol FieldObject: FieldValue {
  /// A value whose fields are about to be read.
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

  /// The object as bytes.
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
  /// Clamps to 32 bits: an `Int` has no more in the browser, and here a sum of two never overflows.
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
