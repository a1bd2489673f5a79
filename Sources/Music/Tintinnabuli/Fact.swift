/// A word for a property of an event to which the score may respond, such as `threat`. A rule file declares its words.
public struct Fact: RawRepresentable, Sendable, Hashable {
  /// The fact's name in rule files: a–z, 0–9 and -.
  public var rawValue: String

  /// Makes a fact from its name.
  public init(rawValue: String) { self.rawValue = rawValue }
}

/// The facts that the conductor determines itself.
extension Fact {
  /// A voice has won.
  public static var win: Fact { Fact(rawValue: "win") }
  /// The only local player has lost.
  public static var loss: Fact { Fact(rawValue: "loss") }
  /// The piece has ended without a winner.
  public static var draw: Fact { Fact(rawValue: "draw") }
  /// The piece has ended without an event.
  public static var offBoard: Fact { Fact(rawValue: "off-board") }
  /// The event followed the previous one in less than `gestures.hurry` seconds.
  public static var hurry: Fact { Fact(rawValue: "hurry") }

  /// The facts that the conductor determines itself, in the order of a rule file.
  public static var own: [Fact] { [.win, .loss, .draw, .offBoard, .hurry] }
}

extension Fact: RuleCoded {
  package init?(_ value: RuleValue) {
    guard let word = value.text else { return nil }
    rawValue = word
  }
  package var coded: RuleValue { .text(rawValue) }
}
