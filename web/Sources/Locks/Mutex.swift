/// What `Mutex` is where there is one thread and nobody to exclude.
package final class Mutex<Value>: @unchecked Sendable {
  private var value: Value

  /// Holds a value.
  package init(_ value: Value) { self.value = value }

  /// Gives the value to a body.
  package func withLock<Result>(_ body: (inout Value) -> Result) -> Result { body(&value) }
}
