import ArgumentParser
import Foundation
import MatchStore
import ServerTransport

/// The flags that name the administrators' port of a running server, and requests to that port.
struct AdminPort: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The server's --admin (default: the socket of the service if it is there, else that of the data folder).",
      valueName: "unix:path|host:port"))
  var admin: String?
  @Option(help: ArgumentHelp("The server's folder of the database.", valueName: "dir")) var data: String?

  private static let socketOfService = "/run/alina-server/admin.sock"

  private var place: String {
    if let admin { return admin }
    let isService = data == nil && FileManager.default.fileExists(atPath: AdminPort.socketOfService)
    return "unix:" + (isService ? AdminPort.socketOfService : ServeOptions.socket(in: data))
  }

  /// Prints a page of a list and the command that shows the next page.
  func show(_ path: String, by command: String) throws {
    let options = [admin.map { " --admin \($0)" }, data.map { " --data \($0)" }].compactMap(\.self).joined()
    let answer = try ask(path)
    guard answer.status == 200 else { throw StoreError.unusable(answer.body) }
    let lines = answer.body.split(separator: "\n").map { line -> String in
      guard line.hasPrefix("next: "), let id = line.split(separator: "=").last else { return "\(line)\n" }
      return "next: alina-server \(command) \(id)\(options)\n"
    }
    try writeOut(lines.joined(separator: "").utf8)
  }

  private func connected() throws -> Int32 {
    switch try ServeOptions.adminAddress(place) {
    case .tcp(let host, let port): return try connected(to: host, port)
    case .socket(let path):
      do throws(POSIXError) { return try ListenAddress.connectSocket(path) } catch {
        throw noAnswer(error.code.rawValue)
      }
    }
  }

  private func noAnswer(_ code: Int32) -> StoreError {
    .unusable("no server answers at \(place): \(String(cString: strerror(code)))")
  }

  private func connected(to host: String, _ port: Int) throws -> Int32 {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, "\(port)", &hints, &found) == 0, let first = found else {
      throw StoreError.unusable("the address \(host) cannot be found")
    }
    defer { freeaddrinfo(first) }
    var code: Int32 = 0
    for address in sequence(first: first, next: \.pointee.ai_next) {
      let place = address.pointee
      let descriptor = socket(place.ai_family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      if connect(descriptor, place.ai_addr, place.ai_addrlen) == 0 { return descriptor }
      code = errno
      close(descriptor)
    }
    throw noAnswer(code)
  }

  func ask(_ path: String) throws -> (status: Int, body: String) {
    let descriptor = try connected()
    defer { close(descriptor) }
    var timeout = timeval(tv_sec: 5, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    let request = Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
    _ = send(descriptor, request, request.count, Int32(MSG_NOSIGNAL))
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 16 * 1024)
    while case let count = recv(descriptor, &piece, piece.count, 0), count > 0 { bytes += piece.prefix(count) }
    let parts = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n\r\n")
    guard parts.count > 1, let status = parts[0].split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
      throw StoreError.unusable("the program that answers at \(place) is not alina-server")
    }
    return (status, parts[1].trimmingCharacters(in: .whitespacesAndNewlines))
  }
}
