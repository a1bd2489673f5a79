/// Notices when the rule file in force was saved again.
///
/// A file is taken up when it has kept still from one look to the next: editors write in several steps.
struct RulesWatch {
  private var path: String?
  /// The file as it was when it was read, and at the last look.
  private var read: UInt64?
  private var seen: UInt64?
  private var nextLook = 0.0

  /// Seconds between two looks.
  private static let interval = 0.4

  /// Watches a file from here on; `stamp` is what it was just before it was read.
  mutating func watch(_ path: String?, stamp: UInt64?) {
    self.path = path
    read = stamp
    seen = stamp
  }

  /// Whether the file should be read again. Cheap, but for one look at the file every 0.4 s.
  mutating func wantsReading(at now: Double, stamp: (String) -> UInt64?) -> Bool {
    guard now >= nextLook, let path else { return false }
    nextLook = now + RulesWatch.interval
    let stamp = stamp(path)
    defer { seen = stamp }
    return stamp != nil && stamp != read && stamp == seen
  }
}
