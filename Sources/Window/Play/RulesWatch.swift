/// Detects that the rule file in use was saved again. Editors write in several steps, so a changed file is read only after two checks in a
/// row have found the same stamp; each write changes the stamp.
struct RulesWatch {
  private var path: String?
  /// The file's stamp when the file was read.
  private var read: UInt64?
  /// The file's stamp at the last check.
  private var seen: UInt64?
  private var nextLook = 0.0

  /// Seconds between two checks.
  private static let interval = 0.4

  /// `stamp` is the file's stamp just before the file was read.
  mutating func watch(_ path: String?, stamp: UInt64?) {
    self.path = path
    read = stamp
    seen = stamp
  }

  /// Whether the file should be read again. Checks the file at most every 0.4 s.
  mutating func wantsReading(at now: Double, stamp: (String) -> UInt64?) -> Bool {
    guard now >= nextLook, let path else { return false }
    nextLook = now + RulesWatch.interval
    let stamp = stamp(path)
    defer { seen = stamp }
    return stamp != nil && stamp != read && stamp == seen
  }
}
