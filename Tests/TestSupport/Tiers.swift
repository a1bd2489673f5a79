import Foundation
import Testing

/// The top folder of this checkout.
package let repository = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
  .deletingLastPathComponent().deletingLastPathComponent()

package let runsAll = ProcessInfo.processInfo.environment["ALINA_ALL"] == "1"

/// The environment variable `name`, or else `all` in `./test --all` and `quick` in `./test`.
package func amount(_ name: String, quick: Int, all: Int) -> Int {
  ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? (runsAll ? all : quick)
}

/// `nil` if the program is not installed.
package func program(_ name: String) -> String? {
  (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(name)" }
    .first { FileManager.default.isExecutableFile(atPath: $0) }
}

/// A folder that exists as long as this object.
package final class TemporaryFolder: Sendable {
  package let path = NSTemporaryDirectory() + "alina-" + UUID().uuidString
  package init() { try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
  deinit { try? FileManager.default.removeItem(atPath: path) }
}

extension Trait where Self == ConditionTrait {
  /// Skipped with a reason, except in `./test --all`.
  package static var long: Self { .enabled(if: runsAll, "only in ./test --all") }

  /// Skipped with a reason if a program is not installed.
  package static func needs(_ names: String...) -> Self {
    let missing = names.filter { program($0) == nil }
    return .enabled(if: missing.isEmpty, "not installed: \(missing.joined(separator: ", "))")
  }
}
