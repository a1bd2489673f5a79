import Foundation

/// The first value other than `nil` that `look` returns within `seconds`. The interval of polling only affects how soon the value is
/// noticed.
package func firstValue<T>(within seconds: Double, _ look: () throws -> T?) rethrows -> T? {
  let end = Date(timeIntervalSinceNow: seconds)
  while Date() < end {
    if let value = try look() { return value }
    usleep(10_000)
  }
  return try look()
}

/// Whether the condition holds at a time within `seconds`.
package func eventually(within seconds: Double = 60, _ condition: () throws -> Bool) rethrows -> Bool {
  try firstValue(within: seconds) { try condition() ? true : nil } ?? false
}
