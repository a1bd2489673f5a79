/// One of the two voices of a score; each has its own register, pan and touch.
public enum Voice: UInt8, Sendable, Hashable, CaseIterable {
  case first, second

  /// The other one.
  public var other: Voice { self == .first ? .second : .first }
}
