import Foundation
import Glibc
import Processes
import Synchronization

/// A program that a test runs. It is ended with this object, if it has not ended by then.
///
/// Foundation's `Process` waits on a run loop, which the threads of swift-testing do not have, and lets its children block the
/// signals that those threads block.
package final class Child: Sendable {
  /// What one of the program's streams is.
  package enum Stream: Sendable {
    /// Nothing to read; what is written is thrown away.
    case nothing
    /// `input`, `output` or `errors` is the other end.
    case pipe
    /// A file; what is written is added at its end.
    case file(String)
    /// The one of the tests.
    case ours
  }

  /// What a program did that ran to its end.
  package struct Output: Sendable {
    /// The exit status, or minus the number of the signal that ended it.
    package let status: Int32
    /// What it wrote to standard output.
    package let out: String
    /// What it wrote to standard error.
    package let errors: String
  }

  /// A wait that took too long.
  package struct TookTooLong: Error, CustomStringConvertible {
    package let description: String
  }

  /// The number of the process.
  package let pid: pid_t
  /// Writes to the program's standard input where that is a pipe; `/dev/null` otherwise.
  package let input: FileHandle
  /// Reads the program's standard output where that is a pipe; `/dev/null` otherwise.
  package let output: FileHandle
  /// Reads the program's standard error where that is a pipe; `/dev/null` otherwise.
  package let errors: FileHandle
  private let end = End()

  /// How the program ended, which one thread waits for.
  private final class End: @unchecked Sendable {  // `status` is used under `change`
    let change = NSCondition()
    var status: Int32?
  }

  /// Starts a program, which is looked for on the PATH unless its name has a slash.
  ///
  /// - Parameters:
  ///   - environment: What differs from the environment of the tests; `nil` takes a variable out.
  ///   - folder: Where the program begins; `nil` for the folder of the tests.
  package init(
    _ command: [String], environment: [String: String?] = [:], folder: String? = nil, input: Stream = .nothing,
    output: Stream = .nothing, errors: Stream = .nothing
  ) throws {
    // Whoever writes to a child that has ended is told so by write(2).
    _ = Glibc.signal(SIGPIPE, SIG_IGN)
    var theirs: [Int32] = []
    defer { for descriptor in theirs { close(descriptor) } }
    func join(_ stream: Stream, _ number: Int32) throws -> (child: ChildStream, own: FileHandle) {
      switch stream {
      case .nothing: return (.nothing, .nullDevice)
      case .file(let path): return (.file(path), .nullDevice)
      case .ours: return (.descriptor(number), .nullDevice)
      case .pipe:
        let ends = try makePipe()
        let (child, own) = number == STDIN_FILENO ? (ends.reading, ends.writing) : (ends.writing, ends.reading)
        theirs.append(child)
        return (.descriptor(child), FileHandle(fileDescriptor: own, closeOnDealloc: true))
      }
    }
    let (first, second, third) = (try join(input, 0), try join(output, 1), try join(errors, 2))
    (self.input, self.output, self.errors) = (first.own, second.own, third.own)
    var variables = ProcessInfo.processInfo.environment
    for (name, value) in environment { variables[name] = value }
    let pid = try spawn(
      command, environment: variables.map { "\($0)=\($1)" }, folder: folder, input: first.child, output: second.child,
      errors: third.child)
    self.pid = pid
    Thread.detachNewThread { [end] in
      var information = siginfo_t()
      while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
      // The number can belong to another process as soon as it is reaped: `signal` must know by then.
      end.change.lock()
      end.status = reap(pid)
      end.change.broadcast()
      end.change.unlock()
    }
  }

  deinit { kill() }

  /// The exit status, or minus the number of the signal that ended it; `nil` while it runs.
  package var status: Int32? {
    end.change.lock()
    defer { end.change.unlock() }
    return end.status
  }

  /// Whether it has not ended.
  package var isRunning: Bool { status == nil }

  /// Sends a signal, unless the program has ended.
  package func signal(_ number: Int32) {
    end.change.lock()
    defer { end.change.unlock() }
    if end.status == nil { Glibc.kill(pid, number) }
  }

  /// Waits for the end and returns the status.
  ///
  /// - Throws: `TookTooLong` if the program runs for longer than so many more seconds.
  @discardableResult package func wait(seconds: Double = 600) throws -> Int32 {
    let deadline = Date(timeIntervalSinceNow: seconds)
    end.change.lock()
    defer { end.change.unlock() }
    while true {
      if let status = end.status { return status }
      guard end.change.wait(until: deadline) else {
        throw TookTooLong(description: "waited \(seconds) s for process \(pid) to end")
      }
    }
  }

  /// Ends it at once, and returns when it has ended.
  package func kill() {
    signal(SIGKILL)
    _ = try? wait()
  }

  /// The next line of its output, without the line's end; `nil` after the last.
  package func line() -> String? {
    var text: [UInt8] = []
    while let byte = try? output.read(upToCount: 1)?.first {
      if byte == UInt8(ascii: "\n") { return String(decoding: text, as: UTF8.self) }
      text.append(byte)
    }
    return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
  }

  /// The rest of its output, to the end.
  package func rest() -> String { String(decoding: output.readDataToEndOfFile(), as: UTF8.self) }

  /// Runs a program to its end.
  ///
  /// - Parameter seconds: How long it may take; then it is killed, and its status is -9.
  package static func run(
    _ command: [String], input: String = "", environment: [String: String?] = [:], folder: String? = nil,
    seconds: Double = 900
  ) throws -> Output {
    let child = try Child(
      command, environment: environment, folder: folder, input: .pipe, output: .pipe, errors: .pipe)
    let limit = DispatchWorkItem { child.signal(SIGKILL) }
    DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: limit)
    defer { limit.cancel() }
    // Three pipes at once: a program may fill one while another is waited for.
    let told = Mutex(Data())
    let isDone = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      try? child.input.write(contentsOf: Data(input.utf8))
      try? child.input.close()
    }
    Thread.detachNewThread {
      let data = child.errors.readDataToEndOfFile()
      told.withLock { $0 = data }
      isDone.signal()
    }
    let out = child.rest()
    isDone.wait()
    return Output(
      status: try child.wait(), out: out, errors: String(decoding: told.withLock { $0 }, as: UTF8.self))
  }
}
