/// One of two whose events a score answers; each has a register, a place and a touch of its own.
public enum Voice: UInt8, Sendable, Hashable, CaseIterable {
  case first, second

  /// The other one.
  public var other: Voice { self == .first ? .second : .first }
}
