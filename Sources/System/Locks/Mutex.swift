import Synchronization

/// The standard library's mutex; the browser's build, whose programs have one thread, has a twin of it in web/Sources/Locks.
package typealias Mutex<Value: ~Copyable> = Synchronization.Mutex<Value>
