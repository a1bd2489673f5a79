/// One of the two voices of a score; each has its own register, pan and touch.
public enum Voice: UInt8, Sendable, Hashable, CaseIterable {
  case first, second

  /// The other voice.
  public var other: Voice { self == .first ? .second : .first }
}
