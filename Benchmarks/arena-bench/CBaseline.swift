import Foundation

/// A C program of this folder, compiled to a temporary folder that lives as long as this value.
struct CBaseline: ~Copyable {
  let path: String
  private let folder: String

  /// Compiles the program; `nil` without a C compiler.
  init?(_ name: String, _ source: [UInt8]) {
    folder = NSTemporaryDirectory() + "alina-bench-\(getpid())-\(name)"
    path = folder + "/\(name)"
    guard (try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)) != nil,
      (try? Data(source).write(to: URL(filePath: path + ".c"))) != nil
    else { return nil }
    for compiler in ["cc", "gcc", "clang"] {
      // Without fused multiply–add, C computes the same digits in the tree search as Swift.
      let words = [compiler, "-O3", "-ffp-contract=off", "-o", path, path + ".c"]
      if CBaseline.output("/usr/bin/env", words) != nil { return }
    }
    try? FileManager.default.removeItem(atPath: folder)
    return nil
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// Runs work such as `random`; `nil` if the program failed.
  borrowing func measure(_ work: String, _ amount: Int) -> (nanoseconds: Double, signature: String)? {
    let words = CBaseline.output(path, [work, "\(amount)"])?.split(separator: " ", maxSplits: 1)
    guard let words, words.count == 2, let time = Double(words[0]) else { return nil }
    return (time, words[1].trimmingCharacters(in: .whitespacesAndNewlines))
  }

  private static func output(_ path: String, _ arguments: [String]) -> String? {
    let process = Process()
    process.executableURL = URL(filePath: path)
    process.arguments = arguments
    let out = Pipe()
    process.standardOutput = out
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return nil }
    let data = out.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return process.terminationStatus == 0 ? String(decoding: data, as: UTF8.self) : nil
  }
}
