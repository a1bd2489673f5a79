import ArgumentParser
import Foundation
import MatchStore

/// How a running server stands, for whoever looks after it.
struct Status: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Say how the server on this machine stands: ready or not, players, matches, what waits.",
    discussion: "Exits with 0 if the server is ready, with 1 if it is not, or is not there.")
  @Option(help: ArgumentHelp("Address and port of the server's --admin.", valueName: "host:port"))
  var admin = "127.0.0.1:4681"

  /// What is shown, by the names of the metrics.
  private static let shown = [
    ("nodes", "nodes alive"), ("open_connections", "connections"), ("sessions", "sessions"),
    ("accounts", "accounts in memory"),
    ("matches", "matches in memory"), ("live_matches", "live matches"), ("queue", "waiting for an opponent"),
    ("pending_units", "writes waiting"), ("pending_questions", "questions waiting"),
    ("broken_matches", "broken matches"),
  ]

  func run() throws {
    let ready = try ask("/readyz")
    print("ready: \(ready.status == 200 ? "yes" : "no, \(ready.body)")")
    var values: [Substring: Substring] = [:]
    for line in try ask("/metrics").body.split(separator: "\n") where !line.hasPrefix("#") {
      let words = line.split(separator: " ")
      if words.count == 2 { values[words[0]] = words[1] }
    }
    for (name, title) in Status.shown {
      if let value = values["alina_\(name)"] { print("\(title): \(value)") }
    }
    if ready.status != 200 { throw ExitCode(1) }
  }

  /// Asks the server for a page; throws one line if nobody answers.
  private func ask(_ path: String) throws -> (status: Int, body: String) {
    let (host, port) = try ServeOptions.address(admin, "admin")
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, "\(port)", &hints, &found) == 0, let found else {
      throw StoreError.unusable("there is no address \(host)")
    }
    defer { freeaddrinfo(found) }
    let descriptor = socket(found.pointee.ai_family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(descriptor) }
    var patience = timeval(tv_sec: 5, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    guard connect(descriptor, found.pointee.ai_addr, found.pointee.ai_addrlen) == 0 else {
      throw StoreError.unusable("no server answers at \(admin): \(String(cString: strerror(errno)))")
    }
    let request = Array("GET \(path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n".utf8)
    _ = send(descriptor, request, request.count, Int32(MSG_NOSIGNAL))
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 16 * 1024)
    while case let count = recv(descriptor, &piece, piece.count, 0), count > 0 { bytes += piece.prefix(count) }
    let parts = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n\r\n")
    guard parts.count > 1, let status = parts[0].split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
      throw StoreError.unusable("what answers at \(admin) is no alina-server")
    }
    return (status, parts[1].trimmingCharacters(in: .whitespacesAndNewlines))
  }
}
