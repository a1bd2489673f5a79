/// A replacement for `Mutex` in single-threaded WebAssembly, which needs no locking.
package final class Mutex<Value>: @unchecked Sendable {
  private var value: Value

  /// Wraps a value.
  package init(_ value: Value) { self.value = value }

  /// Calls `body` with the value.
  package func withLock<Result>(_ body: (inout Value) -> Result) -> Result { body(&value) }
}
