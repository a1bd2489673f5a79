import ArgumentParser
import Foundation
import MatchStore

/// The administrators' port of a running server.
struct AdminPort: ParsableArguments {
  @Option(help: ArgumentHelp("Address and port of the server's --admin.", valueName: "host:port"))
  var admin = AdminPort.usual
  private static let usual = "127.0.0.1:4681"

  /// Prints a page of a list and the command that shows the next one; throws a one-line error on failure.
  func show(_ path: String, by command: String) throws {
    let answer = try ask(path)
    guard answer.status == 200 else { throw StoreError.unusable(answer.body) }
    for line in answer.body.split(separator: "\n") {
      if line.hasPrefix("next: "), let id = line.split(separator: "=").last {
        print("next: alina-server \(command) \(id)" + (admin == AdminPort.usual ? "" : " --admin \(admin)"))
      } else {
        print(line)
      }
    }
  }

  /// A connection to the first address that accepts: a name may have several, and the server listens on one.
  private func connected(to first: UnsafeMutablePointer<addrinfo>) throws -> Int32 {
    var code: Int32 = 0
    for address in sequence(first: first, next: \.pointee.ai_next) {
      let place = address.pointee
      let descriptor = socket(place.ai_family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      if connect(descriptor, place.ai_addr, place.ai_addrlen) == 0 { return descriptor }
      code = errno
      close(descriptor)
    }
    throw StoreError.unusable("no server answers at \(admin): \(String(cString: strerror(code)))")
  }

  /// Requests a page from the server; throws a one-line error without an answer.
  func ask(_ path: String) throws -> (status: Int, body: String) {
    let (host, port) = try ServeOptions.address(admin, "admin")
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, "\(port)", &hints, &found) == 0, let found else {
      throw StoreError.unusable("there is no address \(host)")
    }
    defer { freeaddrinfo(found) }
    let descriptor = try connected(to: found)
    defer { close(descriptor) }
    var patience = timeval(tv_sec: 5, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
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
