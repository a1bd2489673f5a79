import Base
import TicTacToe

/// The name of a match: 1–32 characters `[A-Za-z0-9_-]`. The server draws names of twelve characters.
package struct MatchID: RawRepresentable, Sendable, Hashable, Comparable, CustomStringConvertible {
  package let rawValue: String

  package init?(rawValue: String) {
    guard isToken(rawValue, 1...32) else { return nil }
    self.rawValue = rawValue
  }

  private init() { rawValue = "" }

  /// A placeholder for an id that is about to be read.
  package static let blank = MatchID()

  /// Draws 60 random bits.
  package init(using random: inout some RandomNumberGenerator) {
    rawValue = crockford(bits: random.next(), count: 12, lowercase: true)
  }

  /// The seed of the match's music, the same for all listeners.
  package var seed: UInt64 { fnv1a(rawValue.utf8) }

  package var description: String { rawValue }

  package static func < (a: MatchID, b: MatchID) -> Bool { a.rawValue < b.rawValue }
}

package struct TimeControl: Sendable, Hashable, CustomStringConvertible {
  /// Milliseconds at the start, 10 s to 60 min.
  package let base: Int
  /// Milliseconds added after each move, 0 to 60 s.
  package let increment: Int

  /// The usual clock of the games on nine cells.
  package static let standard = TimeControl(base: 60_000, increment: 2_000)
  /// The usual clock of Ultimate, which has nine times the cells.
  fileprivate static let long = TimeControl(base: 300_000, increment: 3_000)

  private init(base: Int, increment: Int) {
    self.base = base
    self.increment = increment
  }

  package init?(seconds: Int, increment: Int) {
    guard (10...3600).contains(seconds), (0...60).contains(increment) else { return nil }
    self.init(base: seconds * 1000, increment: increment * 1000)
  }

  /// Reads seconds and increment from a text such as `60+2`.
  package init?(_ text: String) {
    let parts = text.split(separator: "+", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let base = Int(parts[0]), let increment = Int(parts[1]) else { return nil }
    self.init(seconds: base, increment: increment)
  }

  /// Such as `60+2`: the seconds at the start, and the seconds added after each move.
  package var description: String { "\(base / 1000)+\(increment / 1000)" }
}

extension Variant {
  /// The clock used if the players name none.
  package var usualClock: TimeControl { isOneBoard ? .standard : .long }

  /// The version of the log's language (its kinds of events and its games) that introduced the game.
  package var since: Int {
    switch self {
    case .classic: 1
    case .infinite, .ultimate: 3
    case .misere: 4
    }
  }

  /// The games named in `hello`. Every client and server knows the classic game.
  package static let capabilities = allCases.filter { !$0.isImplied }.map { $0.rawValue }

  /// A missing name means Classic; `nil` for a game that this build does not know.
  package init?(named name: String?) {
    guard let name else {
      self = .classic
      return
    }
    self.init(rawValue: name)
  }
}

package struct MatchTerms: Sendable, Hashable {
  /// Messages and events name the game only if it is not Classic.
  package var rules: Variant
  /// `nil` in an untimed match, whose only limit is ten minutes for each move.
  package var clock: TimeControl?
  /// Untimed matches are never rated.
  package var rated: Bool
  /// The side of the player who opens the room; if it is `nil`, the server chooses the sides.
  package var opener: Player?
  /// The code of the tournament to which the match belongs.
  package var tournament: String?

  package init(rules: Variant = .classic, clock: TimeControl?, rated: Bool = false, opener: Player? = nil) {
    (self.rules, self.clock, self.rated, self.opener) = (rules, clock, rated, opener)
  }

  package init(rules: Variant = .classic, rated: Bool = false) {
    self.init(rules: rules, clock: rules.usualClock, rated: rated)
  }

  /// Milliseconds for each side's first move, during which no clock runs.
  package var firstMoveWithin: Int { clock == nil ? Limits.untimedMove : Limits.firstMove }

  /// Such as `60+2`; `none` without a clock.
  package var clockText: String { clock?.description ?? "none" }
}

package struct Sides<Value> {
  package var x: Value
  package var o: Value

  package init(x: Value, o: Value) {
    self.x = x
    self.o = o
  }

  package subscript(side: Player) -> Value {
    get { side == .x ? x : o }
    set { if side == .x { x = newValue } else { o = newValue } }
  }
}
extension Sides: Sendable where Value: Sendable {}
extension Sides: Equatable where Value: Equatable {}
extension Sides: Hashable where Value: Hashable {}

package struct PlayerInfo: Sendable, Hashable {
  /// Unique on a server without regard to case.
  package var name: String
  /// The rating in the match's game at the beginning of the match, rounded. In `welcome`, the present rating in the classic game.
  package var rating: Int
  /// Whether the player is a guest or a bot, whose ratings do not change.
  package var guest: Bool

  package init(name: String, rating: Int, guest: Bool) {
    self.name = name
    self.rating = rating
    self.guest = guest
  }
}

/// A cell name on the wire. The match's game determines the cell (`Variant.cell(named:)`).
package struct CellName: FieldText, Sendable, Hashable {
  /// Column and row; `a1` is bottom left.
  package let text: String

  /// Takes `a1` to `i9`; and `1` to `9` in reading order for the cells of the 3×3 board.
  package init?(text: String) {
    if let square = Square(name: text) {
      self.text = square.name
    } else if Variant.allCases.contains(where: { $0.cell(named: text) != nil }) {
      self.text = text
    } else {
      return nil
    }
  }

  package init(_ cell: Cell, in rules: Variant) { text = rules.name(of: cell) }

  package static var allowed: String { "a cell a1…c3 or 1…9, of Ultimate a1…i9" }
}

/// Whether a text has a length within a range and only the characters `[A-Za-z0-9_-]`.
package func isToken(_ text: String, _ length: ClosedRange<Int>) -> Bool {
  length.contains(text.utf8.count)
    && text.utf8.allSatisfy { byte in
      byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
    }
}

/// Writes the lowest `count` × 5 bits in base 32, lowest digit first, with Crockford's digits (no I, L, O, U).
package func crockford(bits: UInt64, count: Int, lowercase: Bool = false) -> String {
  let digits = Array((lowercase ? "0123456789abcdefghjkmnpqrstvwxyz" : "0123456789ABCDEFGHJKMNPQRSTVWXYZ").utf8)
  return String(decoding: (0..<count).map { digits[Int(bits >> UInt64(5 * $0) & 31)] }, as: UTF8.self)
}

/// Upper case without spaces and hyphens, 0 for O, 1 for I and L; `nil` if the text is not a code.
package func canonicalCode(_ typed: String) -> String? {
  var result = ""
  for character in typed.uppercased() where character != "-" && character != " " {
    switch character {
    case "O": result.append("0")
    case "I", "L": result.append("1")
    case "0"..."9", "A"..."H", "J", "K", "M", "N", "P"..."T", "V"..."Z": result.append(character)
    default: return nil
    }
  }
  return result.utf8.count == Limits.code ? result : nil
}
