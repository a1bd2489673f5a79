/// A time or span of the score in audio frames at 48 kHz, so that event times are sample numbers.
@frozen
public struct Tick: RawRepresentable, Sendable, Hashable, Comparable, BitwiseCopyable, CustomStringConvertible {
  /// Frames at 48 kHz: for a time, from the first sound of the session.
  public var rawValue: Int64

  /// Makes a time from frames at 48 kHz.
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

  /// The time in seconds.
  @inlinable
  public var seconds: Double { Double(rawValue) / 48_000 }

  /// The number of frames.
  public var description: String { "\(rawValue)" }

  /// The sum of two spans, or a time delayed by a span.
  @inlinable
  public static func + (a: Tick, b: Tick) -> Tick { Tick(rawValue: a.rawValue + b.rawValue) }
  /// The span between two times.
  @inlinable
  public static func - (a: Tick, b: Tick) -> Tick { Tick(rawValue: a.rawValue - b.rawValue) }
  /// Whether a time is earlier than another.
  @inlinable
  public static func < (a: Tick, b: Tick) -> Bool { a.rawValue < b.rawValue }
}
