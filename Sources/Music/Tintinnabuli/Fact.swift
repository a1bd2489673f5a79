/// A word for something true of an event that the score may answer. A rule file declares the words it uses.
public struct Fact: RawRepresentable, Sendable, Hashable {
  /// The word: a–z, 0–9 and -.
  public var rawValue: String

  /// Makes a fact of its word.
  public init(rawValue: String) { self.rawValue = rawValue }
}

/// The facts that the conductor finds itself.
extension Fact {
  /// A voice has won.
  public static var win: Fact { Fact(rawValue: "win") }
  /// Whoever listens has lost.
  public static var loss: Fact { Fact(rawValue: "loss") }
  /// The piece ends and no voice has won.
  public static var draw: Fact { Fact(rawValue: "draw") }
  /// The piece ended without an event.
  public static var offBoard: Fact { Fact(rawValue: "off-board") }
  /// The event followed the last one in less than the time of `gestures.hurry`.
  public static var hurry: Fact { Fact(rawValue: "hurry") }

  /// The facts that the conductor finds itself, in the order of a rule file.
  public static var own: [Fact] { [.win, .loss, .draw, .offBoard, .hurry] }
}

extension Fact: RuleCoded {
  package init?(_ value: RuleValue) {
    guard let word = value.text else { return nil }
    rawValue = word
  }
  package var coded: RuleValue { .text(rawValue) }
}
