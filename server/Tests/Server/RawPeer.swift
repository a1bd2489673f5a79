import Base
import Foundation
import MatchProtocol
import Testing
import TicTacToe

/// A TCP connection for a hostile, broken or simple client; every wait is bounded. As a WebSocket it sends each line as a message.
final class RawPeer {
  private let descriptor: Int32
  private var received: [UInt8] = []
  private(set) var isAtEnd = false
  /// `nil` for plain TCP.
  private(set) var frames: WebSocketFrames?

  /// A small `receiveBuffer` (in bytes) is soon full if the peer does not read. `from` is the peer's own address.
  init(_ port: Int, web: Bool = false, headers: [String] = [], receiveBuffer: Int32? = nil, from: String? = nil) throws
  {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    if var size = receiveBuffer {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }
    var one: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    if let from {
      address.sin_addr.s_addr = inet_addr(from)
      _ = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
    }
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard descriptor >= 0, result == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    if web { try shakeHands(headers) }
  }

  /// The handshake is the example of RFC 6455.
  func shakeHands(_ headers: [String] = [], location: SourceLocation = #_sourceLocation) throws {
    send(Array((WebSocketFrames.request + headers + ["", ""]).joined(separator: "\r\n").utf8))
    let head = try wait("HTTP/1.1 101", location: location) + rest { $0 == "\r" }.joined(separator: "\n")
    #expect(head.lowercased().contains("sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo="), sourceLocation: location)
    var frames = WebSocketFrames()
    received = frames.lines(in: received[...])
    self.frames = frames
  }

  deinit { close(descriptor) }

  /// Returns `false` if the server has closed the connection.
  @discardableResult func send(_ bytes: [UInt8], pieces: Int = .max) -> Bool {
    sendRaw(frames?.frames(of: bytes) ?? bytes, pieces: pieces)
  }

  /// Sends bytes without WebSocket framing, at most `pieces` bytes at a time.
  @discardableResult func sendRaw(_ bytes: [UInt8], pieces: Int = .max) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = rest.prefix(pieces)
      let sent = piece.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard sent > 0 else { return false }
      rest = rest.dropFirst(sent)
    }
    return true
  }

  @discardableResult func type(_ line: String, pieces: Int = .max) -> Bool {
    send(Array((line + "\n").utf8), pieces: pieces)
  }

  func hangUp(reset: Bool = false) {
    if reset {
      var linger = linger(l_onoff: 1, l_linger: 0)
      setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    }
    shutdown(descriptor, Int32(SHUT_RDWR))
  }

  /// The next line without its end; `nil` after the end of the connection or the timeout in seconds.
  func line(within seconds: Double = 10) -> String? {
    let end = Date().addingTimeInterval(seconds)
    while true {
      if let at = received.firstIndex(of: 0x0A) {
        defer { received.removeFirst(at + 1) }
        return String(decoding: received[..<at], as: UTF8.self)
      }
      var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let left = end.timeIntervalSinceNow
      guard !isAtEnd, left > 0, poll(&wait, 1, Int32(left * 1000) + 1) > 0 else { return nil }
      var chunk = [UInt8](repeating: 0, count: 16_384)
      let count = recv(descriptor, &chunk, chunk.count, 0)
      if count <= 0 {
        isAtEnd = true
      } else {
        received += frames?.lines(in: chunk[..<count]) ?? Array(chunk[..<count])
      }
    }
  }

  /// Reads lines, and answers heartbeats, until a line contains `text`; returns that line. The test fails if the connection ends or
  /// `seconds` pass before such a line has come.
  @discardableResult func wait(
    _ text: String, within seconds: Double = 10, location: SourceLocation = #_sourceLocation
  ) throws -> String {
    let end = Date().addingTimeInterval(seconds)
    var seen: [String] = []
    while let line = line(within: max(0, end.timeIntervalSinceNow)) {
      if line.contains(#""t":"ping""#) { type(line.replacing("ping", with: "pong")) }
      if line.contains(text) { return line }
      seen.append(line)
    }
    Issue.record("waited for \(text); saw \(seen.suffix(8)), at the end \(isAtEnd)", sourceLocation: location)
    throw CancellationError()
  }

  /// The lines before the server closes the connection, sends nothing for `seconds`, or sends a line for which `isLast` is true.
  func rest(pause seconds: Double = 1, until isLast: (String) -> Bool = { _ in false }) -> [String] {
    var lines: [String] = []
    while let line = line(within: seconds), !isLast(line) { lines.append(line) }
    return lines
  }

  @discardableResult func hello(_ more: String = "", location: SourceLocation = #_sourceLocation) throws -> String {
    type(#"{"t":"hello","v":[1],"client":"raw"\#(more.isEmpty ? "" : "," + more)}"#)
    return try wait(#""t":"welcome""#, location: location)
  }

  /// Reads until the server closes the connection.
  func http(
    _ path: String, method: String = "GET", headers: [String] = []
  ) throws -> (status: Int, head: String, body: String) {
    let lines = ["\(method) /\(path) HTTP/1.1", "Host: localhost", "Connection: close", "Content-Length: 0"] + headers
    send(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8))
    var text = ""
    while let line = line() { text += line + "\n" }
    text += String(decoding: received, as: UTF8.self)
    let parts = text.components(separatedBy: "\r\n\r\n")
    let status = parts[0].split(separator: " ").dropFirst().first.flatMap { Int($0) }
    return (try #require(status), parts[0], parts.dropFirst().joined(separator: "\r\n\r\n"))
  }

  static func field(_ name: String, _ line: String) -> String? {
    guard let value = try? JSONObject(line: Array(line.utf8), with: "t")[name] else { return nil }
    return value.string ?? value.int.map(String.init)
  }

  static func pair(
    _ port: Int, web: Bool = false, receiveBuffer: Int32? = nil, rules: Variant = .classic
  ) throws -> (x: RawPeer, o: RawPeer, m: String, resume: [String]) {
    let one = try RawPeer(port, web: web, receiveBuffer: receiveBuffer)
    let other = try RawPeer(port, web: web, receiveBuffer: receiveBuffer)
    let caps = #""caps":["infinite","ultimate"]"#
    let resume = try [one.hello(rules == .classic ? "" : caps), other.hello(rules == .classic ? "" : caps)].map {
      try #require(field("resume", $0))
    }
    let game = rules == .classic ? "" : #","rules":"\#(rules.rawValue)""#
    for peer in [one, other] { peer.type(#"{"t":"seek","clock":"60+2","rated":false\#(game),"key":"k"}"#) }
    let paired = try one.wait(#""t":"paired""#)
    for peer in [one, other] { try peer.wait(#""k":"start""#) }
    let m = try #require(field("m", paired))
    return field("side", paired) == "x" ? (one, other, m, resume) : (other, one, m, resume.reversed())
  }

  func move(_ m: String, _ ply: Int, _ cell: String, mid: String? = nil) {
    type(#"{"t":"move","id":"r\#(ply)","m":"\#(m)","ply":\#(ply),"cell":"\#(cell)","mid":"\#(mid ?? "p\(ply)")"}"#)
  }
}

struct WebSocketFrames {
  static let request = [
    "GET /play HTTP/1.1", "Host: localhost", "Upgrade: websocket", "Connection: keep-alive, Upgrade",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13",
  ]

  private var isInside = false
  private var received: [UInt8] = []
  private(set) var pongs: [[UInt8]] = []
  private(set) var closeCode: Int?

  /// `length` replaces the payload's length, to make an invalid frame.
  static func frame(_ first: UInt8, _ payload: [UInt8], length: Int? = nil, isMasked: Bool = true) -> [UInt8] {
    let length = length ?? payload.count
    let bit: UInt8 = isMasked ? 0x80 : 0
    var frame = [first]
    switch length {
    case ...125: frame.append(bit | UInt8(length))
    case ...0xFFFF: frame += [bit | 126, UInt8(length >> 8), UInt8(length & 0xFF)]
    default: frame += [bit | 127] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: length >> ($0 * 8)) }
    }
    guard isMasked else { return frame + payload }
    let mask: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
    return frame + mask + payload.enumerated().map { $1 ^ mask[$0 % 4] }
  }

  /// An incomplete line becomes the first frame of a message, and later bytes its next frames.
  mutating func frames(of bytes: [UInt8]) -> [UInt8] {
    var out: [UInt8] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let end = rest.firstIndex(of: 0x0A)
      out += Self.frame((end == nil ? 0 : 0x80) | (isInside ? 0 : 1), Array(rest[..<(end ?? rest.endIndex)]))
      isInside = end == nil
      rest = rest[(end.map { $0 + 1 } ?? rest.endIndex)...]
    }
    return out
  }

  mutating func lines(in bytes: ArraySlice<UInt8>) -> [UInt8] {
    received += bytes
    var out: [UInt8] = []
    while received.count >= 2 {
      let short = Int(received[1])
      let start = short == 126 ? 4 : short == 127 ? 10 : 2
      guard received.count >= start else { break }
      let length = start == 2 ? short : received[2..<start].reduce(0) { $0 << 8 | Int($1) }
      guard received.count >= start + length else { break }
      let payload = Array(received[start..<(start + length)])
      switch received[0] {
      case 0x81: out += payload + [0x0A]
      case 0x8A: pongs.append(payload)
      case 0x88: closeCode = payload.count >= 2 ? Int(payload[0]) << 8 | Int(payload[1]) : 1005
      default: Issue.record("a server sends no frame \(received[0])")
      }
      received.removeFirst(start + length)
    }
    return out
  }
}
