#if arch(wasm32)
  /// Replaces the standard library's mutex in WebAssembly, where each module has one thread and needs no locking.
  package final class Mutex<Value>: @unchecked Sendable {
    private var value: Value

    package init(_ value: Value) { self.value = value }

    package func withLock<Result>(_ body: (inout Value) -> Result) -> Result { body(&value) }
  }
#else
  import Synchronization

  package typealias Mutex<Value: ~Copyable> = Synchronization.Mutex<Value>
#endif
