import Synchronization

/// The standard library's mutex; the single-threaded browser build has a substitute in web/Sources/Locks.
package typealias Mutex<Value: ~Copyable> = Synchronization.Mutex<Value>
