import ClientModel
import Foundation
import MatchProtocol

/// One connection, on the loop's thread: connects, encrypts, delivers bytes, and reports the reason of its end.
final class SocketConnection {
  enum Event {
    case up
    /// Bytes from the server, valid only during the call.
    case bytes(UnsafeRawBufferPointer)
    /// The connection has ended; no event follows.
    case down(Ending)
  }

  enum Ending {
    /// No address of the server accepted a connection, or the server did not complete the TLS handshake in time.
    case unreachable
    /// There is no secure connection to the expected server.
    case failed(ClientFailure)
    case lost
  }

  /// The most bytes that may wait to be sent while the other end does not read.
  private static let mostWaiting = 1 << 20
  /// Milliseconds after which the client also tries the next address, as RFC 8305 §5 recommends.
  private static let nextAddress: Int64 = 250
  /// Milliseconds after which `finish` closes the socket, even if the last bytes are not sent.
  private static let lastWords: Int64 = 500

  private let loop: PollLoop
  private let tls: TLSSession?
  private var told: ((Event) -> Void)?
  private var addresses: [SocketAddress] = []
  private var attempts: [PollLoop.Watch] = []
  private var next: PollLoop.Timer?
  private var deadline: PollLoop.Timer?
  private var socket: PollLoop.Watch?
  private var waiting: [UInt8] = []
  private var isTakingLeave = false

  init(_ loop: PollLoop, tls: TLSSession?, _ told: @escaping (Event) -> Void) {
    (self.loop, self.tls, self.told) = (loop, tls, told)
  }

  // MARK: opening

  /// Connects within `timeout` milliseconds. The TLS handshake may take `handshake` milliseconds more.
  func connect(to node: ServerAddress.Node, within timeout: Int64, handshake: Int64) {
    deadline = loop.after(timeout) {
      guard self.socket != nil else { return self.end(.unreachable) }
      // The kernel accepts connections for a stopped process, which then never answers: limit the handshake, too.
      self.deadline = self.loop.after(handshake) { self.end(.unreachable) }
    }
    loop.lookUp(node) { addresses in
      guard self.told != nil else { return }
      self.addresses = addresses
      self.tryNext()
    }
  }

  private func tryNext() {
    next?.cancel()
    while !addresses.isEmpty {
      guard let descriptor = addresses.removeFirst().connecting() else { continue }
      attempts.append(loop.watch(descriptor, POLLOUT) { self.tried($0) })
      if !addresses.isEmpty { next = loop.after(SocketConnection.nextAddress) { self.tryNext() } }
      return
    }
    if attempts.isEmpty { end(.unreachable) }
  }

  private func tried(_ attempt: PollLoop.Watch) {
    var (problem, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
    getsockopt(attempt.descriptor, SOL_SOCKET, SO_ERROR, &problem, &size)
    attempts.removeAll { $0 === attempt }
    guard problem == 0 else {
      attempt.close()
      return tryNext()
    }
    next?.cancel()
    for other in attempts { other.close() }
    attempts = []
    socket = attempt
    attempt.events = POLLIN
    attempt.ready = { self.ready($0) }
    if tls == nil { isUp() } else { arrived(UnsafeRawBufferPointer(start: nil, count: 0)) }
  }

  private func isUp() {
    deadline?.cancel()
    told?(.up)
  }

  // MARK: transfer

  private func ready(_ socket: PollLoop.Watch) {
    flush()
    let count = recv(socket.descriptor, loop.scratch.baseAddress, loop.scratch.count, 0)
    if count > 0 {
      arrived(UnsafeRawBufferPointer(rebasing: loop.scratch[..<count]))
    } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
      end(.lost)
    }
  }

  private func arrived(_ bytes: UnsafeRawBufferPointer) {
    guard !isTakingLeave else { return }
    guard let tls else {
      told?(.bytes(bytes))
      return
    }
    do throws(ClientFailure) {
      let isOver = try tls.receive(bytes, into: loop.scratch, established: isUp) { said in
        told?(.bytes(said))
        return told != nil
      }
      tls.takeLeaving(&waiting)
      flush()
      if isOver { end(.lost) }
    } catch { end(.failed(error)) }
  }

  /// If sending fails, shuts the socket down, and the owner receives `.down(.lost)`.
  func send(_ bytes: [UInt8]) {
    if let tls {
      if !tls.send(bytes) { breakOff() }
      tls.takeLeaving(&waiting)
    } else {
      waiting += bytes
    }
    flush()
  }

  private func flush() {
    guard let socket else { return }
    while !waiting.isEmpty {
      let sent = Foundation.send(socket.descriptor, waiting, waiting.count, Int32(MSG_NOSIGNAL))
      if sent > 0 {
        waiting.removeFirst(sent)
      } else if errno != EINTR {
        if errno != EAGAIN || waiting.count > SocketConnection.mostWaiting { breakOff() }
        break
      }
    }
    socket.events = waiting.isEmpty ? POLLIN : POLLIN | POLLOUT
    if isTakingLeave, waiting.isEmpty { shutdown(socket.descriptor, Int32(SHUT_WR)) }
  }

  /// Shuts the socket down. The owner is told of the end once the bytes that have already arrived are read.
  private func breakOff() {
    waiting = []
    if let socket { shutdown(socket.descriptor, Int32(SHUT_RDWR)) }
  }

  // MARK: closing

  /// Sends the last bytes and waits up to `lastWords` for the other end to close the connection. Reports no event.
  func finish(_ bytes: [UInt8]) {
    told = nil
    send(bytes)
    tls?.sayGoodbye()
    tls?.takeLeaving(&waiting)
    isTakingLeave = true
    deadline = loop.after(SocketConnection.lastWords) { self.close() }
    flush()
  }

  /// Closes the socket at once and reports no event.
  func close() {
    told = nil
    deadline?.cancel()
    next?.cancel()
    for watch in attempts { watch.close() }
    socket?.close()
    (attempts, socket, addresses, waiting) = ([], nil, [], [])
  }

  private func end(_ ending: Ending) {
    let told = told
    close()
    told?(.down(ending))
  }
}
