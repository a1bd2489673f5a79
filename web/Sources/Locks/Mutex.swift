/// What `Mutex` is where there is one thread and nobody to exclude.
public final class Mutex<Value>: @unchecked Sendable {
  private var value: Value

  /// Holds a value.
  public init(_ value: Value) { self.value = value }

  /// Gives the value to a body.
  public func withLock<Result>(_ body: (inout Value) -> Result) -> Result { body(&value) }
}
