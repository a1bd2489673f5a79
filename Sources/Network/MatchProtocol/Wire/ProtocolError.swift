import Base
import TicTacToe

/// The reason a message is refused.
package enum ProtocolError: Error, Sendable, Hashable {
  /// The bytes are not acceptable JSON.
  case malformed(JSONError)
  case field(FieldError)
  case unknownType(String)
  /// A newer build wrote an event of a kind that this build does not know.
  case unknownEvent(String)
  /// An event does not follow from the state before it.
  case inconsistent(String)

  /// After `Limits.malformedLines` malformed lines the server closes the connection.
  package var isMalformed: Bool { if case .malformed = self { true } else { false } }

  /// Converts a field error of `read` to a protocol error.
  package static func fields<T>(_ read: () throws(FieldError) -> T) throws(ProtocolError) -> T {
    do throws(FieldError) { return try read() } catch { throw .field(error) }
  }

  /// One sentence for the person at the other end.
  package var message: String {
    switch self {
    case .malformed(let error): "not a message: \(error.reason.rawValue) at byte \(error.offset)"
    case .field(let error): error.message
    case .unknownType(let type): "unknown message type \"\(type)\"; send help for the list"
    case .unknownEvent(let kind):
      "events of the kind \"\(kind)\" are newer than this build, which reads version \(MatchEvent.newest)"
    case .inconsistent(let what): what
    }
  }
}

extension JSONObject {
  /// Throws if the JSON nests deeper than `Limits.depth`. A value that is not an object is refused as if `field` were missing.
  package init(line: UnsafeRawBufferPointer, with field: String) throws(ProtocolError) {
    let value: JSON
    do throws(JSONError) {
      value = try JSONParser.parse(line, maxDepth: Limits.depth)
    } catch { throw .malformed(error) }
    guard let object = value.object else { throw .field(.missing(field)) }
    self = object
  }

  package init(line: [UInt8], with field: String) throws(ProtocolError) {
    let result: Result<JSONObject, ProtocolError> = line.withUnsafeBytes { raw in
      do throws(ProtocolError) { return .success(try JSONObject(line: raw, with: field)) } catch {
        return .failure(error)
      }
    }
    self = try result.get()
  }
}

extension FieldCoder {
  /// The game, the clock, whether the match is rated, and the side of the room's opener.
  mutating func terms(_ terms: MatchTerms) throws(FieldError) -> MatchTerms {
    let rules = try field("rules", terms.rules, unless: .classic)
    let text = try field("clock", terms.clockText, or: rules.usualClock.description)
    let clock = TimeControl(text)
    try require(
      clock != nil || text == "none", "clock", "none or SECONDS+SECONDS, 10–3600 and 0–60, as 60+2")
    let rated = try field("rated", terms.rated, or: false)
    try require(!rated || clock != nil, "rated", "false in an untimed match")
    return MatchTerms(rules: rules, clock: clock, rated: rated, opener: try field("opener", terms.opener))
  }

  /// The fields of `terms(_:)`, and the code of the tournament to which a seek or match may belong.
  mutating func matchTerms(_ terms: MatchTerms) throws(FieldError) -> MatchTerms {
    var read = try self.terms(terms)
    read.tournament = try text("tournament", terms.tournament, max: 16)
    return read
  }

  /// An aborted match has the result `none`.
  mutating func result(_ outcome: Outcome?) throws(FieldError) -> Outcome? {
    let text = try field("result", outcome?.text ?? "none")
    let outcome = Outcome(text: text)
    try require(outcome != nil || text == "none", "result", "x, o, draw or none")
    return outcome
  }

  mutating func station(_ station: Int?) throws(FieldError) -> Int? {
    let station = try field("station", station)
    try require(
      station.map { (0..<MatchState.stations).contains($0) } ?? true, "station", "0–\(MatchState.stations - 1)")
    return station
  }

  /// The rating changes of X (field `rx`) and O (field `ro`). Both fields are absent if no rating changed; one field alone is ignored.
  mutating func ratings(
    _ ratings: Sides<MatchEvent.RatingChange>?
  ) throws(FieldError) -> Sides<MatchEvent.RatingChange>? {
    guard let x = try field("rx", ratings?.x), let o = try field("ro", ratings?.o) else { return nil }
    return Sides(x: x, o: o)
  }

  /// The code of a room or tournament. Reading returns it in its canonical spelling; a client makes file names and addresses of it.
  mutating func canonical(_ name: StaticString, _ code: String) throws(FieldError) -> String {
    let code = try field(name, code)
    guard isReading else { return code }
    let read = canonicalCode(code)
    try require(read != nil, name, "a code of \(Limits.code) letters and digits")
    return read ?? code
  }

  /// The `mid` or `key` that makes a command safe to send again.
  mutating func token(_ name: StaticString, _ value: String?, isRequired: Bool) throws(FieldError) -> String? {
    let value = try field(name, value, isRequired: isRequired)
    try require(
      value.map { isToken($0, 1...Limits.mid) } ?? true, name, "1–\(Limits.mid) characters A–Z, a–z, 0–9, _ or -")
    return value
  }
}

extension MatchID: FieldText {
  package init?(text: String) { self.init(rawValue: text) }
  package var text: String { rawValue }
  package static var allowed: String { "a match id" }
}

extension Variant: FieldText {}

extension PlayerInfo: FieldObject {
  package init() { self.init(name: "", rating: 0, guest: false) }

  package mutating func code(_ c: inout FieldCoder) throws(FieldError) {
    try c.code("name", &name)
    try c.code("rating", &rating)
    guest = try c.field("guest", guest, unless: false)
  }
}

/// An array of two values in JSON, X's first.
extension Sides: FieldValue where Value: FieldValue {
  package init(_ json: JSON, _ name: StaticString) throws(FieldError) {
    let values = try [Value](json, name)
    guard values.count == 2 else { throw .missing("\(name)") }
    self.init(x: values[0], o: values[1])
  }
  package func append(to bytes: inout [UInt8]) { [x, o].append(to: &bytes) }
}

extension MatchEvent.RatingChange: FieldValue {
  package init(_ json: JSON, _ name: StaticString) throws(FieldError) {
    let values = try Sides<Int>(json, name)
    self.init(before: values.x, after: values.o)
  }
  package func append(to bytes: inout [UInt8]) { [before, after].append(to: &bytes) }
}
