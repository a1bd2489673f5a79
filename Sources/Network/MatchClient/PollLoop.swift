import ClientModel
import Dispatch
import Foundation
import Synchronization

/// One thread for the sockets, timers and tasks of every client of this program. The thread ends when none of them is left, and `execute`
/// starts it again.
final class PollLoop: @unchecked Sendable {  // only `inbox` is shared; all else belongs to the thread
  static let shared = PollLoop()

  /// A closure that is called later, unless it is cancelled.
  final class Timer {
    fileprivate let due: Int64
    fileprivate var body: (() -> Void)?
    fileprivate init(due: Int64, body: @escaping () -> Void) { (self.due, self.body) = (due, body) }
    func cancel() { body = nil }
  }

  /// A socket that is watched until it is closed.
  final class Watch {
    let descriptor: Int32
    /// The poll events to wait for.
    var events: Int32
    /// Called when one of the events occurs or the socket is broken.
    var ready: ((Watch) -> Void)?
    fileprivate init(_ descriptor: Int32, _ events: Int32, ready: @escaping (Watch) -> Void) {
      (self.descriptor, self.events, self.ready) = (descriptor, events, ready)
    }
    func close() {
      guard ready != nil else { return }
      ready = nil
      _ = Foundation.close(descriptor)
    }
  }

  private struct Inbox {
    var tasks: [@Sendable () -> Void] = []
    var isRunning = false
  }

  private let inbox = Mutex(Inbox())
  /// `execute` wakes the thread with a byte to `writing`; the thread polls `reading`.
  private let wakePipe: (reading: Int32, writing: Int32)
  private var timers: [Timer] = []
  private var watches: [Watch] = []
  private var lookups: [ServerAddress.Node: [([SocketAddress]) -> Void]] = [:]
  /// A buffer for reading, shared by all connections.
  let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 * 1024, alignment: 16)

  init() {
    var ends: [Int32] = [-1, -1]
    let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
    precondition(socketpair(AF_UNIX, Int32(kind), 0, &ends) == 0, "no file descriptor is left")
    wakePipe = (ends[0], ends[1])
  }

  deinit {
    close(wakePipe.reading)
    close(wakePipe.writing)
    scratch.deallocate()
  }

  /// A monotonic clock in milliseconds.
  static var now: Int64 { Int64(DispatchTime.now().uptimeNanoseconds / 1_000_000) }

  /// Runs a task on the thread. May be called from any thread.
  func execute(_ task: @escaping @Sendable () -> Void) {
    let (isRunning, isFirst) = inbox.withLock { inbox in
      inbox.tasks.append(task)
      defer { inbox.isRunning = true }
      return (inbox.isRunning, inbox.tasks.count == 1)
    }
    if !isRunning {
      Thread.detachNewThread { self.run() }
    } else if isFirst {
      send(wakePipe.writing, [1], 1, Int32(MSG_NOSIGNAL))
    }
  }

  // MARK: on the thread

  func after(_ milliseconds: Int64, _ body: @escaping () -> Void) -> Timer {
    let timer = Timer(due: PollLoop.now + milliseconds, body: body)
    timers.append(timer)
    return timer
  }

  /// Calls `ready` whenever a socket is ready for one of `events` or broken.
  func watch(_ descriptor: Int32, _ events: Int32, _ ready: @escaping (Watch) -> Void) -> Watch {
    let watch = Watch(descriptor, events, ready: ready)
    watches.append(watch)
    return watch
  }

  /// A name is looked up on a separate thread, because the answer may take long. Requests for the same name share one lookup.
  func lookUp(_ node: ServerAddress.Node, _ body: @escaping ([SocketAddress]) -> Void) {
    let numeric = SocketAddress.all(of: node, flags: AI_NUMERICHOST)
    guard numeric.isEmpty else { return body(numeric) }
    lookups[node, default: []].append(body)
    guard lookups[node]?.count == 1 else { return }
    Thread.detachNewThread {
      let found = SocketAddress.all(of: node, flags: 0)
      self.execute { for body in self.lookups.removeValue(forKey: node) ?? [] { body(found) } }
    }
  }

  private func run() {
    Thread.current.name = "alina-client"
    while true {
      for task in inbox.withLock({ inbox in
        defer { inbox.tasks = [] }
        return inbox.tasks
      }) { task() }
      let now = PollLoop.now
      for timer in timers where timer.due <= now {
        let body = timer.body
        timer.cancel()
        body?()
      }
      timers.removeAll { $0.body == nil }
      watches.removeAll { $0.ready == nil }
      let isDone = inbox.withLock { inbox in
        guard inbox.tasks.isEmpty, timers.isEmpty, watches.isEmpty else { return false }
        inbox.isRunning = false
        return true
      }
      if isDone { return }
      wait()
    }
  }

  private func wait() {
    var polled = [pollfd(fd: wakePipe.reading, events: Int16(POLLIN), revents: 0)]
    polled += watches.map { pollfd(fd: $0.descriptor, events: Int16($0.events), revents: 0) }
    let soonest = timers.lazy.map(\.due).min().map { max(0, min($0 - PollLoop.now, 60_000)) } ?? -1
    guard poll(&polled, nfds_t(polled.count), Int32(soonest)) > 0 else { return }
    if polled[0].revents != 0 { while recv(wakePipe.reading, scratch.baseAddress, scratch.count, 0) > 0 {} }
    for (watch, entry) in zip(watches, polled.dropFirst()) where entry.revents != 0 { watch.ready?(watch) }
  }
}

struct SocketAddress: Sendable {
  let family: Int32
  private let bytes: [UInt8]

  /// The address families alternate, so that an unreachable family does not delay the other family.
  static func all(of node: ServerAddress.Node, flags: Int32) -> [SocketAddress] {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = flags | AI_NUMERICSERV
    var first: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(node.host, "\(node.port)", &hints, &first) == 0 else { return [] }
    defer { freeaddrinfo(first) }
    let found = sequence(state: first) { (next: inout UnsafeMutablePointer<addrinfo>?) -> SocketAddress? in
      guard let info = next?.pointee else { return nil }
      next = info.ai_next
      let bytes = UnsafeRawBufferPointer(start: info.ai_addr, count: Int(info.ai_addrlen))
      return SocketAddress(family: info.ai_family, bytes: Array(bytes))
    }
    let all = Array(found.prefix(16))
    let (preferred, others) = (all.filter { $0.family == all[0].family }, all.filter { $0.family != all[0].family })
    return (0..<all.count).flatMap { preferred.dropFirst($0).prefix(1) + others.dropFirst($0).prefix(1) }
  }

  /// A socket that begins to connect; `nil` if the connection fails at once.
  func connecting() -> Int32? {
    let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
    let descriptor = socket(family, Int32(kind), 0)
    guard descriptor >= 0 else { return nil }
    var one: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    let result = bytes.withUnsafeBytes { raw in
      connect(descriptor, raw.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(raw.count))
    }
    if result == 0 || errno == EINPROGRESS { return descriptor }
    close(descriptor)
    return nil
  }
}
