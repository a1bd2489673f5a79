import Foundation
import MatchProtocol
import Synchronization
import TestSupport
import Testing
import TicTacToe

@testable import MatchClient

/// A server controlled by the test, on a free port. Every wait has a time limit.
private final class Peer {
  private let listening: Int32
  private var connection: Int32 = -1
  let port: Int

  /// A client that sends much must wait if the socket's buffer (in bytes) is small.
  init(receiveBuffer: Int32? = nil) throws {
    listening = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    if var size = receiveBuffer { setsockopt(listening, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(4)) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listening = listening
    withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = bind(listening, $0, size)
        _ = getsockname(listening, $0, &size)
      }
    }
    listen(listening, 16)
    port = Int(UInt16(bigEndian: address.sin_port))
  }

  deinit {
    hangUp()
    close(listening)
  }

  private func wait(for descriptor: Int32) throws {
    var item = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    try #require(poll(&item, 1, 20_000) > 0, "nobody came or spoke")
  }

  /// Closes the current connection, if any, and accepts the next one.
  func take() throws {
    hangUp()
    try wait(for: listening)
    connection = accept(listening, nil, nil)
  }

  /// Accepts the newest connection, and closes those that a slow test has kept waiting.
  func takeNewest() throws {
    try take()
    var item = pollfd(fd: listening, events: Int16(POLLIN), revents: 0)
    while poll(&item, 1, 0) > 0 { try take() }
  }

  func say(_ bytes: [UInt8], pieces: Int = .max) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = Array(rest.prefix(pieces))
      rest = rest.dropFirst(piece.count)
      send(connection, piece, piece.count, Int32(MSG_NOSIGNAL))
    }
  }

  /// Reads until `mark` was received or the client has closed the connection.
  func hear(_ mark: String? = nil) throws -> String {
    var heard: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while mark.map({ !String(decoding: heard, as: UTF8.self).contains($0) }) ?? true {
      try wait(for: connection)
      let count = recv(connection, &buffer, buffer.count, 0)
      guard count > 0 else { break }
      heard += buffer[..<count]
    }
    return String(decoding: heard, as: UTF8.self)
  }

  func hangUp() {
    if connection >= 0 { close(connection) }
    connection = -1
  }
}

private let greeting = ServerMessage.greeting(server: "test", versions: protocolVersions).bytes()
private let guest = PlayerInfo(name: "guest", rating: 1500, guest: true)
private let welcome = ServerMessage.welcome(
  .init(session: "s", resume: "r", you: guest, deviation: 350, token: nil, rate: [20, 40], matches: [], now: 0)
).bytes()

@Suite struct ConnectionTests {
  private func client(
    _ port: Int, _ security: MatchClient.Configuration.Security = .plain, host: String = "127.0.0.1"
  ) -> MatchClient {
    let server = ServerAddress(.init(host: host, port: port))
    let client = MatchClient(.init(server, security: security, identity: .init(client: "test")))
    client.connect()
    return client
  }

  private func wait<T>(_ client: MatchClient, _ pick: (ClientEvent) -> T?) throws -> T {
    let woken = DispatchSemaphore(value: 0)
    client.onWake { woken.signal() }
    let end = DispatchTime.now() + 20
    var seen: [ClientEvent] = []
    repeat {
      for (event, _) in client.poll() {
        seen.append(event)
        if let result = pick(event) { return result }
      }
    } while woken.wait(timeout: end) == .success
    throw Missing(seen: seen)
  }
  private struct Missing: Error { let seen: [ClientEvent] }

  private func retry(_ client: MatchClient) throws -> ConnectionProblem {
    try wait(client) { if case .status(.waiting(_, let why)) = $0 { why } else { nil } }
  }
  private func failure(_ client: MatchClient) throws -> ClientFailure {
    try wait(client) { if case .status(.failed(let why)) = $0 { why } else { nil } }
  }
  private func online(_ client: MatchClient) throws {
    try wait(client) { if case .status(.online) = $0 { () } else { nil } }
  }

  @Test func `a server that closes within a line or handshake is tried again`() throws {
    let peer = try Peer()
    let plain = client(peer.port)
    try peer.take()
    peer.say(Array(greeting.prefix(10)))
    _ = try peer.hear("hello")
    peer.hangUp()
    #expect(try retry(plain) == .wordless)
    try peer.take()
    peer.say(greeting + welcome, pieces: 1)
    try online(plain)
    peer.hangUp()
    #expect(try retry(plain) == .lost)
    let other = try Peer()
    let secure = client(other.port, .tls)
    try other.take()
    other.say([22, 3, 3, 0, 90, 2])
    other.hangUp()
    #expect(try retry(secure) == .lost)
    try other.take()
  }

  @Test func `TLS to a plain port fails permanently, and a plain connection to a TLS port gives advice`() throws {
    let peer = try Peer()
    let secure = client(peer.port, .tls)
    try peer.take()
    peer.say(greeting)
    #expect(try failure(secure) == .tls(.absent))
    let plain = client(peer.port)
    try peer.take()
    _ = try peer.hear("hello")
    peer.say([21, 3, 1, 0, 2, 2, 70])
    peer.hangUp()
    #expect(try retry(plain) == .wordless)
  }

  @Test func `bytes for a peer that does not read are buffered up to a limit`() throws {
    let peer = try Peer(receiveBuffer: 4096)
    let client = client(peer.port)
    try peer.take()
    peer.say(greeting + welcome)
    try online(client)
    let line = ClientMessage.say(nil, String(repeating: "a", count: 200))
    for _ in 0..<40_000 { client.ask(line) }
    #expect(try retry(client) == .lost)
  }

  @Test func `an unreachable server is retried, and a name is tried in all address families`() throws {
    let gone = try Peer().port
    #expect(try retry(client(gone)) == .unreachable("127.0.0.1:\(gone)"))
    let peer = try Peer()
    let named = client(peer.port, host: "localhost")
    try peer.take()
    peer.say(greeting + welcome)
    try online(named)
  }

  @Test func `a client whose node dies moves to a node that was added later`() throws {
    let (peer, other) = (try Peer(), try Peer())
    let client = client(peer.port)
    try peer.take()
    peer.say(greeting + welcome + ServerMessage.nodes(["127.0.0.1:\(other.port)"]).bytes())
    try online(client)
    peer.hangUp()
    _ = try retry(client)
    // On a busy machine a greeting may come too late, and the client tries the other node first. So each connection is greeted.
    var isOnline = false
    while !isOnline {
      try other.take()
      other.say(greeting + welcome)
      isOnline = try wait(client) {
        switch $0 {
        case .status(.online): true
        case .status(.waiting): false
        default: nil
        }
      }
    }
  }

  @Test func `a client tries a node that has not asked it to wait, and waits once all nodes have asked`() throws {
    let peer = try Peer()
    // Two names of the same peer, so that the test need not know which node is tried.
    let server = ServerAddress(
      .init(host: "127.0.0.1", port: peer.port), others: [.init(host: "localhost", port: peer.port)])
    let client = MatchClient(.init(server, security: .plain))
    client.connect()
    let hour = 3_600_000
    var waits: [Int] = []
    // If the machine is slow, the client may have left a node before the node's answer comes. Such a node is asked again.
    while waits.count < 10, waits.last ?? 0 < hour / 2 {
      try peer.takeNewest()
      _ = client.poll()
      peer.say(greeting + ServerMessage.bye(.full, "too many logins", retry: hour).bytes())
      waits.append(try wait(client) { if case .status(.waiting(let time, _)) = $0 { time } else { nil } })
    }
    #expect(waits.count > 1 && waits.last ?? 0 > hour / 2, "\(waits)")
  }

  @Test func `a client that is released or disconnected sends bye and closes`() throws {
    let peer = try Peer()
    for letGo in [true, false] {
      var client: MatchClient? = self.client(peer.port)
      try peer.take()
      peer.say(greeting + welcome)
      if let client { try online(client) }
      if letGo { client = nil } else { client?.disconnect() }
      let last = try peer.hear()
      #expect(last.hasSuffix(String(decoding: ClientLine(.bye).bytes, as: UTF8.self)))
    }
  }

  @Test func `a client that replaces another at once has the saved login`() throws {
    let (peer, folder) = (try Peer(), TemporaryFolder())
    #expect(ClientFolder(folder.path, host: "127.0.0.1", port: peer.port).save(.init(token: "t", resume: "r")))
    let configuration = MatchClient.Configuration(
      ServerAddress(.init(host: "127.0.0.1", port: peer.port)), folder: folder.path)
    let first = MatchClient(configuration)
    // The loop's thread cannot close the first client before the second is made.
    let isMade = DispatchSemaphore(value: 0)
    PollLoop.shared.execute { isMade.wait() }
    first.disconnect()
    let second = MatchClient(configuration)
    isMade.signal()
    second.connect()
    try peer.take()
    #expect(try peer.hear("\n").contains(#""resume":"r""#))
  }

  @Test func `dozens of clients share one thread, which ends with the last of them`() throws {
    weak var gone: PollLoop?
    let threads = Mutex<Set<UInt>>([])
    let ended = DispatchSemaphore(value: 0)
    do {
      let loop = PollLoop()
      gone = loop
      loop.execute { _ = loop.after(500) { ended.signal() } }
      for i in 0..<40 {
        loop.execute {
          threads.withLock { _ = $0.insert(UInt(pthread_self())) }
          _ = loop.after(Int64(i % 3)) { ended.signal() }
          loop.after(60_000) {}.cancel()
        }
      }
    }
    for _ in 0...40 { #expect(ended.wait(timeout: .now() + 20) == .success) }
    #expect(threads.withLock { $0.count } == 1)
    #expect(eventually(within: 20) { gone == nil })
  }
}
