import Foundation
import Glibc
import Processes
import Synchronization

/// A child process of a test, killed when this object is released. Foundation's `Process` waits on a run loop, which swift-testing's
/// threads lack, and its children inherit the signals that these threads block.
package final class Child: Sendable {
  package enum Stream: Sendable {
    /// /dev/null.
    case nothing
    /// A pipe; `input`, `output` or `errors` is its other end.
    case pipe
    /// Output is appended to the file.
    case file(String)
    /// The tests' own stream.
    case ours
  }

  package struct Output: Sendable {
    /// The exit status, or the negative number of the signal that ended it.
    package let status: Int32
    package let out: String
    package let errors: String
  }

  package struct TookTooLong: Error, CustomStringConvertible {
    package let description: String
  }

  package let pid: pid_t
  /// The tests' ends of the child's pipes. `/dev/null` if a stream of the child is not a pipe.
  package let input: FileHandle
  package let output: FileHandle
  package let errors: FileHandle
  private let end = End()

  /// One thread waits for the child's exit status.
  private final class End: @unchecked Sendable {  // `status` is used under `change`
    let change = NSCondition()
    var status: Int32?
  }

  /// Starts a program, searched on the PATH unless its name has a slash. `environment` changes the tests' own; `nil` removes a variable.
  package init(
    _ command: [String], environment: [String: String?] = [:], folder: String? = nil, input: Stream = .nothing,
    output: Stream = .nothing, errors: Stream = .nothing
  ) throws {
    // Writing to a child that has ended returns an error instead of ending the tests.
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
      // After `reap` another process may get the id. The lock is held until the status is set, so that `signal` cannot reach that process.
      end.change.lock()
      end.status = reap(pid)
      end.change.broadcast()
      end.change.unlock()
    }
  }

  deinit { kill() }

  /// The exit status, or the negative number of the signal that ended the child; `nil` while the child runs.
  package var status: Int32? {
    end.change.lock()
    defer { end.change.unlock() }
    return end.status
  }

  package var isRunning: Bool { status == nil }

  package func signal(_ number: Int32) {
    end.change.lock()
    defer { end.change.unlock() }
    if end.status == nil { Glibc.kill(pid, number) }
  }

  /// Throws `TookTooLong` after `seconds`.
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

  package func kill() {
    signal(SIGKILL)
    _ = try? wait()
  }

  /// The line has no line end; `nil` after the last line.
  package func line() -> String? {
    var text: [UInt8] = []
    while let byte = try? output.read(upToCount: 1)?.first {
      if byte == UInt8(ascii: "\n") { return String(decoding: text, as: UTF8.self) }
      text.append(byte)
    }
    return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
  }

  /// A child that still runs after `seconds` is killed, so that a test does not wait for ever.
  package func rest(seconds: Double = 900) -> String {
    let limit = DispatchWorkItem { [self] in signal(SIGKILL) }
    DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: limit)
    defer { limit.cancel() }
    return String(decoding: output.readDataToEndOfFile(), as: UTF8.self)
  }

  /// After `seconds` the child is killed, and its status is -9.
  package static func run(
    _ command: [String], input: String = "", environment: [String: String?] = [:], folder: String? = nil,
    seconds: Double = 900
  ) throws -> Output {
    let child = try Child(
      command, environment: environment, folder: folder, input: .pipe, output: .pipe, errors: .pipe)
    // Handles all three pipes at once: while the test waits for one of them, the child may fill another.
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
    let out = child.rest(seconds: seconds)
    isDone.wait()
    return Output(
      status: try child.wait(), out: out, errors: String(decoding: told.withLock { $0 }, as: UTF8.self))
  }
}
