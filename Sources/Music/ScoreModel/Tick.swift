/// A moment or span of score time in audio frames at 48 kHz, so that an event and its first sample are the same number.
@frozen
public struct Tick: RawRepresentable, Sendable, Hashable, Comparable, BitwiseCopyable, CustomStringConvertible {
  /// Frames at 48 kHz, from the first sound of the session.
  public var rawValue: Int64

  /// Makes a moment from frames at 48 kHz.
  @inlinable
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// The first sound of the session.
  public static let zero = Tick(rawValue: 0)

  /// A span in milliseconds.
  @inlinable
  public static func milliseconds(_ n: Int) -> Tick { Tick(rawValue: Int64(n) * 48) }

  /// A span in seconds, rounded to the nearest frame.
  @inlinable
  public static func seconds(_ s: Double) -> Tick { Tick(rawValue: Int64((s * 48_000).rounded())) }

  /// The moment in seconds.
  @inlinable
  public var seconds: Double { Double(rawValue) / 48_000 }

  /// The number of frames.
  public var description: String { "\(rawValue)" }

  /// The sum of two spans, or a moment later by a span.
  @inlinable
  public static func + (a: Tick, b: Tick) -> Tick { Tick(rawValue: a.rawValue + b.rawValue) }
  /// The span between two moments.
  @inlinable
  public static func - (a: Tick, b: Tick) -> Tick { Tick(rawValue: a.rawValue - b.rawValue) }
  /// Whether a moment is earlier than another.
  @inlinable
  public static func < (a: Tick, b: Tick) -> Bool { a.rawValue < b.rawValue }
}
