import Foundation
import Testing

/// The top folder of this checkout.
package let repository = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
  .deletingLastPathComponent().deletingLastPathComponent()

/// Whether this is `./test --all`, which leaves nothing out.
package let runsAll = ProcessInfo.processInfo.environment["ALINA_ALL"] == "1"

/// How many times a test repeats itself: what the environment variable `name` says, or else what this run is for.
package func amount(_ name: String, quick: Int, all: Int) -> Int {
  ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? (runsAll ? all : quick)
}

/// Where a program is on the search path; `nil` if it is not installed.
package func program(_ name: String) -> String? {
  (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(name)" }
    .first { FileManager.default.isExecutableFile(atPath: $0) }
}

/// A folder that is there as long as this is.
package final class TemporaryFolder: Sendable {
  /// Where it is.
  package let path = NSTemporaryDirectory() + "alina-" + UUID().uuidString
  /// Makes the folder.
  package init() { try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
  deinit { try? FileManager.default.removeItem(atPath: path) }
}

extension Trait where Self == ConditionTrait {
  /// For tests that take more than seconds: skipped, and said to be, unless this is `./test --all`.
  package static var long: Self { .enabled(if: runsAll, "only in ./test --all") }

  /// For tests that use other programs: skipped, and said to be, where one is not installed.
  package static func needs(_ names: String...) -> Self {
    let missing = names.filter { program($0) == nil }
    return .enabled(if: missing.isEmpty, "not installed: \(missing.joined(separator: ", "))")
  }
}
