import Base
import TicTacToe

/// What is wrong with a message that came over the wire.
package enum ProtocolError: Error, Sendable, Hashable {
  /// The bytes are no acceptable JSON.
  case malformed(JSONError)
  /// A field is missing or has the wrong type.
  case missing(String)
  /// A field has a value that is not allowed; the second text says what is.
  case invalid(String, String)
  /// The `t` of the message is unknown.
  case unknownType(String)
  /// An event is of a kind this build does not know: a newer one wrote it.
  case unknownEvent(String)
  /// An event does not follow from the position it is said to follow.
  case inconsistent(String)

  /// Whether the line was no message at all, which counts towards closing the connection.
  package var isMalformed: Bool { if case .malformed = self { true } else { false } }

  /// One sentence for the person at the other end.
  package var message: String {
    switch self {
    case .malformed(let error): "not a message: \(error.reason.rawValue) at byte \(error.offset)"
    case .missing(let field): "the field \"\(field)\" is missing or has the wrong type"
    case .invalid(let field, let allowed): "the field \"\(field)\" must be \(allowed)"
    case .unknownType(let type): "unknown message type \"\(type)\"; send help for the list"
    case .unknownEvent(let kind):
      "events of the kind \"\(kind)\" are newer than this build, which reads version \(MatchEvent.newest)"
    case .inconsistent(let what): what
    }
  }
}

extension JSONObject {
  /// Reads the object of a line, which nests no deeper than our messages do; `field` is missing where the line is none.
  package init(line: UnsafeRawBufferPointer, with field: String) throws(ProtocolError) {
    let value: JSON
    do throws(JSONError) {
      value = try JSONParser.parse(line, maxDepth: Limits.depth)
    } catch { throw .malformed(error) }
    guard let object = value.object else { throw .missing(field) }
    self = object
  }

  /// Reads the object of a line.
  package init(line: [UInt8], with field: String) throws(ProtocolError) {
    let result: Result<JSONObject, ProtocolError> = line.withUnsafeBytes { raw in
      do throws(ProtocolError) { return .success(try JSONObject(line: raw, with: field)) } catch {
        return .failure(error)
      }
    }
    self = try result.get()
  }

  func string(_ name: String) throws(ProtocolError) -> String {
    guard let value = self[name]?.string else { throw .missing(name) }
    return value
  }

  func string(_ name: String, max: Int) throws(ProtocolError) -> String {
    let value = try string(name)
    guard value.unicodeScalars.count <= max else { throw .invalid(name, "at most \(max) characters long") }
    return value
  }

  func int(_ name: String) throws(ProtocolError) -> Int {
    guard let value = self[name]?.int else { throw .missing(name) }
    return value
  }

  func int64(_ name: String) throws(ProtocolError) -> Int64 {
    guard let value = self[name]?.int64 else { throw .missing(name) }
    return value
  }

  func optionalInt(_ name: String) throws(ProtocolError) -> Int? { self[name] == nil ? nil : try int(name) }

  func optionalString(_ name: String, max: Int) throws(ProtocolError) -> String? {
    self[name] == nil ? nil : try string(name, max: max)
  }

  func optionalBool(_ name: String, or usual: Bool) throws(ProtocolError) -> Bool {
    guard let value = self[name] else { return usual }
    guard let value = value.bool else { throw .missing(name) }
    return value
  }

  /// The elements of an array, all of one type; empty if there is none.
  func optionalArray<T>(_ name: String, of type: (JSON) -> T?) throws(ProtocolError) -> [T] {
    guard let value = self[name] else { return [] }
    guard let values = value.array, case let found = values.compactMap(type), found.count == values.count else {
      throw .missing(name)
    }
    return found
  }

  func match(_ name: String) throws(ProtocolError) -> MatchID {
    guard let m = MatchID(rawValue: try string(name)) else { throw .invalid(name, "a match id") }
    return m
  }

  func cell(_ name: String) throws(ProtocolError) -> Square {
    guard let square = Square(name: try string(name)) else { throw .invalid(name, "a cell a1…c3 or 1…9") }
    return square
  }

  func token(_ name: String) throws(ProtocolError) -> String {
    let value = try string(name)
    guard isToken(value, 1...Limits.mid) else {
      throw .invalid(name, "1–\(Limits.mid) characters A–Z, a–z, 0–9, _ or -")
    }
    return value
  }

  func terms() throws(ProtocolError) -> MatchTerms {
    var terms = MatchTerms()
    if let text = self["clock"] {
      guard let text = text.string else { throw .missing("clock") }
      if text == "none" {
        terms.clock = nil
      } else if let clock = TimeControl(text) {
        terms.clock = clock
      } else {
        throw .invalid("clock", "none or SECONDS+SECONDS, 10–3600 and 0–60, as 60+2")
      }
    }
    terms.rated = try optionalBool("rated", or: false)
    guard !(terms.rated && terms.clock == nil) else { throw .invalid("rated", "false in an untimed match") }
    return terms
  }

  func player(_ name: String) throws(ProtocolError) -> PlayerInfo {
    guard let fields = self[name]?.object else { throw .missing(name) }
    return PlayerInfo(
      name: try fields.string("name"), rating: try fields.int("rating"), guest: fields["guest"]?.bool ?? false)
  }

  func sides(_ name: String) throws(ProtocolError) -> Sides<Int>? {
    guard let value = self[name] else { return nil }
    guard let values = value.array?.compactMap({ $0.int }), values.count == 2 else { throw .missing(name) }
    return Sides(x: values[0], o: values[1])
  }
}
